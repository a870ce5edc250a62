//! Streams of operations as text.

use std::path::Path;

use quadcast_data::{Dropped, OperationStream};

use crate::{counted, shown};

/// A stream that was written to a file in another form, and what was left out.
pub fn converted_text(stream: &OperationStream, file: &Path) -> String {
    let mut text = format!("{}: {}\n", sizes(stream), shown(file.display()));
    let dropped = dropped_words(&stream.dropped);
    if !dropped.is_empty() {
        text += &format!("left out: {dropped}\n");
    }
    text
}

/// A synthetic stream that was written to a file.
pub fn synth_stream_text(stream: &OperationStream, seed: u64, file: &Path) -> String {
    format!("{} (seed {seed}): {}\n", sizes(stream), shown(file.display()))
}

fn sizes(stream: &OperationStream) -> String {
    let [operations, triples] = [stream.len(), stream.triples().len()].map(|count| counted(count as u64));
    format!("{operations} operations on {triples} triples")
}

/// Operations that were left out, in words; empty if none was.
pub(super) fn dropped_words(dropped: &Dropped) -> String {
    let parts = [
        (dropped.void_inserts, "insertions of present triples"),
        (dropped.void_deletes, "deletions of absent triples"),
        (dropped.reflexive, "operations from an entity to itself"),
    ];
    let words: Vec<String> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{} {what}", counted(*count as u64)))
        .collect();
    words.join(", ")
}
