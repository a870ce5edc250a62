//! Energies of single triples, as a model gives them or as they were asked for in published results.

use quadcast_core::{EntityId, EvolvingModel, GraphSizes, ModelError, RelationId, Triple};

use super::StepGraph;

/// How a model is asked for energies.
#[derive(Clone, Copy)]
pub(super) struct EnergyRequest<'a> {
    model: &'a dyn EvolvingModel,
    /// Sizes of the id spaces, if tail and relation are swapped.
    swapped: Option<GraphSizes>,
    /// The graph beyond which the model has nothing to say.
    within: Option<&'a StepGraph>,
}

impl<'a> EnergyRequest<'a> {
    /// The published code swapped tail and relation for parallel universes, and for them alone.
    pub fn new(model: &'a dyn EvolvingModel, compat: bool, sizes: GraphSizes) -> Self {
        Self { model, swapped: (compat && model.capabilities().partial).then_some(sizes), within: None }
    }

    /// The same for a model that learned one graph and nothing else: about whoever is not in it there is nothing to say.
    pub fn within(self, graph: &'a StepGraph) -> Self {
        Self { within: Some(graph), ..self }
    }

    /// Lower is more plausible; infinite where the model has nothing to say.
    pub fn energies(&self, triples: &[Triple]) -> Result<Vec<f32>, ModelError> {
        let (mut places, mut asked) = (Vec::new(), Vec::new());
        for (place, triple) in triples.iter().enumerate() {
            if let Some(triple) = self.asked(triple) {
                places.push(place);
                asked.push(triple);
            }
        }
        let mut energies = vec![f32::INFINITY; triples.len()];
        for (place, energy) in places.into_iter().zip(self.model.energies(&asked)?) {
            energies[place] = energy;
        }
        Ok(energies)
    }

    /// What the model is asked about for a triple; `None` if it can have nothing to say. Swapped, a tail must have a relation of
    /// the same number.
    fn asked(&self, triple: &Triple) -> Option<Triple> {
        let is_absent = self.within.is_some_and(|graph| !graph.has_room_for(triple));
        match self.swapped {
            _ if is_absent => None,
            None => Some(*triple),
            Some(sizes) => {
                let is_known =
                    triple.object.index() < sizes.relations && triple.relation.index() < sizes.entities;
                is_known.then(|| swap(triple))
            }
        }
    }
}

fn swap(triple: &Triple) -> Triple {
    Triple {
        subject: triple.subject,
        relation: RelationId(triple.object.0),
        object: EntityId(triple.relation.0),
    }
}
