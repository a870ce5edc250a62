//! A table before it has a format.

use serde::Serialize;

use crate::percent;

/// Rows and columns with everything that a format may want to show.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Grid {
    /// Heads above the heads, if any.
    pub spans: Vec<Span>,
    pub head: Vec<Head>,
    pub rows: Vec<Vec<Cell>>,
}

/// A head over several columns.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Span {
    pub text: String,
    pub columns: usize,
    /// The colour and mark of a run.
    pub series: Option<usize>,
}

/// The head of a column.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Head {
    pub text: String,
    /// What the column means, where the head is too short to say it.
    pub about: String,
    /// Whether it holds numbers.
    pub number: bool,
}

/// One cell.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Cell {
    pub text: String,
    /// The number behind the text, to sort by.
    pub value: Option<f64>,
    /// Significantly better than the next.
    pub strong: bool,
    /// A fraction to be shown as a shade.
    pub shade: Option<f64>,
    /// The colour and mark of a run.
    pub series: Option<usize>,
    /// A class of its own: `pass`, `warn`, `fail`, `reference`.
    pub kind: Option<String>,
}

impl Grid {
    /// A table without rows.
    pub fn new(head: Vec<Head>) -> Self {
        Self { spans: Vec::new(), head, rows: Vec::new() }
    }

    /// The same with the columns of these heads only, in their own order. What stands above heads goes.
    pub fn only(&self, heads: &[&str]) -> Self {
        let shown = |at: &usize| heads.contains(&self.head[*at].text.as_str());
        let columns: Vec<usize> = (0..self.head.len()).filter(shown).collect();
        Self {
            spans: Vec::new(),
            head: columns.iter().map(|&at| self.head[at].clone()).collect(),
            rows: self.rows.iter().map(|row| columns.iter().map(|&at| row[at].clone()).collect()).collect(),
        }
    }

    /// The heads of the columns in one line each, what stands above them included.
    pub fn full_heads(&self) -> Vec<String> {
        let above = self.spans.iter().flat_map(|span| std::iter::repeat_n(span.text.as_str(), span.columns));
        let above = above.chain(std::iter::repeat(""));
        { above }
            .zip(&self.head)
            .map(|(above, head)| format!("{above} {}", head.text).trim().to_owned())
            .collect()
    }
}

impl Head {
    /// A column of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), about: String::new(), number: false }
    }

    /// A column of numbers.
    pub fn number(text: impl Into<String>, about: impl Into<String>) -> Self {
        Self { text: text.into(), about: about.into(), number: true }
    }
}

impl Cell {
    /// Plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A number and how it is written.
    pub fn number(value: f64, text: impl Into<String>) -> Self {
        Self { text: text.into(), value: Some(value), ..Self::default() }
    }

    /// A dash for a missing value.
    pub fn absent() -> Self {
        Self::text("–")
    }

    /// A fraction as per cent, or a dash.
    pub fn percent(fraction: Option<f64>) -> Self {
        fraction.map_or_else(Self::absent, |value| Self::number(value, percent(value)))
    }

    /// A fraction as per cent on a shade.
    pub fn shaded(fraction: Option<f64>) -> Self {
        Self { shade: fraction, ..Self::percent(fraction) }
    }

    /// The name of a run.
    pub fn run(label: &str, series: usize) -> Self {
        Self { series: Some(series), ..Self::text(label) }
    }

    /// The same cell of a kind.
    pub fn of_kind(mut self, kind: &str) -> Self {
        self.kind = Some(kind.to_owned());
        self
    }
}
