//! Incremental `TransE`: learns new triples, repeats triples near the change, and unlearns deleted ones.
//!
//! **Idea.** After a change most of the space is still right. Training on new triples alone moves the rows they share with old
//! triples, and the model forgets; training on everything costs as much as the first time. The compromise: new triples, all old
//! ones near the change, a sample of the others in every epoch, and deleted triples as false ones.
//!
//! **Paper.** None; a baseline of this project. The space is that of `TransE` (Bordes et al., NIPS 2013).
//!
//! **Score.** That of `TransE`.
//!
//! **Training.** The first graph as in `TransE`. After a change, an epoch uses
//!
//! - every new triple once,
//! - every old triple *near* the change once: one of its entities is new, or a tenth of that entity's triples changed.
//!   If any shared entity counted, one hub would put most of the graph near the change;
//! - a fifth of the other triples, drawn again in every epoch, so that none is left out for long;
//! - every deleted triple once, as the false one of a true triple with the same relation and head (or tail): the model learns
//!   which of two answers is right, and nothing about entities with both.
//!
//! New entities start at the mean of the positions that their triples with known entities suggest, h + r or t − r: one step from
//! there replaces hundreds from a random row. They get the mean length of the known rows, since the length of a row decides how
//! far a step turns it. An entity is new if no training triple contained it; a deleted entity that returns keeps its row.
//!
//! **Differs from the paper.** There is none.
//!
//! **Cost.** At most 150 epochs after a change, each shorter than one of the whole graph.

use quadcast_core::Capabilities;
use quadcast_kernels::triples::Translation;

use super::settings::Config;
use crate::registry::{Build, Entry};
use crate::settings::Settings;

/// The entry of the registry.
pub const ENTRY: Entry = Entry {
    name: "incremental-transe",
    about: "TransE that learns changes and unlearns what was deleted.",
    paper: "A baseline of this project",
    source: "The space is that of Bordes et al., NIPS 2013",
    defaults: || config().table(),
    build: Build::Evolving(|table| super::build::<Translation>("incremental-transe", &config(), table)),
    capabilities: || Capabilities { unlearns: true, ..super::CAPABILITIES },
    base: Some("transe"),
    ..super::transe::ENTRY
};

fn config() -> Config {
    Config {
        update_epochs: 150,
        validate_every: 50,
        replay_near: 1.0,
        replay: 0.2,
        near: 0.1,
        unlearn: 1.0,
        neighbour_start: true,
        ..Config::default()
    }
}
