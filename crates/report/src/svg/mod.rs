//! Charts as SVG text. Colours come from the style sheet of the page, so that one drawing serves light, dark and paper.

mod curve;
mod dots;
mod heat;
mod parts;

pub(crate) use curve::{Curve, Line};
pub(crate) use dots::{DotRow, Dots, case_key};
pub(crate) use heat::{Heat, NARROW_NAMES};
pub(crate) use parts::{escape, legend_mark, series_class, shorten};

/// Width of a drawing for a screen, in pixels.
pub(crate) const WIDE: f64 = 1200.0;

/// Width of a drawing for a phone.
pub(crate) const NARROW: f64 = 370.0;
