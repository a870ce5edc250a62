//! A heat map: shares of pairs, one row and one column per name.

use super::parts::{letters, width};
use super::{WIDE, escape, shorten};
use crate::shown;

/// Side of a cell: no larger than this, so that a small map does not fill the page.
const LARGEST: f64 = 34.0;
/// From this side on, a cell has room for its number.
const NUMBERED: f64 = 22.0;
/// From this share on, the colour is strong enough for numbers in the colour of the ground.
const DARK: f64 = 0.65;
/// Room around the drawing.
const EDGE: f64 = 4.0;
/// Names that a drawing for a phone has room for.
pub(crate) const NARROW_NAMES: usize = 14;
/// Shares below this are left blank: a hundredth would not be seen.
const BLANK: f64 = 0.005;

/// What is drawn.
pub(crate) struct Heat<'a> {
    pub names: &'a [String],
    /// Fractions by row and column.
    pub cells: &'a [Vec<f64>],
    /// Cells above this are framed.
    pub threshold: f64,
    /// What the map shows.
    pub about: &'a str,
}

impl Heat<'_> {
    /// The drawing at a width. Narrow ones show the first names only.
    pub fn draw(&self, width_: f64) -> String {
        let shown = if width_ < WIDE { self.names.len().min(NARROW_NAMES) } else { self.names.len() };
        let names = &self.names[..shown];
        let longest = names.iter().map(|name| width(name)).fold(20.0, f64::max) + 16.0;
        let label = longest.min(width_ * if width_ < WIDE { 0.36 } else { 0.2 });
        let side = ((width_ - label - 2.0 * EDGE) / shown.max(1) as f64).min(LARGEST);
        let height = label + side * shown as f64 + 2.0 * EDGE;
        let mut svg = format!(
            r#"<svg class="chart heat" viewBox="0 0 {width_} {height:.1}" role="img" aria-label="{}">"#,
            escape(self.about)
        );
        let whole = side * shown as f64;
        svg.push_str(&format!(
            r#"<rect class="ground" x="{label:.1}" y="{label:.1}" width="{whole:.1}" height="{whole:.1}"/>"#
        ));
        for (i, name) in names.iter().enumerate() {
            svg.push_str(&labels(name, label + side * (i as f64 + 0.5) + 4.0, label));
        }
        for (row, shares) in self.cells.iter().take(shown).enumerate() {
            for (column, &share) in shares.iter().take(shown).enumerate() {
                if share >= BLANK {
                    let corner = (label + side * column as f64, label + side * row as f64);
                    svg.push_str(&self.cell((row, column), share, corner, side));
                }
            }
        }
        svg + "</svg>"
    }

    fn cell(&self, (row, column): (usize, usize), share: f64, (x, y): (f64, f64), side: f64) -> String {
        let per_cent = 100.0 * share;
        let found = if share > self.threshold { " found" } else { "" };
        let inner = (side - 1.0).max(1.0);
        let mut svg = format!(
            r#"<g class="tip"><rect class="cell{found}" style="--v:{per_cent:.1}%" x="{:.1}" y="{:.1}" width="{inner:.1}" height="{inner:.1}"/>"#,
            x + 0.5,
            y + 0.5
        );
        if side >= NUMBERED {
            let over = if share > DARK { " over" } else { "" };
            svg.push_str(&format!(
                r#"<text class="number{over}" x="{:.1}" y="{:.1}">{per_cent:.0}</text>"#,
                x + side / 2.0,
                y + side / 2.0 + 3.5
            ));
        }
        let (p, q) = (shown(&self.names[row]), shown(&self.names[column]));
        svg + &format!("<title>{}</title></g>", escape(&format!("{p}\nby {q}\n{per_cent:.1} %")))
    }
}

/// The name of a row and, turned, of the same column; both end at the map.
fn labels(name: &str, along: f64, room: f64) -> String {
    let text = escape(&shorten(name, letters(room - 14.0)));
    let end = room - 6.0;
    format!(
        concat!(
            r#"<text class="axis" text-anchor="end" x="{end:.1}" y="{along:.1}">{text}</text>"#,
            r#"<text class="axis" transform="translate({along:.1} {end:.1}) rotate(-90)">{text}</text>"#
        ),
        end = end,
        along = along,
        text = text
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::NARROW;

    #[test]
    fn a_drawing_holds_what_it_should() {
        let names = ["<visits>", "hosts & feeds"].map(str::to_owned);
        let cells = [vec![0.0, 0.805], vec![0.5, 0.004]];
        let heat = Heat { names: &names, cells: &cells, threshold: 0.5, about: "mirrors" };
        let svg = heat.draw(WIDE);
        assert_eq!(svg.matches("<title>").count(), 2, "empty cells are left blank");
        assert_eq!(svg.matches("cell found").count(), 1, "a share at the threshold is not above it");
        assert!(svg.contains("--v:80.5%") && svg.contains(">80</text>") && svg.contains(">50</text>"));
        assert!(svg.contains("&lt;visits&gt;\nby hosts &amp; feeds\n80.5 %") && !svg.contains("<visits>"));
    }

    #[test]
    fn odd_sizes_give_numbers() {
        for count in [0, 1, 40] {
            let names: Vec<String> = (0..count).map(|i| format!("relation {i}")).collect();
            let cells = vec![vec![1.0; count]; count];
            let heat = Heat { names: &names, cells: &cells, threshold: 0.5, about: "" };
            for (width, shown) in [(WIDE, count), (NARROW, count.min(NARROW_NAMES))] {
                let svg = heat.draw(width);
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
                assert_eq!(svg.matches("<title>").count(), shown * shown);
            }
        }
    }
}
