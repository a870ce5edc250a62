//! Parts of drawings: scales and ticks, the colours and shapes of runs, and text.

use crate::{shown, shown_lines};

/// Colours in the style sheet, which colour-blind readers can tell apart. Shapes are for paper.
const COLOURS: usize = 7;

/// Mean width of a letter at the size of labels (13 pixels), in pixels; generous, so that labels do not collide.
const LETTER: f64 = 7.3;

/// A linear map from values to pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    pub domain: (f64, f64),
    pub range: (f64, f64),
}

impl Scale {
    /// The pixel of a value.
    pub fn at(&self, value: f64) -> f64 {
        let (low, high) = self.domain;
        let share = if high > low { (value - low) / (high - low) } else { 0.5 };
        self.range.0 + share * (self.range.1 - self.range.0)
    }
}

/// Round values (1, 2 or 5 times a power of ten apart) that enclose an interval with about `wanted` steps.
pub(super) fn ticks(low: f64, high: f64, wanted: usize) -> Vec<f64> {
    let (low, high) =
        if low.is_finite() && high.is_finite() { (low.min(high), low.max(high)) } else { (0.0, 1.0) };
    let span = if high - low > 1e-9 { high - low } else { low.abs().max(1.0) * 0.2 };
    let rough = span / wanted.max(1) as f64;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|s| *s >= rough * 0.999);
    let step = step.unwrap_or(10.0 * power);
    let first = (low / step + 1e-9).floor() as i64;
    let last = (high / step - 1e-9).ceil() as i64;
    (first..=last.max(first + 1)).map(|i| i as f64 * step).collect()
}

/// Ticks of shares in per cent: never below 0 nor above 100.
pub(super) fn percent_ticks(low: f64, high: f64, wanted: usize) -> Vec<f64> {
    let mut found = ticks(low, high, wanted);
    found.retain(|tick| (0.0..=100.0).contains(tick));
    found
}

/// A tick in words: no more decimals than the distance of ticks needs.
pub(super) fn tick_label(tick: f64, ticks: &[f64]) -> String {
    let step = ticks.windows(2).map(|pair| pair[1] - pair[0]).next().unwrap_or(1.0);
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    format!("{tick:.decimals$}")
}

/// Indices of at most `room` labels, evenly spread over `count` places, the first one included.
pub(super) fn spread(count: usize, room: usize) -> Vec<usize> {
    let stride = count.div_ceil(room.max(1)).max(1);
    (0..count).step_by(stride).collect()
}

/// Moves heights apart so that neighbours keep a distance; the order stays, nothing leaves the bounds if they fit.
pub(super) fn keep_apart(heights: &[f64], distance: f64, (top, bottom): (f64, f64)) -> Vec<f64> {
    let mut order: Vec<usize> = (0..heights.len()).collect();
    order.sort_by(|&a, &b| heights[a].total_cmp(&heights[b]));
    let mut placed = heights.to_vec();
    let mut least = top;
    for &i in &order {
        placed[i] = placed[i].max(least);
        least = placed[i] + distance;
    }
    let mut most = bottom;
    for &i in order.iter().rev() {
        placed[i] = placed[i].min(most);
        most = placed[i] - distance;
    }
    placed
}

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

/// Text with the characters that mean something to SVG and HTML replaced. Line ends stay: tips have lines of their own, and
/// their names are shown already.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in shown_lines(text).chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Estimated width of a label, in pixels.
pub(super) fn width(text: &str) -> f64 {
    shown(text).to_string().chars().count() as f64 * LETTER
}

/// A name on one line, cut with an ellipsis to at most this many letters.
pub(crate) fn shorten(text: &str, most: usize) -> String {
    let text = shown(text).to_string();
    if text.chars().count() <= most {
        return text;
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// Letters that fit into a width.
pub(super) fn letters(width: f64) -> usize {
    (width / LETTER) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_enclose() {
        assert_eq!(ticks(3.0, 97.0, 5), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(ticks(0.0, 100.0, 5), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        let fine = ticks(56.12, 56.31, 4);
        assert!(fine[0] <= 56.12 && fine[fine.len() - 1] >= 56.31, "{fine:?}");
        assert_eq!(tick_label(fine[0], &fine), "56.10");
        for odd in [(5.0, 5.0), (0.0, 0.0), (f64::NAN, 1.0), (9.0, 2.0)] {
            assert!((2..20).contains(&ticks(odd.0, odd.1, 5).len()), "{odd:?}");
        }
        assert_eq!(percent_ticks(95.0, 100.0, 4).last(), Some(&100.0));
        assert_eq!(tick_label(40.0, &[20.0, 40.0]), "40");
    }

    #[test]
    fn labels_have_room() {
        assert_eq!(spread(31, 8), [0, 4, 8, 12, 16, 20, 24, 28]);
        assert_eq!(spread(3, 8), [0, 1, 2]);
        assert_eq!(keep_apart(&[50.0, 51.0, 10.0], 14.0, (0.0, 60.0)), [46.0, 60.0, 10.0]);
    }

    #[test]
    fn special_characters_are_replaced() {
        assert_eq!(
            escape(r#"<a href="x">'Ærø' & 東京</a>"#),
            "&lt;a href=&quot;x&quot;&gt;&#39;Ærø&#39; &amp; 東京&lt;/a&gt;"
        );
        assert_eq!(escape("a\u{0}b"), "a\\u{0}b");
    }

    #[test]
    fn long_text_is_cut_at_letters() {
        assert_eq!(shorten("東京都庁", 4), "東京都庁");
        assert_eq!(shorten("東京都庁前", 4), "東京都…");
        assert_eq!(shorten("a\nb", 4), "a\\nb");
    }
}
