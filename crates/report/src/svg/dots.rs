//! A dot plot of the MRR: one row per run, one dot per case, whiskers where there is an interval.

use super::parts::{Scale, letters, percent_ticks, tick_label};
use super::{escape, series_class, shorten};
use crate::shown;

const ROW: f64 = 46.0;
const TOP: f64 = 6.0;
const FOOT: f64 = 40.0;
const SIDE: f64 = 16.0;
const AXIS: &str = "MRR, per cent";

/// What is drawn.
pub(crate) struct Dots {
    /// Names of the cases, in the order of the dots of a row.
    pub cases: Vec<String>,
    pub rows: Vec<DotRow>,
}

/// One run: a value and an interval per case, in per cent.
pub(crate) struct DotRow {
    pub label: String,
    pub series: usize,
    pub dots: Vec<Option<(f64, Option<[f64; 2]>)>>,
}

impl Dots {
    /// The drawing at a width.
    pub fn draw(&self, width: f64) -> String {
        let bottom = TOP + ROW * self.rows.len() as f64;
        let height = bottom + FOOT;
        let (low, high) = self.bounds();
        let ticks = percent_ticks(low, high, if width > 600.0 { 10 } else { 5 });
        let ends = (ticks.first().copied().unwrap_or(0.0), ticks.last().copied().unwrap_or(100.0));
        let x = Scale { domain: ends, range: (SIDE, width - SIDE) };
        let mut svg =
            format!(r#"<svg class="chart" viewBox="0 0 {width} {height}" role="img" aria-label="{AXIS}">"#);
        for &tick in &ticks {
            let at = x.at(tick);
            svg.push_str(&format!(
                r#"<path class="grid" d="M{at:.1} {TOP}V{bottom}"/><text class="axis" text-anchor="middle" x="{at:.1}" y="{:.1}">{}</text>"#,
                bottom + 16.0,
                tick_label(tick, &ticks)
            ));
        }
        svg.push_str(&format!(
            r#"<text class="muted" text-anchor="middle" x="{:.1}" y="{:.1}">{AXIS}</text>"#,
            width / 2.0,
            bottom + 34.0
        ));
        for (i, row) in self.rows.iter().enumerate() {
            svg.push_str(&self.row(row, TOP + ROW * i as f64, x, width));
        }
        svg + "</svg>"
    }

    fn bounds(&self) -> (f64, f64) {
        let dots = self.rows.iter().flat_map(|row| row.dots.iter().flatten());
        let ends = dots.flat_map(|(value, interval)| {
            let [low, high] = interval.unwrap_or([*value; 2]);
            [low, *value, high]
        });
        ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)))
    }

    fn row(&self, row: &DotRow, top: f64, x: Scale, width: f64) -> String {
        let y = top + ROW - 13.0;
        let mut svg = format!(
            r#"<g class="{}"><text class="name" x="{SIDE}" y="{:.1}">{}</text><path class="rail" d="M{SIDE} {y}H{}"/>"#,
            series_class(row.series),
            top + 17.0,
            escape(&shorten(&row.label, letters(width - 2.0 * SIDE))),
            width - SIDE
        );
        for (case, dot) in row.dots.iter().enumerate() {
            if let Some((value, interval)) = dot {
                svg.push_str(&self.dot(row, case, (*value, *interval), (x, y)));
            }
        }
        svg + "</g>"
    }

    fn dot(
        &self,
        row: &DotRow,
        case: usize,
        (value, interval): (f64, Option<[f64; 2]>),
        (x, y): (Scale, f64),
    ) -> String {
        let name = self.cases.get(case).map_or("", String::as_str);
        let mut tip = format!("{}\n{name} {value:.2}", shown(&row.label));
        let mut whisker = String::new();
        if let Some([low, high]) = interval {
            tip.push_str(&format!(" ({low:.2} – {high:.2})"));
            whisker = format!(r#"<path class="whisker" d="M{:.1} {y}H{:.1}"/>"#, x.at(low), x.at(high));
        }
        format!(
            r#"<g class="tip">{whisker}{}<title>{}</title></g>"#,
            case_mark(case, x.at(value), y),
            escape(&tip)
        )
    }
}

/// The shape of a case: filled circle, hollow square, hollow triangle.
pub(super) fn case_mark(case: usize, x: f64, y: f64) -> String {
    match case {
        0 => format!(r#"<circle class="mark" cx="{x:.1}" cy="{y:.1}" r="6"/>"#),
        1 => format!(r#"<path class="open" d="M{:.1} {:.1}h10v10h-10z"/>"#, x - 5.0, y - 5.0),
        _ => format!(r#"<path class="open" d="M{x:.1} {:.1}l6.5 11h-13z"/>"#, y - 6.5),
    }
}

/// A case for a legend.
pub(crate) fn case_key(case: usize) -> String {
    format!(
        r#"<svg class="key plain" width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">{}</svg>"#,
        case_mark(case, 8.0, 8.0)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::{NARROW, WIDE};

    #[test]
    fn every_dot_has_its_value() {
        let row = |series, dots| DotRow { label: "a \"b\" <c>".to_owned(), series, dots };
        let dots = Dots {
            cases: vec!["time-aware".to_owned(), "raw".to_owned()],
            rows: vec![
                row(0, vec![Some((58.88, Some([56.0, 61.5]))), Some((57.0, None))]),
                row(1, vec![None, Some((9.0, None))]),
            ],
        };
        for width in [WIDE, NARROW] {
            let svg = dots.draw(width);
            assert_eq!(svg.matches("<title>").count(), 3);
            assert!(svg.contains("time-aware 58.88 (56.00 – 61.50)") && svg.contains("&lt;c&gt;"), "{svg}");
            assert!(!svg.contains("NaN"));
        }
        let empty = Dots { rows: Vec::new(), ..dots };
        assert!(!empty.draw(WIDE).contains("NaN"));
    }
}
