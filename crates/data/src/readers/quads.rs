//! Quadruples of integers: `subject relation object time [ignored]`, the layout of the forecasting benchmarks.

use quadcast_core::{Names, Splits, Vocabulary};

use super::Reading;
use super::ids::Order;
use super::input::{Folder, Input};
use super::lines::{At, Lines, blank_fields, integer};
use super::lists::Lists;
use super::notes::Notes;
use super::spaces::{Extent, Spaces, joint_sizes};
use super::splits::{Naming, all_of, find_splits, open_splits, parse_splits};
use super::temporal::{Row, Rows, assemble};
use crate::{Content, DataError};

const COLUMNS: &str = "subject, relation, object, time";

/// Reads a folder of integer quadruples.
pub(super) fn read(folder: &mut Folder, notes: &mut Notes) -> Result<Reading, DataError> {
    let inputs = open_splits(find_splits(folder, Naming::Plain)?)?;
    let lists = Lists::find(folder, Order::NameFirst)?;
    lists.describe_with(&all_of(&inputs), 4, notes);
    let declared = read_declared(folder, notes)?;

    let parsed = parse_splits(&inputs, |input| parse(input, lists.spaces()))?;
    let facts = parsed.iter().map(|(_, (rows, _))| rows.facts.len()).sum();
    let extents = parsed.iter().map(|(split, (_, extent))| (inputs.get(split).path.as_path(), extent));
    let used = joint_sizes(extents, facts)?;
    let vocabulary = lists.vocabulary(used, declared, facts);
    describe_sizes(&vocabulary, notes);

    let rows = Splits { train: parsed.train.0, valid: parsed.valid.0, test: parsed.test.0 };
    let (dataset, sources) = assemble(folder.name(), vocabulary, &inputs, rows, None, notes);
    Ok(Reading { content: Content::Temporal(dataset), sources: Some(sources) })
}

fn parse(input: &Input, spaces: Spaces<'_>) -> Result<(Rows, Extent), DataError> {
    let mut rows = Rows::default();
    let mut extent = Extent::default();
    // Twelve bytes are about the shortest row in practice.
    rows.facts.reserve(input.bytes.len() / 12);
    for (line, text) in Lines::new(input.text()) {
        let (fields, count) = blank_fields::<4>(text);
        let at = |column| At::new(&input.path, line, column);
        if count < 4 {
            return Err(at(1).missing_column(count, COLUMNS));
        }
        let subject = spaces.entities.id(at(1), fields[0])?;
        let relation = spaces.relations.id(at(2), fields[1])?;
        let object = spaces.entities.id(at(3), fields[2])?;
        let time = at(4).time(fields[3])?;
        extent.entity(subject, line, 1);
        extent.entity(object, line, 3);
        extent.relation(relation, line, 2);
        rows.push(line, Row { subject, relation, object, time });
    }
    Ok((rows.not_empty(input)?, extent))
}

/// The numbers of entities and relations that `stat.txt` prints.
fn read_declared(folder: &mut Folder, notes: &mut Notes) -> Result<[Option<usize>; 2], DataError> {
    let Some(path) = folder.find("the counts", |name| name == "stat.txt" || name == "stat")? else {
        return Ok([None; 2]);
    };
    let input = Input::open(path)?;
    let fields = Lines::new(input.text()).next().map(|(_, line)| blank_fields::<2>(line));
    let count = |field: &[u8]| integer(field).ok().and_then(|n| usize::try_from(n).ok());
    match fields {
        Some((fields, found)) if found >= 2 => {
            let declared = fields.map(count);
            if let [Some(entities), Some(relations)] = declared {
                notes.add(format!("stat.txt declares {entities} entities and {relations} relations."));
                return Ok(declared);
            }
        }
        _ => {}
    }
    notes.add("stat.txt does not start with two counts and is ignored.");
    Ok([None; 2])
}

fn describe_sizes(vocabulary: &Vocabulary, notes: &mut Notes) {
    let mut differs = |names: &Names, plural: &str| {
        if let Some(declared) = names.declared().filter(|&d| d != names.len()) {
            let size = names.len();
            notes.add(format!("The declared count of {declared} {plural} is not used: the ids give {size}."));
        }
    };
    differs(&vocabulary.entities, "entities");
    differs(&vocabulary.relations, "relations");
}
