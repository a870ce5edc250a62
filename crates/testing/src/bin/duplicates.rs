//! Finds code that stands in two places: `duplicates [FOLDER] [--most N]`.
//!
//! It reads all `.rs` files below FOLDER (`crates` unless given) and compares lines with white space folded. Comments,
//! imports, attributes and lines without a letter or digit do not count. [`RUN`] equal lines in a row are a duplicate; every
//! line of the later place counts once. With `--most`, more than N such lines are an error: the number in `./check` may
//! fall, and must not grow.

use std::collections::HashMap;
use std::fs;
use std::io::{Error, Write, stderr, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Equal lines in a row that count as a duplicate.
const RUN: usize = 12;

/// A line that counts.
struct Line {
    /// Number in its file, from 1.
    number: usize,
    text: String,
}

struct Source {
    path: PathBuf,
    lines: Vec<Line>,
}

/// A run of lines that stand elsewhere too. Places are file and line.
#[derive(Debug, PartialEq)]
struct Duplicate {
    later: (usize, usize),
    earlier: (usize, usize),
    lines: usize,
}

/// What kind of lines that do not count the text is in.
#[derive(Clone, Copy, PartialEq)]
enum Inside {
    Code,
    Import,
    /// With this many open brackets.
    Attribute(usize),
}

/// What is left of a line after the attributes that it begins with or goes on with.
fn after_attributes<'a>(mut text: &'a str, inside: &mut Inside) -> &'a str {
    loop {
        if *inside == Inside::Code && (text.starts_with("#[") || text.starts_with("#![")) {
            *inside = Inside::Attribute(0);
        }
        let Inside::Attribute(mut open) = *inside else { return text };
        let end = text.char_indices().find_map(|(place, letter)| {
            open = match letter {
                '[' => open + 1,
                ']' => open - 1,
                _ => return None,
            };
            (open == 0).then_some(place)
        });
        let Some(end) = end else {
            *inside = Inside::Attribute(open);
            return "";
        };
        *inside = Inside::Code;
        text = text[end + 1..].trim_start();
    }
}

/// The lines that count.
fn significant(text: &str) -> Vec<Line> {
    const IMPORTS: [&str; 4] = ["use ", "pub use ", "pub(crate) use ", "pub(super) use "];
    let mut lines = Vec::new();
    let mut inside = Inside::Code;
    for (index, line) in text.lines().enumerate() {
        let text = line.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = if text.starts_with("//") { "" } else { after_attributes(&text, &mut inside) };
        if inside == Inside::Code && IMPORTS.iter().any(|word| text.starts_with(word)) {
            inside = Inside::Import;
        }
        if inside == Inside::Import {
            if text.contains(';') {
                inside = Inside::Code;
            }
            continue;
        }
        let module = text.ends_with(';') && (text.starts_with("mod ") || text.starts_with("pub mod "));
        let comment = text.starts_with("//");
        if !module && !comment && text.chars().any(char::is_alphanumeric) {
            lines.push(Line { number: index + 1, text: text.to_owned() });
        }
    }
    lines
}

/// All runs of equal lines, each with the first place where it stands.
fn duplicates(sources: &[Source]) -> Vec<Duplicate> {
    let mut first: HashMap<Vec<&str>, (usize, usize)> = HashMap::new();
    let mut found: Vec<Duplicate> = Vec::new();
    for (file, source) in sources.iter().enumerate() {
        for (start, window) in source.lines.windows(RUN).enumerate() {
            let key: Vec<&str> = window.iter().map(|line| line.text.as_str()).collect();
            let earlier = *first.entry(key).or_insert((file, start));
            // The place itself, or lines that repeat within the run.
            if earlier.0 == file && start < earlier.1 + RUN {
                continue;
            }
            match found.last_mut() {
                // One line further in both places: the same run. Further only here: a run that overlaps.
                Some(last) if last.later.0 == file && start <= last.later.1 + last.lines - RUN + 1 => {
                    last.lines = start - last.later.1 + RUN;
                }
                _ => found.push(Duplicate { later: (file, start), earlier, lines: RUN }),
            }
        }
    }
    found
}

/// The source files below a folder, in the order of their names.
fn files(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), Error> {
    let entries = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = entries.collect::<Result<Vec<_>, _>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
            files(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    Ok(())
}

/// Prints all duplicates and their sum.
fn report(folder: &Path) -> Result<usize, Error> {
    let mut paths = Vec::new();
    files(folder, &mut paths)?;
    let mut sources = Vec::new();
    for path in paths {
        let lines = significant(&fs::read_to_string(&path)?);
        sources.push(Source { path, lines });
    }
    let mut out = stdout().lock();
    let place = |(file, start): (usize, usize)| {
        let source = &sources[file];
        format!("{}:{}", source.path.display(), source.lines[start].number)
    };
    let found = duplicates(&sources);
    for duplicate in &found {
        let Duplicate { later, earlier, lines } = duplicate;
        writeln!(out, "{lines} lines at {} stand at {} too", place(*later), place(*earlier))?;
    }
    let sum = found.iter().map(|duplicate| duplicate.lines).sum();
    let all: usize = sources.iter().map(|source| source.lines.len()).sum();
    writeln!(out, "{sum} duplicate lines of {all} in {} files", sources.len())?;
    Ok(sum)
}

/// Folder and largest allowed sum.
fn arguments(mut words: impl Iterator<Item = String>) -> Result<(PathBuf, Option<usize>), String> {
    let (mut folder, mut most) = (PathBuf::from("crates"), None);
    while let Some(word) = words.next() {
        if word == "--most" {
            let number = words.next().unwrap_or_default();
            most = Some(number.parse().map_err(|_| format!("--most {number}: expected a number ≥ 0"))?);
        } else {
            folder = word.into();
        }
    }
    Ok((folder, most))
}

fn run() -> Result<(), String> {
    let (folder, most) = arguments(std::env::args().skip(1))?;
    let sum = report(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    match most {
        Some(most) if sum > most => {
            Err(format!("{sum} duplicate lines, {most} are allowed: share the code, see the list above"))
        }
        _ => Ok(()),
    }
}

fn main() -> ExitCode {
    let Err(error) = run() else { return ExitCode::SUCCESS };
    // Nobody is left to tell when standard error is closed.
    let _ = writeln!(stderr(), "error: {error}");
    ExitCode::FAILURE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source { path: PathBuf::new(), lines: significant(text) }
    }

    fn numbered(range: std::ops::Range<usize>) -> String {
        let lines: Vec<String> = range.map(|i| format!("    line({i});\n")).collect();
        lines.concat()
    }

    #[test]
    fn comments_imports_attributes_and_brackets_do_not_count() {
        let text = "// a\nuse b::{\n    c,\n};\n#[derive(\n    D,\n)]\nmod e;\nfn  f()\n{\n}\n#[g([1])] let h;\nlet i; ";
        let lines: Vec<_> = significant(text).into_iter().map(|line| (line.number, line.text)).collect();
        assert_eq!(lines, [(9, "fn f()".to_owned()), (12, "let h;".to_owned()), (13, "let i;".to_owned())]);
    }

    #[test]
    fn a_long_run_is_one_duplicate() {
        let (long, short) = (numbered(0..20), numbered(0..11));
        let found = duplicates(&[source(&long), source(&format!("one();\n// two\n{long}")), source(&short)]);
        assert_eq!(found, [Duplicate { later: (1, 1), earlier: (0, 0), lines: 20 }]);
    }

    #[test]
    fn a_run_may_stand_twice_in_a_file_but_does_not_overlap_itself() {
        let twice = format!("{0}between();\n{0}", numbered(0..12));
        assert_eq!(duplicates(&[source(&twice)]), [Duplicate { later: (0, 13), earlier: (0, 0), lines: 12 }]);
        assert_eq!(duplicates(&[source(&"same();\n".repeat(20))]), []);
    }
}
