//! What can be set: the components of a model, and how it is trained.

use serde::Serialize;

use super::assemble::{Widths, split, widths};
use super::encoders::fused::Fusion;
use super::encoders::hyperplane::Projection;
use crate::capacity::{MOST_DIMENSION, MOST_THINGS};
use crate::config::ConfigError;
use crate::settings::Settings;
use crate::training::{Order, Schedule};

choices! {
    /// How time enters.
    pub enum Temporal {
        /// Not at all.
        None = "none",
        /// A learned vector per time.
        T = "t",
        /// One learned function of time for all.
        Utee = "utee",
        /// Part of every row swings with the date.
        De = "de",
        /// Rows are projected on the hyperplane of the time.
        Hyte = "hyte",
        /// Rows are a trend and a season.
        Atise = "atise",
        /// A recurrent cell reads relation and date.
        Ta = "ta",
        /// A learned vector per time for one part of the relation, none for the other.
        Tnt = "tnt",
        /// Complex rows are turned by a phase per time.
        Rotation = "rotation",
        /// Quaternion rows are turned by a quaternion per time.
        Quaternion = "quaternion",
        /// TLT-KGE's time and window tables, real products.
        TltComplex = "tlt-complex",
        /// The same with complex products.
        TltQuaternion = "tlt-quaternion",
    }

    /// What time changes.
    pub enum Target {
        /// Entities.
        Entity = "entity",
        /// Relations.
        Relation = "relation",
        /// Both.
        Both = "both",
    }

    /// The score function.
    pub enum ScorerName {
        /// −‖h + r − t‖
        TransE = "transe",
        /// Σ h·r·t
        DistMult = "distmult",
        /// `DistMult` with its inverse half.
        SimplE = "simple",
        /// Re Σ h·r·t̄
        ComplEx = "complex",
        /// hᵀ·M·t
        Rescal = "rescal",
        /// −Σ |h·e^{iθ} − t|
        RotatE = "rotate",
        /// Σ G·h·r·t
        TuckER = "tucker",
        /// −‖h + r − t̄‖
        Conjugate = "conjugate",
        /// Kullback–Leibler divergence of Gaussians.
        Kl = "kl",
    }

    /// The loss of a question.
    pub enum LossName {
        /// Cross entropy of the softmax over candidates.
        Ce = "ce",
        /// Binary cross entropy of every candidate.
        Bce = "bce",
        /// max(0, margin − true + false)
        Margin = "margin",
        /// softplus of both signs, false ones weighted by their own softmax.
        LogRank = "log-rank",
        /// ln(1 + e^{∓score}), summed.
        SoftMargin = "soft-margin",
    }

    /// Which candidates a question is trained on.
    pub enum SamplerName {
        /// All entities.
        All = "all",
        /// Drawn ones, the same for a group of questions.
        Shared = "shared",
        /// Drawn ones, for every question anew.
        Independent = "independent",
    }

    /// A penalty on the numbers of a table.
    pub enum PenaltyName {
        /// None.
        None = "none",
        /// Σ|x| / rows
        L1 = "l1",
        /// Σx² / rows
        L2 = "l2",
        /// Σ|x|³ / rows
        L3 = "l3",
        /// `Σ|x_{i+1} − x_i|³ / (rows − 1)`: neighbouring times (or ids) are kept alike.
        Smooth3 = "smooth3",
        /// The same with the fourth power.
        Smooth4 = "smooth4",
    }

    /// The optimiser.
    pub enum OptimiserName {
        /// Adagrad.
        Adagrad = "adagrad",
        /// Adam.
        Adam = "adam",
        /// Gradient descent.
        Sgd = "sgd",
    }

    /// Initial values of rows.
    pub enum InitialName {
        /// U(±√(6 / (rows + width)))
        XavierUniform = "xavier-uniform",
        /// N(0, 2 / (rows + width))
        XavierNormal = "xavier-normal",
        /// N(0, `initial_scale`²)
        Normal = "normal",
        /// U(±`initial_scale`/√width)
        Uniform = "uniform",
    }

    /// Who a subject query is asked of.
    pub enum SubjectQueries {
        /// All subjects with the relation itself.
        Direct = "direct",
        /// All objects with the reciprocal relation.
        Reciprocal = "reciprocal",
    }
}

impl Target {
    pub(super) fn has_entities(self) -> bool {
        self != Self::Relation
    }

    pub(super) fn has_relations(self) -> bool {
        self != Self::Entity
    }
}

settings! {
    /// Configuration. The defaults are a model that trains well on most data: `TNTComplEx` of moderate rank. Search ranges are
    /// those of Han et al. 2021 and of their configuration files.
    pub struct Config {
        /// How time enters.
        temporal: Temporal = Temporal::Tnt;
        /// What time changes.
        target: Target = Target::Relation;
        /// How a time vector is joined (`t` and `utee`).
        fusion: Fusion = Fusion::Complex;
        /// The score function.
        scorer: ScorerName = ScorerName::ComplEx;
        /// How distances are measured: 1 (absolute values) or 2 (squares).
        norm: u8 = 1, range at_least(1.0).at_most(2.0);
        /// Numbers of a row; complex coordinates for complex rows, quaternions for theirs.
        dimension: usize = 128, range at_least(1.0).at_most(MOST_DIMENSION),
            search Numbers(&[64.0, 100.0, 128.0, 256.0, 512.0, 1024.0, 2048.0]);
        /// Width of relations of `tucker`; 0: that of entities.
        relation_dimension: usize = 0, range at_least(0.0).at_most(MOST_DIMENSION);
        /// Share of a row that time does not change (`de`; `utee` and `t` by concatenation).
        static_ratio: f64 = 0.5, range at_least(0.0).at_most(1.0), search Linear(0.0, 1.0), when temporal in &["de"];
        /// How `hyte` projects.
        projection: Projection = Projection::Unit;
        /// Units of time per period: `atise` counts periods, `rotation` and `quaternion` have a row for each.
        granularity: u32 = 1, range at_least(1.0);
        /// Times per window of `tlt-complex` and `tlt-quaternion`.
        window: u32 = 120, range at_least(1.0);
        /// Subtracted from the year in `de`.
        year_offset: f64 = 0.0, source "published code, which subtracts nothing";
        /// Whether entities have one row as subject and another as object.
        position_aware: bool = false, search Words(&["true", "false"]);
        /// Whether every relation has a reciprocal one.
        reciprocal: bool = true, search Words(&["true", "false"]);
        /// Whether a score is the mean of that of the fact and that of its reciprocal.
        inverse: bool = false;
        /// Who a subject query is asked of.
        subject_queries: SubjectQueries = SubjectQueries::Reciprocal;
        /// The loss.
        loss: LossName = LossName::Ce, search Words(&["ce", "bce"]);
        /// Margin of the margin loss.
        margin: f64 = 1.0, range at_least(0.0);
        /// Temperature of the weights of the log-rank loss.
        temperature: f64 = 0.5, range at_least(0.0);
        /// Added to every score in training: matters for losses that look at single scores.
        offset: f64 = 0.0;
        /// Which candidates a question is trained on.
        sampler: SamplerName = SamplerName::All;
        /// Candidates drawn.
        negatives: usize = 500, range at_least(1.0).at_most(MOST_THINGS);
        /// Questions that share drawn candidates, and, where candidates change with time, the time.
        group: usize = 64, range at_least(1.0).at_most(MOST_THINGS);
        /// Whether an epoch asks about every triple once, at one of the times at which it holds, drawn anew; without it, at
        /// all of them. For facts that hold over intervals.
        draw_times: bool = false;
        /// Initial values.
        initial: InitialName = InitialName::Normal, search Words(&["xavier-uniform", "xavier-normal"]);
        /// Scale of the initial values, for `normal` and `uniform`.
        initial_scale: f64 = 0.01, range above(0.0);
        /// Share of the components of a question that are dropped in training.
        dropout: f64 = 0.0, range at_least(0.0).below(1.0), search Linear(0.0, 0.6);
        /// Whether the components that are left are scaled up for it.
        dropout_scaled: bool = true;
        /// Weight of the cubes (N3) of the rows in use.
        factor_weight: f64 = 0.01, range at_least(0.0), search Numbers(&[1e-3, 1e-2, 1e-1]), when temporal in &["tnt"];
        /// How much more entities count in it than relations.
        factor_entities: f64 = 2.0, range at_least(0.0);
        /// Penalty on tables of entities.
        entity_penalty: PenaltyName = PenaltyName::None, search Words(&["none", "l1", "l2", "l3"]);
        /// Weight of `entity_penalty`.
        entity_weight: f64 = 0.0, range at_least(0.0), search Linear(0.0, 0.1),
            when entity_penalty in &["l1", "l2", "l3"];
        /// Penalty on tables of relations.
        relation_penalty: PenaltyName = PenaltyName::None, search Words(&["none", "l1", "l2", "l3"]);
        /// Weight of `relation_penalty`.
        relation_weight: f64 = 0.0, range at_least(0.0), search Linear(0.0, 0.1),
            when relation_penalty in &["l1", "l2", "l3"];
        /// Penalty on tables of times; `smooth3` and `smooth4` keep neighbours alike.
        time_penalty: PenaltyName = PenaltyName::Smooth3;
        /// Weight of `time_penalty`.
        time_weight: f64 = 0.01, range at_least(0.0), search Linear(0.0, 0.1), when temporal in &["t", "hyte"];
        /// Whether rows of entities and relations are kept no longer than 1.
        clip_rows: bool = false;
        /// Smallest variance of Gaussian rows; the largest is 100 times as much.
        least_variance: f64 = 0.003, range above(0.0);
        /// The optimiser.
        optimiser: OptimiserName = OptimiserName::Adagrad;
        /// Learning rate.
        learning_rate: f64 = 0.1, range above(0.0), search Log(1e-7, 0.1);
        /// Questions per step; a fact is two questions.
        batch: usize = 1000, range at_least(1.0).at_most(MOST_THINGS);
        /// Epochs at most.
        epochs: u32 = 50, range at_least(1.0);
        /// Epochs between validations.
        validate_every: u32 = 5, range at_least(1.0);
        /// Validations without improvement before training stops; 0: never.
        patience: u32 = 3;
        /// Penalties as the published study computed them (`l3` of rows: along the order of ids).
        compat: bool = false;
    }
}

impl Config {
    /// Whether rows are complex numbers.
    pub(super) fn is_complex(&self) -> bool {
        matches!(self.scorer, ScorerName::ComplEx | ScorerName::RotatE)
            || matches!(self.temporal, Temporal::Rotation | Temporal::TltComplex | Temporal::TltQuaternion)
    }

    /// Whether a score has an inverse half.
    pub(super) fn has_inverse_half(&self) -> bool {
        self.inverse || self.scorer == ScorerName::SimplE
    }

    /// Whether subjects are scored by themselves. With an inverse half both ways are the same.
    pub(super) fn asks_subjects_directly(&self) -> bool {
        !self.has_inverse_half() && self.subject_queries == SubjectQueries::Direct
    }

    /// The penalty on tables of entities or relations: what the study called L3 ran along the order of ids, but for
    /// `ATiSE` and UTEE.
    pub(super) fn row_penalty(&self, name: PenaltyName) -> PenaltyName {
        let along_ids = self.compat && !matches!(self.temporal, Temporal::Atise | Temporal::Utee);
        if along_ids && name == PenaltyName::L3 { PenaltyName::Smooth3 } else { name }
    }

    pub(super) fn schedule(&self) -> Schedule {
        Schedule {
            epochs: self.epochs,
            first_validation: self.validate_every,
            validate_every: self.validate_every,
            patience: (self.patience > 0).then_some(self.patience),
            // The questions of an epoch are drawn in an order of their own.
            order: Order::Fixed,
            ..Schedule::default()
        }
    }

    /// Numbers out of range, and components that do not go together.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        self.check_ranges()?;
        let clash = self.clash_of_time().or_else(|| self.clash_of_score()).or_else(|| self.idle_setting());
        clash.map_or(Ok(()), |clash| Err(ConfigError::Value(clash)))
    }

    /// How time enters, against all else.
    fn clash_of_time(&self) -> Option<String> {
        let (temporal, scorer) = (word(&self.temporal), word(&self.scorer));
        let entities = self.target.has_entities();
        let relations = self.target.has_relations();
        let clash = match self.temporal {
            Temporal::Ta | Temporal::Tnt | Temporal::TltComplex | Temporal::TltQuaternion if entities => {
                format!("temporal = {temporal} is for relations: set target = \"relation\"")
            }
            Temporal::Rotation | Temporal::Quaternion if relations => {
                format!("temporal = {temporal} turns entities: set target = \"entity\"")
            }
            Temporal::Rotation | Temporal::Quaternion if self.scorer != ScorerName::Conjugate => {
                format!("temporal = {temporal} is made for scorer = \"conjugate\", not {scorer}")
            }
            Temporal::Tnt if self.scorer != ScorerName::ComplEx => {
                format!(
                    "temporal = {temporal} multiplies complex numbers: \
                     scorer = \"complex\" has them, {scorer} not"
                )
            }
            Temporal::TltComplex | Temporal::TltQuaternion if self.scorer != ScorerName::ComplEx => {
                format!("temporal = {temporal} comes with a score of its own: set scorer = \"complex\"")
            }
            Temporal::TltComplex | Temporal::TltQuaternion
                if self.has_inverse_half() || self.asks_subjects_directly() || !self.reciprocal =>
            {
                format!(
                    "temporal = {temporal} scores objects only: set inverse = false and \
                     subject_queries = \"reciprocal\" with reciprocal = true"
                )
            }
            Temporal::T | Temporal::Utee
                if self.fusion == Fusion::Complex && self.scorer != ScorerName::ComplEx =>
            {
                format!(
                    "fusion = \"complex\" needs complex rows on both sides: scorer = \"complex\", not {scorer}"
                )
            }
            Temporal::T | Temporal::Utee if self.fusion == Fusion::Concatenate && self.is_complex() => {
                format!("fusion = \"concatenate\" would mix real and imaginary parts of scorer = {scorer}")
            }
            Temporal::T | Temporal::Utee if self.fusion == Fusion::Concatenate => {
                return self.clash_of_shares();
            }
            _ => return None,
        };
        Some(clash)
    }

    /// Rows that are divided between an id and the time, with no numbers for one of them.
    fn clash_of_shares(&self) -> Option<String> {
        let Widths { entity, relation } = widths(self);
        let divided = [(self.target.has_entities(), entity), (self.target.has_relations(), relation)];
        let mut divided = divided.into_iter().filter(|&(changes, _)| changes);
        divided.find_map(|(_, width)| {
            let without = match split(self.static_ratio, width) {
                (0, _) => "row itself",
                (_, 0) => "time",
                _ => return None,
            };
            Some(format!(
                "fusion = \"concatenate\" with static_ratio = {} of {width} leaves no numbers for the {without}: \
                 set static_ratio = 0.5 and dimension = 2 or more",
                self.static_ratio
            ))
        })
    }

    /// Scores, directions and widths.
    fn clash_of_score(&self) -> Option<String> {
        let (temporal, scorer) = (word(&self.temporal), word(&self.scorer));
        let entities = self.target.has_entities();
        let relations = self.target.has_relations();
        let different_widths = self.scorer == ScorerName::RotatE || self.relation_dimension > 0;
        let clash = match self.temporal {
            _ if self.scorer == ScorerName::Conjugate
                && !matches!(self.temporal, Temporal::Rotation | Temporal::Quaternion) =>
            {
                "scorer = \"conjugate\" is for temporal = \"rotation\" or \"quaternion\"".to_owned()
            }
            _ if self.scorer == ScorerName::Kl
                && !(self.temporal == Temporal::Atise && self.target == Target::Both) =>
            {
                "scorer = \"kl\" compares Gaussians: set temporal = \"atise\" and target = \"both\"".to_owned()
            }
            _ if self.has_inverse_half() && self.norm == 2 && self.is_translation() => {
                "inverse = true adds two distances, and norm = 2 does not add up: set norm = 1 or inverse = false"
                    .to_owned()
            }
            _ if self.scorer == ScorerName::Rescal && relations && self.temporal != Temporal::None => {
                format!(
                    "scorer = \"rescal\" has a matrix per relation, which temporal = {temporal} cannot change: \
                     set target = \"entity\""
                )
            }
            Temporal::Hyte if self.target == Target::Both && different_widths => {
                format!(
                    "temporal = {temporal} projects entities and relations alike: their widths must be equal, \
                     which scorer = {scorer} does not have"
                )
            }
            Temporal::T | Temporal::Utee if self.target == Target::Both && different_widths => {
                format!(
                    "a vector of the time cannot be joined to entities and relations of different widths: \
                     set target = \"entity\" or \"relation\", or another scorer than {scorer}"
                )
            }
            _ if self.has_inverse_half() && !self.reciprocal => {
                let without = if self.scorer == ScorerName::SimplE {
                    "scorer = \"distmult\" with inverse = false"
                } else {
                    "inverse = false"
                };
                format!("an inverse half needs reciprocal relations: set reciprocal = true, or {without}")
            }
            _ if !self.reciprocal && self.subject_queries == SubjectQueries::Reciprocal => {
                "subject_queries = \"reciprocal\" needs reciprocal = true; or set subject_queries = \"direct\""
                    .to_owned()
            }
            _ if self.draw_times && entities && self.temporal != Temporal::None => {
                "draw_times = true is for models in which time changes relations: set target = \"relation\""
                    .to_owned()
            }
            _ => return None,
        };
        Some(clash)
    }

    /// A setting that would change nothing.
    fn idle_setting(&self) -> Option<String> {
        let (temporal, scorer) = (word(&self.temporal), word(&self.scorer));
        let penalised = self.time_penalty != PenaltyName::None && self.time_weight > 0.0;
        let smooth = matches!(self.time_penalty, PenaltyName::Smooth3 | PenaltyName::Smooth4);
        let has_periods =
            matches!(self.temporal, Temporal::Atise | Temporal::Rotation | Temporal::Quaternion);
        let clash = match self.temporal {
            Temporal::None | Temporal::De | Temporal::Atise | Temporal::Ta if penalised => {
                format!("temporal = {temporal} has no row per time: set time_penalty = \"none\"")
            }
            // Its amplitudes are one row for all times, which has a size and no neighbours.
            Temporal::Utee if penalised && smooth => {
                format!(
                    "temporal = {temporal} has no row per time that could be kept like its neighbours: \
                     set time_penalty = \"none\""
                )
            }
            _ if self.granularity != 1 && !has_periods => {
                format!(
                    "granularity = {} is for temporal = \"atise\", \"rotation\" and \"quaternion\": \
                     set granularity = 1",
                    self.granularity
                )
            }
            _ if self.relation_dimension > 0 && self.scorer != ScorerName::TuckER => {
                format!("relation_dimension is for scorer = \"tucker\"; {scorer} has its own")
            }
            _ => return None,
        };
        Some(clash)
    }

    fn is_translation(&self) -> bool {
        matches!(self.scorer, ScorerName::TransE | ScorerName::Conjugate)
    }
}

/// A setting as it is written.
fn word(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
