//! A page on the patterns of a dataset: a map, the detected relations, a table of all.

use minijinja::Value;
use serde::Serialize;

use super::page::render;
use super::patterns_table::table;
use crate::counted;
use crate::svg::{Heat, NARROW, NARROW_NAMES, WIDE};
use crate::tables::Grid;

/// Another relation, and shares of either that the other answers.
#[derive(Clone, Debug, PartialEq)]
pub struct PatternPartner {
    /// Its name.
    pub relation: String,
    /// Shares of the row's facts: at the same time, at any time.
    pub forwards: [f64; 2],
    /// Shares of the partner's facts: at the same time, at any time.
    pub backwards: [f64; 2],
}

/// One relation.
#[derive(Clone, Debug, PartialEq)]
pub struct PatternRow {
    /// Its name.
    pub relation: String,
    /// Its facts.
    pub facts: u64,
    /// Shares mirrored by itself: at the same time, at any time.
    pub symmetric: [f64; 2],
    /// The relation that mirrors it best.
    pub inverse: Option<PatternPartner>,
    /// The relation that goes with it best.
    pub parallel: Option<PatternPartner>,
    /// Share of its facts that hold at another time too.
    pub repeated: f64,
    /// Shares by the distance to the nearest fact that mirrors it best, in the order of [`PatternReport::lags`].
    pub mirror_lags: Vec<f64>,
    /// The same for repetitions.
    pub repeated_lags: Vec<f64>,
}

/// Shares of pairs of relations, in the order of [`PatternReport::relations`].
#[derive(Clone, Debug, PartialEq)]
pub struct PatternMap {
    /// A word for it.
    pub word: String,
    /// When: `at the same time`, `at any time`.
    pub when: String,
    /// Shares of the facts (s, p, o) that come with (o, q, s), by row p and column q.
    pub shares: Vec<Vec<f64>>,
}

/// What a page on patterns shows.
#[derive(Clone, Debug, PartialEq)]
pub struct PatternReport {
    /// Name of the dataset.
    pub dataset: String,
    /// Sizes and options: what, how much.
    pub facts: Vec<(String, String)>,
    /// Detected relations: a heading and the names.
    pub detected: Vec<(String, Vec<String>)>,
    /// The relations of the maps.
    pub relations: Vec<String>,
    /// Relations that are worth drawing and did not fit.
    pub left_out: usize,
    /// The maps; one if there is no time, else two.
    pub maps: Vec<PatternMap>,
    /// Shares above this are a pattern.
    pub threshold: f64,
    /// Names of the distances in time; none without an order in time.
    pub lags: Vec<String>,
    /// One unit of a distance in time.
    pub lag_unit: String,
    /// All relations, the strongest first.
    pub rows: Vec<PatternRow>,
}

/// What the template sees.
#[derive(Serialize)]
struct View {
    title: String,
    version: &'static str,
    facts: Vec<(String, String)>,
    detected: Vec<(String, Vec<String>)>,
    maps: Vec<MapView>,
    timed: bool,
    left_out: String,
    /// Whether a phone shows fewer relations.
    many: bool,
    threshold: String,
    lag_unit: String,
    table: Grid,
}

#[derive(Serialize)]
struct MapView {
    word: String,
    when: String,
    drawings: [Value; 2],
}

/// The page as one HTML file. The same patterns give the same bytes.
pub fn patterns_page(report: &PatternReport) -> String {
    let map = |map: &PatternMap| {
        let about = format!("mirrored {}", map.when);
        let heat = Heat {
            names: &report.relations,
            cells: &map.shares,
            threshold: report.threshold,
            about: about.trim(),
        };
        MapView {
            word: map.word.clone(),
            when: map.when.clone(),
            drawings: [WIDE, NARROW].map(|width| Value::from_safe_string(heat.draw(width))),
        }
    };
    let drawn = !report.relations.is_empty();
    let view = View {
        title: format!("Patterns of {}", report.dataset),
        version: env!("CARGO_PKG_VERSION"),
        facts: report.facts.clone(),
        detected: report.detected.clone(),
        maps: report.maps.iter().filter(|_| drawn).map(map).collect(),
        timed: report.maps.len() > 1,
        left_out: match report.left_out {
            0 => String::new(),
            more => format!("{} more relations have a weaker pattern. ", counted(more as u64)),
        },
        many: report.relations.len() > NARROW_NAMES,
        threshold: format!("{:.0} %", 100.0 * report.threshold),
        lag_unit: report.lag_unit.clone(),
        table: table(report),
    };
    render("patterns.html", view)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(timed: bool) -> PatternReport {
        let partner = |relation: &str| PatternPartner {
            relation: relation.to_owned(),
            forwards: [0.805, 0.93],
            backwards: [0.798, 0.922],
        };
        let row = |relation: &str, inverse: Option<PatternPartner>| PatternRow {
            relation: relation.to_owned(),
            facts: 3394,
            symmetric: [0.006, 0.079],
            inverse,
            parallel: Some(partner("meets")),
            repeated: 0.62,
            mirror_lags: if timed { vec![0.8, 0.06, 0.04, 0.01, 0.02, 0.07] } else { Vec::new() },
            repeated_lags: if timed { vec![0.0, 0.27, 0.2, 0.07, 0.08, 0.38] } else { Vec::new() },
        };
        let map = |word: &str, when: &str| PatternMap {
            word: word.to_owned(),
            when: when.to_owned(),
            shares: vec![vec![0.0, 0.805], vec![0.798, 0.0]],
        };
        PatternReport {
            dataset: "<a> & \"b\"".to_owned(),
            facts: vec![("facts".to_owned(), "72 825".to_owned())],
            detected: vec![
                ("Inverse".to_owned(), vec!["<visits> – hosts".to_owned()]),
                ("Symmetric".to_owned(), vec![]),
            ],
            relations: vec!["<visits>".to_owned(), "hosts".to_owned()],
            left_out: 3,
            maps: if timed {
                vec![map("same", "at the same time"), map("any", "at any time")]
            } else {
                vec![map("all", "")]
            },
            threshold: 0.5,
            lags: if timed {
                ["0", "1", "2-7", "8-30", "more", "never"].map(str::to_owned).into()
            } else {
                vec![]
            },
            lag_unit: "1 day".to_owned(),
            rows: vec![row("<visits>", Some(partner("hosts"))), row("hosts", None)],
        }
    }

    #[test]
    fn the_page_holds_what_it_should() {
        let page = patterns_page(&report(true));
        for text in
            ["Patterns of &lt;a&gt; &amp;", "72 825", "80.50", "at any time", "3 more relations", "1 day"]
        {
            assert!(page.contains(text), "{text}");
        }
        // Each map once for a screen and once for a phone.
        assert_eq!(page.matches("<svg class=\"chart heat\"").count(), 4);
        assert!(!page.contains("<visits>") && page.contains("none detected"));
        let timeless = patterns_page(&report(false));
        assert_eq!(timeless.matches("<svg class=\"chart heat\"").count(), 2);
        assert!(!timeless.contains("at the same time"), "{timeless}");
        let empty = PatternReport { relations: Vec::new(), rows: Vec::new(), ..report(true) };
        let empty = patterns_page(&empty);
        assert!(!empty.contains("chart heat") && empty.contains("No relation has a noticeable pattern"));
    }

    #[test]
    fn nothing_is_loaded_and_nothing_changes() {
        let page = patterns_page(&report(true));
        for outside in ["http:", "https:", "src=", "<link", "@import", "url("] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert_eq!(page, patterns_page(&report(true)));
        for tag in
            ["section", "table", "tr", "td", "th", "svg", "g", "figure", "div", "text", "ul", "li", "p"]
        {
            let opened =
                page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
        }
    }
}
