//! Which held-out triples a model of an evolving graph is asked about: all of them, or those that the benchmark names.
//!
//! An update asks about the triples of the last step of its run again, as far as they are still true: only then its numbers
//! say what the update changed. A version saves them in a file, since its graph does not tell them from other held-out triples.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use quadcast_core::{EvolvingDataset, EvolvingStep, SplitTriples, Triple};
use serde::{Deserialize, Serialize};

use crate::{AskedAbout, RunError, write_atomically};

/// The file in which a version of a run saves which triples are asked about.
pub(crate) const QUESTIONS_FILE: &str = "questions.json";

/// The triples of one step as subject, relation, object.
#[derive(Serialize, Deserialize)]
struct StepTriples {
    valid: Vec<[u32; 3]>,
    test: Vec<[u32; 3]>,
}

impl StepTriples {
    fn of(triples: &SplitTriples) -> Self {
        let rows = |triples: &[Triple]| -> Vec<[u32; 3]> {
            triples.iter().map(|triple| [triple.subject.0, triple.relation.0, triple.object.0]).collect()
        };
        Self { valid: rows(&triples.valid), test: rows(&triples.test) }
    }

    fn triples(&self) -> SplitTriples {
        let triples = |rows: &[[u32; 3]]| -> Vec<Triple> {
            rows.iter().map(|&[subject, relation, object]| Triple::new(subject, relation, object)).collect()
        };
        SplitTriples { valid: triples(&self.valid), test: triples(&self.test) }
    }
}

/// Asks about everything that is held out.
pub(crate) fn ask_about_all(data: &mut EvolvingDataset) {
    for step in &mut data.steps {
        if let Some(all) = step.evaluation_all.take() {
            step.evaluation = all;
        }
    }
}

/// What is asked about at the steps from the first that is played.
pub(crate) fn asked_about(steps: &[EvolvingStep], first: usize) -> AskedAbout {
    let partial = || (first..steps.len()).filter(|&at| !is_complete(&steps[at]));
    if partial().next().is_none() {
        AskedAbout::All
    } else if partial().all(|at| asks_about_new_triples(&steps[..=at])) {
        AskedAbout::New
    } else {
        AskedAbout::Sample
    }
}

/// The held-out triples of every step and nothing else, to remember a graph by.
pub(crate) fn outline(data: &EvolvingDataset) -> Vec<EvolvingStep> {
    let outlined = |step: &EvolvingStep| EvolvingStep {
        evaluation: step.evaluation.clone(),
        evaluation_all: step.evaluation_all.clone(),
        ..EvolvingStep::default()
    };
    data.steps.iter().map(outlined).collect()
}

/// Makes a graph ask what it asked before a step was added to it.
pub(crate) fn keep_asking(data: &mut EvolvingDataset, before: &[EvolvingStep]) {
    for (step, old) in data.steps.iter_mut().zip(before) {
        ask_again(step, &old.evaluation);
    }
    let (Some(added), Some(old)) = (data.steps.get_mut(before.len()), before.last()) else { return };
    if is_complete(old) {
        added.evaluation = held_out(added).clone();
    } else if !asks_about_new_triples(before) {
        ask_again(added, &old.evaluation);
    }
    // Prepared examples belong to other triples; without them, they are drawn from those that are asked about.
    added.classification.clear();
    added.classification_valid.clear();
}

/// Which triples are asked about, as a version saves them.
pub(crate) struct SavedQuestions(Vec<u8>);

impl SavedQuestions {
    /// What a graph asks.
    pub(crate) fn of(data: &EvolvingDataset) -> Result<Self, RunError> {
        let rows: Vec<StepTriples> =
            data.steps.iter().map(|step| StepTriples::of(&step.evaluation)).collect();
        Ok(Self(serde_json::to_vec(&rows).map_err(RunError::internal)?))
    }

    /// Keeps it in the folder of a version.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), RunError> {
        Ok(write_atomically(&folder.join(QUESTIONS_FILE), |out| out.write_all(&self.0))?)
    }
}

/// Makes the graph of a version ask what the version was asked; a run that is no update has nothing to restore.
pub(crate) fn restore(folder: &Path, data: &mut EvolvingDataset) -> Result<(), RunError> {
    let path = folder.join(QUESTIONS_FILE);
    if !path.is_file() {
        return Ok(());
    }
    let wrong = |error: &dyn std::fmt::Display| {
        RunError::input(format!("{}: {error}; make the version again with quadcast update", path.display()))
    };
    let text = fs::read(&path).map_err(|error| wrong(&error))?;
    let rows: Vec<StepTriples> = serde_json::from_slice(&text).map_err(|error| wrong(&error))?;
    for (step, rows) in data.steps.iter_mut().zip(rows) {
        ask_again(step, &rows.triples());
    }
    Ok(())
}

/// All held-out triples that are true at a step.
fn held_out(step: &EvolvingStep) -> &SplitTriples {
    step.evaluation_all.as_ref().unwrap_or(&step.evaluation)
}

/// Whether a step asks about all held-out triples.
fn is_complete(step: &EvolvingStep) -> bool {
    let sizes = |triples: &SplitTriples| (triples.valid.len(), triples.test.len());
    sizes(&step.evaluation) == sizes(held_out(step))
}

/// Whether the last of these steps asks about no triple that was held out at the step before: benchmarks of new facts do that.
fn asks_about_new_triples(steps: &[EvolvingStep]) -> bool {
    let [.., before, last] = steps else { return false };
    let known: HashSet<&Triple> = both(held_out(before)).collect();
    !both(&last.evaluation).any(|triple| known.contains(triple))
}

fn both(triples: &SplitTriples) -> impl Iterator<Item = &Triple> {
    triples.valid.iter().chain(&triples.test)
}

/// Makes a step ask about those of the triples that are held out and true. Where none is left, what was drawn stays: there is
/// no training without a question to choose a state by.
fn ask_again(step: &mut EvolvingStep, asked: &SplitTriples) {
    let kept = |asked: &[Triple], all: &[Triple]| -> Vec<Triple> {
        let all: HashSet<&Triple> = all.iter().collect();
        asked.iter().filter(|triple| all.contains(triple)).copied().collect()
    };
    let all = held_out(step);
    let (valid, test) = (kept(&asked.valid, &all.valid), kept(&asked.test, &all.test));
    if !valid.is_empty() {
        step.evaluation.valid = valid;
    }
    if !test.is_empty() {
        step.evaluation.test = test;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadcast_core::Vocabulary;

    fn triples(ids: &[u32]) -> Vec<Triple> {
        ids.iter().map(|&id| Triple::new(id, 0, id + 1)).collect()
    }

    /// A step whose validation and test triples are alike.
    fn step(asked: &[u32], all: &[u32]) -> EvolvingStep {
        let both = |ids| SplitTriples { valid: triples(ids), test: triples(ids) };
        EvolvingStep {
            evaluation: both(asked),
            evaluation_all: Some(both(all)),
            classification: vec![(Triple::new(0, 0, 1), true)],
            ..EvolvingStep::default()
        }
    }

    fn graph(steps: Vec<EvolvingStep>) -> EvolvingDataset {
        EvolvingDataset { name: "graph".to_owned(), vocabulary: Vocabulary::default(), steps }
    }

    /// The step that is added after others, with what it asks about; `drawn` is what it would ask about by itself.
    fn asked_after(before: Vec<EvolvingStep>, drawn: &[u32], all: &[u32]) -> EvolvingStep {
        let mut steps = before.clone();
        steps.push(step(drawn, all));
        let mut data = graph(steps);
        keep_asking(&mut data, &outline(&graph(before)));
        data.steps.pop().expect("a step was added")
    }

    #[test]
    fn a_sample_is_asked_again_as_far_as_it_is_true() {
        let before = vec![step(&[1, 2], &[1, 2, 3]), step(&[2, 4, 5], &[1, 2, 3, 4, 5])];
        let added = asked_after(before.clone(), &[1, 3], &[1, 2, 3, 5]);
        assert_eq!(added.evaluation.test, triples(&[2, 5]));
        assert_eq!(added.evaluation.valid, triples(&[2, 5]));
        assert!(added.classification.is_empty(), "examples of other triples");
        assert_eq!(asked_after(before, &[1], &[1, 3]).evaluation.test, triples(&[1]), "none is left");
    }

    #[test]
    fn who_asks_about_everything_goes_on_so() {
        let before = vec![step(&[1, 2], &[1, 2])];
        assert_eq!(asked_after(before, &[1], &[1, 2, 7]).evaluation.test, triples(&[1, 2, 7]));
    }

    #[test]
    fn new_facts_are_no_sample() {
        let before = vec![step(&[1, 2], &[1, 2]), step(&[3], &[1, 2, 3])];
        assert_eq!(asked_about(&before, 0), AskedAbout::New);
        assert_eq!(asked_after(before, &[1, 2, 3], &[1, 2, 3]).evaluation.test, triples(&[1, 2, 3]));
    }

    #[test]
    fn what_is_asked_has_a_word() {
        let steps = [step(&[1], &[1, 2]), step(&[1, 2], &[1, 2])];
        assert_eq!(asked_about(&steps, 0), AskedAbout::Sample);
        assert_eq!(asked_about(&steps, 1), AskedAbout::All);
        let steps = [step(&[1, 2], &[1, 2]), step(&[2, 3], &[1, 2, 3])];
        assert_eq!(asked_about(&steps, 0), AskedAbout::Sample);
    }

    #[test]
    fn a_version_keeps_what_it_was_asked() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut data = graph(vec![step(&[2], &[1, 2, 3])]);
        SavedQuestions::of(&data).and_then(|asked| asked.write(folder.path())).expect("a file");
        data.steps[0] = step(&[1, 3], &[1, 2, 3]);
        restore(folder.path(), &mut data).expect("what was written");
        assert_eq!(data.steps[0].evaluation.test, triples(&[2]));
    }
}
