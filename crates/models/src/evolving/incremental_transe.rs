//! Incremental `TransE`: what changed is learned, what is near the change is repeated, what went is unlearned.
//!
//! **Idea.** After a change most of the space is right already. Learning the new triples alone moves the rows they share with
//! old ones, and what was known is forgotten; learning everything again costs as much as the first time. Between the two:
//! new triples, all old ones near the change, some of the others in every epoch, and deleted triples as false ones.
//!
//! **Paper.** None; a baseline of this project. The space is that of `TransE` (Bordes et al., NIPS 2013).
//!
//! **Score.** That of `TransE`.
//!
//! **Training.** The first graph as `TransE` does. After a change, an epoch goes through
//!
//! - every new triple once,
//! - every old triple *near* the change once: one of its entities is new, or a tenth of that entity's triples came or went.
//!   With any shared entity instead, one hub would put most of the graph near;
//! - a fifth of the other triples, drawn anew in every epoch, so that none is left alone for long;
//! - every deleted triple once, as the false one of a true triple with the same relation and head (or tail): what is learned
//!   is which of two answers is right, and nothing about entities that have both.
//!
//! New entities begin at the mean of where the triples with known entities say they should be, h + r or t − r: one step from
//! there does what hundreds from a random row would. They get the mean length of the known rows, since the length of a row
//! decides how far a step turns it. New is of whom no triple was ever learned: who goes and comes back keeps its row.
//!
//! **Differs from the paper.** There is none.
//!
//! **Cost.** At most 150 epochs after a change, each shorter than one of the whole graph.

use quadcast_kernels::triples::Translation;

use super::settings::Config;
use super::space::Named;
use crate::registry::EvolvingEntry;

pub(super) struct IncrementalTransE;

impl Named for IncrementalTransE {
    type Space = Translation;
    const NAME: &'static str = "incremental-transe";
    const ABOUT: &'static str =
        "TransE that learns changes, repeats what is near them, and unlearns what was deleted.";
    const PAPER: &'static str = "A baseline of this project";
    const SOURCE: &'static str = "The space is that of Bordes et al., NIPS 2013";

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
}

/// The entry of the registry.
pub const ENTRY: EvolvingEntry = super::entry::<IncrementalTransE>();
