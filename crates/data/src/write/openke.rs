//! Graphs without time in `OpenKE`'s layout: count lines, and `head tail relation`.

use std::path::Path;

use quadcast_core::{Split, StaticGraph};

use super::folder::write_file;
use super::rows::write_triples;
use super::temporal::write_list;
use crate::DataError;

/// Writes the splits, the id files where there are names, and the allowed heads and tails where they are known.
pub fn write_openke(folder: &Path, graph: &StaticGraph) -> Result<(), DataError> {
    for split in Split::ALL {
        let triples = graph.splits.get(split);
        write_file(&folder.join(format!("{split}2id.txt")), |out| {
            writeln!(out, "{}", triples.len())?;
            write_triples(out, triples.iter().copied())
        })?;
    }
    let vocabulary = &graph.vocabulary;
    for (kind, names) in [("entity", &vocabulary.entities), ("relation", &vocabulary.relations)] {
        let named = names.iter().count();
        if named > 0 {
            write_file(&folder.join(format!("{kind}2id.txt")), |out| {
                writeln!(out, "{named}")?;
                write_list(out, names)
            })?;
        }
    }
    let Some(constraints) = &graph.type_constraints else { return Ok(()) };
    // They come from the facts of all splits together, so another division does not change them.
    write_file(&folder.join("type_constrain.txt"), |out| {
        writeln!(out, "{}", constraints.subjects.len())?;
        for (relation, sides) in constraints.subjects.iter().zip(&constraints.objects).enumerate() {
            for allowed in [sides.0, sides.1] {
                write!(out, "{relation}\t{}", allowed.len())?;
                allowed.iter().try_for_each(|entity| write!(out, "\t{entity}"))?;
                writeln!(out)?;
            }
        }
        Ok(())
    })
}
