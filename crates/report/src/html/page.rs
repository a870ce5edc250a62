//! Templates filled with a view: every page is one file with the same style sheet and script.

use minijinja::{Environment, Error, Output, State, Value, context, escape_formatter};
use serde::Serialize;

use super::view::page;
use crate::study::Study;
use crate::svg::{case_key, legend_mark, series_class};
use crate::{LoadedRun, Options, shown};

const TEMPLATES: [(&str, &str); 9] = [
    ("shell.html", include_str!("shell.html")),
    ("page.html", include_str!("page.html")),
    ("dataset.html", include_str!("dataset.html")),
    ("group.html", include_str!("group.html")),
    ("slices.html", include_str!("slices.html")),
    ("why.html", include_str!("why.html")),
    ("patterns.html", include_str!("patterns.html")),
    ("evolving.html", include_str!("evolving.html")),
    ("macros.html", include_str!("macros.html")),
];

/// A template filled with a view.
///
/// # Panics
///
/// Never with the templates of this crate: they are part of the program, and tests render every part of them.
pub(super) fn render(template: &str, page: impl Serialize) -> String {
    let mut environment = Environment::new();
    for (name, source) in TEMPLATES {
        environment.add_template(name, source).expect("the templates are part of the program and tested");
    }
    environment.set_formatter(formatted);
    environment.add_function("mark", |series: usize| Value::from_safe_string(legend_mark(series)));
    environment.add_function("case", |case: usize| Value::from_safe_string(case_key(case)));
    environment.add_function("colour", series_class);
    let template = environment.get_template(template).expect("the template was added above");
    let style = Value::from_safe_string(include_str!("style.css").to_owned());
    let script = Value::from_safe_string(include_str!("script.js").to_owned());
    template
        .render(context! { page, style, script })
        .expect("the view holds what the templates ask for; every part is rendered in tests")
}

/// A value in a page: text is shown and escaped, drawings stay as they are.
fn formatted(out: &mut Output<'_>, state: &State<'_, '_>, value: &Value) -> Result<(), Error> {
    match value.as_str() {
        Some(text) if !value.is_safe() => escape_formatter(out, state, &Value::from(shown(text).to_string())),
        _ => escape_formatter(out, state, value),
    }
}

/// A report on runs as one HTML file. The same runs give the same bytes.
pub fn html(runs: &[LoadedRun], options: &Options) -> String {
    let study = Study::new(runs, options);
    render("page.html", page(&study, options))
}

#[cfg(test)]
mod tests {
    use quadcast_core::{Check, Setting, Verdict};
    use quadcast_eval::Metrics;

    use super::*;
    use crate::samples::{RELATION, explained, run, run_with};
    use quadcast_run::{Reference, RulesCard};

    fn full() -> String {
        let mut multi = run("a", |_| 1);
        multi.record.protocol.setting = Setting::MultiStep;
        let mut runs = [run("a", |i| i % 3), run("<b>&\"é\"", |_| 4), multi, run_with("a", 8, |_| 0)];
        runs[0].samples = explained();
        let reference = Reference {
            fingerprint: runs[0].record.dataset.fingerprint,
            setting: Setting::SingleStep,
            name: "best possible".to_owned(),
            metrics: Metrics { mrr: 0.9, hits1: 0.8, hits3: 0.95, hits10: 1.0, mr: 1.4 },
            interval: Some([0.88, 0.92]),
        };
        let check = Check {
            id: "D2",
            question: "Splits in order?",
            verdict: Verdict::Pass,
            evidence: "train < valid < test".to_owned(),
            advice: None,
        };
        let options = Options {
            title: Some("A <title>".to_owned()),
            references: vec![reference],
            audit: vec![check],
            notes: vec!["runs/x was left out".to_owned()],
            ..Options::default()
        };
        html(&runs, &options)
    }

    #[test]
    fn names_are_escaped_everywhere() {
        let page = full();
        assert!(!page.contains("<b>&") && !page.contains("<title>A <title>") && !page.contains("<with>"));
        assert!(page.contains("A &lt;title&gt;") && page.contains("&lt;b&gt;&amp;"));
        assert!(!page.contains(RELATION) && page.contains("trades &lt;with&gt;"));
    }

    #[test]
    fn every_part_is_there() {
        let page = full();
        assert_eq!(page.matches("<section class=\"dataset\"").count(), 2);
        assert_eq!(page.matches("<section class=\"group\"").count(), 3);
        assert_eq!(page.matches("class=\"results").count(), 9);
        // Each chart once for a screen and once for a phone.
        assert_eq!(page.matches("aria-label=\"MRR over test steps\"").count(), 6);
        for text in
            ["best possible", "train &lt; valid &lt; test", "runs/x was left out", "0.1.0", "D1", "R1"]
        {
            let text = text.replace('/', "&#x2f;");
            assert!(page.contains(&text), "{text}");
        }
    }

    #[test]
    fn answers_have_their_reasons() {
        let page = full();
        assert_eq!(page.matches("Why: a few answers").count(), 1);
        assert_eq!(page.matches("<article").count(), 2);
        for text in [
            "true, rank 1",
            "the true answer Cem has rank 4",
            "62.5 %",
            "if Ann meets &lt;Bob&gt;, then Ann meets &lt;Bob&gt;",
            "and at least 7 more",
            "and 1 more rule (7.5 %)",
            "2030-01-02: Ann meets Bob",
            "2 more facts",
            "75 of 285 answers",
        ] {
            assert!(page.contains(text), "{text}");
        }
        let mut given = run("a", |_| 1);
        given.record.model.rules = Some(RulesCard { file: "x.jsonl".to_owned(), used: 2, dropped: 1 });
        let page = html(&[given], &Options::default());
        assert!(page.contains("2 rules from x.jsonl, 1 dropped; nothing was learned in this run"));
        assert!(!page.contains("Why: a few answers"));
    }

    #[test]
    fn nothing_is_loaded_and_nothing_changes() {
        let page = full();
        for outside in ["http:", "https:", "src=", "<link", "@import", "url("] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert_eq!(page, full());
    }

    #[test]
    fn tags_are_balanced() {
        let page = full();
        for tag in [
            "section", "table", "tr", "td", "th", "svg", "g", "figure", "details", "div", "text", "article",
            "ol", "ul", "li", "p",
        ] {
            let opened =
                page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
        }
    }
}
