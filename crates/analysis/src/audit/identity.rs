//! D1 and D4: which dataset is this, and are its ids sound?

use super::check::Findings;
use crate::info::{Details, IdSpace, Info, Novelties};
use quadcast_data::CatalogueMatch;

/// D1: results on different versions of one name cannot be compared.
pub(super) fn known_variant(info: &Info) -> Findings {
    let mut findings = Findings::new();
    let fingerprint = info.fingerprint;
    match &info.catalogue {
        Some(CatalogueMatch::Exact { name }) => {
            findings.note(format!("counts and content equal those of {name} (fingerprint {fingerprint})"));
        }
        Some(CatalogueMatch::Near { name, reason }) => {
            findings.warn(format!("near match of {name}: {reason} (fingerprint {fingerprint})"));
            findings.advise(format!(
                "do not compare results with published ones on {name} before the difference is clear"
            ));
        }
        None => {
            findings.warn(format!("no variant in the catalogue has these sizes (fingerprint {fingerprint})"));
            findings.advise("compare only with results that carry the same fingerprint");
        }
    }
    findings
}

/// D4: the id space is the candidate set, so its size changes ranks.
pub(super) fn ids(info: &Info) -> Findings {
    let mut findings = Findings::new();
    space(&mut findings, "entity", &info.entities);
    space(&mut findings, "relation", &info.relations);
    match &info.details {
        Details::Temporal(part) => novelties(&mut findings, &part.novelty),
        Details::Static(part) => novelties(&mut findings, &part.novelty),
        Details::Intervals(part) => novelties(&mut findings, &part.novelty),
        Details::Evolving(part) => {
            for step in part.steps.iter().filter(|step| step.test_entities_unseen > 0) {
                let count = step.test_entities_unseen;
                findings.warn(format!("step {}: test entities unseen in training: {count}", step.label));
            }
        }
    }
    findings
}

fn space(findings: &mut Findings, word: &str, ids: &IdSpace) {
    let IdSpace { size, declared, never_used, out_of_range, .. } = *ids;
    if out_of_range > 0 {
        findings
            .fail(format!("facts use {word} ids outside the {size} of the id space {out_of_range} times"));
        findings.advise(format!("list every {word} in the id file"));
    } else {
        findings.note(format!("all {word} ids lie in range (0 to {})", size.saturating_sub(1)));
    }
    if let Some(declared) = declared.filter(|&declared| declared != size) {
        findings.warn(format!("the files declare {declared} {word} ids, the id space has {size}"));
        if word == "entity" {
            findings
                .advise(format!("candidates are all {size} ids of the id space, not the declared number"));
        }
    }
    if never_used > 0 {
        findings.warn(format!("{never_used} of {size} {word} ids are never used"));
        if word == "entity" {
            findings.advise(
                "unused entities are candidates all the same: report how many candidates a query has",
            );
        }
    }
}

fn novelties(findings: &mut Findings, novelties: &Novelties) {
    for (word, novelty) in [("entities", &novelties.entities), ("relations", &novelties.relations)] {
        let unseen = &novelty.unseen_in_train;
        if unseen.ids > 0 {
            let later = &novelty.unseen_in_train_and_valid;
            findings.warn(format!(
                "test {word} unseen in train: {} (test facts touched: {}), of these unseen in valid too: {} ({})",
                unseen.ids, unseen.test_facts, later.ids, later.test_facts
            ));
        }
    }
}
