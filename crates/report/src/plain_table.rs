//! Tables of terminal text.

use std::ops::Range;

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, TableComponent, presets};

use crate::shown;

/// A table of text without frames: a rule below the header, columns of numbers to the right. Cells are one line each, and
/// names in them are shown.
pub struct PlainTable {
    table: Table,
}

/// A table with these heads and no rows; `numbers` are the columns of numbers.
pub fn plain_table(header: &[&str], numbers: Range<usize>) -> PlainTable {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table
        .set_style(TableComponent::HeaderLines, '─')
        .set_style(TableComponent::MiddleHeaderIntersections, '─');
    table.set_header(header.iter().map(shown));
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    for column in table.column_iter_mut().skip(numbers.start).take(numbers.len()) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    PlainTable { table }
}

impl PlainTable {
    /// Adds a row.
    pub fn add_row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.table.add_row(cells.into_iter().map(shown));
    }

    /// Adds rows.
    pub fn add_rows(&mut self, rows: impl IntoIterator<Item = Vec<String>>) {
        for row in rows {
            self.add_row(row);
        }
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// The table as text, without blanks at the ends of lines and without a last line end.
    pub fn text(&self) -> String {
        self.table.trim_fmt()
    }

    /// The same with columns that stand closer.
    pub(crate) fn closer(mut self) -> Self {
        for column in self.table.column_iter_mut() {
            column.set_padding((0, 1));
        }
        self
    }

    /// The same within a width: the first columns keep theirs, the others fold.
    pub(crate) fn within(mut self, width: usize, kept: usize) -> Self {
        self.table
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(u16::try_from(width).unwrap_or(u16::MAX));
        for column in self.table.column_iter_mut().take(kept) {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_column() {
        let mut table = plain_table(&["na\u{1b}me", "score"], 1..2);
        table.add_row(["two\nlines".to_owned(), "1".to_owned()]);
        table.add_row(["b".to_owned(), "0.5".to_owned()]);
        let text = table.text();
        assert_eq!(text.lines().count(), 4, "{text}");
        assert!(text.contains("na\\u{1b}me") && text.contains("two\\nlines"), "{text}");
    }
}
