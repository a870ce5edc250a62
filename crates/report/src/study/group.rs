//! Who may be compared with whom: runs on the same content under the same protocol.

use quadcast_core::{Candidates, Filter, Protocol, Task};
use quadcast_run::{AskedAbout, DatasetCard, Reference};

use super::labels::labels;
use crate::{LoadedRun, Options};

/// All runs of a report.
pub(crate) struct Study<'a> {
    pub sections: Vec<Section<'a>>,
}

/// The runs on one dataset.
pub(crate) struct Section<'a> {
    pub dataset: &'a DatasetCard,
    /// The runs by protocol.
    pub groups: Vec<Group<'a>>,
}

/// The runs that may be compared, best first.
pub(crate) struct Group<'a> {
    /// What they have in common; the procedures of evolving graphs are compared with each other.
    pub protocol: Protocol,
    /// Evolving graphs: which held-out triples were asked about, and whether the runs are updates, which are judged at their own
    /// step only.
    pub questions: Questions,
    pub members: Vec<Member<'a>>,
    /// Rows that are not runs.
    pub references: Vec<&'a Reference>,
}

/// What was asked, besides the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Questions {
    pub asked: Option<AskedAbout>,
    pub update: bool,
}

impl Questions {
    fn of(run: &LoadedRun) -> Self {
        Self { asked: run.record.asked, update: run.record.update.is_some() }
    }
}

/// A run in its group.
pub(crate) struct Member<'a> {
    pub run: &'a LoadedRun,
    /// The shortest name that tells it from the others.
    pub label: String,
    /// Number of its colour and mark; equal labels share it across groups.
    pub series: usize,
}

impl<'a> Study<'a> {
    pub fn new(runs: &'a [LoadedRun], options: &'a Options) -> Self {
        let mut sections: Vec<(&DatasetCard, Vec<&LoadedRun>)> = Vec::new();
        for run in runs {
            let card = &run.record.dataset;
            match sections.iter_mut().find(|(other, _)| other.fingerprint == card.fingerprint) {
                Some((_, members)) => members.push(run),
                None => sections.push((card, vec![run])),
            }
        }
        let sections = sections.into_iter().map(|(card, runs)| Section::new(card, &runs, options)).collect();
        Self { sections }
    }
}

impl<'a> Section<'a> {
    fn new(dataset: &'a DatasetCard, runs: &[&'a LoadedRun], options: &'a Options) -> Self {
        let key = |run: &LoadedRun| (run.record.protocol.comparison_key(), Questions::of(run));
        let mut keys: Vec<(Protocol, Questions)> = Vec::new();
        for run in runs {
            if !keys.contains(&key(run)) {
                keys.push(key(run));
            }
        }
        keys.sort_by_key(|(protocol, _)| {
            (protocol.task, protocol.setting as u8, protocol.validation.word() == "withheld")
        });
        let labels = labels(runs);
        let mut known: Vec<String> = Vec::new();
        let mut groups = Vec::new();
        for (protocol, questions) in keys {
            let inside = runs.iter().zip(&labels).filter(|(run, _)| key(run) == (protocol, questions));
            let mut members: Vec<Member<'a>> =
                inside.map(|(run, label)| Member { run, label: label.clone(), series: 0 }).collect();
            members.sort_by(|a, b| mrr(b.run).total_cmp(&mrr(a.run)).then_with(|| a.label.cmp(&b.label)));
            for member in &mut members {
                member.series = known.iter().position(|label| *label == member.label).unwrap_or_else(|| {
                    known.push(member.label.clone());
                    known.len() - 1
                });
            }
            let fits = |r: &&Reference| {
                r.fingerprint == dataset.fingerprint
                    && protocol.task == Task::Forecasting
                    && r.setting == protocol.setting
            };
            let references = options.references.iter().filter(fits).collect();
            groups.push(Group { protocol, questions, members, references });
        }
        Self { dataset, groups }
    }

    /// All runs of the section.
    pub fn members(&self) -> impl Iterator<Item = &Member<'a>> {
        self.groups.iter().flat_map(|group| &group.members)
    }
}

impl<'a> Group<'a> {
    /// The runs without their labels.
    pub fn runs(&self) -> Vec<&'a LoadedRun> {
        self.members.iter().map(|member| member.run).collect()
    }

    /// What tells this group from the others of its section, such as `single-step, ties mean`.
    pub fn title(&self) -> String {
        let (protocol, usual) = (self.protocol, Protocol::of(self.protocol.task));
        let mut words = vec![match protocol.task {
            Task::Forecasting => protocol.setting.word().to_owned(),
            task => task.word().to_owned(),
        }];
        if protocol.validation != usual.validation {
            words.push(format!("validation {}", protocol.validation.word()));
        }
        if protocol.candidates != usual.candidates {
            words.push(format!("candidates {}", protocol.candidates.word()));
        }
        if protocol.ties != usual.ties {
            words.push(format!("ties {}", protocol.ties.word()));
        }
        if protocol.duplicates != usual.duplicates {
            words.push("duplicate facts kept".to_owned());
        }
        words.extend(protocol.compat.then(|| "compat".to_owned()));
        words.extend(self.questions.update.then(|| "updates".to_owned()));
        words.extend(
            self.questions
                .asked
                .filter(|asked| *asked != AskedAbout::All)
                .map(|asked| asked.words().to_owned()),
        );
        words.join(", ")
    }

    /// Which entities are ranked, in words.
    pub fn candidates(&self) -> &'static str {
        match self.protocol.candidates {
            Candidates::All => "every entity",
            Candidates::Now => "entities that are present at the step",
            Candidates::Seen => "entities that were present at the step or before",
        }
    }
}

fn mrr(run: &LoadedRun) -> f64 {
    run.outcome(Filter::Time).metrics.mrr
}

#[cfg(test)]
mod tests {
    use quadcast_core::{Procedure, Setting};

    use super::*;
    use crate::samples::{changing, run, run_with};

    #[test]
    fn procedures_are_compared_and_other_questions_are_not() {
        let mut incremental = changing("transe", 20, 1);
        incremental.record.protocol.procedure = Procedure::Incremental;
        let mut sampled = changing("transe", 20, 1);
        sampled.record.asked = Some(AskedAbout::Sample);
        let (runs, options) = ([changing("transe", 20, 1), incremental, sampled], Options::default());
        let study = Study::new(&runs, &options);
        let groups = &study.sections[0].groups;
        let labels = |i: usize| groups[i].members.iter().map(|m| m.label.as_str()).collect::<Vec<_>>();
        assert_eq!(labels(0), ["transe, incremental", "transe, static"]);
        assert_eq!(groups[1].title(), "evolving, a sample of the held-out triples");
    }

    #[test]
    fn settings_and_datasets_are_kept_apart() {
        let mut multi = run("a", |_| 1);
        multi.record.protocol.setting = Setting::MultiStep;
        let runs = [multi, run("b", |_| 2), run("a", |_| 0), run_with("a", 8, |_| 0)];
        let options = Options::default();
        let study = Study::new(&runs, &options);
        let titles: Vec<Vec<String>> =
            study.sections.iter().map(|s| s.groups.iter().map(Group::title).collect()).collect();
        assert_eq!(titles, [vec!["single-step", "multi-step"], vec!["single-step"]]);
        let single = &study.sections[0].groups[0].members;
        assert_eq!(single.iter().map(|m| m.label.as_str()).collect::<Vec<_>>(), ["sample a", "sample b"]);
        // The best comes first, and a label keeps its colour.
        assert_eq!(single[0].series, study.sections[0].groups[1].members[0].series);
    }
}
