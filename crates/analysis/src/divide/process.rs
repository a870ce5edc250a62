//! The division from end to end.

use std::path::Path;

use quadcast_core::{Dataset, Facts, Names, Quad, Split, Splits, StaticGraph, TimeAxis};

use super::leakage::DivisionLeakage;
use super::options::{DivideOptions, DivisionMethod, HeldOut};
use super::report::{DivisionReport, DivisionSource, ListReport, StratumReport};
use super::units::{Partners, Stratum, Units, draw, resolve};
use crate::error::{AnalysisError, refuse};
use crate::index::at_once;
use quadcast_data::write::{
    Labels, fill_folder, fits_labelled, free_folder, write_file, write_openke, write_temporal,
};
use quadcast_data::{Content, DIVISION, DataError, Format, Loaded, cuts, fingerprint};

/// Version of `division.json`.
const SCHEMA: u32 = 1;

/// A dataset that was divided anew, in memory.
#[derive(Clone, Debug)]
pub struct Division {
    /// The facts in their new splits, with the ids and names of the source.
    pub content: Content,
    /// What was done.
    pub report: DivisionReport,
}

/// Divides the facts of all splits of a dataset, each once. The same seed gives the same division, for any number of
/// threads.
pub fn divide(source: &Loaded, options: &DivideOptions) -> Result<Division, AnalysisError> {
    let name = source.content.name();
    let unsupported = |kind: &str| {
        refuse(format!(
            "{name} is {kind}; only facts with time stamps and graphs without time can be divided"
        ))
    };
    // Without time, all facts are at step 0.
    let rows: Splits<Vec<Quad>>;
    let (vocabulary, axis, layout) = match &source.content {
        Content::Temporal(dataset) => {
            rows = dataset.splits.map(|facts| facts.iter().collect());
            let layout = if fits_labelled(dataset) { Format::Labelled } else { Format::Quads };
            (&dataset.vocabulary, Some(&dataset.axis), layout)
        }
        Content::Static(graph) => {
            rows = graph.splits.map(|triples| triples.iter().map(at_once).collect());
            (&graph.vocabulary, None, Format::Openke)
        }
        Content::Intervals(_) => return unsupported("a set of facts with validity intervals"),
        Content::Evolving(_) => return unsupported("a graph that changes by insertions and deletions"),
    };
    let all = union(&rows);
    let mut drawn = Drawn::default();
    let assigned = match (options.method, axis) {
        (DivisionMethod::Random, _) => drawn.singles(all.len(), options.held_out, options.seed),
        (DivisionMethod::Chronological, None) => {
            return refuse(format!(
                "{name} is a graph without time; it can be divided with --method random or leakage-free"
            ));
        }
        (DivisionMethod::Chronological, Some(_)) => match by_time(&all, options.held_out) {
            Ok(assigned) => assigned,
            Err(steps) => {
                return refuse(format!(
                    "{name}: found {steps} time steps, expected at least 3: train, valid and test need one each; divide it \
                     with --method random"
                ));
            }
        },
        (DivisionMethod::LeakageFree, _) => drawn.together(&all, &vocabulary.relations, options),
    };
    let splits = parted(&all, &assigned);
    if let Some((empty, _)) = splits.iter().find(|(_, facts)| facts.is_empty()) {
        return refuse(format!(
            "{name}: found {} facts, too few for the shares asked for: {empty} would be empty; give more data or \
             larger shares with --valid and --test",
            all.len()
        ));
    }
    let leakage = |splits: &Splits<Vec<Quad>>| {
        DivisionLeakage::measure(&splits.train, &splits.test, drawn.partners.as_ref())
    };
    let (before, after) = (leakage(&rows), leakage(&splits));
    let calendar = axis.filter(|_| layout == Format::Quads).map(TimeAxis::calendar);
    let sizes = rows.map(Vec::len);
    let report = DivisionReport {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        method: options.method,
        seed: (options.method != DivisionMethod::Chronological).then_some(options.seed),
        held_out: options.held_out,
        source: DivisionSource {
            name: name.to_owned(),
            variant: source.variant.map(|variant| variant.name),
            fingerprint: fingerprint(&source.content),
            entities: vocabulary.entities.len(),
            relations: vocabulary.relations.len(),
            splits: sizes,
        },
        layout,
        calendar: calendar.filter(|calendar| calendar.year_zero.is_some()),
        facts: all.len(),
        repetitions: sizes.iter().map(|(_, rows)| rows).sum::<usize>() - all.len(),
        splits: splits.map(Vec::len),
        periods: axis.map(|axis| {
            let label = |fact: Option<&Quad>| fact.map_or_else(String::new, |fact| axis.label(fact.step));
            splits.map(|facts| [label(facts.first()), label(facts.last())])
        }),
        lists: drawn.lists,
        strata: drawn.strata,
        before,
        after,
    };
    Ok(Division { content: with_splits(&source.content, splits), report })
}

/// The same dataset with other splits.
fn with_splits(content: &Content, Splits { train, valid, test }: Splits<Vec<Quad>>) -> Content {
    match content {
        Content::Temporal(dataset) => {
            let steps = dataset.axis.len();
            let [train, valid, test] = [train, valid, test].map(|facts| Facts::new(facts, steps));
            Content::Temporal(Dataset {
                beyond: Facts::default(),
                splits: Splits { train, valid, test },
                name: dataset.name.clone(),
                vocabulary: dataset.vocabulary.clone(),
                axis: dataset.axis.clone(),
            })
        }
        Content::Static(graph) => {
            let [train, valid, test] =
                [train, valid, test].map(|facts| facts.into_iter().map(Quad::triple).collect());
            Content::Static(StaticGraph {
                splits: Splits { train, valid, test },
                name: graph.name.clone(),
                vocabulary: graph.vocabulary.clone(),
                type_constraints: graph.type_constraints.clone(),
            })
        }
        Content::Intervals(_) | Content::Evolving(_) => unreachable!("such content is not divided"),
    }
}

impl Division {
    /// Writes the division to a folder that is absent or empty.
    pub fn write(&self, folder: &Path) -> Result<(), DataError> {
        free_folder(folder)?;
        fill_folder(folder, |folder| {
            match &self.content {
                Content::Temporal(dataset) => {
                    let labels = Labels::new(dataset, self.report.layout == Format::Labelled);
                    write_temporal(folder, dataset, &labels)?;
                }
                Content::Static(graph) => write_openke(folder, graph)?,
                Content::Intervals(_) | Content::Evolving(_) => unreachable!("such content is not divided"),
            }
            write_file(&folder.join(DIVISION), |out| {
                serde_json::to_writer_pretty(&mut *out, &self.report)?;
                out.write_all(b"\n")
            })
        })
    }
}

/// All facts in order, each once.
fn union(splits: &Splits<Vec<Quad>>) -> Vec<Quad> {
    let mut all: Vec<Quad> = splits.iter().flat_map(|(_, facts)| facts.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The facts of each split, in their order.
fn parted(all: &[Quad], assigned: &[Split]) -> Splits<Vec<Quad>> {
    let of = |wanted| {
        all.iter().zip(assigned).filter(|(_, split)| **split == wanted).map(|(fact, _)| *fact).collect()
    };
    Splits { train: of(Split::Train), valid: of(Split::Valid), test: of(Split::Test) }
}

/// Splits by time; the number of steps if there are too few.
pub(super) fn by_time(all: &[Quad], held_out: HeldOut) -> Result<Vec<Split>, usize> {
    let mut begins: Vec<usize> = all.first().map(|_| 0).into_iter().collect();
    begins.extend((1..all.len()).filter(|&at| all[at].step != all[at - 1].step));
    let [valid, test] = cuts(&begins, all.len(), held_out.shares()).ok_or(begins.len())?;
    let mut splits = vec![Split::Train; all.len()];
    splits[begins[valid]..begins[test]].fill(Split::Valid);
    splits[begins[test]..].fill(Split::Test);
    Ok(splits)
}

/// What is said about the draw.
#[derive(Default)]
struct Drawn {
    partners: Option<Partners>,
    lists: Option<ListReport>,
    strata: Vec<StratumReport>,
}

impl Drawn {
    fn singles(&mut self, facts: usize, held_out: HeldOut, seed: u64) -> Vec<Split> {
        let splits = draw(&vec![1; facts], held_out, seed, "divide all");
        self.tell("all", &vec![1; facts], &splits);
        splits
    }

    fn together(&mut self, all: &[Quad], relations: &Names, options: &DivideOptions) -> Vec<Split> {
        let (partners, lists) = resolve(&options.patterns, all, relations);
        let units = Units::of(all, &partners);
        let mut assigned = vec![Split::Train; all.len()];
        for stratum in Stratum::ALL {
            let members = units.stratum(stratum);
            let sizes: Vec<usize> = members.iter().map(|unit| unit.len()).collect();
            let purpose = format!("divide {}", stratum.word());
            let splits = draw(&sizes, options.held_out, options.seed, &purpose);
            self.tell(stratum.word(), &sizes, &splits);
            for (unit, split) in members.into_iter().zip(splits) {
                for &index in unit {
                    assigned[index as usize] = split;
                }
            }
        }
        self.partners = Some(partners);
        self.lists = Some(lists);
        assigned
    }

    fn tell(&mut self, name: &'static str, sizes: &[usize], splits: &[Split]) {
        let [train, valid, test] =
            Split::ALL.map(|wanted| splits.iter().filter(|split| **split == wanted).count());
        self.strata.push(StratumReport {
            name,
            units: sizes.len(),
            facts: sizes.iter().sum(),
            largest: sizes.iter().copied().max().unwrap_or(0),
            splits: Splits { train, valid, test },
        });
    }
}
