//! Plain text for people: labelled lines and small tables, never wider than a hundred columns. Whatever comes in is shown as
//! [`shown`] does, so that only this file ends lines.

use std::fmt::Write;

use crate::shown;

/// Widest line.
const WIDTH: usize = 100;
/// Where values begin.
const INDENT: usize = 34;

/// Text that grows line by line.
#[derive(Default)]
pub(crate) struct Block {
    text: String,
}

impl Block {
    /// A line at the margin, set off from what stands before it.
    pub fn heading(&mut self, words: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        for line in wrap(words, WIDTH) {
            self.line(&line);
        }
    }

    /// A label with its value; long values continue below themselves.
    pub fn row(&mut self, label: &str, value: &str) {
        let label = clip(label, INDENT - 4);
        for (index, line) in wrap(value, WIDTH - INDENT).iter().enumerate() {
            let label = if index == 0 { label.as_str() } else { "" };
            self.line(&format!("  {label:<width$}{line}", width = INDENT - 2));
        }
    }

    /// An indented sentence.
    pub fn sentence(&mut self, words: &str, mark: &str) {
        let indent = 2 + mark.chars().count();
        for (index, line) in wrap(words, WIDTH - indent).iter().enumerate() {
            let lead = if index == 0 { mark } else { "" };
            self.line(&format!("  {lead:<width$}{line}", width = indent - 2));
        }
    }

    /// A table: column titles, then labelled rows, all right-aligned.
    pub fn table(&mut self, titles: &[String], rows: &[(&str, Vec<String>)]) {
        let widths: Vec<usize> = (0..titles.len())
            .map(|column| {
                let cells = rows.iter().filter_map(|(_, cells)| cells.get(column));
                cells
                    .chain([&titles[column]])
                    .map(|cell| shown(cell).to_string().chars().count())
                    .max()
                    .unwrap_or(0)
                    + 2
            })
            .collect();
        self.cells("", titles, &widths);
        for (label, cells) in rows {
            self.cells(label, cells, &widths);
        }
    }

    fn cells(&mut self, label: &str, cells: &[String], widths: &[usize]) {
        let label = clip(label, INDENT - 4);
        let mut line = format!("  {label:<width$}", width = INDENT - 4);
        for (cell, width) in cells.iter().zip(widths) {
            write!(line, "{:>width$}", shown(cell)).expect("writing to a string");
        }
        self.line(&line);
    }

    /// A line as it is; the caller keeps it short enough.
    pub fn line(&mut self, line: &str) {
        self.text.push_str(shown(line.trim_end()).to_string().trim_end());
        self.text.push('\n');
    }

    /// The finished text.
    pub fn finish(self) -> String {
        self.text
    }
}

fn clip(words: &str, width: usize) -> String {
    shown(words).to_string().chars().take(width).collect()
}

/// Lines of at most `width` characters, broken at blanks; longer words are cut.
fn wrap(words: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in shown(words).to_string().split_whitespace() {
        let characters: Vec<char> = word.chars().collect();
        for (index, piece) in characters.chunks(width).enumerate() {
            let gap = usize::from(used > 0 && index == 0);
            if used + gap + piece.len() > width || index > 0 {
                lines.push(String::new());
                used = 0;
            }
            let line = lines.last_mut().expect("there is always a line");
            if used > 0 {
                line.push(' ');
                used += 1;
            }
            line.extend(piece);
            used += piece.len();
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_too_wide() {
        let mut block = Block::default();
        block.heading(&"word ".repeat(50));
        block.row("label", &"x".repeat(300));
        block.row(&"label".repeat(20), &"many words ".repeat(30));
        block.sentence(&"a sentence ".repeat(30), "- ");
        let text = block.finish();
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert_eq!(text.matches('x').count(), 300);
        assert_eq!(text.matches("many").count(), 30);
    }

    #[test]
    fn wraps_at_blanks() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh ij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("", 4), [""]);
    }
}
