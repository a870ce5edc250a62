//! Colours and shapes of runs: seven colours that colour-blind readers can tell apart, four shapes for paper.

/// Colours in the style sheet.
const COLOURS: usize = 7;

/// The classes of a run: its colour, and a dashed line once the colours repeat.
pub(crate) fn series_class(series: usize) -> String {
    let dashed = if series >= COLOURS { " dashed" } else { "" };
    format!("s{}{dashed}", series % COLOURS)
}

/// The mark of a run at a place.
pub(super) fn mark(series: usize, x: f64, y: f64, radius: f64) -> String {
    let r = radius;
    let path = match series % 4 {
        0 => return format!(r#"<circle class="mark" cx="{x:.1}" cy="{y:.1}" r="{r:.1}"/>"#),
        1 => format!("M{:.1} {:.1}h{:.1}v{:.1}h-{:.1}z", x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8, r * 1.8),
        2 => format!("M{x:.1} {:.1}l{:.1} {:.1}h-{:.1}z", y - r * 1.15, r * 1.1, r * 1.95, r * 2.2),
        _ => format!(
            "M{x:.1} {:.1}l{r1:.1} {r1:.1}l-{r1:.1} {r1:.1}l-{r1:.1} -{r1:.1}z",
            y - r * 1.2,
            r1 = r * 1.2
        ),
    };
    format!(r#"<path class="mark" d="{path}"/>"#)
}

/// A small drawing of a run's line and mark for legends and tables.
pub(crate) fn legend_mark(series: usize) -> String {
    format!(
        concat!(
            r#"<svg class="key {}" width="26" height="12" viewBox="0 0 26 12" aria-hidden="true">"#,
            r#"<path class="line" d="M1 6H25"/>{}</svg>"#
        ),
        series_class(series),
        mark(series, 13.0, 6.0, 3.6)
    )
}
