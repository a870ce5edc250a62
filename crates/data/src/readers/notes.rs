//! Sentences for people about what was found and assumed.

use std::path::Path;

use super::input::Input;
use super::lines::{Lines, blank_fields, is_blank};
use crate::files::{Compression, file_name};

/// Rows that are looked at to describe a file.
const SAMPLE: usize = 64;

/// Collects sentences, each once.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub sentences: Vec<String>,
}

impl Notes {
    pub(super) fn add(&mut self, sentence: impl Into<String>) {
        let sentence = sentence.into();
        if !self.sentences.contains(&sentence) {
            self.sentences.push(sentence);
        }
    }

    /// Says which files were decompressed.
    pub(super) fn compression<'a>(&mut self, paths: impl IntoIterator<Item = &'a Path>) {
        let mut by_kind: Vec<(Compression, Vec<String>)> = Vec::new();
        for path in paths {
            let name = file_name(path);
            let Some(compression) = Compression::of(&name).0 else {
                continue;
            };
            match by_kind.iter_mut().find(|(kind, _)| *kind == compression) {
                Some((_, names)) if names.contains(&name) => {}
                Some((_, names)) => names.push(name),
                None => by_kind.push((compression, vec![name])),
            }
        }
        for (kind, names) in by_kind {
            self.add(format!("Decompressed in place ({}): {}.", kind.word(), shortened(&names)));
        }
    }

    /// Says which files end their lines in carriage returns alone.
    pub(super) fn returns<'a>(&mut self, inputs: impl IntoIterator<Item = &'a Input>) {
        let names: Vec<String> =
            inputs.into_iter().filter(|input| input.returns).map(|input| file_name(&input.path)).collect();
        if !names.is_empty() {
            self.add(format!("Lines end in a carriage return alone (CR): {}.", shortened(&names)));
        }
    }

    /// Says which files were left alone.
    pub(super) fn unused(&mut self, files: impl IntoIterator<Item = impl ToString>) {
        let names: Vec<String> = files.into_iter().map(|name| name.to_string()).collect();
        if !names.is_empty() {
            self.add(format!("Not used: {}.", shortened(&names)));
        }
    }
}

/// A list of names that stays short.
fn shortened(names: &[String]) -> String {
    const SHOWN: usize = 8;
    if names.len() <= SHOWN {
        names.join(", ")
    } else {
        format!("{} and {} more", names[..SHOWN].join(", "), names.len() - SHOWN)
    }
}

/// What the first rows of a file look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Appearance {
    /// Some line ends in carriage return and line feed.
    pub crlf: bool,
    /// Fields are padded with blanks next to tabs.
    pub padded: bool,
    /// The file starts with a byte order mark.
    pub mark: bool,
    /// Most fields in a row, separated by blanks or tabs.
    pub columns: usize,
}

impl Appearance {
    /// Looks at the first rows of the bytes as they lie in the file.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mark = bytes.starts_with(b"\xef\xbb\xbf");
        let first_end = memchr::memchr(b'\n', bytes).unwrap_or(0);
        let crlf = first_end > 0 && bytes[first_end - 1] == b'\r';
        let mut seen = Self { crlf, mark, ..Self::default() };
        for (_, line) in Lines::new(bytes).take(SAMPLE) {
            seen.columns = seen.columns.max(blank_fields::<0>(line).1);
            seen.padded |= line.windows(2).any(|w| is_blank(w[0]) && is_blank(w[1]) && w != b"\t\t")
                || line.last().copied().is_some_and(is_blank);
        }
        seen
    }

    /// Describes the files of a dataset with integer columns. `known` columns are read, more are ignored.
    pub(super) fn describe(files: &[Self], known: usize, notes: &mut Notes) {
        if files.iter().any(|f| f.crlf) {
            notes.add("Lines end in carriage return and line feed (CRLF).");
        }
        if files.iter().any(|f| f.mark) {
            notes.add("A byte order mark at the start of a file is ignored.");
        }
        if files.iter().any(|f| f.padded) {
            notes.add("Fields are padded with blanks, which are ignored.");
        }
        let columns = files.iter().map(|f| f.columns).max().unwrap_or(0);
        if columns == known + 1 {
            notes.add(format!("{columns} columns; the last one is ignored."));
        } else if columns > known {
            notes.add(format!("{columns} columns; those after column {known} are ignored."));
        } else {
            notes.add(format!("{columns} columns."));
        }
    }
}
