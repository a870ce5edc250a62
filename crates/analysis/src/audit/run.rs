//! Runs all checks.

use super::check::Audit;
use super::leakage::{LeakageOptions, leakage};
use super::{identity, order, separation, shape};
use crate::info;
use quadcast_data::Loaded;

/// Answers the dataset questions of the checklist for fair evaluation, and measures leakage.
pub fn audit(loaded: &Loaded) -> Audit {
    audit_with(loaded, &LeakageOptions::default())
}

/// The same, with a say in what counts as a pattern and how much leakage is too much.
pub fn audit_with(loaded: &Loaded, options: &LeakageOptions) -> Audit {
    let info = info(loaded);
    let checks = vec![
        identity::known_variant(&info).into_check("D1", "Is it a known dataset version?"),
        order::ordered(loaded, &info)
            .into_check("D2", "Are the splits ordered in time, without a shared time stamp?"),
        separation::validation(&info)
            .into_check("D3", "Does a validation set exist that differs from the test set?"),
        identity::ids(&info).into_check("D4", "Are the ids in range, used and known from training?"),
        shape::uniform(&info).into_check("D5", "Are there duplicates, self loops or gaps in time?"),
    ];
    let leakage = leakage(loaded, &info, options);
    Audit { dataset: info.name, checks, leakage }
}
