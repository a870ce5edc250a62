//! Statistics in words: the general part.

use super::block::Block;
use super::counting::{IdSpace, Novelty, Share, Unseen};
use super::summary::{Details, Info};
use super::{text_evolving, text_splits};
use crate::catalogue::{CatalogueMatch, Family};

impl Info {
    /// The statistics for people: a block of text, lines of at most a hundred columns.
    pub fn text(&self) -> String {
        let mut block = Block::default();
        block.heading(&format!("{}: {}", self.name, self.kind_words()));
        block.row("folder", &self.path.display().to_string());
        block.row("format", self.format_word());
        block.row("catalogue", &self.catalogue_words());
        block.row("fingerprint", &self.fingerprint.to_string());
        if let Some(splits) = &self.split_fingerprints {
            for (split, hash) in splits.iter() {
                block.row(&format!("  of {split}"), &hash.to_string());
            }
        }
        block.row("entities", &id_space(&self.entities));
        block.row("relations", &id_space(&self.relations));
        match &self.details {
            Details::Temporal(info) => text_splits::temporal(&mut block, info),
            Details::Static(info) => text_splits::graph(&mut block, info),
            Details::Intervals(info) => text_splits::intervals(&mut block, info),
            Details::Evolving(info) => text_evolving::evolving(&mut block, info),
        }
        self.remarks(&mut block);
        block.finish()
    }

    fn remarks(&self, block: &mut Block) {
        if !self.notes.is_empty() {
            block.heading("Read as");
            for note in &self.notes {
                block.sentence(note, "- ");
            }
        }
        if !self.quirks.is_empty() {
            block.heading("Known peculiarities");
            for quirk in self.quirks {
                block.sentence(quirk, "- ");
            }
        }
    }

    fn kind_words(&self) -> &'static str {
        match (&self.details, self.family) {
            (Details::Temporal(_), Some(Family::Forecasting)) => {
                "facts with time stamps, made for forecasting"
            }
            (Details::Temporal(_), Some(Family::Completion)) => "facts with time stamps, made for completion",
            (Details::Temporal(_), _) => "facts with time stamps",
            (Details::Static(_), _) => "facts without time",
            (Details::Intervals(_), _) => "facts with validity intervals",
            (Details::Evolving(_), _) => "a graph that changes in steps",
        }
    }

    fn format_word(&self) -> &'static str {
        use crate::Format::{Intervals, Labelled, Lkge, Openke, Quads, Snapshots, WikidataEvolve};
        match self.format {
            Quads => "quads (subject relation object time, ids)",
            Labelled => "labelled (subject relation object date, names)",
            Intervals => "intervals (subject relation object start end)",
            Openke => "openke (head tail relation)",
            WikidataEvolve => "wikidata-evolve (updates, increments, snapshots)",
            Snapshots => "snapshots (one OpenKE folder per snapshot)",
            Lkge => "lkge (one folder of new facts per step, names)",
        }
    }

    fn catalogue_words(&self) -> String {
        match &self.catalogue {
            Some(CatalogueMatch::Exact { name }) => format!("{name}, content equal"),
            Some(CatalogueMatch::Near { name, reason }) => format!("near match {name}: {reason}"),
            None => "no variant of these sizes is known".to_owned(),
        }
    }
}

fn id_space(ids: &IdSpace) -> String {
    let unused = match ids.never_used {
        0 => String::new(),
        count => format!(", {count} never used"),
    };
    let declared = match ids.declared {
        Some(declared) if declared != ids.size => format!("; the files declare {declared}"),
        _ => String::new(),
    };
    format!("{} ids, {} used{unused}{declared}", ids.size, ids.used)
}

/// A share in per cent with its count.
pub(super) fn share(share: &Share) -> String {
    format!("{:.2} % ({})", 100.0 * share.share, share.count)
}

/// Rows on what the test split brings.
pub(super) fn novelty(block: &mut Block, plural: &str, novelty: &Novelty) {
    block.row(&format!("{plural} in train"), &novelty.in_train.to_string());
    block.row("  test ones unseen in train", &unseen(&novelty.unseen_in_train));
    block.row("  unseen in train and valid", &unseen(&novelty.unseen_in_train_and_valid));
}

fn unseen(unseen: &Unseen) -> String {
    if unseen.ids == 0 {
        return "none".to_owned();
    }
    let more = if unseen.ids > unseen.examples.len() { ", ..." } else { "" };
    let facts = if unseen.test_facts == 1 { "fact" } else { "facts" };
    format!("{} in {} test {facts}: {}{more}", unseen.ids, unseen.test_facts, unseen.examples.join(", "))
}
