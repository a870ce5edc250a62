//! The demonstration as text, and as a page.

use std::path::Path;

use quadcast_run::{Demo, RunError};

use crate::answers::best_answer_text;
use crate::{LoadedRun, Options, Reading, html, percent, plain_table, shown};

/// Its name, above text and page.
const TITLE: &str = "Demo: a synthetic village";

/// The runs of the demonstration beside the best possible scores, as one page.
pub fn demo_page(demo: &Demo) -> Result<String, RunError> {
    let mut runs = Vec::new();
    for run in &demo.runs {
        if let Reading::Complete(mut loaded) = LoadedRun::read(&run.folder)? {
            loaded.name.clone_from(&run.name);
            runs.push(*loaded);
        }
    }
    let options = Options {
        title: Some(TITLE.to_owned()),
        references: demo.references.clone(),
        // The report asks D1 of the runs themselves.
        audit: demo.audit.checks.iter().filter(|check| check.id != "D1").cloned().collect(),
        ..Options::default()
    };
    Ok(html(&runs, &options))
}

/// The demonstration in a folder, where its page is too: a table of all scores, an answer, and what to try next.
pub fn demo_text(demo: &Demo, folder: &Path) -> String {
    let about = demo.world["about"].as_str().unwrap_or_default();
    let checks: Vec<String> =
        demo.audit.checks.iter().map(|check| format!("{} {}", check.id, check.verdict.word())).collect();
    let (folder, asked) = (shown(folder.display()), shown(demo.asked.display()));
    let explained = &demo.explained;
    let subject = typed(explained.subject.as_deref().unwrap_or_default());
    format!(
        "{TITLE}\n{about}\naudit: {}\n\n{}\n\n\
         Time-aware filter, both directions, all entities as candidates. The best possible score is\n\
         known because we generated the data: no forecaster that knows only the past does better on\n\
         average. The networks (cygnet, re-net, re-gcn, cen, tango) are small here and train\n\
         for seconds.\n\n\
         One answer, explained:\n{}\n\
         report: {folder}/report.html\n\
         next: quadcast forecast {asked} \\\n  --subject {subject} --relation {} --explain\n",
        checks.join(", "),
        table(demo),
        best_answer_text(explained),
        typed(&explained.relation)
    )
}

/// A name as it is typed on a command line: underscores stand for blanks.
fn typed(name: &str) -> String {
    name.replace(' ', "_")
}

fn table(demo: &Demo) -> String {
    let mut table = plain_table(&["", "model", "MRR", "95 % interval", "H@1", "H@10", "of the best"], 2..7);
    for row in &demo.rows {
        let interval = row
            .ci95
            .map_or_else(|| "–".to_owned(), |[low, high]| format!("{} – {}", percent(low), percent(high)));
        table.add_row([
            row.setting.to_owned(),
            row.name.clone(),
            percent(row.mrr),
            interval,
            percent(row.hits1),
            percent(row.hits10),
            format!("{:.0} %", 100.0 * row.share_of_best),
        ]);
    }
    table.text()
}
