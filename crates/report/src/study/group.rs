//! Who may be compared with whom: runs on the same content under the same protocol.

use quadcast_core::{Filter, Protocol, Setting, ValidationUse};

use super::labels::labels;
use crate::{DatasetCard, LoadedRun, Options, Reference};

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

/// The runs under one protocol, best first.
pub(crate) struct Group<'a> {
    pub protocol: Protocol,
    pub members: Vec<Member<'a>>,
    /// Rows that are not runs.
    pub references: Vec<&'a Reference>,
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
        let mut protocols: Vec<Protocol> = Vec::new();
        for run in runs {
            if !protocols.contains(&run.record.protocol) {
                protocols.push(run.record.protocol);
            }
        }
        protocols.sort_by_key(|protocol| (setting_order(protocol.setting), validation_order(protocol)));
        let labels = labels(runs);
        let mut known: Vec<String> = Vec::new();
        let mut groups = Vec::new();
        for protocol in protocols {
            let inside = runs.iter().zip(&labels).filter(|(run, _)| run.record.protocol == protocol);
            let mut members: Vec<Member<'a>> =
                inside.map(|(run, label)| Member { run, label: label.clone(), series: 0 }).collect();
            members.sort_by(|a, b| mrr(b.run).total_cmp(&mrr(a.run)).then_with(|| a.label.cmp(&b.label)));
            for member in &mut members {
                member.series = known.iter().position(|label| *label == member.label).unwrap_or_else(|| {
                    known.push(member.label.clone());
                    known.len() - 1
                });
            }
            let fits = |r: &&Reference| r.fingerprint == dataset.fingerprint && r.setting == protocol.setting;
            let references = options.references.iter().filter(fits).collect();
            groups.push(Group { protocol, members, references });
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
        let usual = Protocol::usual(self.protocol.setting);
        let mut words = vec![self.protocol.setting.word().to_owned()];
        if self.protocol.validation != usual.validation {
            let word = match self.protocol.validation {
                ValidationUse::Observed => "observed",
                ValidationUse::Withheld => "withheld",
            };
            words.push(format!("validation {word}"));
        }
        if self.protocol.ties != usual.ties {
            words.push(format!("ties {}", self.protocol.ties.word()));
        }
        if self.protocol.duplicates != usual.duplicates {
            words.push("repeated facts kept".to_owned());
        }
        words.join(", ")
    }
}

fn mrr(run: &LoadedRun) -> f64 {
    run.outcome(Filter::Time).metrics.mrr
}

fn setting_order(setting: Setting) -> u8 {
    match setting {
        Setting::SingleStep => 0,
        Setting::MultiStep => 1,
        Setting::Online => 2,
        Setting::Completion => 3,
    }
}

fn validation_order(protocol: &Protocol) -> u8 {
    u8::from(protocol.validation == ValidationUse::Withheld)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{run, run_with};

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
