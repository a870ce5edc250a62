//! What can be set. The decay of relation weights was chosen on the validation period of ICEWS14; the other defaults are estimates.

use crate::capacity::MOST_THINGS;

/// Width of the first layer at most: sixteen times the usual one.
pub(super) const MOST_HIDDEN: usize = 1024;

choices! {
    /// How evidence becomes a score.
    pub enum Form {
        /// Weights of the dataset, weights of the relation, and a small network.
        Full = "full",
        /// Weights of the dataset and of the relation only: every score is a sum of named evidence.
        Additive = "additive",
    }
}

settings! {
    /// Configuration.
    pub struct Config {
        /// How evidence becomes a score.
        form: Form = Form::Full;
        /// Read country and sector from entity names such as `Police (Peru)`.
        names: bool = false;
        /// Ranks among the candidates as features.
        ranks: bool = true;
        /// Roles that an entity usually has as features.
        roles: bool = true;
        /// Evidence that travels over partners, similar subjects and past answers.
        propagation: bool = true;
        /// Rules with two facts.
        chains: bool = true;
        /// Groups of evidence to leave out, for ablations: 0 same fact, 1 same pair, 2 popularity, 3 rules, 4 paths, 5 roles.
        without: Vec<u8> = Vec::new(), range at_least(0.0).at_most(5.0);
        /// Width of the first layer of the network; the second has half of it.
        hidden: usize = 64, range at_least(2.0).at_most(MOST_HIDDEN as f64), search Numbers(&[32.0, 64.0, 128.0]);
        /// Epochs at most.
        epochs: u32 = 3, range at_least(1.0), search Numbers(&[2.0, 3.0, 5.0]);
        /// Learning rate of Adam in the first batch; it falls to a fifth.
        learning_rate: f64 = 2e-3, range above(0.0), search Log(5e-4, 5e-3);
        /// Decay of the weights of relations.
        relation_decay: f64 = 1e-2, range at_least(0.0), search Log(1e-5, 1e-2);
        /// Answers per training step.
        batch: usize = 128, range at_least(1.0).at_most(MOST_THINGS);
        /// Share of the training steps that only fill the counts.
        warm_up: f64 = 0.4, range at_least(0.0).below(1.0);
        /// Steps between two updates of the counts in training; 0 takes it from the validation period: 1 if it is played step by
        /// step, its length if it is played at once.
        horizon: usize = 0, range at_least(0.0).at_most(MOST_THINGS);
        /// In the online setting, also learn weights from the facts of every step once they are known. Rules stay as they are.
        online_weights: bool = false;
        /// Learning rate of these updates: a fifth of the one at the start of training.
        online_rate: f64 = 4e-4, range above(0.0);
    }
}
