//! What the summary of a run on an evolving graph says besides.

use quadcast_eval::evolving::{EvolvingOutcome, StepResult, Unlearning};
use quadcast_run::{Record, UpdateCard};

use super::values::{Averaging, LinkValues, TRIPLE_HEADS, TripleValues, age_cells, triples_at, triples_mean};
use super::{PublishedComparison, PublishedLine, PublishedVerdict, published_comparisons, sources};
use crate::tables::Cell;
use crate::terminal::{self, WIDTH, filled};
use crate::{PlainTable, counted, percent, plain_table, seconds};

/// The tables by step, each with an empty line before it.
pub(crate) fn evolving_tables(record: &Record, outcome: &EvolvingOutcome) -> String {
    let published = published(&published_comparisons(record), outcome);
    let tables = [links(outcome), ages(outcome), classification(outcome), unlearning(outcome), published];
    tables.iter().filter(|table| !table.is_empty()).flat_map(|table| ["\n", table]).collect()
}

/// A table with a column of text and columns of numbers; empty without rows. Where it is wider than a page, columns stand closer.
fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = plain_table(header, 1..header.len());
    table.add_rows(rows);
    if table.is_empty() { String::new() } else { fitted(table) }
}

fn fitted(table: PlainTable) -> String {
    let text = table.text();
    if text.lines().all(|line| line.chars().count() <= WIDTH) {
        return text + "\n";
    }
    table.closer().text() + "\n"
}

/// A title and the texts of cells.
fn row(title: &str, cells: impl IntoIterator<Item = Cell>) -> Vec<String> {
    [title.to_owned()].into_iter().chain(cells.into_iter().map(|cell| cell.text)).collect()
}

fn links(outcome: &EvolvingOutcome) -> String {
    let header =
        ["step", "train", "entities", "MRR", "H@1", "H@3", "H@10", "MR", "raw H@10", "raw MR", "unscored"];
    let row = |title: &str, [train, entities]: [String; 2], values: LinkValues| {
        let [mrr, hits1, hits3, hits10, mr, _, raw_hits10, raw_mr, unscored] = values.cells();
        let values = [mrr, hits1, hits3, hits10, mr, raw_hits10, raw_mr, unscored];
        row(title, [train, entities].map(Cell::text).into_iter().chain(values))
    };
    let steps = outcome.steps.iter().map(|step| {
        let sizes = [step.sizes.train, step.sizes.entities].map(|size| counted(size as u64));
        row(&step.label, sizes, LinkValues::of(step))
    });
    let means = Averaging::of(outcome)
        .iter()
        .map(|&averaging| row(averaging.title(), Default::default(), LinkValues::mean(outcome, averaging)));
    table(&header, steps.chain(means))
}

/// Link prediction for facts that came with the step and for those that are older; empty if no step has older ones.
fn ages(outcome: &EvolvingOutcome) -> String {
    if outcome.steps.iter().all(|step| step.old_facts().is_none()) {
        return String::new();
    }
    let header = ["step", "new: queries", "MRR", "H@10", "older: queries", "MRR", "H@10"];
    table(&header, outcome.steps.iter().map(|step| row(&step.label, age_cells(step))))
}

fn nothing() -> String {
    "–".to_owned()
}

/// Triple classification and triples of the past, by step; empty if there are none.
fn classification(outcome: &EvolvingOutcome) -> String {
    if outcome.steps.iter().all(|step| step.classification.is_none() && step.negative.is_none()) {
        return String::new();
    }
    let header: Vec<&str> = ["step"].into_iter().chain(TRIPLE_HEADS.map(|(head, _)| head)).collect();
    let row = |title: &str, values: TripleValues| row(title, values.map(Cell::percent));
    let steps = outcome.steps.iter().map(|step| row(&step.label, triples_at(step)));
    let means = Averaging::of(outcome)
        .iter()
        .map(|&averaging| row(averaging.title(), triples_mean(outcome, averaging)));
    table(&header, steps.chain(means))
}

/// How plausible deleted triples were before and after the steps that they went with; empty if none went.
fn unlearning(outcome: &EvolvingOutcome) -> String {
    let header = ["step", "deleted triples asked", "entities that fit worse, before", "after (50 = chance)"];
    let rows = outcome.steps.iter().filter_map(|step| {
        let Unlearning { asked, before, after } = step.unlearning?;
        Some(vec![step.label.clone(), counted(asked as u64), percent(before), percent(after)])
    });
    table(&header, rows)
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
    for comparison in comparisons {
        for lines in comparison.lines.chunk_by(|a, b| a.measure == b.measure) {
            table.add_row(published_row(lines, outcome));
        }
    }
    fitted(table) + &wrapped(&format!("published, in brackets: {}", sources(comparisons)))
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
        return format!("misses {}", labels.join(", "));
    }
    let worst = lines.iter().map(|line| line.verdict).max();
    worst.map_or_else(nothing, |verdict| verdict.word().to_owned())
}

/// How lines of a paragraph after the first begin.
const INDENT: &str = "  ";

fn wrapped(text: &str) -> String {
    terminal::wrapped(text, "", INDENT)
}

/// What the tables rest on, a paragraph for each.
pub(crate) fn evolving_footing(record: &Record, outcome: &EvolvingOutcome) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(update) = &record.update {
        let [operations, entities, relations] =
            [update.operations, update.new_entities, update.new_relations].map(|count| counted(count as u64));
        lines.push(wrapped(&format!(
            "updated from {} with {operations} operations; new entities {entities}, new relations {relations}",
            update.from
        )));
        lines.extend(effect_on_earlier_step(update, outcome));
    }
    let unasked: Vec<String> =
        outcome.steps.iter().filter(|step| step.link.is_none()).map(|step| step.label.clone()).collect();
    if !unasked.is_empty() {
        lines.push(listed("no test triples at step", &unasked));
    }
    if let Some(change) = outcome.backward_transfer {
        let forward = outcome.forward_transfer.map_or_else(nothing, percent);
        lines.push(wrapped(&format!(
            "backward transfer (change of H@10 on earlier steps since they were learned) {:+.2}, forward transfer (H@10 on \
             the next step before it is learned) {forward}",
            100.0 * change
        )));
    }
    if outcome.steps.len() > 1 {
        let costs: Vec<String> = outcome.steps.iter().map(|step| seconds(step.seconds.train)).collect();
        lines.push(listed("training by step:", &costs));
    }
    lines
}

/// What an update changed for the step before it.
fn effect_on_earlier_step(update: &UpdateCard, outcome: &EvolvingOutcome) -> Option<String> {
    let then = update.learned.last()?;
    let mut asked = outcome.steps.last()?.transfer.iter();
    let now = asked.find(|transfer| transfer.step == then.step)?;
    Some(wrapped(&format!(
        "H@10 on the test triples of step {} before the update {}, after it {}",
        then.step.0 + 1,
        percent(then.hits10),
        percent(now.score.hits10)
    )))
}

/// A paragraph with a list, whose lines end between its items: no number stands apart from its unit.
fn listed(title: &str, items: &[String]) -> String {
    let ends = items
        .iter()
        .enumerate()
        .map(|(i, item)| if i + 1 < items.len() { format!("{item},") } else { item.clone() });
    let words: Vec<String> = title.split(' ').map(str::to_owned).chain(ends).collect();
    filled(words.iter().map(String::as_str), "", INDENT)
}

#[cfg(test)]
mod tests {
    use quadcast_core::{Procedure, Split, Step, TiePolicy};
    use quadcast_eval::evolving::{CategoryOutcome, Counts, NegativeClassification};
    use quadcast_run::AskedAbout;

    use super::*;
    use crate::samples::changing;
    use crate::summary;

    fn assert_fits(text: &str) {
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
    }

    /// The words of a line with one blank between them.
    fn squeezed(line: &str) -> String {
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn record(model: &str) -> Record {
        changing(model, 20, 1).record
    }

    fn results(record: &mut Record) -> &mut EvolvingOutcome {
        record.evolving.as_mut().expect("results")
    }

    #[test]
    fn classification_has_means_and_queries_have_a_source() {
        let mut record = record("transe");
        let text = summary(&record);
        // Accuracy 60 and 80 %, of 10 examples and of 30.
        let rows = |title: &str| -> Vec<String> {
            text.lines().filter_map(|line| line.strip_prefix(title)).map(squeezed).collect()
        };
        let (steps, queries) = (rows("mean of steps"), rows("all queries"));
        assert_eq!((steps.len(), queries.len()), (2, 2), "{text}");
        assert_eq!(steps[1], "70.00 70.00 70.00 100.00 – – – –");
        assert_eq!(queries[1], "75.00 75.00 – 100.00 – – – –");
        record.asked = Some(AskedAbout::Sample);
        let text = summary(&record);
        assert!(text.contains("a sample of the held-out triples"), "{text}");
        assert_fits(&text);
    }

    /// Parallel universes on the four steps of the study: mean ranks of five digits, and all measures.
    fn universes() -> Record {
        let mut record = record("putranse");
        record.dataset.variant = Some("WikidataEvolve".to_owned());
        record.protocol.procedure = Procedure::Incremental;
        record.protocol.ties = TiePolicy::Optimistic;
        record.protocol.compat = true;
        record.asked = Some(AskedAbout::Sample);
        let outcome = results(&mut record);
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
        let deleted_twice = CategoryOutcome { category: 4, split: Split::Train, counts };
        outcome.steps[3].negative = Some(NegativeClassification { categories: vec![deleted_twice] });
        record
    }

    #[test]
    fn published_values_stand_in_brackets() {
        let text = summary(&universes());
        let words = |measure: &str| -> String {
            squeezed(text.lines().find(|line| line.starts_with(measure)).expect("a row"))
        };
        assert_eq!(
            words("MR "),
            "MR 30000 (11644) 30000 (11712) 30000 (11787) 13058 (13058) ±15 % misses 1, 2, 3"
        );
        assert!(words("raw MR ").ends_with("30000 (13784) ±15 % misses"), "{text}");
        assert!(words("H@10 ").starts_with("H@10 50.00 (17.20)") && words("H@10 ").ends_with("±2.5 better"));
        assert_eq!(words("deleted twice "), "deleted twice – – – 78.52 (78.52) ±1.5 within");
        let source =
            "published, in brackets: Lafraie 2020, table 9; Lafraie 2020, table 10; Lafraie 2020, table 11";
        assert!(text.lines().any(|line| line == source), "{text}");
        assert_fits(&text);
        assert!(!summary(&record("transe")).contains("published"));
    }

    #[test]
    fn both_means_of_links_are_shown() {
        let mut record = record("transe");
        results(&mut record).filtered.by_question.mrr = 0.45;
        results(&mut record).raw.by_question.mr = 7.0;
        let row = |record: &Record, title: &str| {
            summary(record).lines().find_map(|line| line.strip_prefix(title)).map(squeezed)
        };
        let of = |title| row(&record, title).expect("a row");
        assert_eq!(of("mean of steps"), "40.00 0.00 0.00 50.00 4 50.00 4 0.00");
        assert_eq!(of("all queries"), "45.00 0.00 0.00 50.00 4 50.00 7 0.00");
        results(&mut record).steps.truncate(1);
        assert_eq!([row(&record, "mean of steps"), row(&record, "all queries")], [None, None]);
    }

    #[test]
    fn twenty_steps_of_a_large_graph_fit_a_page() {
        let mut record = record("incremental-transe");
        record.update = Some(UpdateCard {
            from: format!("{} runs", "runs/of/an/afternoon/".repeat(3)),
            file: "news.txt".to_owned(),
            operations: 1_234_567,
            new_entities: 12_345,
            new_relations: 12,
            learned: Vec::new(),
        });
        let outcome = results(&mut record);
        let mut step = outcome.steps[1].clone();
        (step.sizes.train, step.sizes.entities, step.seconds.train) = (12_345_678, 1_234_567, 725.0);
        let link = step.link.as_mut().expect("links");
        (link.filtered.metrics.mrr, link.filtered.metrics.mr, link.raw.metrics.mr) =
            (1.0, 12_345.6, 123_456.7);
        outcome.steps = (0..20).map(|i| StepResult { label: (i + 1).to_string(), ..step.clone() }).collect();
        let text = summary(&record);
        assert_fits(&text);
        assert_eq!(text.matches("12 min 05 s").count(), 20, "no line ends within a time: {text}");
        // A step without questions each.
        for step in &mut results(&mut record).steps {
            (step.link, step.label) = (None, format!("2031-01-{:0>2}", step.label));
        }
        let text = summary(&record);
        assert_fits(&text);
        assert!(text.contains("no test triples at step 2031-01-01, 2031-01-02, "), "{text}");
    }
}
