//! A run on a changing graph as text for people.

use quadcast_core::CategoryKind;
use quadcast_eval::Part;
use quadcast_eval::evolving::{
    Classification, EvolvingOutcome, NegativeClassification, StepResult, Unlearning,
};

use super::{
    EvolvingRecord, PublishedComparison, PublishedLine, PublishedVerdict, published_comparisons, sources,
};
use crate::{bytes, counted, percent, plain_table, seconds};

/// The record as text. Empty for a run without results.
pub fn evolving_summary(record: &EvolvingRecord) -> String {
    let Some(outcome) = &record.outcome else { return String::new() };
    let mut text = format!(
        "{} on {} · {} · ties {} · seed {}{}\n\n",
        record.model.name,
        record.dataset.name,
        record.procedure.word(),
        record.protocol.ties.word(),
        record.seed,
        if record.protocol.compat { " · compat" } else { "" }
    );
    text.push_str(&links(outcome));
    let published = published(&published_comparisons(record), outcome);
    let tables = [ages(outcome), classification(outcome), unlearning(outcome), published];
    for table in tables.iter().filter(|table| !table.is_empty()) {
        text.push('\n');
        text.push_str(table);
    }
    text.push('\n');
    for line in footing(record, outcome) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

fn links(outcome: &EvolvingOutcome) -> String {
    let header =
        ["step", "train", "entities", "MRR", "H@1", "H@3", "H@10", "MR", "raw H@10", "raw MR", "unreached"];
    let mut table = plain_table(&header, 1..header.len());
    for step in &outcome.steps {
        let link = step.link.as_ref();
        let (filtered, raw) = (link.map(|link| link.filtered.metrics), link.map(|link| link.raw.metrics));
        let whole = |rank: Option<f64>| rank.map_or_else(nothing, |rank| format!("{rank:.0}"));
        table.add_row([
            step.label.clone(),
            counted(step.sizes.train as u64),
            counted(step.sizes.entities as u64),
            share(filtered.map(|metrics| metrics.mrr)),
            share(filtered.map(|metrics| metrics.hits1)),
            share(filtered.map(|metrics| metrics.hits3)),
            share(filtered.map(|metrics| metrics.hits10)),
            whole(filtered.map(|metrics| metrics.mr)),
            share(raw.map(|metrics| metrics.hits10)),
            whole(raw.map(|metrics| metrics.mr)),
            share(link.map(|link| link.unreached)),
        ]);
    }
    if outcome.steps.len() > 1 {
        let (filtered, raw) = (outcome.filtered.by_step, outcome.raw.by_step);
        table.add_row([
            "mean".to_owned(),
            String::new(),
            String::new(),
            percent(filtered.mrr),
            percent(filtered.hits1),
            percent(filtered.hits3),
            percent(filtered.hits10),
            format!("{:.0}", filtered.mr),
            percent(raw.hits10),
            format!("{:.0}", raw.mr),
            String::new(),
        ]);
    }
    table.trim_fmt() + "\n"
}

/// Link prediction for facts that came with the step and for those that are older; empty if no step has older ones.
fn ages(outcome: &EvolvingOutcome) -> String {
    if outcome.steps.iter().all(|step| step.old_facts().is_none()) {
        return String::new();
    }
    let header = ["step", "new: queries", "MRR", "H@10", "older: queries", "MRR", "H@10"];
    let mut table = plain_table(&header, 1..header.len());
    let cells = |part: Option<Part>| {
        [
            part.map_or_else(nothing, |part| counted(part.queries)),
            share(part.map(|part| part.metrics.mrr)),
            share(part.map(|part| part.metrics.hits10)),
        ]
    };
    for step in &outcome.steps {
        let (new, old) = (cells(step.new_facts()), cells(step.old_facts()));
        table.add_row([step.label.clone()].into_iter().chain(new).chain(old));
    }
    table.trim_fmt() + "\n"
}

fn nothing() -> String {
    "–".to_owned()
}

fn share(value: Option<f64>) -> String {
    value.map_or_else(nothing, percent)
}

/// Triple classification and triples of the past, by step; empty if there are none.
fn classification(outcome: &EvolvingOutcome) -> String {
    if outcome.steps.iter().all(|step| step.classification.is_none() && step.negative.is_none()) {
        return String::new();
    }
    let header = [
        "step",
        "accuracy",
        "by relation",
        "AUC",
        "covered",
        "deleted",
        "returned",
        "gone again",
        "balanced",
    ];
    let mut table = plain_table(&header, 1..header.len());
    for step in &outcome.steps {
        let own = step.classification.as_ref();
        let of = |kind| share(step.negative.as_ref().and_then(|negative| negative.of(kind).accuracy()));
        table.add_row([
            step.label.clone(),
            share(own.map(|c| c.accuracy)),
            share(own.map(|c| c.accuracy_by_relation)),
            share(own.map(|c| c.auc)),
            share(own.map(|c| c.coverage)),
            of(CategoryKind::Deleted),
            of(CategoryKind::Returned),
            of(CategoryKind::DeletedAgain),
            share(step.negative.as_ref().and_then(NegativeClassification::balanced)),
        ]);
    }
    if outcome.steps.len() > 1 {
        table.add_row(classification_means(outcome));
    }
    table.trim_fmt() + "\n"
}

/// Means over the steps that have examples; every step counts alike.
fn classification_means(outcome: &EvolvingOutcome) -> [String; 9] {
    let mean = |value: &dyn Fn(&StepResult) -> Option<f64>| {
        let values: Vec<f64> = outcome.steps.iter().filter_map(value).collect();
        share((!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64))
    };
    let own = |value: fn(&Classification) -> f64| {
        mean(&|step: &StepResult| step.classification.as_ref().map(value))
    };
    let of = |kind: CategoryKind| share(outcome.negative.get(&kind.number()).map(|mean| mean.by_step));
    [
        "mean".to_owned(),
        share(outcome.classification.map(|mean| mean.by_step)),
        own(|c| c.accuracy_by_relation),
        own(|c| c.auc),
        own(|c| c.coverage),
        of(CategoryKind::Deleted),
        of(CategoryKind::Returned),
        of(CategoryKind::DeletedAgain),
        mean(&|step: &StepResult| step.negative.as_ref().and_then(NegativeClassification::balanced)),
    ]
}

/// How plausible deleted triples were before and after the steps that they went with; empty if none went.
fn unlearning(outcome: &EvolvingOutcome) -> String {
    let header = ["step", "deleted: asked", "entities that fit worse, before", "after"];
    let mut table = plain_table(&header, 1..header.len());
    for step in &outcome.steps {
        if let Some(Unlearning { asked, before, after }) = step.unlearning {
            table.add_row([step.label.clone(), counted(asked as u64), percent(before), percent(after)]);
        }
    }
    if table.is_empty() { String::new() } else { table.trim_fmt() + "\n" }
}

/// Values with the published ones in brackets, a row per measure; empty if nothing is published.
fn published(comparisons: &[PublishedComparison], outcome: &EvolvingOutcome) -> String {
    if comparisons.is_empty() {
        return String::new();
    }
    let steps: Vec<String> = outcome.steps.iter().map(|step| format!("step {}", step.label)).collect();
    let mut header = vec!["measure"];
    header.extend(steps.iter().map(String::as_str));
    header.extend(["allowed", "verdict"]);
    let mut table = plain_table(&header, 1..header.len() - 1);
    // Four pairs of mean ranks and where they miss fit into 100 columns only if columns stand closer.
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
    }
    for comparison in comparisons {
        for lines in comparison.lines.chunk_by(|a, b| a.measure == b.measure) {
            table.add_row(published_row(lines, outcome));
        }
    }
    format!("{}\npublished, in brackets: {}\n", table.trim_fmt(), sources(comparisons))
}

/// One measure at all steps; there is at least one line.
fn published_row(lines: &[PublishedLine], outcome: &EvolvingOutcome) -> Vec<String> {
    let cell = |step: &StepResult| {
        let line = lines.iter().find(|line| line.step == step.step);
        line.map_or_else(nothing, |line| {
            let [ours, published] = [line.ours, line.published].map(|value| line.measure.written(value));
            format!("{ours} ({published})")
        })
    };
    let mut row = vec![lines[0].measure.word().to_owned()];
    row.extend(outcome.steps.iter().map(cell));
    row.extend([lines[0].allowed_words(), worst(lines)]);
    row
}

/// The worst verdict of all steps, and which steps miss unless all do.
fn worst(lines: &[PublishedLine]) -> String {
    let missing = lines.iter().filter(|line| line.verdict == PublishedVerdict::Misses);
    let labels: Vec<&str> = missing.map(|line| line.label.as_str()).collect();
    if (1..lines.len()).contains(&labels.len()) {
        return format!("misses at {}", labels.join(", "));
    }
    let worst = lines.iter().map(|line| line.verdict).max();
    worst.map_or_else(nothing, |verdict| verdict.word().to_owned())
}

fn footing(record: &EvolvingRecord, outcome: &EvolvingOutcome) -> Vec<String> {
    let links = outcome.steps.iter().filter_map(|step| step.link.as_ref());
    let queries: u64 = links.map(|link| link.filtered.queries).sum();
    let asked = record.asked.map_or_else(String::new, |asked| format!(" ({})", asked.words()));
    let mut lines = vec![format!("{} queries, both ends of each test triple{asked}", counted(queries))];
    if let Some(update) = &record.update {
        let [operations, entities, relations] =
            [update.operations, update.new_entities, update.new_relations].map(|count| counted(count as u64));
        lines.push(format!(
            "updated from {} with {operations} operations; new entities {entities}, new relations {relations}",
            update.from
        ));
    }
    let unasked: Vec<&str> =
        outcome.steps.iter().filter(|step| step.link.is_none()).map(|step| step.label.as_str()).collect();
    if !unasked.is_empty() {
        lines.push(format!("no test triples at step {}", unasked.join(", ")));
    }
    let per_cent = |value: f64| format!("{:+.2}", 100.0 * value);
    if let Some(change) = outcome.backward_transfer {
        let ahead = share(outcome.forward_transfer);
        lines.push(format!(
            "H@10 on earlier steps since they were learned {}, on the next step before it is learned {ahead}",
            per_cent(change)
        ));
    }
    if outcome.steps.len() > 1 {
        let cost = |step: &StepResult| seconds(step.seconds.train);
        let costs: Vec<String> = outcome.steps.iter().map(cost).collect();
        lines.push(format!("training by step: {}", costs.join(", ")));
    }
    let memory =
        record.peak_memory_bytes.map_or_else(String::new, |peak| format!(", peak memory {}", bytes(peak)));
    lines.push(format!(
        "load {}, train {}, evaluate {}{memory}",
        seconds(record.seconds.load),
        seconds(record.seconds.train),
        seconds(record.seconds.evaluate)
    ));
    lines
}

#[cfg(test)]
mod tests {
    use quadcast_core::{Split, Step, TiePolicy};
    use quadcast_eval::evolving::{CategoryOutcome, Counts, Procedure};

    use super::*;
    use crate::AskedAbout;
    use crate::samples::changing;

    #[test]
    fn classification_has_means_and_questions_have_a_source() {
        let mut record = changing("transe", 20, 1);
        let text = evolving_summary(&record);
        // Accuracy 60 and 80 per cent.
        let means: Vec<Vec<&str>> = text
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>())
            .filter(|words| words.first() == Some(&"mean"))
            .collect();
        assert_eq!(means.len(), 2, "{text}");
        assert_eq!(means[1], ["mean", "70.00", "70.00", "70.00", "100.00", "–", "–", "–", "–"]);
        assert!(text.contains("12 queries, both ends of each test triple\n"), "{text}");
        record.asked = Some(AskedAbout::Sample);
        let text = evolving_summary(&record);
        assert!(text.contains("each test triple (a sample of those held out)\n"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }

    /// Parallel universes on the four steps of the study: mean ranks of five digits, and all measures.
    fn universes() -> EvolvingRecord {
        let mut record = changing("putranse", 20, 1);
        record.dataset.variant = Some("WikidataEvolve".to_owned());
        record.procedure = Procedure::Incremental;
        record.protocol.ties = TiePolicy::Optimistic;
        record.protocol.compat = true;
        record.asked = Some(AskedAbout::Sample);
        let outcome = record.outcome.as_mut().expect("results");
        let model = outcome.steps[1].clone();
        let steps = [(0, 30000.0), (1, 30000.0), (2, 30000.0), (3, 13058.0)];
        outcome.steps = steps
            .map(|(step, mr)| {
                let mut result =
                    StepResult { step: Step(step), label: (step + 1).to_string(), ..model.clone() };
                let link = result.link.as_mut().expect("links");
                link.filtered.metrics.mr = mr;
                link.raw.metrics.mr = 30000.0;
                result
            })
            .to_vec();
        // 106 of 135 are taken for false, as in the study.
        let counts = Counts { true_negatives: 106, false_positives: 29, ..Counts::default() };
        let gone_again = CategoryOutcome { category: 4, split: Split::Train, counts };
        outcome.steps[3].negative = Some(NegativeClassification { categories: vec![gone_again] });
        record
    }

    #[test]
    fn published_values_stand_in_brackets() {
        let text = evolving_summary(&universes());
        let words = |measure: &str| -> String {
            let line = text.lines().find(|line| line.starts_with(measure)).expect("a row");
            line.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            words("MR "),
            "MR 30000 (11644) 30000 (11712) 30000 (11787) 13058 (13058) ±15 % misses at 1, 2, 3"
        );
        assert!(words("raw MR ").ends_with("30000 (13784) ±15 % misses"), "{text}");
        assert!(words("H@10 ").starts_with("H@10 50.00 (17.20)") && words("H@10 ").ends_with("±2.5 better"));
        assert_eq!(words("gone again "), "gone again – – – 78.52 (78.52) ±1.5 within");
        let source =
            "published, in brackets: Lafraie 2020, table 9; Lafraie 2020, table 10; Lafraie 2020, table 11";
        assert!(text.lines().any(|line| line == source), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert!(!evolving_summary(&changing("transe", 20, 1)).contains("published"));
    }
}
