//! D2: do the splits follow each other in time?

use quadcast_core::{Dataset, Split, Splits, Step};

use super::check::Findings;
use crate::info::{Details, EvolvingInfo, Info, SplitOrder, TemporalInfo};
use quadcast_data::{Content, Loaded, SourceFile};

/// From this share of test time stamps inside the time range of train on, the division was made at random.
pub(super) const INTERPOLATION: f64 = 0.5;

pub(super) fn ordered(loaded: &Loaded, info: &Info) -> Findings {
    match (&loaded.content, &info.details) {
        (Content::Temporal(data), Details::Temporal(part)) => temporal(loaded, data, part),
        (_, Details::Evolving(part)) => evolving(part),
        (_, Details::Intervals(_)) => {
            Findings::skip("facts hold over intervals, the splits are not ordered in time")
        }
        _ => Findings::skip("the facts carry no time"),
    }
}

fn temporal(loaded: &Loaded, data: &Dataset, info: &TemporalInfo) -> Findings {
    let mut findings = Findings::new();
    match info.split_order {
        SplitOrder::Ordered => findings.note(ranges(info)),
        SplitOrder::SharedBorder => shared_border(&mut findings, info),
        SplitOrder::Interleaved => interleaved(&mut findings, loaded, data, info),
    }
    // In an interpolation split nobody expects sorted files, and the order is beside the point.
    if info.split_order != SplitOrder::Interleaved {
        unsorted(&mut findings, loaded.sources.as_ref());
    }
    findings
}

fn ranges(info: &TemporalInfo) -> String {
    let words = info.time.ranges.iter().filter_map(|(split, range)| {
        let range = range.as_ref()?;
        Some(format!("{split} {} to {}", range.first, range.last))
    });
    words.collect::<Vec<_>>().join(", ")
}

fn shared_border(findings: &mut Findings, info: &TemporalInfo) {
    let [train_valid, train_test, valid_test] = info.shared_time_stamp_examples.pairs();
    for (pair, labels) in [train_valid, valid_test, train_test] {
        if !labels.is_empty() {
            findings.warn(format!("time stamp {} lies in both {pair}", labels.join(", ")));
        }
    }
    findings.advise("the evaluator withholds the facts of a shared time stamp until that step is over");
}

fn interleaved(findings: &mut Findings, loaded: &Loaded, data: &Dataset, info: &TemporalInfo) {
    let inside = info.completion.as_ref().map_or(0.0, |part| part.test_time_stamps_inside_train);
    if inside >= INTERPOLATION {
        findings.fail(format!(
            "this is an interpolation split: {:.0} % of the test time stamps lie inside the time range of train",
            100.0 * inside
        ));
        findings.advise("use it for completion; a forecast on it would know the future");
    } else {
        findings.advise("divide the facts by time: train before valid before test");
    }
    // A fact in words: `test.txt:17 (2014-01-03)`.
    let place = |split: Split, step: Step, line: fn(&SourceFile) -> Option<u64>| {
        let label = data.axis.label(step);
        let source = loaded.sources.as_ref().map(|sources| sources.get(split));
        match source.and_then(|source| Some((file_name(source), line(source)?))) {
            Some((file, line)) => format!("{file}:{line} ({label})"),
            None => format!("{split} ({label})"),
        }
    };
    for (earlier, later) in
        [(Split::Train, Split::Valid), (Split::Train, Split::Test), (Split::Valid, Split::Test)]
    {
        let (early, late) = (data.splits.get(earlier), data.splits.get(later));
        let Some((first, last)) =
            late.first_step().zip(early.last_step()).filter(|(first, last)| first < last)
        else {
            continue;
        };
        let before: usize =
            late.occupied().take_while(|&step| step < last).map(|step| late.snapshot(step).len()).sum();
        findings.fail(format!(
            "{} lies before {} ({before} of {} {later} facts do)",
            place(later, first, |source| source.earliest_at),
            place(earlier, last, |source| source.latest_at),
            late.len()
        ));
    }
}

fn file_name(source: &SourceFile) -> String {
    source.path.file_name().unwrap_or(source.path.as_os_str()).display().to_string()
}

fn unsorted(findings: &mut Findings, sources: Option<&Splits<SourceFile>>) {
    let Some(sources) = sources else { return };
    let mut any = false;
    for (_, source) in sources.iter() {
        if let Some(line) = source.unsorted_at {
            let file = file_name(source);
            findings.warn(format!(
                "{file} is not sorted by time: line {line} is earlier than the line before it"
            ));
            any = true;
        }
    }
    if any {
        findings.advise(
            "facts are sorted on reading here; other programs may cut wrong snapshots from such files",
        );
    } else {
        findings.note("all files are sorted by time");
    }
}

fn evolving(info: &EvolvingInfo) -> Findings {
    let mut findings = Findings::new();
    let mut clean = true;
    for step in &info.steps {
        let checks = &step.checks;
        let [increment, operations] =
            [checks.increment_differs, checks.operations_differ].map(Option::unwrap_or_default);
        let counts = [
            (checks.void_operations, "operations change nothing"),
            (checks.repeated_operations, "operations touch a triple again"),
            (increment, "triples differ between the increment file and the inserts"),
            (operations, "triples differ between the operations and the next graph"),
        ];
        for (count, what) in counts.iter().filter(|(count, _)| *count > 0) {
            findings.warn(format!("step {}: {count} {what}", step.label));
            clean = false;
        }
    }
    if clean {
        findings.note(format!(
            "the operations of all {} steps lead from each graph to the next",
            info.steps.len()
        ));
    }
    findings
}
