//! What the verification of a run found, in words.

use quadcast_run::{Played, Verification};

use crate::{counted, shown};

/// The text of `quadcast verify`.
pub fn verification_text(verification: &Verification) -> String {
    let Verification { run, model, dataset, digest, ranks, played, not_played, different, first_difference } =
        verification;
    let ranks = counted(*ranks as u64);
    let again = match (played, different) {
        (Played::NotPlayed, _) => {
            format!("not evaluated again: {}", not_played.unwrap_or("no reason is known"))
        }
        (Played::SavedModel, 0) => format!("saved model evaluated again: {ranks} ranks, all the same"),
        (Played::TrainedAgain, 0) => format!("trained and evaluated again: {ranks} ranks, all the same"),
        (_, different) => format!(
            "evaluated again: {} of {ranks} ranks differ; {}",
            counted(*different as u64),
            first_difference.as_deref().unwrap_or_default()
        ),
    };
    format!(
        "{}: {} on {}\n\
         files    unchanged since the run\n\
         figures  follow from {ranks} ranks\n\
         ranks    {again}\n\
         digest   {digest}\n",
        shown(run),
        shown(model),
        shown(dataset)
    )
}
