//! Facts with time: with names and dates where both can be written so that they are read back, else with ids.

use std::io::{self, Write};
use std::path::Path;

use quadcast_core::{Dataset, Names, Split, Step, TimeUnit};
use rustc_hash::FxHashSet;
use serde_json::Value;

use super::folder::write_file;
use crate::DataError;
use crate::readers::{iso_minute, looks_quoted};

/// How facts are written: with names and dates, or with ids and times.
pub struct Labels {
    named: bool,
    /// By entity id.
    pub entities: Vec<String>,
    /// By relation id.
    pub relations: Vec<String>,
    /// By step.
    pub times: Vec<String>,
}

impl Labels {
    /// The texts of every id and step, named or as numbers.
    pub fn new(dataset: &Dataset, named: bool) -> Self {
        let vocabulary = &dataset.vocabulary;
        // One name that could prove quoting makes quotes ambiguous; then all names with quotes are quoted.
        let kinds = [&vocabulary.entities, &vocabulary.relations];
        let quoted = named && kinds.into_iter().flat_map(Names::iter).any(|(_, name)| looks_quoted(name));
        let texts = |names: &Names| {
            (0..names.len() as u32)
                .map(|id| match names.name(id) {
                    _ if !named => id.to_string(),
                    name if quoted && name.contains('"') => format!("\"{}\"", name.replace('"', "\"\"")),
                    name => name.into_owned(),
                })
                .collect()
        };
        let time = |step| if named { iso_label(dataset, step) } else { dataset.axis.time(step).to_string() };
        Self {
            named,
            entities: texts(&vocabulary.entities),
            relations: texts(&vocabulary.relations),
            times: (0..dataset.axis.len() as u32).map(Step).map(time).collect(),
        }
    }
}

/// A step as the labelled layout writes it.
fn iso_label(dataset: &Dataset, step: Step) -> String {
    dataset.axis.label(step).replacen(' ', "T", 1)
}

/// Whether a dataset can be written with names and dates and be read back as it is: every id has a name of its own that
/// fits into a field, and every step has a date.
pub fn fits_labelled(dataset: &Dataset) -> bool {
    let vocabulary = &dataset.vocabulary;
    let named = |names: &Names| {
        let fits = |name: &str| {
            !name.is_empty() && !name.starts_with('\u{feff}') && !name.contains(['\t', '\n', '\r'])
        };
        let mut seen = FxHashSet::default();
        names.iter().filter(|(_, name)| fits(name) && seen.insert(*name)).count() == names.len()
    };
    // Labels leave seconds out.
    let whole_minutes =
        dataset.axis.calendar().unit != TimeUnit::Second || dataset.axis.times().iter().all(|t| t % 60 == 0);
    let dated = (0..dataset.axis.len() as u32)
        .all(|step| iso_minute(iso_label(dataset, Step(step)).as_bytes()).is_some());
    whole_minutes && dated && named(&vocabulary.entities) && named(&vocabulary.relations)
}

/// Writes the splits and the names of every id: a JSON map beside labelled facts, an id file beside ids.
pub fn write_temporal(folder: &Path, dataset: &Dataset, labels: &Labels) -> Result<(), DataError> {
    for split in Split::ALL {
        write_file(&folder.join(format!("{split}.txt")), |out| write_split(out, dataset, split, labels))?;
    }
    let vocabulary = &dataset.vocabulary;
    for (kind, names) in [("entity", &vocabulary.entities), ("relation", &vocabulary.relations)] {
        if labels.named {
            // The map keeps ids and candidates: without it ids would follow the first appearance.
            write_file(&folder.join(format!("{kind}2id.json")), |out| write_map(out, names))?;
        } else if names.iter().next().is_some() {
            write_file(&folder.join(format!("{kind}2id.txt")), |out| write_list(out, names))?;
        }
    }
    if labels.named {
        return Ok(());
    }
    write_file(&folder.join("stat.txt"), |out| {
        writeln!(out, "{}\t{}", dataset.entities(), dataset.relations())
    })
}

fn write_split(out: &mut dyn Write, dataset: &Dataset, split: Split, labels: &Labels) -> io::Result<()> {
    let mut line = Vec::new();
    for quad in dataset.splits.get(split).iter() {
        line.clear();
        let fields = [
            &labels.entities[quad.subject.index()],
            &labels.relations[quad.relation.index()],
            &labels.entities[quad.object.index()],
            &labels.times[quad.step.index()],
        ];
        for (field, end) in fields.into_iter().zip(*b"\t\t\t\n") {
            line.extend_from_slice(field.as_bytes());
            line.push(end);
        }
        out.write_all(&line)?;
    }
    Ok(())
}

fn write_map(out: &mut dyn Write, names: &Names) -> io::Result<()> {
    let map: serde_json::Map<String, Value> =
        names.iter().map(|(id, name)| (name.to_owned(), id.into())).collect();
    serde_json::to_writer_pretty(&mut *out, &map)?;
    out.write_all(b"\n")
}

/// Writes `name⇥id`. A tab or line end, which only a name that no fact uses can hold, becomes a blank.
pub(super) fn write_list(out: &mut dyn Write, names: &Names) -> io::Result<()> {
    names.iter().try_for_each(|(id, name)| writeln!(out, "{}\t{id}", name.replace(['\t', '\n', '\r'], " ")))
}

#[cfg(test)]
mod tests {
    use quadcast_core::{Calendar, Facts, Quad, Splits, TimeAxis, Vocabulary};

    use super::*;
    use crate::{Content, Format, LoadOptions, load};

    fn dataset(names: [&str; 3], times: [i64; 3], calendar: Calendar) -> Dataset {
        let axis = TimeAxis::new(times.to_vec(), calendar);
        let one = |step| Facts::new(vec![Quad::new(step, 0, (step + 1) % 3, step)], axis.len());
        let splits = Splits { train: one(0), valid: one(1), test: one(2) };
        let entities = Names::new(names.map(|name| Some(name.to_owned())).to_vec(), None);
        let relations = Names::new(vec![Some("knows".to_owned())], None);
        Dataset {
            beyond: Facts::default(),
            name: String::new(),
            vocabulary: Vocabulary { entities, relations },
            axis: axis.clone(),
            splits,
        }
    }

    fn read_back(dataset: &Dataset) -> (Dataset, Format) {
        let folder = tempfile::tempdir().expect("a folder");
        let labels = Labels::new(dataset, fits_labelled(dataset));
        write_temporal(folder.path(), dataset, &labels).expect("a disk");
        let loaded = load(folder.path(), &LoadOptions::default()).expect("a dataset");
        let Content::Temporal(read) = loaded.content else { panic!("facts with time") };
        (read, loaded.format)
    }

    #[test]
    fn names_and_dates_come_back() {
        let hours = Calendar::from_january_first(TimeUnit::Hour, 2014);
        let odd = [
            ["Nick \"N\" X", "plain", "Găgăuzia\u{a0}"],
            // Without quoting these would be taken for quoted names.
            ["\"A \"\"B\"\" C\"", "\"\"\"\"", " d "],
        ];
        for names in odd {
            let before = dataset(names, [0, 24, 31], hours);
            let (read, format) = read_back(&before);
            assert_eq!(format, Format::Labelled);
            assert_eq!(read.vocabulary, before.vocabulary);
            assert_eq!(read.splits, before.splits);
            assert_eq!(read.axis.label(Step(2)), "2014-01-02 07:00");
        }
    }

    #[test]
    fn what_has_no_date_or_name_keeps_its_ids() {
        let days = Calendar::UNIX_DAYS;
        for before in [
            dataset(["a", "b", "c"], [3, 4, 9], Calendar::UNKNOWN),
            dataset(["a", "b", "c"], [3, 4, 9], Calendar::years_from(1830)),
            dataset(["a", "b", "b"], [3, 4, 9], days),
            dataset(["a", "b", "c"], [3, 64, 65], Calendar::from_january_first(TimeUnit::Second, 1970)),
        ] {
            assert!(!fits_labelled(&before));
            let (read, format) = read_back(&before);
            assert_eq!(format, Format::Quads);
            assert_eq!(read.axis.times(), before.axis.times());
            assert_eq!(read.splits, before.splits);
            let names = |data: &Dataset| data.vocabulary.entities.iter().map(|(_, n)| n.to_owned()).collect();
            let [read, before]: [Vec<String>; 2] = [names(&read), names(&before)];
            assert_eq!(read, before);
        }
    }
}
