//! Predicted graphs as text, and beside the true ones.

use quadcast_run::{JudgedGraphs, Made, PredictedGraph};

use crate::{counted, plain_table, shown};

/// Facts that are shown per step; files have all.
const FACTS: usize = 10;

/// The likeliest facts of each step.
pub fn graphs_text(graphs: &[PredictedGraph]) -> String {
    let mut text = String::new();
    if let Some(graph) = graphs.first() {
        let until = shown(graph.known_until.as_deref().unwrap_or("nothing"));
        let made = match graph.made {
            Made::Simulated => "simulated by the model",
            Made::Scored => "scored: every pair of subject and relation of the last known steps",
        };
        text += &format!("{} on {}, facts known until {until}\n", shown(&graph.model), shown(&graph.dataset));
        text += &format!("{made}; about {:.0} facts expected per step\n", graph.expected_facts);
    }
    for graph in graphs {
        let mut table = plain_table(&["fact", "probability"], 1..2);
        for fact in graph.facts.iter().take(FACTS) {
            let words = [&fact.subject, &fact.relation, &fact.object].map(|name| shown(name).to_string());
            table.add_row(vec![words.join(" "), format!("{:.1} %", 100.0 * fact.probability)]);
        }
        text += &format!("\n{}\n{}\n", shown(&graph.at), table.text());
        if graph.facts.len() > FACTS {
            let more = counted((graph.facts.len() - FACTS) as u64);
            text += &format!("and {more} less likely facts: --out FILE.csv writes all\n");
        }
    }
    text
}

/// How predicted graphs compare with the true ones.
pub fn judged_graphs_text(judged: &JudgedGraphs) -> String {
    let percent = |share: f64| format!("{:.1}", 100.0 * share);
    let until = shown(judged.known_until.as_deref().unwrap_or("nothing"));
    let mut text =
        format!("predicted graphs on {}, last known step {until}; in per cent\n\n", shown(&judged.dataset));
    let header = ["step", "facts", "precision", "recall", "F1", "F1 of last", "Jaccard", "true Jaccard"];
    let mut table = plain_table(&header, 1..header.len());
    for step in &judged.steps {
        let score = &step.score;
        let mut row = vec![shown(&step.at).to_string(), counted(score.true_facts as u64)];
        let shares =
            [score.precision, score.recall, score.f1, score.f1_of_last_known, score.jaccard_last_known];
        row.extend(shares.map(percent));
        row.push(percent(score.true_jaccard_last_known));
        table.add_row(row);
    }
    text += &table.text();
    text += "\n\nPredictions are compared at the size of the true graph. F1 of last: the last known graph taken as a\n\
             prediction. Jaccard: similarity of the prediction and the last known graph; true Jaccard: the\n\
             same for the true graph.\n\n";
    let mut table = plain_table(&["probability", "facts", "predicted", "came true"], 1..4);
    for range in &judged.calibration {
        table.add_row(vec![
            format!("{} – {} %", 100.0 * range.from, 100.0 * range.to),
            counted(range.facts as u64),
            percent(range.predicted),
            percent(range.observed),
        ]);
    }
    text + &table.text() + "\n"
}
