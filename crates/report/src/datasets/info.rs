//! The statistics of a dataset as text.

use quadcast_analysis::{
    CompletionInfo, Details, EvolvingInfo, IdSpace, Info, IntervalsInfo, Novelties, Recurrency, Sampled,
    Share, SharedBySplits, SplitOrder, SplitRange, StaticInfo, StepChecks, StepInfo, TemporalInfo, TimeInfo,
    Unseen, time_span,
};
use quadcast_core::Splits;
use quadcast_data::{CatalogueMatch, Family, Format};

use super::block::Block;

/// How many widths of gaps are listed; the JSON document has all.
const SHOWN_WIDTHS: usize = 8;

/// More steps than fit beside each other are shown in several tables.
const STEPS_PER_TABLE: usize = 4;

/// The statistics of a dataset: lines of at most a hundred columns.
pub fn info_text(info: &Info) -> String {
    let mut block = Block::default();
    block.heading(&format!("{}: {}", info.name, kind_words(info)));
    block.row("folder", &info.path.display().to_string());
    block.row("format", format_words(info.format));
    block.row("catalogue", &catalogue_words(info));
    block.row("fingerprint", &info.fingerprint.to_string());
    if let Some(splits) = &info.split_fingerprints {
        for (split, hash) in splits.iter() {
            block.row(&format!("  of {split}"), &hash.to_string());
        }
    }
    block.row("entities", &id_space(&info.entities));
    block.row("relations", &id_space(&info.relations));
    match &info.details {
        Details::Temporal(part) => temporal(&mut block, part),
        Details::Static(part) => graph(&mut block, part),
        Details::Intervals(part) => intervals(&mut block, part),
        Details::Evolving(part) => evolving(&mut block, part),
    }
    remarks(&mut block, "Read as", info.notes.iter().map(String::as_str));
    remarks(&mut block, "Known peculiarities", info.quirks.iter().copied());
    block.finish()
}

fn remarks<'a>(block: &mut Block, heading: &str, sentences: impl Iterator<Item = &'a str>) {
    for (number, sentence) in sentences.enumerate() {
        if number == 0 {
            block.heading(heading);
        }
        block.sentence(sentence, "- ");
    }
}

fn kind_words(info: &Info) -> &'static str {
    match (&info.details, info.family) {
        (Details::Temporal(_), Some(Family::Forecasting)) => "facts with time stamps, made for forecasting",
        (Details::Temporal(_), Some(Family::Completion)) => "facts with time stamps, made for completion",
        (Details::Temporal(_), _) => "facts with time stamps",
        (Details::Static(_), _) => "facts without time",
        (Details::Intervals(_), _) => "facts with validity intervals",
        (Details::Evolving(_), _) => "a graph that changes in steps",
    }
}

fn format_words(format: Format) -> &'static str {
    use Format::{Intervals, Labelled, Lkge, Openke, Quads, Snapshots, WikidataEvolve};
    match format {
        Quads => "quads (subject relation object time, ids)",
        Labelled => "labelled (subject relation object date, names)",
        Intervals => "intervals (subject relation object start end)",
        Openke => "openke (head tail relation)",
        WikidataEvolve => "wikidata-evolve (updates, increments, snapshots)",
        Snapshots => "snapshots (one OpenKE folder per snapshot)",
        Lkge => "lkge (one folder of new facts per step, names)",
    }
}

fn catalogue_words(info: &Info) -> String {
    match &info.catalogue {
        Some(CatalogueMatch::Exact { name }) => format!("{name}, content equal"),
        Some(CatalogueMatch::Near { name, reason }) => format!("near match {name}: {reason}"),
        None => "no variant of these sizes is known".to_owned(),
    }
}

fn id_space(ids: &IdSpace) -> String {
    let unused = match ids.never_used {
        0 => String::new(),
        count => format!(", {count} never used"),
    };
    let declared = match ids.declared {
        Some(declared) if declared != ids.size => format!("; the files declare {declared}"),
        _ => String::new(),
    };
    format!("{} ids, {} used{unused}{declared}", ids.size, ids.used)
}

/// A share in per cent with its count.
fn share(share: &Share) -> String {
    format!("{:.2} % ({})", 100.0 * share.share, share.count)
}

fn novelties(block: &mut Block, novelties: &Novelties) {
    block.heading("What the test split brings");
    for (plural, novelty) in [("entities", &novelties.entities), ("relations", &novelties.relations)] {
        block.row(&format!("{plural} in train"), &novelty.in_train.to_string());
        block.row("  test ones unseen in train", &unseen(&novelty.unseen_in_train));
        block.row("  unseen in train and valid", &unseen(&novelty.unseen_in_train_and_valid));
    }
}

fn unseen(unseen: &Unseen) -> String {
    if unseen.ids == 0 {
        return "none".to_owned();
    }
    let more = if unseen.ids > unseen.examples.len() { ", ..." } else { "" };
    let facts = if unseen.test_facts == 1 { "fact" } else { "facts" };
    format!("{} in {} test {facts}: {}{more}", unseen.ids, unseen.test_facts, unseen.examples.join(", "))
}

fn temporal(block: &mut Block, info: &TemporalInfo) {
    let range = |pick: fn(&SplitRange) -> &String| -> Vec<String> {
        info.time
            .ranges
            .iter()
            .map(|(_, range)| range.as_ref().map_or_else(|| "-".to_owned(), |r| pick(r).clone()))
            .collect()
    };
    let times = vec![
        ("time stamps", cells(&info.time_stamps)),
        ("first", range(|range| &range.first)),
        ("last", range(|range| &range.last)),
    ];
    splits(block, &info.facts, times, &info.duplicates, &info.self_loops);
    block.row("order in time", order(info.split_order));
    block.row("quadruples in two splits", &shared(&info.shared_quadruples));
    block.row("time stamps in two splits", &shared_times(info));
    time(block, info);
    novelties(block, &info.novelty);
    recurrency(block, info);
    if let Some(completion) = &info.completion {
        completion_rows(block, completion);
    }
}

fn time(block: &mut Block, info: &TemporalInfo) {
    let time = &info.time;
    block.heading("Time");
    block.row("span", &format!("{} to {}", time.first, time.last));
    block.row("steps", &format!("{} of {}", time.steps, time_span(time.unit, time.granularity)));
    block.row("gaps", &gaps(time));
    let per = &info.facts_per_time_stamp;
    block.row("facts per time stamp", &format!("{:.1} on average, {} to {}", per.mean, per.min, per.max));
}

fn recurrency(block: &mut Block, info: &TemporalInfo) {
    block.heading("How much of the test split repeats");
    let rows = |block: &mut Block, recurrency: &Recurrency| {
        block.row("seen at any earlier time", &share(&recurrency.earlier));
        block.row("seen one time stamp before", &share(&recurrency.previous));
        block.row("in train or valid", &share(&recurrency.in_train_and_valid));
        block.row("in train", &share(&recurrency.in_train));
    };
    rows(block, &info.recurrency);
    if info.duplicates.test > 0 {
        let left = info.recurrency_without_duplicates.test_facts;
        block.heading(&format!("The same without repeated rows ({left} test facts)"));
        rows(block, &info.recurrency_without_duplicates);
    }
    block.heading("True answers per test query, on average");
    let answers = &info.answers;
    let mean = |a: f64| format!("{a:.2}");
    block.table(
        &["same time".to_owned(), "any time".to_owned()],
        &[
            ("objects", vec![mean(answers.objects.time_aware), mean(answers.objects.any_time)]),
            ("subjects", vec![mean(answers.subjects.time_aware), mean(answers.subjects.any_time)]),
        ],
    );
}

fn completion_rows(block: &mut Block, info: &CompletionInfo) {
    block.heading("What train gives away of a test fact (s, r, o, t)");
    block.row("(s, r, o) at any time", &share(&info.in_train_at_any_time));
    block.row("(s, r, o) earlier", &share(&info.in_train_earlier));
    block.row("(s, r, o) one step before", &share(&info.in_train_one_before));
    block.row("(s, r, o) one before or after", &share(&info.in_train_one_before_or_after));
    block.row("(o, r, s) at t", &share(&info.mirrored_in_train));
    block.row("(o, any relation, s) at t", &share(&info.reversed_pair_in_train));
}

fn graph(block: &mut Block, info: &StaticInfo) {
    splits(block, &info.facts, Vec::new(), &info.duplicates, &info.self_loops);
    block.row("triples in two splits", &shared(&info.shared_triples));
    block.row("type constraints", if info.type_constraints { "listed" } else { "none" });
    novelties(block, &info.novelty);
    block.row("reversed pair in train", &share(&info.reversed_pair_in_train));
}

fn intervals(block: &mut Block, info: &IntervalsInfo) {
    splits(block, &info.facts, Vec::new(), &info.duplicates, &info.self_loops);
    if let Some(rows) = info.unsplit_rows {
        block.row("facts before the split", &rows.to_string());
    }
    block.heading(&format!("Intervals of all {} facts", info.rows));
    if let Some(years) = info.years {
        block.row("years", &format!("{} to {}", years.first, years.last));
    }
    let open = |count: usize, coarse: usize| match coarse {
        0 => count.to_string(),
        _ => format!("{count}, of which {coarse} with some digits of the year known"),
    };
    block.row("start unknown", &open(info.open_start, info.coarse_start));
    block.row("end unknown", &open(info.open_end, info.coarse_end));
    block.row("both unknown", &info.open_both.to_string());
    block.row("start and end in the same year", &info.same_year.to_string());
    block.row("end before start", &info.end_before_start.to_string());
    let several = match info.several_intervals {
        0 => "none".to_owned(),
        count => format!("{count}, up to {} intervals each", info.most_intervals),
    };
    block.row("triples with several intervals", &several);
    novelties(block, &info.novelty);
    block.row("in train, other interval", &info.test_in_train_with_other_interval.to_string());
    block.row("in train, same interval", &info.test_in_train.to_string());
}

/// A table of the splits, with further rows below the number of facts.
fn splits(
    block: &mut Block,
    facts: &Splits<usize>,
    further: Vec<(&str, Vec<String>)>,
    duplicates: &Splits<usize>,
    self_loops: &Splits<usize>,
) {
    let mut rows = vec![("facts", cells(facts))];
    rows.extend(further);
    rows.extend([("repeated rows", cells(duplicates)), ("self loops", cells(self_loops))]);
    block.heading("Splits");
    block.table(&["train", "valid", "test"].map(str::to_owned), &rows);
}

fn cells(counts: &Splits<usize>) -> Vec<String> {
    counts.iter().map(|(_, count)| count.to_string()).collect()
}

fn order(order: SplitOrder) -> &'static str {
    match order {
        SplitOrder::Ordered => "train before valid before test: for forecasting",
        SplitOrder::SharedBorder => "train, valid, test, with a time stamp shared at a border",
        SplitOrder::Interleaved => "the splits interleave: for completion, not for forecasting",
    }
}

fn shared(shared: &SharedBySplits<usize>) -> String {
    let pairs = shared.pairs().into_iter().filter(|(_, count)| **count > 0);
    let words: Vec<String> = pairs.map(|(pair, count)| format!("{count} in {pair}")).collect();
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}

fn shared_times(info: &TemporalInfo) -> String {
    let examples = info.shared_time_stamp_examples.pairs();
    let pairs = info.shared_time_stamps.pairs().into_iter().zip(examples);
    let words = pairs.filter(|((_, count), _)| **count > 0).map(|((pair, &count), (_, examples))| {
        let more = if count > examples.len() { ", ..." } else { "" };
        format!("{count} in {pair} ({}{more})", examples.join(", "))
    });
    let words: Vec<String> = words.collect();
    if words.is_empty() { "none".to_owned() } else { words.join("; ") }
}

fn gaps(time: &TimeInfo) -> String {
    if time.gaps == 0 {
        return "none".to_owned();
    }
    let widths: Vec<String> = time
        .gap_widths
        .iter()
        .take(SHOWN_WIDTHS)
        .map(|gap| format!("{} x {}", gap.count, time_span(time.unit, gap.width)))
        .collect();
    let more = if time.gap_widths.len() > SHOWN_WIDTHS { ", ..." } else { "" };
    let first = &time.first_gaps[0];
    format!("{}{more}; the first after {}, until {}", widths.join(", "), first.after, first.before)
}

fn evolving(block: &mut Block, info: &EvolvingInfo) {
    for steps in info.steps.chunks(STEPS_PER_TABLE) {
        block.heading("Steps");
        table(block, steps);
    }
    block.heading("Over all steps");
    block.row("entities gone at the end", &info.entities_gone.to_string());
    let constant =
        if info.evaluation_constant { "the same at every step" } else { "change from step to step" };
    block.row("validation and test", constant);
    checks(block, &info.steps);
}

fn table(block: &mut Block, steps: &[StepInfo]) {
    let cells = |cell: &dyn Fn(&StepInfo) -> String| -> Vec<String> { steps.iter().map(cell).collect() };
    let number = |pick: fn(&StepInfo) -> usize| cells(&|step| pick(step).to_string());
    let mut rows = vec![
        ("training operations", number(|step| step.training.total())),
        ("  inserts", number(|step| step.training.inserts)),
        ("  deletes", number(|step| step.training.deletes)),
        ("training graph", number(|step| step.training_graph)),
        ("validation (ranked / all)", cells(&|step| sampled(step.valid))),
        ("test (ranked / all)", cells(&|step| sampled(step.test))),
        ("whole graph", number(|step| step.graph)),
        (
            "all operations",
            cells(&|step| step.operations.map_or_else(dash, |o| format!("+{} -{}", o.inserts, o.deletes))),
        ),
        ("entities", number(|step| step.entities)),
        ("relations", number(|step| step.relations)),
        (
            "entities that came and went",
            cells(&|step| format!("+{} -{}", step.entity_change.added, step.entity_change.removed)),
        ),
        ("entities in training", number(|step| step.training_entities)),
        ("test entities unseen there", number(|step| step.test_entities_unseen)),
        ("test triples in training", number(|step| step.test_in_train)),
    ];
    if steps.iter().any(|step| !step.categories.is_empty()) {
        let names = ["category 2, deleted", "category 3, returned", "category 4, deleted again"];
        rows.extend(
            names.into_iter().zip(2..).map(|(name, number)| (name, cells(&|step| category(step, number)))),
        );
    }
    if steps.iter().any(|step| step.classification.is_some()) {
        let true_negatives =
            |step: &StepInfo| step.classification.map_or_else(dash, |c| c.negatives_in_graph.to_string());
        rows.push(("negatives that are true", cells(&true_negatives)));
    }
    let titles: Vec<String> = steps.iter().map(|step| step.label.clone()).collect();
    block.table(&titles, &rows);
}

fn dash() -> String {
    "-".to_owned()
}

fn sampled(size: Sampled) -> String {
    if size.ranked == size.all { size.all.to_string() } else { format!("{} / {}", size.ranked, size.all) }
}

fn category(step: &StepInfo, number: u8) -> String {
    let found = step.categories.iter().find(|category| category.number == number);
    found.map_or_else(dash, |category| category.total.to_string())
}

fn checks(block: &mut Block, steps: &[StepInfo]) {
    if steps.iter().all(|step| step.checks.clean()) {
        block.row("agreement of the files", "every check passes at every step");
    }
    for step in steps.iter().filter(|step| !step.checks.clean()) {
        block.row(&format!("checks at step {}", step.label), &violations(&step.checks));
    }
}

/// Violated checks in words.
fn violations(checks: &StepChecks) -> String {
    let found = [
        (Some(checks.void_operations), "operations change nothing"),
        (Some(checks.repeated_operations), "operations repeat a triple"),
        (checks.increment_differs, "triples differ between increment and inserts"),
        (checks.operations_differ, "triples differ between all operations and the graph"),
        (Some(checks.overlap), "triples in two of train, valid and test"),
        (Some(checks.misplaced_categories), "category triples contradict the graph"),
        (checks.entities_differ, "entities differ between list and graph"),
    ];
    let found = found.iter().filter_map(|(count, what)| Some(((*count)?, what)));
    let words = found.filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
    words.collect::<Vec<_>>().join("; ")
}
