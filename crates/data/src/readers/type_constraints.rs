//! `OpenKE`'s `type_constrain.txt`: after a count of relations, two lines `relation n e1 … en` for each, the allowed
//! heads and then the allowed tails.

use std::path::Path;

use quadcast_core::{TypeConstraints, Vocabulary};

use super::id_files::count_line;
use super::id_spaces::IdSpaces;
use super::input::{Folder, Input};
use super::lines::{At, Lines, is_blank};
use super::notes::Notes;
use crate::DataError;
use crate::error::IdKind;
use crate::files::file_name;

/// Finds and reads the file. `train` is what set the id spaces, for messages.
pub(super) fn find(
    folder: &mut Folder,
    vocabulary: &Vocabulary,
    train: &Path,
    notes: &mut Notes,
) -> Result<Option<TypeConstraints>, DataError> {
    let is_it = |name: &str| name == "type_constrain.txt" || name == "type_constrain";
    let Some(path) = folder.find("the type constraints", is_it)? else {
        return Ok(None);
    };
    notes.add(format!("Allowed heads and tails per relation from {}.", file_name(&path)));
    let known = [&vocabulary.entities, &vocabulary.relations].map(|names| Some((names.len(), train)));
    let spaces = IdSpaces { known };
    read(&Input::open_long(path)?, spaces, vocabulary.relations.len()).map(Some)
}

fn read(input: &Input, spaces: IdSpaces<'_>, relations: usize) -> Result<TypeConstraints, DataError> {
    let empty = vec![Vec::new(); relations];
    let mut constraints = TypeConstraints { subjects: empty.clone(), objects: empty };
    // Lines of each relation so far: none, the heads', or both.
    let mut lines: Vec<Vec<u64>> = vec![Vec::new(); relations];
    let mut declared = None;
    let mut found = 0_u64;
    for (line, text) in Lines::new(input.text()) {
        let at = At { path: &input.path, line, column: 1 };
        if found == 0
            && declared.is_none()
            && let Some(count) = count_line(text)
        {
            declared = Some((at, count));
            continue;
        }
        found += 1;
        let (relation, entities) = read_allowed(at, text, spaces)?;
        let seen = &mut lines[relation as usize];
        let side = match seen[..] {
            [] => &mut constraints.subjects,
            [_] => &mut constraints.objects,
            [_, second, ..] => return Err(at.repeated_id(relation, second)),
        };
        side[relation as usize] = entities;
        seen.push(line);
    }
    match declared {
        Some((at, declared)) if declared.checked_mul(2) != Some(found) => {
            Err(at.wrong_count(declared, found / 2))
        }
        _ => Ok(constraints),
    }
}

/// The relation and the sorted entities of one line.
fn read_allowed(at: At<'_>, text: &[u8], spaces: IdSpaces<'_>) -> Result<(u32, Vec<u32>), DataError> {
    let at = |column| At { column, ..at };
    let mut fields = text.split(|&b| is_blank(b)).filter(|field| !field.is_empty());
    let (Some(relation), Some(count)) = (fields.next(), fields.next()) else {
        return Err(at(1).missing_column(1, "relation, number of entities, entities"));
    };
    let relation = spaces.id(at(1), IdKind::Relation, relation)?;
    let declared = u64::from(at(2).id(IdKind::Entity, count)?);
    let mut allowed = Vec::new();
    for (index, field) in fields.enumerate() {
        allowed.push(spaces.id(at(index + 3), IdKind::Entity, field)?);
    }
    if declared != allowed.len() as u64 {
        return Err(at(2).wrong_count(declared, allowed.len() as u64));
    }
    allowed.sort_unstable();
    Ok((relation, allowed))
}
