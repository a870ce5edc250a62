//! D5: duplicates, self loops, and time stamps on an even raster.

use quadcast_core::Splits;

use super::check::Findings;
use crate::info::{Details, EvolvingInfo, Info, TimeInfo};

/// How many widths of gaps are listed.
const SHOWN_WIDTHS: usize = 8;

pub(super) fn uniform(info: &Info) -> Findings {
    let mut findings = Findings::new();
    match &info.details {
        Details::Temporal(part) => {
            rows(&mut findings, &part.duplicates, &part.self_loops);
            time(&mut findings, &part.time);
        }
        Details::Static(part) => rows(&mut findings, &part.duplicates, &part.self_loops),
        Details::Intervals(part) => {
            rows(&mut findings, &part.duplicates, &part.self_loops);
            if part.end_before_start > 0 {
                findings.warn(format!("{} intervals end before they start", part.end_before_start));
            }
        }
        Details::Evolving(part) => evolving(&mut findings, part),
    }
    findings
}

fn rows(findings: &mut Findings, duplicates: &Splits<usize>, self_loops: &Splits<usize>) {
    match per_split(duplicates) {
        Some(words) => {
            findings.warn(format!("repeated rows: {words}"));
            findings.advise("say whether repeated test rows are ranked once or every time");
        }
        None => findings.note("no repeated rows"),
    }
    match per_split(self_loops) {
        Some(words) => findings.warn(format!("self loops: {words}")),
        None => findings.note("no self loops"),
    }
}

fn per_split(counts: &Splits<usize>) -> Option<String> {
    let words: Vec<String> = counts
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(split, count)| format!("{count} in {split}"))
        .collect();
    (!words.is_empty()).then(|| words.join(", "))
}

fn time(findings: &mut Findings, time: &TimeInfo) {
    let unit = time.unit.word();
    let raster = format!("{} {unit}{}", time.granularity, if time.granularity == 1 { "" } else { "s" });
    let Some(first) = time.first_gaps.first() else {
        findings.note(format!("{} time stamps at an even distance of {raster}", time.steps));
        return;
    };
    let mut widths: Vec<String> =
        time.gap_widths.iter().take(SHOWN_WIDTHS).map(|gap| gap.width.to_string()).collect();
    if time.gap_widths.len() > SHOWN_WIDTHS {
        widths.push("...".to_owned());
    }
    let count = if time.gaps == 1 { "1 gap".to_owned() } else { format!("{} gaps", time.gaps) };
    findings.warn(format!(
        "{count} in the raster of {raster}, {} {unit}s wide, the first between {} and {}",
        widths.join(", "),
        first.after,
        first.before
    ));
    findings.advise("across a gap the previous step is the previous existing time stamp");
}

fn evolving(findings: &mut Findings, info: &EvolvingInfo) {
    let repeated: usize = info.steps.iter().map(|step| step.checks.repeated_operations).sum();
    if repeated > 0 {
        findings.warn(format!("{repeated} operations touch a triple again within one step"));
    } else {
        findings.note("at most one operation per triple and step");
    }
    let mut contradicted = false;
    for step in &info.steps {
        if let Some(wrong) =
            step.classification.map(|part| part.negatives_in_graph).filter(|&wrong| wrong > 0)
        {
            findings.warn(format!(
                "step {}: {wrong} negatives of triple classification are true in the graph",
                step.label
            ));
            contradicted = true;
        }
        if step.checks.misplaced_categories > 0 {
            let count = step.checks.misplaced_categories;
            findings.warn(format!("step {}: {count} category triples contradict the graph", step.label));
        }
    }
    if contradicted {
        findings.advise("leave negatives that are true out of the evaluation, or report the results with and without them");
    }
}
