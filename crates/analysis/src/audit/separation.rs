//! D3: is there a validation set, and are the sets apart?

use quadcast_core::Splits;

use super::check::Findings;
use crate::info::{Details, EvolvingInfo, Info, IntervalsInfo, SharedBySplits};

pub(super) fn validation(info: &Info) -> Findings {
    let mut findings = Findings::new();
    match &info.details {
        Details::Temporal(part) => {
            splits(&mut findings, info, &part.facts);
            shared(&mut findings, &part.shared_quadruples, "quadruples");
        }
        Details::Static(part) => {
            splits(&mut findings, info, &part.facts);
            shared(&mut findings, &part.shared_triples, "triples");
        }
        Details::Intervals(part) => {
            splits(&mut findings, info, &part.facts);
            intervals(&mut findings, part);
        }
        Details::Evolving(part) => evolving(&mut findings, part),
    }
    findings
}

fn splits(findings: &mut Findings, info: &Info, facts: &Splits<usize>) {
    if facts.valid == 0 {
        findings.fail("the validation set is empty");
        findings.advise("cut a validation set off the end of train; never choose hyperparameters on test");
        return;
    }
    if info.split_fingerprints.as_ref().is_some_and(|hashes| hashes.valid == hashes.test) {
        findings.fail("the validation set is the test set");
        findings.advise(
            "cut a validation set off the end of train; whatever is chosen on this one is chosen on test",
        );
        return;
    }
    findings.note(format!("{} validation facts, {} test facts", facts.valid, facts.test));
}

fn shared(findings: &mut Findings, shared: &SharedBySplits<usize>, what: &str) {
    let mut apart = true;
    for (pair, count) in shared.pairs().into_iter().rev().filter(|(_, count)| **count > 0) {
        findings.fail(format!("{count} {what} stand in both {pair}"));
        apart = false;
    }
    if apart {
        findings.note(format!("no common {what}"));
    } else {
        findings.advise(
            "remove common facts from the earlier split, or report the results with and without them",
        );
    }
}

fn intervals(findings: &mut Findings, info: &IntervalsInfo) {
    if info.test_in_train > 0 {
        findings.fail(format!("{} test rows stand in train as they are", info.test_in_train));
    }
    if info.test_in_train_with_other_interval > 0 {
        findings.warn(format!(
            "{} of {} test rows have a triple that is in train with another interval",
            info.test_in_train_with_other_interval, info.facts.test
        ));
        findings.advise("report these rows apart: a model that ignores time has their answer from train");
    }
}

fn evolving(findings: &mut Findings, info: &EvolvingInfo) {
    for step in &info.steps {
        if step.valid.all == 0 {
            findings.fail(format!("step {}: the validation set is empty", step.label));
        }
        if step.test_in_train > 0 {
            let (count, all) = (step.test_in_train, step.test.all);
            findings.fail(format!(
                "step {}: {count} of {all} test triples stand in the training graph",
                step.label
            ));
        } else if step.checks.overlap > 0 {
            let count = step.checks.overlap;
            findings
                .fail(format!("step {}: {count} triples stand in two of train, valid and test", step.label));
        }
    }
    let clean = info.steps.iter().all(|step| step.checks.overlap == 0 && step.valid.all > 0);
    if clean {
        findings.note("train, valid and test are disjoint at every step");
    } else {
        findings.advise("leave the triples that stand in training out of the evaluation");
    }
    if info.evaluation_constant && info.steps.len() > 1 {
        findings
            .note("validation and test are the same at every step: forgetting deleted facts is not tested");
    }
}
