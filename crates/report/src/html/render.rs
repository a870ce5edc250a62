//! Fills the templates: every page is one file with the same style sheet and script.

use minijinja::{Environment, Value, context};
use serde::Serialize;

use crate::svg::{case_key, legend_mark, series_class};

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
