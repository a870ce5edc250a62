//! Quadruples of integers: `subject relation object time [ignored]`, the layout of the forecasting benchmarks.

use quadcast_core::{Splits, Triple};

use super::Reading;
use super::id_files::{IdFiles, Order};
use super::id_spaces::{Extent, IdSpaces, RELATION_SECOND};
use super::input::{Folder, Input};
use super::lines::{At, Lines, blank_fields, integer};
use super::notes::Notes;
use super::splits::{Naming, all_of, open_splits, parse_splits};
use super::temporal::{TimedFacts, assemble};
use crate::DataError;

const COLUMNS: &str = "subject, relation, object, time";

pub(super) fn read(folder: &mut Folder, notes: &mut Notes) -> Result<Reading, DataError> {
    let inputs = open_splits(folder, Naming::Plain)?;
    let lists = IdFiles::find(folder, Order::NameFirst)?;
    lists.describe_with(&all_of(&inputs), 4, notes);
    let declared = read_declared(folder, notes)?;

    let parsed = parse_splits(&inputs, |input| parse(input, lists.spaces()))?;
    let facts = parsed.iter().map(|(_, (facts, _))| facts.facts.len()).sum();
    let extents = parsed.iter().map(|(split, (_, extent))| (inputs.get(split).path.as_path(), extent));
    let vocabulary = lists.vocabulary(extents, declared, facts)?;
    for (names, plural) in [(&vocabulary.entities, "entities"), (&vocabulary.relations, "relations")] {
        if let Some(declared) = names.declared().filter(|&d| d != names.len()) {
            let size = names.len();
            notes.add(format!("The declared count of {declared} {plural} is not used: the ids give {size}."));
        }
    }
    let facts = Splits { train: parsed.train.0, valid: parsed.valid.0, test: parsed.test.0 };
    Ok(assemble(folder.name(), vocabulary, &inputs, facts, None, notes))
}

fn parse(input: &Input, spaces: IdSpaces<'_>) -> Result<(TimedFacts, Extent), DataError> {
    let mut facts = TimedFacts::default();
    let mut extent = Extent::default();
    // Twelve bytes are about the shortest row in practice.
    facts.facts.reserve(input.bytes.len() / 12);
    for (line, text) in Lines::new(input.text()) {
        let (fields, count) = blank_fields::<4>(text);
        let at = |column| At { path: &input.path, line, column };
        if count < 4 {
            return Err(at(1).missing_column(count, COLUMNS));
        }
        let [subject, relation, object] = spaces.ids(at(1), RELATION_SECOND, &fields, &mut extent)?;
        let time = at(4).time(fields[3])?;
        facts.push(line, Triple::new(subject, relation, object), time);
    }
    input.refuse_empty(facts.facts.len())?;
    Ok((facts, extent))
}

/// The numbers of entities and relations that `stat.txt` prints.
fn read_declared(folder: &mut Folder, notes: &mut Notes) -> Result<[Option<usize>; 2], DataError> {
    let Some(path) = folder.find("the counts", |name| name == "stat.txt" || name == "stat")? else {
        return Ok([None; 2]);
    };
    let input = Input::open(path)?;
    let fields = Lines::new(input.text()).next().map(|(_, line)| blank_fields::<2>(line));
    let count = |field: &[u8]| integer(field).ok().and_then(|n| usize::try_from(n).ok());
    if let Some((fields, 2..)) = fields
        && let declared @ [Some(entities), Some(relations)] = fields.map(count)
    {
        notes.add(format!("stat.txt declares {entities} entities and {relations} relations."));
        return Ok(declared);
    }
    notes.add("stat.txt does not start with two counts and is ignored.");
    Ok([None; 2])
}
