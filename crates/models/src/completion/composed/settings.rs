//! What can be set: the components of a model, and how it is trained.

use quadcast_train::{Order, Schedule};
use serde::{Deserialize, Serialize};

use super::assemble::{Widths, split, widths};
use super::encoders::fused::Fusion;
use super::encoders::hyperplane::Projection;
use crate::config::{ConfigError, check_at_least_one, check_ranges};

/// How time enters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Temporal {
    /// Not at all.
    None,
    /// A learned vector per time.
    T,
    /// One learned function of time for all.
    Utee,
    /// Part of every row swings with the date.
    De,
    /// Rows are projected on the hyperplane of the time.
    Hyte,
    /// Rows are a trend and a season.
    Atise,
    /// A recurrent cell reads relation and date.
    Ta,
    /// A learned vector per time for one part of the relation, none for the other.
    Tnt,
    /// Complex rows are turned by a phase per time.
    Rotation,
    /// Quaternion rows are turned by a quaternion per time.
    Quaternion,
    /// TLT-KGE's time and window tables, real products.
    TltComplex,
    /// The same with complex products.
    TltQuaternion,
}

/// What time changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// Entities.
    Entity,
    /// Relations.
    Relation,
    /// Both.
    Both,
}

impl Target {
    pub(super) fn has_entities(self) -> bool {
        self != Self::Relation
    }

    pub(super) fn has_relations(self) -> bool {
        self != Self::Entity
    }
}

/// The score function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScorerName {
    /// −‖h + r − t‖
    TransE,
    /// Σ h·r·t
    DistMult,
    /// `DistMult` with its inverse half.
    SimplE,
    /// Re Σ h·r·t̄
    ComplEx,
    /// hᵀ·M·t
    Rescal,
    /// −Σ |h·e^{iθ} − t|
    RotatE,
    /// Σ G·h·r·t
    TuckER,
    /// −‖h + r − t̄‖
    Conjugate,
    /// Kullback–Leibler divergence of Gaussians.
    Kl,
}

/// The loss of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossName {
    /// Cross entropy of the softmax over candidates.
    Ce,
    /// Binary cross entropy of every candidate.
    Bce,
    /// max(0, margin − true + false)
    Margin,
    /// softplus of both signs, false ones weighted by their own softmax.
    LogRank,
    /// ln(1 + e^{∓score}), summed.
    SoftMargin,
}

/// Which candidates a question is trained on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SamplerName {
    /// All entities.
    All,
    /// Drawn ones, the same for a group of questions.
    Shared,
    /// Drawn ones, for every question anew.
    Independent,
}

/// A penalty on the numbers of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PenaltyName {
    /// None.
    None,
    /// Σ|x| / rows
    L1,
    /// Σx² / rows
    L2,
    /// Σ|x|³ / rows
    L3,
    /// `Σ|x_{i+1} − x_i|³ / (rows − 1)`: neighbouring times (or ids) are kept alike.
    Smooth3,
    /// The same with the fourth power.
    Smooth4,
}

/// The optimiser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OptimiserName {
    /// Adagrad.
    Adagrad,
    /// Adam.
    Adam,
    /// Gradient descent.
    Sgd,
}

/// Initial values of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InitialName {
    /// U(±√(6 / (rows + width)))
    XavierUniform,
    /// N(0, 2 / (rows + width))
    XavierNormal,
    /// N(0, `initial_scale`²)
    Normal,
    /// U(±`initial_scale`/√width)
    Uniform,
}

/// Who a subject query is asked of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SubjectQueries {
    /// All subjects with the relation itself.
    Direct,
    /// All objects with the reciprocal relation.
    Reciprocal,
}

/// Configuration. The defaults are a model that trains well on most data: `TNTComplEx` of moderate rank.
#[expect(clippy::struct_excessive_bools, reason = "independent switches")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How time enters.
    pub temporal: Temporal,
    /// What time changes.
    pub target: Target,
    /// How a time vector is joined (T and UTEE).
    pub fusion: Fusion,
    /// The score function.
    pub scorer: ScorerName,
    /// 1 or 2: how distances are measured.
    pub norm: u8,
    /// Numbers of a row; complex coordinates for complex rows, quaternions for theirs.
    pub dimension: usize,
    /// Width of relations of `TuckER`; 0 is that of entities.
    pub relation_dimension: usize,
    /// Share of a row that time does not change (DE; UTEE and T by concatenation).
    pub static_ratio: f64,
    /// How `HyTE` projects.
    pub projection: Projection,
    /// Units of time per period: `ATiSE` counts periods, rotations have a row for each.
    pub granularity: u32,
    /// Times per window of TLT-KGE.
    pub window: u32,
    /// Subtracted from the year in DE.
    pub year_offset: f64,
    /// Whether entities have one row as subject and another as object.
    pub position_aware: bool,
    /// Whether every relation has a reciprocal one.
    pub reciprocal: bool,
    /// Whether a score is the mean of that of the fact and that of its reciprocal.
    pub inverse: bool,
    /// Who a subject query is asked of.
    pub subject_queries: SubjectQueries,
    /// The loss.
    pub loss: LossName,
    /// Margin of the margin loss.
    pub margin: f64,
    /// Temperature of the weights of the log-rank loss.
    pub temperature: f64,
    /// Added to every score in training: matters for losses that look at single scores.
    pub offset: f64,
    /// Which candidates a question is trained on.
    pub sampler: SamplerName,
    /// Candidates drawn.
    pub negatives: usize,
    /// Questions that share drawn candidates, and, where candidates change with time, the time.
    pub group: usize,
    /// Whether an epoch asks about every triple once, at one of the times at which it holds, drawn anew; without it, at all of
    /// them. For facts that hold over intervals.
    pub draw_times: bool,
    /// Initial values.
    pub initial: InitialName,
    /// Their scale, for `normal` and `uniform`.
    pub initial_scale: f64,
    /// Share of the components of a question that are dropped in training.
    pub dropout: f64,
    /// Whether the rest is scaled up for it.
    pub dropout_scaled: bool,
    /// Weight of the cubes of the rows in use.
    pub factor_weight: f64,
    /// How much more entities count in it than relations.
    pub factor_entities: f64,
    /// Penalty on tables of entities, and its weight.
    pub entity_penalty: PenaltyName,
    /// Its weight.
    pub entity_weight: f64,
    /// Penalty on tables of relations.
    pub relation_penalty: PenaltyName,
    /// Its weight.
    pub relation_weight: f64,
    /// Penalty on tables of times.
    pub time_penalty: PenaltyName,
    /// Its weight.
    pub time_weight: f64,
    /// Whether rows of entities and relations are kept no longer than 1.
    pub clip_rows: bool,
    /// Smallest variance of Gaussian rows; the largest is 100 times as much.
    pub least_variance: f64,
    /// The optimiser.
    pub optimiser: OptimiserName,
    /// Its learning rate.
    pub learning_rate: f64,
    /// Questions per step.
    pub batch: usize,
    /// Epochs at most.
    pub epochs: u32,
    /// Epochs between validations.
    pub validate_every: u32,
    /// Validations without improvement before training stops; 0: never.
    pub patience: u32,
    /// Penalties as the published study computed them.
    pub compat: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            temporal: Temporal::Tnt,
            target: Target::Relation,
            fusion: Fusion::Complex,
            scorer: ScorerName::ComplEx,
            norm: 1,
            dimension: 128,
            relation_dimension: 0,
            static_ratio: 0.5,
            projection: Projection::Unit,
            granularity: 1,
            window: 120,
            year_offset: 0.0,
            position_aware: false,
            reciprocal: true,
            inverse: false,
            subject_queries: SubjectQueries::Reciprocal,
            loss: LossName::Ce,
            margin: 1.0,
            temperature: 0.5,
            offset: 0.0,
            sampler: SamplerName::All,
            negatives: 500,
            group: 64,
            draw_times: false,
            initial: InitialName::Normal,
            initial_scale: 0.01,
            dropout: 0.0,
            dropout_scaled: true,
            factor_weight: 0.01,
            factor_entities: 2.0,
            entity_penalty: PenaltyName::None,
            entity_weight: 0.0,
            relation_penalty: PenaltyName::None,
            relation_weight: 0.0,
            time_penalty: PenaltyName::Smooth3,
            time_weight: 0.01,
            clip_rows: false,
            least_variance: 0.003,
            optimiser: OptimiserName::Adagrad,
            learning_rate: 0.1,
            batch: 1000,
            epochs: 50,
            validate_every: 5,
            patience: 3,
            compat: false,
        }
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
        check_at_least_one(&[
            ("dimension", self.dimension),
            ("granularity", self.granularity as usize),
            ("window", self.window as usize),
            ("negatives", self.negatives),
            ("group", self.group),
            ("batch", self.batch),
            ("epochs", self.epochs as usize),
            ("validate_every", self.validate_every as usize),
        ])?;
        let share = |x: f64| (0.0..=1.0).contains(&x);
        let weight = "a number from 0 on";
        check_ranges(&[
            ("norm", f64::from(self.norm), self.norm == 1 || self.norm == 2, "1 or 2"),
            ("static_ratio", self.static_ratio, share(self.static_ratio), "a number from 0 to 1"),
            ("dropout", self.dropout, (0.0..1.0).contains(&self.dropout), "a number from 0 to below 1"),
            ("learning_rate", self.learning_rate, self.learning_rate > 0.0, "a number above 0"),
            ("initial_scale", self.initial_scale, self.initial_scale > 0.0, "a number above 0"),
            ("least_variance", self.least_variance, self.least_variance > 0.0, "a number above 0"),
            ("factor_weight", self.factor_weight, self.factor_weight >= 0.0, weight),
            ("factor_entities", self.factor_entities, self.factor_entities >= 0.0, weight),
            ("entity_weight", self.entity_weight, self.entity_weight >= 0.0, weight),
            ("relation_weight", self.relation_weight, self.relation_weight >= 0.0, weight),
            ("time_weight", self.time_weight, self.time_weight >= 0.0, weight),
            ("margin", self.margin, self.margin >= 0.0, weight),
            ("temperature", self.temperature, self.temperature >= 0.0, weight),
            ("offset", self.offset, true, "a number"),
            ("year_offset", self.year_offset, true, "a number"),
        ])?;
        match self.clash() {
            Some(clash) => Err(ConfigError::Value(clash)),
            None => Ok(()),
        }
    }

    /// Why components do not go together, and what would.
    fn clash(&self) -> Option<String> {
        self.clash_of_time().or_else(|| self.clash_of_score()).or_else(|| self.idle_setting())
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
