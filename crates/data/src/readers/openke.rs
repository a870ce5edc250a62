//! Triples without time in `OpenKE`'s layout: `train2id.txt` with a count line and `head tail relation`, id files with
//! count lines, and allowed heads and tails per relation in `type_constrain.txt`.

use quadcast_core::{Splits, StaticGraph};

use super::id_files::{IdFiles, Order};
use super::input::Folder;
use super::notes::Notes;
use super::splits::{Naming, all_of, open_splits, parse_splits};
use super::triples::{TripleFile, read_wide_triples};
use super::{Reading, type_constraints};
use crate::files::file_name;
use crate::{Content, DataError};

pub(super) fn read(folder: &mut Folder, notes: &mut Notes) -> Result<Reading, DataError> {
    let inputs = open_splits(folder, Naming::Ids)?;
    let lists = IdFiles::find(folder, Order::NameFirst)?;
    lists.describe_with(&all_of(&inputs), 3, notes);
    notes.add("The columns are head, tail, relation.");

    let parsed = parse_splits(&inputs, |input| {
        let file = read_wide_triples(input, lists.spaces())?;
        input.refuse_empty(file.rows.len())?;
        Ok(file)
    })?;
    describe_counts(&parsed, notes);
    let facts = parsed.iter().map(|(_, file)| file.rows.len()).sum();
    let extents = parsed.iter().map(|(_, file)| (file.path.as_path(), &file.extent));
    let vocabulary = lists.vocabulary(extents, [None; 2], facts)?;
    let type_constraints = type_constraints::find(folder, &vocabulary, &inputs.train.path, notes)?;
    let splits = Splits { train: parsed.train.rows, valid: parsed.valid.rows, test: parsed.test.rows };
    let graph = StaticGraph { name: folder.name(), vocabulary, splits, type_constraints };
    Ok((Content::Static(graph), None))
}

fn describe_counts<T>(parsed: &Splits<TripleFile<T>>, notes: &mut Notes) {
    let without = parsed.iter().filter(|(_, file)| !file.counted);
    let without: Vec<String> = without.map(|(_, file)| file_name(&file.path)).collect();
    if without.is_empty() {
        notes.add("Every split starts with a count line, and the counts are right.");
    } else {
        notes.add(format!("No count line in {}; every line is read as a fact.", without.join(", ")));
    }
}
