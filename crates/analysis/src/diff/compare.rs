//! The comparison from end to end.

use quadcast_core::{Split, Splits};

use super::error::DiffError;
use super::names::{self, align};
use super::report::{DiffExamples, DiffReport, DiffSide, TimeMatch};
use super::sides::{Fact, Side};
use super::times::{self, ways};
use crate::AnalysisError;
use quadcast_data::{Loaded, fingerprint};

/// How many facts that only one dataset has are shown.
const EXAMPLES: usize = 3;

/// Compares two datasets by their facts, whatever their ids, spelling, unit of time and splits.
pub fn diff(a: &Loaded, b: &Loaded) -> Result<DiffReport, AnalysisError> {
    let (a, b) = (Side::of(a)?, Side::of(b)?);
    let [used_a, used_b] = [&a, &b].map(used);
    let (of_a, of_b) = (a.vocabulary, b.vocabulary);
    let entities = align(&of_a.entities, &of_b.entities, [&used_a.entities, &used_b.entities]);
    let relations = align(&of_a.relations, &of_b.relations, [&used_a.relations, &used_b.relations]);
    let mut best: Option<(Common, times::Aligned)> = None;
    for way in ways(&a.times, &b.times) {
        let common = Common::count(&a, &b, &entities, &relations, &way);
        if best.as_ref().is_none_or(|(found, _)| common.facts > found.facts) {
            best = Some((common, way));
        }
    }
    let Some((common, way)) = best else {
        let name = |side: &Side<'_>| side.loaded.content.name().to_owned();
        let (a_kind, b_kind) = (a.times.kind(), b.times.kind());
        return Err(DiffError::Kinds { a: name(&a), a_kind, b: name(&b), b_kind }.into());
    };
    let time = way.by.map(|by| TimeMatch {
        by,
        note: way.note,
        a: a.times.len(),
        b: b.times.len(),
        common: way.to_a.iter().flatten().count(),
    });
    let same_facts = a.facts.len() == common.facts && b.facts.len() == common.facts;
    let stayed: usize = Split::ALL.iter().map(|&split| common.moved.get(split).get(split)).sum();
    let same_splits = same_facts && stayed == common.facts;
    Ok(DiffReport {
        verdict: verdict(a.facts.len(), b.facts.len(), common.facts, same_splits),
        a: described(&a),
        b: described(&b),
        entities: entities.report,
        relations: relations.report,
        time,
        common: common.facts,
        moved: common.moved,
        only_a: common.only_a,
        only_b: common.only_b,
        examples: common.examples,
        same_facts,
        same_splits,
    })
}

/// The ids that facts use.
struct Used {
    entities: Vec<bool>,
    relations: Vec<bool>,
}

fn used(side: &Side<'_>) -> Used {
    let mut used = Used {
        entities: vec![false; side.vocabulary.entities.len()],
        relations: vec![false; side.vocabulary.relations.len()],
    };
    for ([subject, relation, object, _], _) in &side.facts {
        used.entities[*subject as usize] = true;
        used.entities[*object as usize] = true;
        used.relations[*relation as usize] = true;
    }
    used
}

/// What both have, and what only one has.
#[derive(Default)]
struct Common {
    facts: usize,
    moved: Splits<Splits<usize>>,
    only_a: Splits<usize>,
    only_b: Splits<usize>,
    examples: DiffExamples,
}

impl Common {
    fn count(
        a: &Side<'_>,
        b: &Side<'_>,
        entities: &names::Aligned,
        relations: &names::Aligned,
        times: &times::Aligned,
    ) -> Self {
        let translated = |[subject, relation, object, time]: Fact| {
            Some([
                entities.to_a[subject as usize]?,
                relations.to_a[relation as usize]?,
                entities.to_a[object as usize]?,
                times.to_a[time as usize]?,
            ])
        };
        let mut found = Self::default();
        let mut in_b = vec![false; a.facts.len()];
        for &(fact, split) in &b.facts {
            let place =
                translated(fact).and_then(|fact| a.facts.binary_search_by_key(&fact, |row| row.0).ok());
            if let Some(place) = place {
                in_b[place] = true;
                found.facts += 1;
                *part(part(&mut found.moved, a.facts[place].1), split) += 1;
            } else {
                *part(&mut found.only_b, split) += 1;
                if found.examples.only_b.len() < EXAMPLES {
                    found.examples.only_b.push(b.words(fact));
                }
            }
        }
        for (&(fact, split), _) in a.facts.iter().zip(&in_b).filter(|(_, in_b)| !**in_b) {
            *part(&mut found.only_a, split) += 1;
            if found.examples.only_a.len() < EXAMPLES {
                found.examples.only_a.push(a.words(fact));
            }
        }
        found
    }
}

/// The place of a split.
fn part<T>(splits: &mut Splits<T>, split: Split) -> &mut T {
    match split {
        Split::Train => &mut splits.train,
        Split::Valid => &mut splits.valid,
        Split::Test => &mut splits.test,
    }
}

fn described(side: &Side<'_>) -> DiffSide {
    let count = |wanted| side.facts.iter().filter(|(_, split)| *split == wanted).count();
    DiffSide {
        path: side.loaded.path.clone(),
        name: side.loaded.content.name().to_owned(),
        variant: side.loaded.variant.map(|variant| variant.name),
        fingerprint: fingerprint(&side.loaded.content),
        facts: side.facts.len(),
        repetitions: side.repetitions,
        splits: Splits { train: count(Split::Train), valid: count(Split::Valid), test: count(Split::Test) },
    }
}

fn verdict(a: usize, b: usize, common: usize, same_splits: bool) -> String {
    match (a - common, b - common) {
        (0, 0) if same_splits => format!("the same {common} facts, in the same splits"),
        (0, 0) => format!("the same {common} facts, differently split"),
        _ if common == 0 => "no fact in common".to_owned(),
        (0, more) => format!("all {common} facts of A are in B, which has {more} more"),
        (more, 0) => format!("all {common} facts of B are in A, which has {more} more"),
        (only_a, only_b) => {
            format!("{common} facts in common; {only_a} are only in A and {only_b} only in B")
        }
    }
}
