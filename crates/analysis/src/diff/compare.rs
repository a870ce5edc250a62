//! The comparison from end to end.

use quadcast_core::{Split, Splits};

use super::names::{AlignedNames, align};
use super::report::{DiffExamples, DiffReport, DiffSide, TimeMatch};
use super::sides::{AlignedTimes, Fact, Side, ways};
use crate::AnalysisError;
use quadcast_data::{Loaded, fingerprint};

/// How many facts that only one dataset has are shown.
const EXAMPLES: usize = 3;

/// Compares two datasets by their facts, whatever their ids, spelling, unit of time and splits.
pub fn diff(a: &Loaded, b: &Loaded) -> Result<DiffReport, AnalysisError> {
    let (a, b) = (Side::of(a)?, Side::of(b)?);
    let [used_a, used_b] = [&a, &b].map(used);
    let (of_a, of_b) = (a.data.vocabulary, b.data.vocabulary);
    let entities = align(&of_a.entities, &of_b.entities, [&used_a[0], &used_b[0]]);
    let relations = align(&of_a.relations, &of_b.relations, [&used_a[1], &used_b[1]]);
    let mut best: Option<(Common, AlignedTimes)> = None;
    for way in ways(&a.data.times, &b.data.times) {
        let common = Common::count(&a, &b, &entities, &relations, &way);
        if best.as_ref().is_none_or(|(found, _)| common.facts > found.facts) {
            best = Some((common, way));
        }
    }
    let Some((common, way)) = best else {
        let [a, b] = [a, b].map(|side| format!("{} is {}", side.loaded.content.name(), side.kind()));
        return Err(AnalysisError::Input(format!(
            "{a}, {b}: there is nothing to align; give two datasets of one kind"
        )));
    };
    let time = way.by.map(|by| TimeMatch {
        by,
        note: way.note,
        a: a.times(),
        b: b.times(),
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

/// The entities and relations that facts use.
fn used(side: &Side<'_>) -> [Vec<bool>; 2] {
    let vocabulary = side.data.vocabulary;
    let mut entities = vec![false; vocabulary.entities.len()];
    let mut relations = vec![false; vocabulary.relations.len()];
    for ([subject, relation, object, _], _) in &side.facts {
        entities[*subject as usize] = true;
        entities[*object as usize] = true;
        relations[*relation as usize] = true;
    }
    [entities, relations]
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
        entities: &AlignedNames,
        relations: &AlignedNames,
        times: &AlignedTimes,
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
