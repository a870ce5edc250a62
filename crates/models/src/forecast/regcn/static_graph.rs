//! The static graph: words of entity names, the initial vectors of entities made from them, and the limit on how far an entity may
//! turn away from them.
//!
//! `Police (India)` consists of `Police` and `India`; a name without parentheses is one word. Entities that share a word
//! start with similar vectors.

use std::collections::BTreeMap;
use std::sync::Arc;

use burn::tensor::activation::{leaky_relu, relu};
use burn::tensor::{IndexingUpdateOp, Tensor};
use quadcast_core::{ModelError, Names};
use quadcast_kernels::activations::RRELU_SLOPE;
use quadcast_kernels::dot;
use quadcast_kernels::memory::{take, take_zeroed};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::blocks::{
    AnyTensor, Fused, Initial, Input, Output, Parameter, Parameters, Returned, floats, fused, integers,
    normalise_rows,
};

/// Kinds of words in a name: the part before the parentheses, the part inside, or all of it.
const KINDS: usize = 3;

/// Words of entity names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Words {
    /// Number of distinct words.
    pub words: usize,
    /// By entity: its words and their kinds.
    pub of_entity: Vec<Vec<(u32, u8)>>,
}

impl Words {
    /// The words of all names; the name of an entity without a label is one word.
    pub fn of(names: &Names) -> Self {
        let mut ids: BTreeMap<String, u32> = BTreeMap::new();
        let mut word = |text: &str| {
            let next = ids.len() as u32;
            *ids.entry(text.trim().to_owned()).or_insert(next)
        };
        let of_entity = (0..names.len() as u32)
            .map(|id| {
                let name = names.name(id);
                match split(&name) {
                    Some((before, inside)) => vec![(word(before), 0), (word(inside), 1)],
                    None => vec![(word(&name), 2)],
                }
            })
            .collect();
        Self { words: ids.len(), of_entity }
    }

    /// Refuses saved words that are not those of so many entities.
    pub fn check_saved(self, entities: usize) -> Result<Self, ModelError> {
        let refuse = |text: String| Err(ModelError::Saved(format!("words.{text}")));
        if self.of_entity.len() != entities {
            let own = self.of_entity.len();
            return refuse(format!(
                "of_entity has {own} entries: expected one for each of {entities} entities"
            ));
        }
        let all = || self.of_entity.iter().flatten();
        if let Some(&(word, kind)) =
            all().find(|&&(word, kind)| word as usize >= self.words || usize::from(kind) >= KINDS)
        {
            return refuse(format!(
                "of_entity holds [{word}, {kind}]: expected a word below {} and a kind below {KINDS}",
                self.words
            ));
        }
        // Each word is in a name.
        if self.words > all().count() {
            return refuse(format!(
                "words = {} is out of range: the names hold {}",
                self.words,
                all().count()
            ));
        }
        Ok(self)
    }

    /// By word: the entities that it occurs in, and its kind there.
    pub fn entities(&self) -> Vec<Vec<(u32, u8)>> {
        let mut entities = vec![Vec::new(); self.words];
        for (entity, words) in (0..).zip(&self.of_entity) {
            for &(word, kind) in words {
                entities[word as usize].push((entity, kind));
            }
        }
        entities
    }
}

/// The part before the first parenthesis and the part inside.
fn split(name: &str) -> Option<(&str, &str)> {
    let (before, rest) = name.split_once('(')?;
    let inside = rest.split_once(')').map_or(rest, |(inside, _)| inside);
    Some((before.trim_end_matches(['_', ' ']), inside))
}

/// Embeddings of words, and a 2×2 block of weights per pair of numbers and kind of word.
pub(super) struct StaticLayer {
    words: Arc<Words>,
    /// By word: the entities that it occurs in, and its kind there.
    entities: Arc<[Vec<(u32, u8)>]>,
    embeddings: Parameter,
    blocks: Parameter,
}

impl StaticLayer {
    /// Adds the parameters for vectors of length `d`.
    pub fn new(words: Arc<Words>, d: usize, parameters: &mut Parameters) -> Self {
        let normal = Initial::xavier_normal(words.words, d);
        let embeddings = parameters.add("static.words", &[words.words, d], normal);
        // The published code initialises one row per kind of edge and direction.
        let uniform = Initial::xavier_uniform_relu(2 * d, 2 * KINDS);
        let blocks = parameters.add("static.blocks", &[KINDS, 2 * d], uniform);
        let entities = words.entities().into();
        Self { words, entities, embeddings, blocks }
    }

    /// Vectors of entities `[n, d]`, of length 1: the mean over their words of the transformed embeddings.
    pub fn forward(&self, parameters: &Parameters) -> Tensor<2> {
        let op = WordMean { words: Arc::clone(&self.words), entities: Arc::clone(&self.entities) };
        normalise_rows(fused(op, [parameters.any(self.embeddings), parameters.any(self.blocks)]))
    }
}

struct WordMean {
    words: Arc<Words>,
    entities: Arc<[Vec<(u32, u8)>]>,
}

/// Entities per partial sum.
const ENTITIES_PER_TASK: usize = 512;

impl Fused<2> for WordMean {
    type ForwardState = ();

    fn forward(&self, [embeddings, blocks]: [Input; 2], _: bool) -> (Output, ()) {
        let (n, d) = (self.words.of_entity.len(), embeddings.shape[1]);
        let mut out = take_zeroed(n * d).into_vec();
        out.par_chunks_exact_mut(d).zip(&self.words.of_entity).with_min_len(64).for_each(|(out, words)| {
            let share = 1.0 / words.len().max(1) as f32;
            for &(word, kind) in words {
                let x = &embeddings.values[word as usize * d..][..d];
                let block = &blocks.values[usize::from(kind) * 2 * d..][..2 * d];
                for ((out, x), b) in out.chunks_exact_mut(2).zip(x.chunks_exact(2)).zip(block.chunks_exact(4))
                {
                    out[0] += share * (x[0] * b[0] + x[1] * b[2]);
                    out[1] += share * (x[0] * b[1] + x[1] * b[3]);
                }
            }
            for out in out {
                *out = if *out < 0.0 { *out * RRELU_SLOPE as f32 } else { *out };
            }
        });
        (Output::new(out, &[n, d]), ())
    }

    fn backward(
        self,
        [embeddings, blocks]: [Input; 2],
        (): (),
        returned: Returned,
        [dembeddings, dblocks]: &mut [Vec<f32>; 2],
    ) {
        let d = embeddings.shape[1];
        let of_entity = &self.words.of_entity;
        // The gradient of the mean before the activation, times the share of a word.
        let mut dmeans = take(returned.values.len());
        let rows = returned.values.par_chunks_exact(d).zip(returned.gradient.par_chunks_exact(d));
        dmeans.par_chunks_exact_mut(d).zip(rows).zip(of_entity).with_min_len(64).for_each(
            |((dmean, (values, gradient)), words)| {
                let share = 1.0 / words.len().max(1) as f32;
                for ((dmean, value), gradient) in dmean.iter_mut().zip(values).zip(gradient) {
                    *dmean = share * if *value < 0.0 { *gradient * RRELU_SLOPE as f32 } else { *gradient };
                }
            },
        );
        dembeddings.par_chunks_exact_mut(d).enumerate().with_min_len(64).for_each(|(word, dx)| {
            for &(entity, kind) in &self.entities[word] {
                let block = blocks.values[usize::from(kind) * 2 * d..][..2 * d].as_chunks::<4>().0;
                let dz = dmeans[entity as usize * d..][..d].as_chunks::<2>().0;
                for ((dx, dz), b) in dx.as_chunks_mut::<2>().0.iter_mut().zip(dz).zip(block) {
                    dx[0] += dz[0] * b[0] + dz[1] * b[1];
                    dx[1] += dz[0] * b[2] + dz[1] * b[3];
                }
            }
        });
        // Fixed parts, added in order: the same sum for any number of threads.
        let parts: Vec<Vec<f32>> = of_entity
            .par_chunks(ENTITIES_PER_TASK)
            .zip(dmeans.par_chunks(ENTITIES_PER_TASK * d))
            .map(|(of_entity, dmeans)| {
                let mut part = vec![0.0; blocks.values.len()];
                for (words, dz) in of_entity.iter().zip(dmeans.chunks_exact(d)) {
                    for &(word, kind) in words {
                        let x = embeddings.values[word as usize * d..][..d].as_chunks::<2>().0;
                        let db = part[usize::from(kind) * 2 * d..][..2 * d].as_chunks_mut::<4>().0;
                        for ((db, x), dz) in db.iter_mut().zip(x).zip(dz.as_chunks::<2>().0) {
                            db[0] += x[0] * dz[0];
                            db[1] += x[0] * dz[1];
                            db[2] += x[1] * dz[0];
                            db[3] += x[1] * dz[1];
                        }
                    }
                }
                part
            })
            .collect();
        for part in parts {
            for (db, part) in dblocks.iter_mut().zip(part) {
                *db += part;
            }
        }
    }

    fn composed(&self, [embeddings, blocks]: [AnyTensor; 2]) -> AnyTensor {
        let (embeddings, blocks) = (embeddings.tensor::<2>(), blocks.tensor::<2>());
        let (n, d) = (self.words.of_entity.len(), embeddings.dims()[1]);
        let mut sums = Tensor::<2>::zeros([n, d], (&embeddings.device(), embeddings.dtype()));
        for kind in 0..KINDS {
            let mut places: (Vec<u32>, Vec<u32>, Vec<f32>) = Default::default();
            for (entity, words) in self.words.of_entity.iter().enumerate() {
                for &(word, _) in words.iter().filter(|(_, of)| usize::from(*of) == kind) {
                    places.0.push(entity as u32);
                    places.1.push(word);
                    places.2.push(1.0 / words.len() as f32);
                }
            }
            let count = places.0.len();
            if count == 0 {
                continue;
            }
            let chosen = embeddings.clone().select(0, integers(&places.1, &embeddings));
            let block = blocks.clone().slice([kind..kind + 1, 0..2 * d]).reshape([1, d / 2, 2, 2]);
            let products = (chosen.reshape([count, d / 2, 2, 1]) * block).sum_dim(2).reshape([count, d]);
            let shares = floats(places.2, [count, 1], &embeddings);
            let entities = integers(&places.0, &embeddings);
            sums = sums.select_assign(0, entities, products * shares, IndexingUpdateOp::Add);
        }
        leaky_relu(sums, RRELU_SLOPE).into()
    }
}

/// `Σ_v max(0, limit − ⟨start_v, now_v⟩)`: how far vectors of length 1 have turned further than allowed.
pub(super) fn turned_too_far(start: Tensor<2>, now: Tensor<2>, limit: f32) -> Tensor<1> {
    fused(Turned { limit }, [start.into(), now.into()])
}

struct Turned {
    limit: f32,
}

impl Turned {
    /// The missing cosine of each row.
    fn lacks(&self, start: &Input, now: &Input) -> Vec<f32> {
        let d = start.shape[1];
        let rows = start.values.par_chunks_exact(d).zip(now.values.par_chunks_exact(d)).with_min_len(64);
        rows.map(|(a, b)| (self.limit - dot(a, b)).max(0.0)).collect()
    }
}

impl Fused<2> for Turned {
    type ForwardState = Vec<f32>;

    const SETS: [bool; 2] = [true; 2];

    fn forward(&self, [start, now]: [Input; 2], _: bool) -> (Output, Vec<f32>) {
        let lacks = self.lacks(&start, &now);
        let sum: f64 = lacks.iter().map(|&lack| f64::from(lack)).sum();
        (Output::new(vec![sum as f32], &[1]), lacks)
    }

    fn backward(
        self,
        [start, now]: [Input; 2],
        lacks: Vec<f32>,
        returned: Returned,
        [dstart, dnow]: &mut [Vec<f32>; 2],
    ) {
        let (d, scale) = (start.shape[1], returned.gradient[0]);
        let gradients = dstart.par_chunks_exact_mut(d).zip(dnow.par_chunks_exact_mut(d));
        let values = start.values.par_chunks_exact(d).zip(now.values.par_chunks_exact(d));
        let rows = gradients.zip(values).zip(&lacks).with_min_len(64);
        rows.for_each(|(((dstart, dnow), (start, now)), lack)| {
            let slope = if *lack > 0.0 { -scale } else { 0.0 };
            for i in 0..d {
                dstart[i] = slope * now[i];
                dnow[i] = slope * start[i];
            }
        });
    }

    fn composed(&self, [start, now]: [AnyTensor; 2]) -> AnyTensor {
        let dots = (start.tensor::<2>() * now.tensor::<2>()).sum_dim(1);
        relu(-dots + self.limit).sum().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::testing::{check, random};

    #[test]
    fn means_over_words_and_their_gradients() {
        let of_entity = vec![vec![(0, 0), (1, 1)], vec![(2, 2)], vec![(0, 0), (2, 1)], vec![]];
        let words = Arc::new(Words { words: 3, of_entity });
        let inputs = [random("words", &[3, 6]), random("blocks", &[KINDS, 12])];
        let entities: Arc<[_]> = words.entities().into();
        check(|| WordMean { words: Arc::clone(&words), entities: Arc::clone(&entities) }, &inputs);
    }

    #[test]
    fn turning_and_its_gradient() {
        check(|| Turned { limit: 0.3 }, &[random("start", &[7, 4]), random("now", &[7, 4])]);
    }

    #[test]
    fn names_share_words() {
        let names = ["Police_(India)", "Citizen (India)", "India", "Police (Fiji)"];
        let names = Names::new(names.iter().map(|name| Some((*name).to_owned())).collect(), None);
        let words = Words::of(&names);
        assert_eq!(words.words, 4, "Police, India, Citizen, Fiji");
        assert_eq!(
            words.of_entity,
            [vec![(0, 0), (1, 1)], vec![(2, 0), (1, 1)], vec![(1, 2)], vec![(0, 0), (3, 1)]]
        );
    }
}
