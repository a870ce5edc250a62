//! `OpenKE`'s `type_constrain.txt`: after a count of relations, two lines `relation n e1 … en` for each, the allowed
//! heads and then the allowed tails.

use std::path::Path;

use quadcast_core::{TypeConstraints, Vocabulary};

use super::ids::count_line;
use super::input::{Folder, Input, file_name};
use super::lines::{At, Lines, is_blank};
use super::notes::Notes;
use super::spaces::{Space, Spaces};
use crate::DataError;
use crate::error::IdKind;

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
    let space = |kind, size| Space::new(kind, Some((size, train)));
    let spaces = Spaces {
        entities: space(IdKind::Entity, vocabulary.entities.len()),
        relations: space(IdKind::Relation, vocabulary.relations.len()),
    };
    read(&Input::open(path)?, spaces, vocabulary.relations.len()).map(Some)
}

/// Allowed entities while the file is read, and the lines that gave them.
struct Collected {
    constraints: TypeConstraints,
    /// Lines of each relation so far: none, the heads', or both.
    lines: Vec<Vec<u64>>,
}

impl Collected {
    fn take(&mut self, at: At<'_>, relation: usize, allowed: Vec<u32>) -> Result<(), DataError> {
        match self.lines[relation][..] {
            [] => self.constraints.subjects[relation] = allowed,
            [_] => self.constraints.objects[relation] = allowed,
            [_, second, ..] => {
                return Err(DataError::DuplicateId { place: at.place(), id: relation as u64, first: second });
            }
        }
        self.lines[relation].push(at.line);
        Ok(())
    }
}

fn read(input: &Input, spaces: Spaces<'_>, relations: usize) -> Result<TypeConstraints, DataError> {
    let empty = vec![Vec::new(); relations];
    let constraints = TypeConstraints { subjects: empty.clone(), objects: empty };
    let mut collected = Collected { constraints, lines: vec![Vec::new(); relations] };
    let mut declared = None;
    let mut found = 0_u64;
    for (line, text) in Lines::new(input.text()) {
        let at = At::new(&input.path, line, 1);
        if found == 0
            && declared.is_none()
            && let Some(count) = count_line(text)
        {
            declared = Some((at.place(), count));
            continue;
        }
        found += 1;
        let (relation, allowed) = read_allowed(at, text, spaces)?;
        collected.take(at, relation, allowed)?;
    }
    match declared {
        Some((place, declared)) if declared.checked_mul(2) != Some(found) => {
            Err(DataError::CountMismatch { place, declared, found: found / 2 })
        }
        _ => Ok(collected.constraints),
    }
}

/// The relation and the sorted entities of one line.
fn read_allowed(at: At<'_>, text: &[u8], spaces: Spaces<'_>) -> Result<(usize, Vec<u32>), DataError> {
    let at = |column| At { column, ..at };
    let mut fields = text.split(|&b| is_blank(b)).filter(|field| !field.is_empty());
    let (Some(relation), Some(count)) = (fields.next(), fields.next()) else {
        return Err(at(1).missing_column(1, "relation, number of entities, entities"));
    };
    let relation = spaces.relations.id(at(1), relation)?;
    let declared = u64::from(at(2).id(IdKind::Entity, count)?);
    let mut allowed = Vec::new();
    for (index, field) in fields.enumerate() {
        allowed.push(spaces.entities.id(at(index + 3), field)?);
    }
    if declared != allowed.len() as u64 {
        let place = at(2).place();
        return Err(DataError::CountMismatch { place, declared, found: allowed.len() as u64 });
    }
    allowed.sort_unstable();
    Ok((relation as usize, allowed))
}
