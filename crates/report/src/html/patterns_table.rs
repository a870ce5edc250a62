//! The table of all relations.

use super::patterns::{PatternPartner, PatternReport, PatternRow};
use crate::counted;
use crate::tables::{Cell, Grid, Head, Span};

/// The patterns of every relation, per cent of its facts.
pub(super) fn table(report: &PatternReport) -> Grid {
    let timed = report.maps.len() > 1;
    let mut columns =
        Columns { grid: Grid::new(vec![Head::text("relation"), Head::number("facts", "")]), timed };
    columns.grid.spans.push(Span { text: String::new(), columns: 2, series: None });
    columns.shares("symmetric", "mirrored by itself");
    columns.partner("inverse", "mirrors it best: (o, q, s)");
    columns.partner("parallel", "goes with it best: (s, q, o)");
    if timed {
        columns.span("repeated", &[("again", "facts that hold at another time too, per cent")]);
    }
    for what in ["mirrored at a distance of", "repeated at a distance of"] {
        let skipped = usize::from(what.starts_with("repeated"));
        let names: Vec<(&str, &str)> =
            report.lags.iter().skip(skipped).map(|name| (name.as_str(), "facts, per cent")).collect();
        if !names.is_empty() {
            columns.span(what, &names);
        }
    }
    let mut grid = columns.grid;
    grid.rows = report.rows.iter().map(|row| cells(row, timed)).collect();
    grid
}

struct Columns {
    grid: Grid,
    timed: bool,
}

impl Columns {
    fn span(&mut self, text: &str, columns: &[(&str, &str)]) {
        self.grid.spans.push(Span { text: text.to_owned(), columns: columns.len(), series: None });
        self.grid.head.extend(columns.iter().map(|(name, about)| Head::number(*name, *about)));
    }

    fn shares(&mut self, text: &str, about: &str) {
        let same = format!("{about} at the same time, per cent");
        let any = format!("{about} at any time, per cent");
        if self.timed {
            self.span(text, &[("same", &same), ("any", &any)]);
        } else {
            self.span(text, &[("share", &format!("{about}, per cent"))]);
        }
    }

    fn partner(&mut self, text: &str, about: &str) {
        let shares = if self.timed { 4 } else { 2 };
        self.grid.spans.push(Span { text: text.to_owned(), columns: 1 + shares, series: None });
        self.grid.head.push(Head { about: about.to_owned(), ..Head::text("q") });
        for (way, of) in [("there", "the row's facts"), ("back", "the facts of q")] {
            let about = format!("share of {of}, per cent");
            if self.timed {
                self.grid.head.push(Head::number(format!("{way}, same"), &*about));
                self.grid.head.push(Head::number(format!("{way}, any"), about));
            } else {
                self.grid.head.push(Head::number(way, about));
            }
        }
    }
}

fn cells(row: &PatternRow, timed: bool) -> Vec<Cell> {
    let shares = |[same, any]: [f64; 2]| {
        let mut cells = vec![Cell::shaded(Some(same)), Cell::shaded(Some(any))];
        cells.drain(..usize::from(!timed));
        cells
    };
    let partner = |partner: &Option<PatternPartner>| match partner {
        Some(partner) => {
            let mut cells = vec![Cell::text(&*partner.relation)];
            cells.extend(shares(partner.forwards));
            cells.extend(shares(partner.backwards));
            cells
        }
        None => vec![Cell::text("–"); if timed { 5 } else { 3 }],
    };
    let mut cells = vec![Cell::text(&*row.relation), Cell::number(row.facts as f64, counted(row.facts))];
    cells.extend(shares(row.symmetric));
    cells.extend(partner(&row.inverse));
    cells.extend(partner(&row.parallel));
    if timed {
        cells.push(Cell::shaded(Some(row.repeated)));
    }
    let lag = |share: &f64| Cell::number(*share, format!("{:.1}", 100.0 * share));
    cells.extend(row.mirror_lags.iter().map(lag));
    cells.extend(row.repeated_lags.iter().skip(1).map(lag));
    cells
}
