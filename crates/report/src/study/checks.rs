//! The questions of the protocol's checklist that records can answer.

use std::collections::{BTreeMap, BTreeSet};

use quadcast_core::{
    Candidates, Check, Duplicates, Filter, SelectionFilter, Setting, Split, Task, TiePolicy, Verdict,
};
use quadcast_eval::IsolationVerdict;
use quadcast_run::is_external;

use super::{Member, Section, Study};
use crate::counted;

/// What a check finds: what is wrong, what cannot be known, and what its verdict rests on if there is neither.
struct Found {
    problems: Vec<String>,
    unknown: Vec<String>,
    evidence: String,
}

impl From<(Vec<String>, String)> for Found {
    fn from((problems, evidence): (Vec<String>, String)) -> Self {
        Self { problems, unknown: Vec::new(), evidence }
    }
}

/// Share of tied correct answers from which on optimistic ties flatter a result visibly.
const MANY_TIES: f64 = 0.01;

/// Id, question, the verdict on what is wrong, and how it is found.
type Question = (&'static str, &'static str, Verdict, fn(&Compared<'_>) -> Found);

/// The checklist. Options are not compared with published values, so that `H1` never fails.
const QUESTIONS: [Question; 10] = [
    ("D1", "Same dataset version in all runs?", Verdict::Warn, same_data),
    ("H1", "Options stated?", Verdict::Pass, configurations),
    ("S1", "One setting in all runs?", Verdict::Warn, one_setting),
    ("S2", "Is it known what was seen at test time?", Verdict::Fail, history),
    ("I1", "Is each query answered without knowing the others?", Verdict::Fail, isolation),
    ("L1", "Selected without the test split?", Verdict::Fail, selection),
    ("Q1", "Every test fact asked in both directions?", Verdict::Fail, directions),
    ("F1", "One ranking with a stated filter and tie policy?", Verdict::Warn, ranking),
    ("C1", "Every entity a candidate?", Verdict::Fail, candidates),
    ("R1", "Repeated with other seeds?", Verdict::Warn, seeds),
];

/// Runs on one dataset, and what else is in the study.
struct Compared<'a> {
    study: &'a Study<'a>,
    section: &'a Section<'a>,
    members: Vec<&'a Member<'a>>,
}

/// The checks of one section of a study.
pub(crate) fn checks<'a>(study: &'a Study<'a>, section: &'a Section<'a>) -> Vec<Check> {
    let compared = Compared { study, section, members: section.members().collect() };
    let check = |(id, question, otherwise, find): Question| {
        let Found { problems, unknown, evidence } = find(&compared);
        let (verdict, evidence) = if !problems.is_empty() {
            (otherwise, problems.join("; "))
        } else if !unknown.is_empty() {
            (Verdict::NotKnown, unknown.join("; "))
        } else {
            (Verdict::Pass, evidence)
        };
        Check { id, question, verdict, evidence, advice: None }
    };
    QUESTIONS.map(check).into()
}

fn runs(count: usize) -> String {
    if count == 1 { "1 run".to_owned() } else { format!("{count} runs") }
}

fn same_data(compared: &Compared<'_>) -> Found {
    let card = compared.section.dataset;
    let twins: Vec<String> = compared
        .study
        .sections
        .iter()
        .map(|other| other.dataset)
        .filter(|other| other.name == card.name && other.fingerprint != card.fingerprint)
        .map(|other| format!("another dataset of this name has fingerprint {}", other.fingerprint))
        .collect();
    let variant = match &card.variant {
        Some(variant) => format!("the content equals {variant} of the catalogue"),
        None => "the content is not in the catalogue".to_owned(),
    };
    let count = runs(compared.members.len());
    (twins, format!("fingerprint {} in {count}; {variant}", card.fingerprint)).into()
}

fn configurations(compared: &Compared<'_>) -> Found {
    let count = runs(compared.members.len());
    let stated = format!(
        "the options of {count} are listed in full below; they are not compared with published values"
    );
    (Vec::new(), stated).into()
}

fn one_setting(compared: &Compared<'_>) -> Found {
    let titles: Vec<String> =
        compared.section.groups.iter().map(|group| format!("“{}”", group.title())).collect();
    let problems = if titles.len() > 1 {
        vec![format!("{}: shown in separate tables and never ranked together", titles.join(" and "))]
    } else {
        Vec::new()
    };
    (problems, format!("all runs are {}", titles.concat())).into()
}

fn history(Compared { members, .. }: &Compared<'_>) -> Found {
    let (mut problems, mut unknown) = (Vec::new(), Vec::new());
    let mut evidence = BTreeSet::new();
    for member in members {
        let record = &member.run.record;
        if is_external(record) {
            unknown.push(format!(
                "{}: external scores; what its model saw is declared, not observed",
                member.label
            ));
            continue;
        }
        let steps = &record.by_step;
        let latest = record.latest_read.as_deref();
        let asked = |time: &str| steps.iter().any(|row| row.time == time);
        let protocol = &record.protocol;
        let broken = match (record.task, protocol.setting) {
            // Facts of all times are known; the evaluator sees to it that none of those asked about is among them.
            (Task::Completion | Task::Evolving, _) => false,
            (Task::Forecasting, Setting::MultiStep) => latest.is_some_and(asked),
            (Task::Forecasting, Setting::SingleStep | Setting::Online) => {
                latest.is_some() && latest == steps.last().map(|row| row.time.as_str())
            }
        };
        let (latest, headline) = (latest.unwrap_or("nothing"), protocol.headline());
        if broken {
            problems.push(format!("{} read facts of {latest}, which {headline} forbids", member.label));
        }
        evidence.insert(if record.task == Task::Evolving {
            format!("{headline}: training triples of the step, held-out triples never")
        } else {
            let validation = protocol.validation.word();
            format!("{headline}: validation facts {validation}, latest fact read {latest}")
        });
    }
    Found { problems, unknown, evidence: evidence.into_iter().collect::<Vec<_>>().join("; ") }
}

fn isolation(Compared { members, .. }: &Compared<'_>) -> Found {
    let (mut problems, mut unknown) = (Vec::new(), Vec::new());
    let mut evidence = BTreeMap::new();
    for Member { run, label, .. } in members {
        let Some(found) = &run.record.isolation else {
            unknown.push(match run.record.task {
                _ if is_external(&run.record) => {
                    format!(
                        "{label}: external scores; whether its queries were answered one by one is not known"
                    )
                }
                Task::Evolving => format!("{label}: not checked on evolving graphs"),
                Task::Forecasting | Task::Completion => format!("{label}: its record does not say"),
            });
            continue;
        };
        if found.is_broken() {
            problems.push(format!(
                "{label}: the scores change when other queries are in the same batch; the figures may rest on the queries of the test step"
            ));
        }
        *evidence.entry(found.verdict).or_insert(0) += found.questions as u64;
    }
    let asked = |(verdict, questions): (IsolationVerdict, u64)| {
        let how = match verdict {
            IsolationVerdict::Exact => "the same scores bit for bit",
            IsolationVerdict::Rounding => "the same scores up to rounding",
            IsolationVerdict::Broken => "different scores",
        };
        format!("{} queries asked alone and among others gave {how}", counted(questions))
    };
    let evidence = evidence.into_iter().map(asked).collect::<Vec<_>>().join("; ");
    Found { problems, unknown, evidence }
}

fn selection(Compared { members, .. }: &Compared<'_>) -> Found {
    let selected = members.iter().filter_map(|member| Some((member, member.run.record.selection.as_ref()?)));
    let (mut problems, mut count) = (Vec::new(), 0);
    for (member, selection) in selected {
        count += 1;
        if selection.split != Split::Valid {
            problems.push(format!("{} was selected on {}", member.label, selection.split));
        }
    }
    let mut unknown = Vec::new();
    for member in members {
        let record = &member.run.record;
        let (test, shared) = (record.dataset.test, record.dataset.test_in_valid);
        if is_external(record) {
            unknown.push(format!("{}: external scores; how it was selected is not recorded", member.label));
        } else if shared > 0 && record.selection.is_some() {
            problems.push(format!(
                "{}: {} of {} test facts are validation facts, so that it was selected on them",
                member.label,
                counted(shared as u64),
                counted(test as u64)
            ));
        }
        if record.protocol.selection == SelectionFilter::AllSplits {
            problems.push(format!(
                "{}: test facts were in the filter of validation, as in published code (--compat)",
                member.label
            ));
        }
    }
    let rest = members.len() - count;
    let evidence = match (count, rest) {
        (0, _) => "nothing was selected".to_owned(),
        (_, 0) => format!("{} selected on valid", runs(count)),
        _ => format!("{} selected on valid, {} without selection", runs(count), rest),
    };
    Found { problems, unknown, evidence }
}

fn directions(Compared { members, .. }: &Compared<'_>) -> Found {
    let mut problems = Vec::new();
    let mut evidence = BTreeSet::new();
    for member in members {
        let record = &member.run.record;
        let outcome = member.run.outcome(Filter::Time);
        let [object, subject] = [outcome.object, outcome.subject].map(|part| part.map_or(0, |p| p.queries));
        let repeated = match record.protocol.duplicates {
            Duplicates::Drop => record.repeated_queries.unwrap_or(0) as u64,
            Duplicates::Keep => 0,
        };
        let asked = format!("{} for the object, {} for the subject", counted(object), counted(subject));
        if object != subject || object + subject + repeated != 2 * record.dataset.test as u64 {
            problems.push(format!(
                "{}: {asked}, {repeated} duplicates, {} test facts",
                member.label, record.dataset.test
            ));
        }
        if member.run.ranks.len() as u64 != outcome.queries {
            let rows = member.run.ranks.len();
            problems.push(format!("{}: {rows} ranks for {} queries", member.label, outcome.queries));
        }
        let more = if repeated > 0 {
            format!(", {} duplicates asked once", counted(repeated))
        } else {
            String::new()
        };
        evidence.insert(format!("{asked}{more}"));
    }
    (problems, evidence.into_iter().collect::<Vec<_>>().join("; ")).into()
}

fn ranking(Compared { members, .. }: &Compared<'_>) -> Found {
    let policies: BTreeSet<&str> = members.iter().map(|m| m.run.record.protocol.ties.word()).collect();
    let versions: BTreeSet<&str> = members.iter().map(|m| m.run.record.version.as_str()).collect();
    let mut problems = Vec::new();
    if policies.len() > 1 {
        problems.push(format!("different tie policies: {}", join(&policies)));
    }
    if versions.len() > 1 {
        problems.push(format!("ranked by different versions: {}", join(&versions)));
    }
    for member in members {
        if let Some(bad @ 1..) = member.run.record.not_a_number {
            problems.push(format!(
                "{}: {} correct answers scored “not a number”",
                member.label,
                counted(bad)
            ));
        }
        let ties = member.run.outcome(Filter::Time).ties;
        if member.run.record.protocol.ties == TiePolicy::Optimistic && ties > MANY_TIES {
            problems.push(format!(
                "{}: {:.1} % of the correct answers are tied and count as the best of their tie; equal scores for all would get 100",
                member.label,
                100.0 * ties
            ));
        }
        if member.run.record.scores.as_ref().is_some_and(|scores| scores.ranked_by.is_some()) {
            problems.push(format!("{}: the ranks come from an external model", member.label));
        }
    }
    let evidence = format!(
        "time-aware, static and raw counted in one pass; ties {}; Quadcast {}",
        join(&policies),
        join(&versions)
    );
    (problems, evidence).into()
}

fn join(words: &BTreeSet<&str>) -> String {
    words.iter().copied().collect::<Vec<_>>().join(", ")
}

fn candidates(Compared { members, .. }: &Compared<'_>) -> Found {
    let some = members.iter().find(|member| member.run.record.protocol.candidates != Candidates::All);
    if let Some(member) = some {
        let who = member.run.record.protocol.candidates.word();
        return (Vec::new(), format!("candidates of an evolving graph: {who}; the protocol says so")).into();
    }
    let mut problems = Vec::new();
    for member in members {
        let entities = member.run.record.dataset.entities as u64;
        let last = |rank: quadcast_eval::Rank| u64::from(rank.greater) + u64::from(rank.tied);
        let worst = member.run.ranks.iter().map(|row| last(row.rank(Filter::Raw))).max().unwrap_or(0);
        if worst > entities {
            problems.push(format!("{}: a rank of {worst} among {entities} entities", member.label));
        }
    }
    let entities = members.first().map_or(0, |member| member.run.record.dataset.entities as u64);
    (problems, format!("all {} entities of the id space; no rank lies beyond", counted(entities))).into()
}

fn seeds(Compared { members, .. }: &Compared<'_>) -> Found {
    let mut seeds: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    for member in members {
        let record = &member.run.record;
        let what = format!("{}{}{:?}", record.model.name, record.model.config, record.protocol);
        seeds.entry(what).or_default().insert(record.seed);
    }
    let single = seeds.values().filter(|seeds| seeds.len() == 1).count();
    let problems = if single > 0 {
        vec![format!(
            "{single} of {} configurations ran with one seed only; intervals cover the choice of test steps, not \
             the chance in training",
            seeds.len()
        )]
    } else {
        Vec::new()
    };
    let fewest = seeds.values().map(BTreeSet::len).min().unwrap_or(0);
    (problems, format!("at least {fewest} seeds each")).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{run, run_with};
    use crate::{LoadedRun, Options};

    fn verdicts(runs: &[LoadedRun]) -> BTreeMap<&'static str, (Verdict, String)> {
        let options = Options::default();
        let study = Study::new(runs, &options);
        let checks = checks(&study, &study.sections[0]);
        checks.into_iter().map(|check| (check.id, (check.verdict, check.evidence))).collect()
    }

    #[test]
    fn a_fair_comparison_passes() {
        let mut other = run("a", |_| 1);
        other.record.seed = 2;
        for (id, (verdict, evidence)) in verdicts(&[run("a", |_| 0), other]) {
            assert_eq!(verdict, Verdict::Pass, "{id}: {evidence}");
        }
    }

    #[test]
    fn what_is_not_observed_is_not_known() {
        let mut external = run("a", |_| 0);
        external.record.model.name = "external:mine".to_owned();
        external.record.protocol.ties = TiePolicy::Optimistic;
        external.record.isolation = None;
        let found = verdicts(&[external]);
        for id in ["S2", "I1", "L1"] {
            assert_eq!(found[id].0, Verdict::NotKnown, "{id}: {}", found[id].1);
            assert!(found[id].1.contains("external scores"), "{id}: {}", found[id].1);
        }
        assert_eq!(found["F1"].0, Verdict::Pass, "no ties: {}", found["F1"].1);
    }

    #[test]
    fn a_demonstration_of_the_leak_is_no_run_to_report_on() {
        let mut leaking = run("a", |_| 0);
        leaking.record.protocol.leak = Some(quadcast_core::Leak::SameDirection);
        assert!(LoadedRun::new("a", leaking.record, leaking.ranks).is_none());
    }

    #[test]
    fn validation_facts_that_are_test_facts_fail() {
        let mut same = run("a", |_| 0);
        same.record.dataset.test_in_valid = same.record.dataset.test;
        same.record.selection =
            Some(quadcast_run::Selection { split: Split::Valid, metric: "MRR".to_owned(), plays: 3 });
        let found = verdicts(&[same]);
        assert_eq!(found["L1"].0, Verdict::Fail, "{}", found["L1"].1);
        assert!(found["L1"].1.contains("test facts are validation facts"), "{}", found["L1"].1);
    }

    #[test]
    fn what_is_unfair_is_found() {
        let mut multi = run("a", |_| 0);
        multi.record.protocol.setting = Setting::MultiStep;
        multi.record.latest_read = Some(multi.record.by_step[3].time.clone());
        multi.record.version = "0.0.9".to_owned();
        multi.record.repeated_queries = Some(2);
        multi.record.isolation.as_mut().expect("a finding").verdict = IsolationVerdict::Broken;
        multi.ranks.pop();
        multi.record.selection =
            Some(quadcast_run::Selection { split: Split::Test, metric: "MRR".to_owned(), plays: 3 });
        let found = verdicts(&[run("a", |_| 0), multi, run("c", |_| 30), run_with("a", 8, |_| 0)]);
        let expected = [
            ("D1", Verdict::Warn, "another dataset of this name"),
            ("S1", Verdict::Warn, "“single-step” and “multi-step”"),
            ("S2", Verdict::Fail, "which multi-step forbids"),
            ("I1", Verdict::Fail, "when other queries are in the same batch"),
            ("L1", Verdict::Fail, "selected on test"),
            ("Q1", Verdict::Fail, "2 duplicates, 48 test facts"),
            ("Q1", Verdict::Fail, "95 ranks for 96 queries"),
            ("F1", Verdict::Warn, "0.0.9"),
            ("C1", Verdict::Fail, "a rank of 31 among 20"),
            ("R1", Verdict::Warn, "one seed"),
        ];
        for (id, verdict, text) in expected {
            assert_eq!(found[id].0, verdict, "{id}: {}", found[id].1);
            assert!(found[id].1.contains(text), "{id}: {}", found[id].1);
        }
    }
}
