//! Country and sector, read from entity names such as `Police (Peru)`, and how often they are those of answers.

use quadcast_core::Names;
use rustc_hash::FxHashMap;

use super::counts::NONE;
use super::evidence::{Ask, Evidence};
use super::rules::Asked;

/// Weight of all answers in the share of one relation.
const PRIOR: f32 = 5.0;

/// Labels of one kind: ids by entity, and their log-odds by relation.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Kind {
    /// By entity; `NONE` without a label.
    pub of: Vec<u32>,
    pub count: usize,
    /// `ln(p(label | answers q) / p(label))` at `q·count + label`.
    pub odds: Vec<f32>,
    /// By relation: log-odds of sharing the label of the known entity.
    pub shared_odds: Vec<f32>,
}

impl Kind {
    /// The label of an entity, also of one that was added since names were read.
    fn label(&self, entity: u32) -> u32 {
        self.of.get(entity as usize).copied().unwrap_or(NONE)
    }
}

/// Labels of all entities.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Labels {
    /// Countries and sectors.
    pub kinds: [Kind; 2],
}

/// Counts of one kind of label among answers.
#[derive(Clone)]
struct KindCounter {
    labels: Vec<f32>,
    answers: Vec<f32>,
    shared: Vec<f32>,
}

/// Counts labels among answers.
#[derive(Clone)]
pub(super) struct LabelCounter {
    labels: Labels,
    counts: Vec<KindCounter>,
}

/// The text before the last parenthesis, and the text in it.
fn parts(name: &str) -> (&str, Option<&str>) {
    let name = name.trim();
    match name.strip_suffix(')').and_then(|name| name.rsplit_once('(')) {
        Some((sector, country)) => (sector.trim(), Some(country.trim())),
        None => (name, None),
    }
}

impl Labels {
    /// Reads the labels of all entities; nothing is known about answers yet.
    pub fn new(names: Option<&Names>, entities: usize) -> Self {
        let mut ids: [FxHashMap<String, u32>; 2] = Default::default();
        let mut of = [vec![NONE; entities], vec![NONE; entities]];
        let normal = |text: &str| text.replace('_', " ").to_lowercase();
        let named: Vec<(u32, &str)> = names.map(|names| names.iter().collect()).unwrap_or_default();
        let mut label = |kind: usize, text: &str, id: u32| {
            let next = ids[kind].len() as u32;
            of[kind][id as usize] = *ids[kind].entry(normal(text)).or_insert(next);
        };
        for &(id, name) in &named {
            if let (sector, Some(country)) = parts(name) {
                label(0, country, id);
                label(1, sector, id);
            }
        }
        let countries = ids[0].clone();
        for &(id, name) in &named {
            // A country is an entity of its own.
            if let Some(&country) = countries.get(&normal(parts(name).0)) {
                of[0][id as usize] = country;
            }
        }
        let counts = ids.map(|ids| ids.len());
        let [countries, sectors] = of;
        let kind = |of, count| Kind { of, count, ..Kind::default() };
        Self { kinds: [kind(countries, counts[0]), kind(sectors, counts[1])] }
    }

    /// Writes seven numbers: three of the country, three of the sector, and how usual the same country is.
    pub fn write(&self, ask: &Ask<'_>, evidence: &Evidence, id: u32, out: &mut [f32]) {
        for (kind, out) in self.kinds.iter().zip(out.chunks_exact_mut(3)) {
            let label = kind.label(id);
            if label == NONE {
                continue;
            }
            if label == kind.label(ask.known) {
                out[0] = 1.0;
            }
            let same = evidence.answers.iter().filter(|(answer, _)| kind.label(*answer) == label);
            out[1] = same.map(|(_, weight)| weight).sum();
            out[2] =
                kind.odds.get(ask.relation as usize * kind.count + label as usize).map_or(0.0, |x| 0.5 * x);
        }
        let odds = self.kinds[0].shared_odds.get(ask.relation as usize);
        out[6] = odds.map_or(0.0, |odds| 0.3 * odds * out[0]);
    }
}

impl LabelCounter {
    pub fn new(labels: Labels, relations: usize) -> Self {
        let counter = |kind: &Kind| KindCounter {
            labels: vec![0.0; relations * kind.count],
            answers: vec![0.0; relations],
            shared: vec![0.0; relations],
        };
        let counts = labels.kinds.iter().map(counter).collect();
        Self { labels, counts }
    }

    /// Counts the answers of one step.
    pub fn add(&mut self, asked: &[Asked]) {
        for (kind, counts) in self.labels.kinds.iter().zip(&mut self.counts) {
            for asked in asked {
                let q = asked.relation as usize;
                for &gold in &asked.golds {
                    let label = kind.of[gold as usize];
                    counts.answers[q] += 1.0;
                    if label != NONE {
                        counts.labels[q * kind.count + label as usize] += 1.0;
                        counts.shared[q] += f32::from(u8::from(label == kind.of[asked.known as usize]));
                    }
                }
            }
        }
    }

    /// The labels with what was counted so far.
    pub fn finish(&self) -> Labels {
        let mut labels = self.labels.clone();
        for (kind, counts) in labels.kinds.iter_mut().zip(&self.counts) {
            let total: f32 = counts.answers.iter().sum::<f32>().max(1.0);
            let share = |of: f32, all: f32, answers: f32| {
                if all > 0.0 { ((of + PRIOR * all) / (answers + PRIOR) / all).ln() } else { 0.0 }
            };
            let mut all = vec![0.0_f32; kind.count];
            for (i, &count) in counts.labels.iter().enumerate() {
                all[i % kind.count] += count / total;
            }
            let odds = counts.labels.iter().enumerate();
            kind.odds =
                odds.map(|(i, &of)| share(of, all[i % kind.count], counts.answers[i / kind.count])).collect();
            let shared = counts.shared.iter().sum::<f32>() / total;
            let own = counts.shared.iter().zip(&counts.answers);
            kind.shared_odds = own.map(|(&of, &answers)| share(of, shared, answers)).collect();
        }
        labels
    }
}
