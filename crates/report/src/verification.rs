//! What the verification of a run found, in words.

use quadcast_run::{Played, Verification};

use crate::{counted, shown};

/// The text of `quadcast verify`.
pub fn verification_text(verification: &Verification) -> String {
    let Verification { run, model, dataset, digest, ranks, played, different, first_difference } =
        verification;
    let ranks = counted(*ranks as u64);
    let again = match (played, different) {
        (Played::NotPlayed, _) => "not played again: there is no model that could be".to_owned(),
        (Played::SavedModel, 0) => format!("saved model played again: {ranks} ranks, all the same"),
        (Played::TrainedAgain, 0) => format!("trained and played again: {ranks} ranks, all the same"),
        (_, different) => format!(
            "played again: {} of {ranks} ranks differ; {}",
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
