//! Runs on changing graphs as Markdown.

use super::section::{Section, sections};
use super::{EvolvingRecord, Published, ages, link_means, link_steps, published, triple_means, triple_steps};
use crate::counted;
use crate::tables::{Grid, escape_markdown, markdown_table};

/// A report as Markdown: every table of the page, without its charts. Runs without results are passed over.
pub fn evolving_markdown(records: &[EvolvingRecord], notes: &[String]) -> String {
    let mut text: String = sections(records).iter().map(section_text).collect();
    for note in notes {
        text.push_str(&format!("Note: {}\n", escape_markdown(note)));
    }
    text
}

fn section_text(section: &Section<'_>) -> String {
    let card = &section.first().dataset;
    let variant = card.variant.as_deref();
    let variant = variant.map(|name| format!(", catalogue {}", escape_markdown(name))).unwrap_or_default();
    let [steps, entities, relations] =
        [card.steps, card.entities, card.relations].map(|count| counted(count as u64));
    let mut text = format!(
        "# {}\n\nFingerprint `{}`{variant}. Steps {steps}, entities {entities}, relations {relations}.\n\n{}\n\n",
        escape_markdown(section.title()),
        card.fingerprint,
        escape_markdown(&section.protocol())
    );
    let table = |title: &str, grid: &Grid| format!("## {title}\n\n{}\n", markdown_table(grid));
    let optional =
        |title: &str, grid: Option<Grid>| grid.map_or_else(String::new, |grid| table(title, &grid));
    text.push_str(&table("Link prediction, means over the steps", &link_means(section)));
    text.push_str(&optional("Triple classification, means over the steps", triple_means(section)));
    text.push_str("Per cent, mean ranks apart. Mean of steps: every step counts alike; all questions: every question does.\n\n");
    text.push_str(&optional("Old facts and new ones", ages(section)));
    text.push_str(&table("Step by step", &link_steps(section)));
    text.push_str(&optional("Triple classification step by step", triple_steps(section)));
    if let Some(Published { sources, lines }) = published(section) {
        text.push_str(&table("Beside the published values", &lines));
        text.push_str(&format!("Source: {}.\n\n", escape_markdown(&sources)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AskedAbout;
    use crate::samples::changing;

    #[test]
    fn tables_are_tables() {
        let mut odd = changing("transe", 20, 1);
        odd.dataset.name = "a|b".to_owned();
        odd.asked = Some(AskedAbout::Sample);
        let text = evolving_markdown(&[changing("transe", 20, 1), changing("transh", 20, 1), odd], &[]);
        assert!(!text.contains("```"), "{text}");
        assert!(text.starts_with("# graph\n\nFingerprint `0123456789abcdef`. Steps 2,"), "{text}");
        assert!(text.contains("| transe, static | mean of steps | 40.00 | 0.00 |"), "{text}");
        assert!(text.contains("| transh, static | all questions | 75.00 | 75.00 | – |"), "{text}");
        assert!(text.contains("\n# a\\|b\n") && text.contains("a sample of those held out"), "{text}");
        // Blocks of rows have as many bars as their heads.
        let bars = |line: &str| line.matches('|').count();
        for block in text.split("\n\n").filter(|block| block.starts_with('|')) {
            let first = block.lines().next().expect("a head");
            assert!(block.lines().all(|line| bars(line) == bars(first)), "{block}");
        }
        assert_eq!(text.matches("## Step by step").count(), 2);
    }

    #[test]
    fn notes_and_published_values_are_there() {
        let mut record = changing("transe", 20, 1);
        record.dataset.variant = Some("WikidataEvolve".to_owned());
        record.protocol.ties = quadcast_core::TiePolicy::Optimistic;
        record.asked = Some(AskedAbout::Sample);
        let text = evolving_markdown(&[record], &["left out: x_y".to_owned()]);
        assert!(text.contains("catalogue WikidataEvolve. "), "{text}");
        assert!(text.contains("Source: Lafraie 2020, table 9.\n"), "{text}");
        assert!(text.ends_with("Note: left out: x\\_y\n"), "{text}");
    }
}
