//! Energies of single triples, as a model gives them or as they were asked for in published results.

use quadcast_core::{EntityId, EvolvingModel, GraphSizes, ModelError, RelationId, Triple};

/// How a model is asked for energies.
pub(super) struct Asking<'a> {
    pub model: &'a dyn EvolvingModel,
    /// Sizes of the id spaces, if tail and relation are swapped.
    swapped: Option<GraphSizes>,
}

impl<'a> Asking<'a> {
    /// The published code swapped tail and relation for parallel universes, and for them alone.
    pub fn new(model: &'a dyn EvolvingModel, compat: bool, sizes: GraphSizes) -> Self {
        Self { model, swapped: (compat && model.capabilities().partial).then_some(sizes) }
    }

    /// Lower is more plausible; infinite where the model has nothing to say. Swapped, it has nothing to say about any triple
    /// whose tail has no relation of the same number.
    pub fn energies(&self, triples: &[Triple]) -> Result<Vec<f32>, ModelError> {
        let Some(sizes) = self.swapped else { return self.model.energies(triples) };
        let (mut places, mut asked) = (Vec::new(), Vec::new());
        for (place, triple) in triples.iter().enumerate() {
            if triple.object.index() < sizes.relations && triple.relation.index() < sizes.entities {
                places.push(place);
                asked.push(swap(triple));
            }
        }
        let mut energies = vec![f32::INFINITY; triples.len()];
        for (place, energy) in places.into_iter().zip(self.model.energies(&asked)?) {
            energies[place] = energy;
        }
        Ok(energies)
    }
}

fn swap(triple: &Triple) -> Triple {
    Triple {
        subject: triple.subject,
        relation: RelationId(triple.object.0),
        object: EntityId(triple.relation.0),
    }
}
