//! Builds a model from the names of its components.

use std::sync::Arc;

use quadcast_kernels::Real;
use quadcast_kernels::compare::Likeness;

use super::encoders::date_lstm::DateLstm;
use super::encoders::diachronic::Diachronic;
use super::encoders::fused::{Fused, FusedWithStatic, Fusion, Product, TimeVector};
use super::encoders::hyperplane::{Hyperplane, Projection};
use super::encoders::rotation::{Periods, Revolved, Turned};
use super::encoders::series::Series;
use super::encoders::windows::Windows;
use super::encoders::{Encoder, Plain, distinct};
use super::scorers::{Affine, Bilinear, Core, Diagonal, Gaussian, Phases, Scorer, Translation};
use super::settings::{Config, InitialName, ScorerName, Temporal};
use super::tables::{Constraint, Kind, Table, TableId, Tables};
use super::times::{TOKENS, Times};
use crate::blocks::Initial;
use crate::forecast::state::Shape;

/// The parts of a model.
pub(crate) struct Parts<T: Real> {
    /// Rows of entities as subjects and as objects.
    pub head: Arc<dyn Encoder<T>>,
    pub tail: Arc<dyn Encoder<T>>,
    pub relation: Arc<dyn Encoder<T>>,
    pub scorer: Box<dyn Scorer<T>>,
    /// How queries and candidates are compared.
    pub likeness: Likeness,
    /// Width of the comparison (`d` of the kernel).
    pub width: usize,
}

/// Widths of rows before time changes them.
pub(crate) struct Widths {
    pub entity: usize,
    pub relation: usize,
}

pub(crate) fn widths(config: &Config) -> Widths {
    let d = config.dimension;
    let (entity, relation) = match (config.scorer, config.temporal) {
        (_, Temporal::Quaternion) => (4 * d, 4 * d),
        (ScorerName::Rescal, _) => (d, d * d),
        (ScorerName::RotatE, _) => (2 * d, d),
        (ScorerName::TuckER, _) if config.relation_dimension > 0 => (d, config.relation_dimension),
        _ if config.is_complex() => (2 * d, 2 * d),
        _ => (d, d),
    };
    Widths { entity, relation }
}

struct Assembly<'a, T> {
    config: &'a Config,
    tables: &'a mut Tables<T>,
    times: Arc<Times>,
    /// What entities and relations share: the vector of a time with its width, or a table with a row per time.
    time_vector: Option<(TimeVector, usize)>,
    time_table: Option<TableId>,
}

/// Builds the tables and parts of a model.
pub(crate) fn assemble<T: Real>(
    config: &Config,
    sizes: Shape,
    times: Arc<Times>,
    tables: &mut Tables<T>,
) -> Parts<T> {
    let relations = sizes.relations * if config.reciprocal { 2 } else { 1 };
    let widths = widths(config);
    let mut assembly = Assembly { config, tables, times, time_vector: None, time_table: None };
    let mut entity = |name| assembly.encoder(name, Kind::Entity, sizes.entities, widths.entity);
    let (head, tail) = if config.position_aware {
        (entity("head"), entity("tail"))
    } else {
        let both = entity("entity");
        (both.clone(), both)
    };
    let relation = assembly.encoder("relation", Kind::Relation, relations, widths.relation);
    let scorer = assembly.scorer(&widths);
    let likeness = match config.scorer {
        ScorerName::TransE | ScorerName::Conjugate if config.norm == 1 => Likeness::L1,
        ScorerName::TransE | ScorerName::Conjugate => Likeness::L2,
        ScorerName::RotatE => Likeness::Modulus,
        ScorerName::Kl => Likeness::Gaussian,
        _ => Likeness::Dot,
    };
    Parts { head, tail, relation, scorer, likeness, width: widths.entity }
}

impl<T: Real> Assembly<'_, T> {
    /// Initial values of a table as configured.
    fn initial(&self, rows: usize, width: usize) -> Initial {
        let sum = (rows + width).max(1) as f64;
        let scale = self.config.initial_scale;
        match self.config.initial {
            InitialName::XavierUniform => Initial::Uniform((6.0 / sum).sqrt()),
            InitialName::XavierNormal => Initial::Normal((2.0 / sum).sqrt()),
            InitialName::Normal => Initial::Normal(scale),
            InitialName::Uniform => Initial::Uniform(scale / (width.max(1) as f64).sqrt()),
        }
    }

    fn add(&mut self, name: &str, kind: Kind, rows: usize, width: usize) -> TableId {
        let initial = self.initial(rows, width);
        let clipped = self.config.clip_rows && matches!(kind, Kind::Entity | Kind::Relation);
        let constraint = if clipped { Constraint::ClipRows } else { Constraint::Free };
        self.tables.add(Table::new(name, kind, rows, width).constrained(constraint), initial)
    }

    fn plain(&mut self, name: &str, kind: Kind, rows: usize, width: usize) -> Plain {
        Plain { table: self.add(name, kind, rows, width), width }
    }

    fn encoder(&mut self, name: &str, kind: Kind, rows: usize, width: usize) -> Arc<dyn Encoder<T>> {
        let target = self.config.target;
        let changes = if kind == Kind::Entity { target.has_entities() } else { target.has_relations() };
        match self.config.temporal {
            _ if !changes => Arc::new(self.plain(name, kind, rows, width)),
            Temporal::None => Arc::new(self.plain(name, kind, rows, width)),
            Temporal::T | Temporal::Utee => Arc::new(self.fused(name, kind, rows, width)),
            Temporal::Tnt => Arc::new(FusedWithStatic {
                temporal: self.fused(name, kind, rows, width),
                fixed: self.plain("still relation", kind, rows, width),
            }),
            Temporal::De => Arc::new(self.diachronic(name, kind, rows, width)),
            Temporal::Hyte => Arc::new(self.hyperplane(name, kind, rows, width)),
            Temporal::Atise => Arc::new(self.series(name, kind, rows, width)),
            Temporal::Ta => Arc::new(self.date_lstm(name, kind, rows, width)),
            Temporal::Rotation => {
                let base = self.plain(name, kind, rows, width);
                let phases = self.period_table("phases", width / 2);
                Arc::new(Turned { base, phases })
            }
            Temporal::Quaternion => {
                let base = self.plain(name, kind, rows, width);
                let turns = self.period_table("turns", width);
                Arc::new(Revolved { base, turns })
            }
            Temporal::TltComplex | Temporal::TltQuaternion => Arc::new(self.windows(name, kind, rows, width)),
        }
    }

    /// A table with a row per time or period, which entities and relations share.
    fn shared_table(&mut self, table: Table) -> TableId {
        let initial = self.initial(table.rows, table.width);
        *self.time_table.get_or_insert_with(|| self.tables.add(table, initial))
    }

    /// A table with a row per period in which there is a time, the same for all entities.
    fn period_table(&mut self, name: &str, width: usize) -> Periods {
        let granularity = self.config.granularity;
        let counted: Vec<u32> = self.times.ordinals.iter().map(|ordinal| ordinal / granularity).collect();
        let (periods, of_time) = distinct(&counted);
        let table = self.shared_table(Table::new(name, Kind::Time, periods.len(), width));
        Periods { table, of_time }
    }

    fn fused(&mut self, name: &str, kind: Kind, rows: usize, width: usize) -> Fused {
        let fusion = if self.config.temporal == Temporal::Tnt { Fusion::Complex } else { self.config.fusion };
        let (own, time_width) = match fusion {
            Fusion::Concatenate => split(self.config.static_ratio, width),
            _ => (width, width),
        };
        let base = self.plain(name, kind, rows, own);
        let (time, time_width) = match self.time_vector.clone() {
            Some(shared) => shared,
            None => (self.make_time_vector(time_width), time_width),
        };
        self.time_vector = Some((time.clone(), time_width));
        Fused { base, time, time_width, fusion }
    }

    fn make_time_vector(&mut self, width: usize) -> TimeVector {
        if self.config.temporal != Temporal::Utee {
            return TimeVector::Table(self.add("time", Kind::Time, self.times.len(), width));
        }
        let amplitude = self.add("time amplitude", Kind::Time, 1, width);
        // Published: periods from U(1, 365), phases from U(0, 365).
        let period = Table::new("time period", Kind::Common, 1, width);
        let period = self.tables.add_between(period, Initial::Uniform(182.0), 183.0);
        let phase = Table::new("time phase", Kind::Common, 1, width);
        let phase = self.tables.add_between(phase, Initial::Uniform(182.5), 182.5);
        TimeVector::Wave([amplitude, period, phase], self.times.clone())
    }

    fn diachronic(&mut self, name: &str, kind: Kind, rows: usize, width: usize) -> Diachronic {
        let (fixed_width, swing_width) = split(self.config.static_ratio, width);
        let fixed = self.add(name, kind, rows, fixed_width);
        let swings = ["year", "month", "day"].map(|part| {
            let numbers = ["amplitude", "frequency", "phase"];
            numbers.map(|what| self.add(&format!("{name} {part} {what}"), kind, rows, swing_width))
        });
        let (times, year_offset) = (self.times.clone(), self.config.year_offset);
        Diachronic { fixed, fixed_width, swings, swing_width, times, year_offset }
    }

    fn hyperplane(&mut self, name: &str, kind: Kind, rows: usize, width: usize) -> Hyperplane {
        let base = self.plain(name, kind, rows, width);
        let projection = self.config.projection;
        let unit = projection == Projection::Unit;
        let constraint = if unit { Constraint::UnitRows } else { Constraint::Free };
        let table = Table::new("normal", Kind::Time, self.times.len(), width).constrained(constraint);
        let normals = self.shared_table(table);
        Hyperplane { base, normals, projection }
    }

    fn series(&mut self, name: &str, kind: Kind, rows: usize, d: usize) -> Series {
        let gaussian = self.config.scorer == ScorerName::Kl;
        let least = self.config.least_variance;
        let constraint = if gaussian { Constraint::Clamp(least, 100.0 * least) } else { Constraint::Free };
        let variance = Table::new(format!("{name} variance"), Kind::Common, rows, d).constrained(constraint);
        let zero = |what: &str, width| Table::new(format!("{name} {what}"), kind, rows, width);
        Series {
            base: self.add(name, kind, rows, d),
            trend: self.add(&format!("{name} trend"), kind, rows, d),
            // The original starts without trend and season, the study with random ones.
            slope: if gaussian {
                self.tables.add(zero("slope", 1), Initial::ZERO)
            } else {
                let initial = self.initial(rows, 1);
                self.tables.add(zero("slope", 1), initial)
            },
            amplitude: if gaussian {
                self.tables.add(zero("amplitude", d), Initial::ZERO)
            } else {
                self.add(&format!("{name} amplitude"), kind, rows, d)
            },
            frequency: self.add(&format!("{name} frequency"), kind, rows, d),
            variance: self.tables.add_between(variance, Initial::Uniform(49.5 * least), 50.5 * least),
            d,
            gaussian,
            granularity: self.config.granularity,
            times: self.times.clone(),
        }
    }

    fn date_lstm(&mut self, name: &str, kind: Kind, rows: usize, d: usize) -> DateLstm {
        let base = self.plain(name, kind, rows, d);
        let initial = Initial::by_inputs(d);
        let mut common = |name: &str, rows: usize, width: usize| {
            self.tables.add(Table::new(name, Kind::Common, rows, width), initial)
        };
        DateLstm {
            base,
            tokens: common("signs", TOKENS, d),
            weights: [common("cell input weight", 4 * d, d), common("cell state weight", 4 * d, d)],
            biases: [common("cell input bias", 1, 4 * d), common("cell state bias", 1, 4 * d)],
            times: self.times.clone(),
        }
    }

    fn windows(&mut self, name: &str, kind: Kind, rows: usize, width: usize) -> Windows {
        let base = self.plain(name, kind, rows, width);
        let times = self.times.len();
        let windows = times / self.config.window as usize + 1;
        Windows {
            base,
            times: ["time a", "time b", "time c"].map(|name| self.add(name, Kind::Time, times, width)),
            shared: ["window a", "window b"].map(|name| self.add(name, Kind::Time, windows, width)),
            window: self.config.window,
            product: if self.config.temporal == Temporal::TltQuaternion {
                Product::Complex
            } else {
                Product::Real
            },
        }
    }

    fn scorer(&mut self, widths: &Widths) -> Box<dyn Scorer<T>> {
        let d = widths.entity;
        match (self.config.scorer, self.config.temporal) {
            (_, Temporal::TltComplex) => Box::new(Affine { d, product: Product::Real }),
            (_, Temporal::TltQuaternion) => Box::new(Affine { d, product: Product::Complex }),
            (ScorerName::TransE, _) => Box::new(Translation { d, conjugate: None }),
            (ScorerName::Conjugate, temporal) => {
                let from = if temporal == Temporal::Quaternion { d / 4 } else { d / 2 };
                Box::new(Translation { d, conjugate: Some(from) })
            }
            (ScorerName::DistMult | ScorerName::SimplE, _) => {
                Box::new(Diagonal { d, product: Product::Real })
            }
            (ScorerName::ComplEx, _) => Box::new(Diagonal { d, product: Product::Complex }),
            (ScorerName::Rescal, _) => Box::new(Bilinear { d }),
            (ScorerName::RotatE, _) => Box::new(Phases { k: d / 2 }),
            (ScorerName::TuckER, _) => {
                let core = self.add("core", Kind::Common, widths.relation, d * d);
                Box::new(Core { d, relation_width: widths.relation, table: core })
            }
            (ScorerName::Kl, _) => Box::new(Gaussian { d }),
        }
    }
}

/// Widths of the part of a row that time does not change and of the one that it does. Both are rounded half to even, as
/// published; the sum is always the whole.
pub(crate) fn split(static_ratio: f64, width: usize) -> (usize, usize) {
    let fixed = ((static_ratio * width as f64).round_ties_even() as usize).min(width);
    (fixed, width - fixed)
}
