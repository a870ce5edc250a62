//! A line chart of the MRR over test steps with the number of queries below.

use super::parts::{Scale, keep_apart, letters, mark, percent_ticks, spread, tick_label, width};
use super::{WIDE, escape, series_class, shorten};
use crate::{counted, shown};

const HEIGHT: f64 = 300.0;
const LEFT: f64 = 56.0;
const TOP: f64 = 26.0;
/// The strip of bars: its distance from the plot and its height.
const STRIP_GAP: f64 = 14.0;
const STRIP: f64 = 34.0;
/// Room for the labels of the time axis and its title.
const FOOT: f64 = 42.0;
/// With more steps than this, marks would hide the line.
const MARKS: usize = 60;
/// With more lines than this, labels at their ends help nobody.
const LABELS: usize = 8;

/// What is drawn.
pub(crate) struct Curve {
    pub times: Vec<String>,
    pub queries: Vec<u64>,
    pub lines: Vec<Line>,
    /// A level to compare with: name and per cent.
    pub reference: Option<(String, f64)>,
}

/// One run: per cent by step.
pub(crate) struct Line {
    pub label: String,
    pub series: usize,
    pub values: Vec<Option<f64>>,
}

/// Where things lie.
struct Frame {
    width: f64,
    right: f64,
    x: Scale,
    y: Scale,
    ticks: Vec<f64>,
}

impl Curve {
    /// The drawing at a width. Wide drawings name the lines at their ends, narrow ones rely on the legend.
    pub fn draw(&self, width: f64) -> String {
        let frame = self.frame(width);
        let height = TOP + HEIGHT + STRIP_GAP + STRIP + FOOT;
        let thin = if self.times.len() > MARKS { " thin" } else { "" };
        let mut svg = format!(
            r#"<svg class="chart{thin}" viewBox="0 0 {width} {height}" role="img" aria-label="MRR over test steps">"#
        );
        svg.push_str(&frame.grid());
        svg.push_str(&self.level(&frame));
        svg.push_str(&self.time_axis(&frame));
        svg.push_str(&self.strip(&frame));
        self.lines.iter().for_each(|line| svg.push_str(&self.line(line, &frame)));
        if frame.width >= WIDE && self.lines.len() <= LABELS {
            svg.push_str(&self.end_labels(&frame));
        }
        svg.push_str(&self.columns(&frame));
        svg.push_str("</svg>");
        svg
    }

    fn frame(&self, width_: f64) -> Frame {
        let values = || self.lines.iter().flat_map(|line| line.values.iter().flatten().copied());
        let level = self.reference.iter().map(|(_, level)| *level);
        let (low, high) =
            values().chain(level).fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        let ticks = percent_ticks(low, high, 5);
        // Labels at the ends are bold, which takes more room.
        let longest = self.lines.iter().map(|line| width(&line.label) * 1.1).fold(0.0, f64::max);
        let labelled = width_ >= WIDE && self.lines.len() <= LABELS;
        let margin = if labelled { longest.min(width_ * 0.24) + 18.0 } else { 10.0 };
        let right = width_ - margin;
        let inset = ((right - LEFT) / self.times.len().max(1) as f64 / 2.0).min(24.0);
        let last = self.times.len().saturating_sub(1) as f64;
        let ends = (ticks.first().copied().unwrap_or(0.0), ticks.last().copied().unwrap_or(100.0));
        Frame {
            width: width_,
            right,
            x: Scale { domain: (0.0, last), range: (LEFT + inset, right - inset) },
            y: Scale { domain: ends, range: (TOP + HEIGHT, TOP) },
            ticks,
        }
    }

    fn level(&self, frame: &Frame) -> String {
        let Some((name, level)) = &self.reference else { return String::new() };
        let y = frame.y.at(*level);
        format!(
            r#"<path class="level" d="M{LEFT} {y:.1}H{:.1}"/><text class="muted" x="{:.1}" y="{:.1}">{} {level:.1}</text>"#,
            frame.right,
            LEFT + 6.0,
            y - 5.0,
            escape(&shown(name).to_string())
        )
    }

    fn time_axis(&self, frame: &Frame) -> String {
        let longest = self.times.iter().map(|time| width(time)).fold(20.0, f64::max) + 16.0;
        let room = ((frame.right - LEFT) / longest).floor() as usize;
        let y = TOP + HEIGHT + STRIP_GAP + STRIP;
        let mut svg = String::new();
        for i in spread(self.times.len(), room) {
            let x = frame.x.at(i as f64);
            // A label may stand left of its tick at the edge, never outside the drawing.
            let half = width(&self.times[i]) / 2.0;
            let at = x.clamp(half, (frame.width - half).max(half));
            svg.push_str(&format!(
                r#"<path class="tick" d="M{x:.1} {y}v4"/><text class="axis" text-anchor="middle" x="{at:.1}" y="{}">{}</text>"#,
                y + 17.0,
                escape(&shown(&self.times[i]).to_string())
            ));
        }
        let middle = f64::midpoint(LEFT, frame.right);
        svg + &format!(
            r#"<text class="muted" text-anchor="middle" x="{middle:.1}" y="{}">test snapshot</text>"#,
            y + 35.0
        )
    }

    /// How many queries stand behind each point.
    fn strip(&self, frame: &Frame) -> String {
        let most = self.queries.iter().copied().max().unwrap_or(1).max(1);
        let bottom = TOP + HEIGHT + STRIP_GAP + STRIP;
        let bar = ((frame.right - LEFT) / self.times.len().max(1) as f64 * 0.7).clamp(0.5, 22.0);
        let mut svg = String::new();
        for (i, &queries) in self.queries.iter().enumerate() {
            let tall = (STRIP * queries as f64 / most as f64).max(0.5);
            let x = frame.x.at(i as f64) - bar / 2.0;
            svg.push_str(&format!(
                r#"<rect class="bar" x="{x:.1}" y="{:.1}" width="{bar:.1}" height="{tall:.1}"/>"#,
                bottom - tall
            ));
        }
        let (text, top) = (LEFT - 8.0, bottom - STRIP);
        svg + &format!(
            concat!(
                r#"<path class="grid" d="M{LEFT} {bottom}H{right:.1}"/>"#,
                r#"<text class="axis" text-anchor="end" x="{text}" y="{first}">{most}</text>"#,
                r#"<text class="muted" text-anchor="end" x="{text}" y="{second}">queries</text>"#
            ),
            LEFT = LEFT,
            bottom = bottom,
            right = frame.right,
            text = text,
            first = top + 9.0,
            second = top + 24.0,
            most = counted(most)
        )
    }

    fn line(&self, line: &Line, frame: &Frame) -> String {
        let mut path = String::new();
        let mut marks = String::new();
        let mut pen_is_down = false;
        for (i, value) in line.values.iter().enumerate() {
            let Some(value) = value else {
                pen_is_down = false;
                continue;
            };
            let (x, y) = (frame.x.at(i as f64), frame.y.at(*value));
            path.push_str(&format!("{}{x:.1} {y:.1}", if pen_is_down { "L" } else { "M" }));
            pen_is_down = true;
            if self.times.len() <= MARKS {
                marks.push_str(&mark(line.series, x, y, if frame.width >= WIDE { 3.4 } else { 2.6 }));
            }
        }
        format!(r#"<g class="{}"><path class="line" d="{path}"/>{marks}</g>"#, series_class(line.series))
    }

    fn end_labels(&self, frame: &Frame) -> String {
        let last = |line: &Line| line.values.iter().flatten().next_back().copied();
        let ends: Vec<(&Line, f64)> =
            self.lines.iter().filter_map(|line| Some((line, last(line)?))).collect();
        let heights: Vec<f64> = ends.iter().map(|(_, value)| frame.y.at(*value) + 4.0).collect();
        let placed = keep_apart(&heights, 15.0, (TOP + 4.0, TOP + HEIGHT));
        let most = letters(frame.width - frame.right - 12.0);
        let label = |((line, _), y): (&(&Line, f64), f64)| {
            format!(
                r#"<text class="end {}" x="{:.1}" y="{y:.1}">{}</text>"#,
                series_class(line.series),
                frame.right + 8.0,
                escape(&shorten(&line.label, most))
            )
        };
        ends.iter().zip(placed).map(label).collect()
    }

    /// Invisible columns that show the values of a step.
    fn columns(&self, frame: &Frame) -> String {
        let wide = (frame.right - LEFT) / self.times.len().max(1) as f64;
        let mut svg = String::new();
        for (i, time) in self.times.iter().enumerate() {
            let mut tip = format!("{} · {} queries", shown(time), self.queries.get(i).copied().unwrap_or(0));
            for line in &self.lines {
                if let Some(Some(value)) = line.values.get(i) {
                    tip.push_str(&format!("\n{value:.2}  {}", shown(&line.label)));
                }
            }
            let x = frame.x.at(i as f64);
            svg.push_str(&format!(
                r#"<g class="column"><rect x="{:.1}" y="{TOP}" width="{wide:.1}" height="{}"/><path d="M{x:.1} {TOP}v{HEIGHT}"/><title>{}</title></g>"#,
                x - wide / 2.0,
                HEIGHT + STRIP_GAP + STRIP,
                escape(&tip)
            ));
        }
        svg
    }
}

impl Frame {
    fn grid(&self) -> String {
        let mut svg = r#"<text class="muted" x="0" y="12">MRR, per cent</text>"#.to_owned();
        for &tick in &self.ticks {
            let y = self.y.at(tick);
            svg.push_str(&format!(
                r#"<path class="grid" d="M{LEFT} {y:.1}H{:.1}"/><text class="axis" text-anchor="end" x="{}" y="{:.1}">{}</text>"#,
                self.right,
                LEFT - 8.0,
                y + 4.0,
                tick_label(tick, &self.ticks)
            ));
        }
        svg
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::NARROW;

    fn curve(steps: usize) -> Curve {
        let line = |series, level: f64| Line {
            label: format!("<model> & {series}"),
            series,
            values: (0..steps).map(|i| (i != 1).then_some(level + i as f64)).collect(),
        };
        Curve {
            times: (0..steps).map(|i| format!("2031-07-{:02}", i + 1)).collect(),
            queries: vec![4; steps],
            lines: vec![line(0, 40.0), line(9, 41.0)],
            reference: Some(("best possible".to_owned(), 70.0)),
        }
    }

    #[test]
    fn a_drawing_holds_what_it_should() {
        let svg = curve(12).draw(WIDE);
        assert_eq!(svg.matches("class=\"line\"").count(), 2);
        assert_eq!(svg.matches("<title>").count(), 12);
        assert_eq!(svg.matches("class=\"bar\"").count(), 12);
        assert_eq!(svg.matches("class=\"end ").count(), 2);
        assert!(svg.contains("&lt;model&gt; &amp; 0") && !svg.contains("<model>"));
        assert!(
            svg.contains("s2 dashed") && svg.contains("best possible 70.0") && svg.contains("test snapshot")
        );
        // A missing step interrupts the line.
        let first = svg.split("class=\"line\" d=\"").nth(1).and_then(|rest| rest.split('"').next());
        assert_eq!(first.map(|path| path.matches('M').count()), Some(2));
        assert_eq!(curve(12).draw(NARROW).matches("class=\"end ").count(), 0);
    }

    #[test]
    fn odd_sizes_give_numbers() {
        for steps in [0, 1, 2, 400] {
            let svg = curve(steps).draw(NARROW);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{steps} steps: {svg}");
        }
    }
}
