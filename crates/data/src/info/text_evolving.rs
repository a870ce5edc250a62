//! Statistics in words: graphs that change in steps.

use super::block::Block;
use super::evolving::{Change, EvolvingInfo, Sampled, StepInfo};

/// More steps than fit beside each other are shown in several tables.
const STEPS_PER_TABLE: usize = 4;

pub(super) fn evolving(block: &mut Block, info: &EvolvingInfo) {
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
        ("entities that came and went", cells(&|step| change(step.entity_change))),
        ("entities in training", number(|step| step.training_entities)),
        ("test entities unseen there", number(|step| step.test_entities_unseen)),
        ("test triples in training", number(|step| step.test_in_train)),
    ];
    if steps.iter().any(|step| !step.categories.is_empty()) {
        rows.push(("category 2, deleted", cells(&|step| category(step, 2))));
        rows.push(("category 3, returned", cells(&|step| category(step, 3))));
        rows.push(("category 4, deleted again", cells(&|step| category(step, 4))));
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

fn change(change: Change) -> String {
    format!("+{} -{}", change.added, change.removed)
}

fn category(step: &StepInfo, number: u8) -> String {
    let found = step.categories.iter().find(|category| category.number == number);
    found.map_or_else(dash, |category| category.total.to_string())
}

fn checks(block: &mut Block, steps: &[StepInfo]) {
    let violated: Vec<&StepInfo> = steps.iter().filter(|step| !step.checks.clean()).collect();
    if violated.is_empty() {
        block.row("agreement of the files", "every check passes at every step");
        return;
    }
    for step in violated {
        block.row(&format!("checks at step {}", step.label), &step.checks.words());
    }
}
