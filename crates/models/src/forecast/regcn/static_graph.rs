//! The static graph: words of entity names, the initial vectors of entities made from them, and the limit on how far an entity may
//! turn away from them.
//!
//! `Police (India)` consists of `Police` and `India`; a name without parentheses is one word. Entities that share a word
//! start with similar vectors.

use std::collections::BTreeMap;
use std::sync::Arc;

use burn::tensor::Tensor;
use burn::tensor::activation::{leaky_relu, relu};
use quadcast_core::{ModelError, Names};
use quadcast_kernels::activations::RRELU_SLOPE;
use quadcast_kernels::dot;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::blocks::{
    AnyTensor, Edge, Edges, Fused, Initial, Input, Output, Parameter, Parameters, Returned, block_messages,
    fused, normalise_rows,
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

    /// An edge from each word of a name to its entity, of the kind of the word.
    fn edges(&self) -> Edges {
        let of_entity = self.of_entity.iter().zip(0..).flat_map(|(words, destination)| {
            let weight = 1.0 / words.len().max(1) as f32;
            words.iter().map(move |&(source, kind)| Edge {
                source,
                relation: kind.into(),
                destination,
                weight,
            })
        });
        Edges::new(of_entity.collect(), self.words, KINDS, self.of_entity.len())
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
    /// From words to the entities whose names hold them; the words of a name have equal weights.
    edges: Arc<Edges>,
    embeddings: Parameter,
    blocks: Parameter,
}

impl StaticLayer {
    /// Adds the parameters for vectors of length `d`.
    pub fn new(words: &Words, d: usize, parameters: &mut Parameters) -> Self {
        let normal = Initial::xavier_normal(words.words, d);
        let embeddings = parameters.add("static.words", &[words.words, d], normal);
        // The published code initialises one row per kind of edge and direction.
        let uniform = Initial::xavier_uniform_relu(2 * d, 2 * KINDS);
        let blocks = parameters.add("static.blocks", &[KINDS, 2 * d], uniform);
        Self { edges: Arc::new(words.edges()), embeddings, blocks }
    }

    /// Vectors of entities `[n, d]`, of length 1: the mean over their words of the transformed embeddings.
    pub fn forward(&self, parameters: &Parameters) -> Tensor<2> {
        let (embeddings, blocks) = (parameters.get(self.embeddings), parameters.get(self.blocks));
        let means = block_messages(embeddings, blocks, Arc::clone(&self.edges));
        normalise_rows(leaky_relu(means, RRELU_SLOPE))
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
    fn an_entity_is_the_mean_of_its_words() {
        let of_entity = vec![vec![(0, 0), (1, 1)], vec![(2, 2)], vec![]];
        let words = Words { words: 3, of_entity };
        let edge = |source, relation, destination, weight| Edge { source, relation, destination, weight };
        assert_eq!(words.edges().edges(), [edge(0, 0, 0, 0.5), edge(1, 1, 0, 0.5), edge(2, 2, 1, 1.0)]);
        assert_eq!(words.edges().destinations(), 3);
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
