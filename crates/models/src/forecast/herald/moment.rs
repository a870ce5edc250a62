//! What all queries about one step share: entities as seen from its time, computed when first needed.

use std::sync::OnceLock;

use super::counts::{Counts, Faded};

/// Partners that weigh less are no neighbours.
const LEAST_WEIGHT: f32 = 0.02;
/// Partners, roles and answers whose recent count is lower are not recent.
const LEAST_RECENT: f32 = 0.05;
const NEIGHBOURS: usize = 200;
const RECENT_NEIGHBOURS: usize = 16;
const ROLES: usize = 16;
const RECENT_ROLES: usize = 12;
const ANSWERS: usize = 24;
/// Latest facts of an entity and relation that chains follow.
const LATEST: usize = 12;
/// Candidates that every query, and every query about one relation, has.
pub(super) const ACTIVE: usize = 60;
pub(super) const POPULAR: usize = 120;

/// Ids with weights.
pub(super) type Weighted = Vec<(u32, f32)>;

/// Whom an entity deals with, the strongest first.
#[derive(Default)]
pub(super) struct Neighbours {
    pub all: Weighted,
    pub recent: Weighted,
}

/// What an entity usually does, and how active it is.
#[derive(Default)]
pub(super) struct Profile {
    /// Directed relations, weights add up to 1.
    pub roles: Weighted,
    pub recent_roles: Weighted,
    /// Length of the vectors of roles.
    pub length: f32,
    pub recent_length: f32,
    pub activity: Faded,
}

/// The latest facts of an entity, by relation: the others with the ages of the facts, the latest first.
#[derive(Default)]
pub(super) struct Latest {
    /// Relations in order, with the end of their facts.
    ends: Vec<(u32, u32)>,
    facts: Vec<(u32, u32)>,
}

impl Latest {
    /// The latest facts of a relation.
    #[inline]
    pub fn of(&self, relation: u32) -> &[(u32, u32)] {
        let Ok(place) = self.ends.binary_search_by_key(&relation, |end| end.0) else { return &[] };
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before].1);
        &self.facts[start as usize..self.ends[place].1 as usize]
    }
}

/// The counts as seen from one time.
pub(super) struct Moment {
    pub time: u32,
    neighbours: Vec<OnceLock<Neighbours>>,
    profiles: Vec<OnceLock<Profile>>,
    latest: Vec<OnceLock<Latest>>,
    popular: Vec<OnceLock<Vec<u32>>>,
    /// By entity and role.
    answers: Vec<OnceLock<Vec<OnceLock<Weighted>>>>,
    /// The most active entities.
    pub active: Vec<u32>,
    /// Numbers of facts of all entities, ascending.
    pub numbers: Vec<u32>,
}

/// `½a₁₆ + a₆₄ + 0.2a₂₅₆ + 0.01n`
fn strength(faded: Faded, n: u32) -> f32 {
    0.5 * faded[2] + faded[3] + 0.2 * faded[4] + 0.01 * n as f32
}

/// Leaves the `count` heaviest, in order of weight; of equal weights the smaller id.
pub(super) fn keep_best(items: &mut Weighted, count: usize) {
    let order = |a: &(u32, f32), b: &(u32, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    if items.len() > count && count > 0 {
        items.select_nth_unstable_by(count - 1, order);
    }
    items.truncate(count);
    items.sort_unstable_by(order);
}

fn scale(items: &mut Weighted, factor: f32) {
    for (_, weight) in items.iter_mut() {
        *weight *= factor;
    }
}

fn length(items: &Weighted) -> f32 {
    items.iter().map(|(_, weight)| weight * weight).sum::<f32>().sqrt()
}

fn slots<T>(count: usize) -> Vec<OnceLock<T>> {
    std::iter::repeat_with(OnceLock::new).take(count).collect()
}

impl Moment {
    pub fn new(counts: &Counts, time: u32) -> Self {
        let entities = counts.entities.len();
        let mut active: Weighted = Vec::new();
        let mut numbers = Vec::with_capacity(entities);
        for (id, entity) in (0..).zip(&counts.entities) {
            numbers.push(entity.cell.n);
            if entity.cell.n > 0 {
                active.push((id, strength(entity.cell.at(time, &counts.fading), entity.cell.n)));
            }
        }
        numbers.sort_unstable();
        keep_best(&mut active, ACTIVE);
        Self {
            time,
            neighbours: slots(entities),
            profiles: slots(entities),
            latest: slots(entities),
            popular: slots(counts.relations.len()),
            answers: slots(entities),
            active: active.into_iter().map(|(id, _)| id).collect(),
            numbers,
        }
    }

    /// The strongest answers of a relation, whoever asks.
    pub fn popular(&self, counts: &Counts, relation: u32) -> &[u32] {
        self.popular[relation as usize].get_or_init(|| {
            let inverse = counts.inverse(relation);
            let answers = counts.answers[relation as usize].iter();
            let mut strong: Weighted = answers
                .filter_map(|&id| {
                    let cell = counts.entities[id as usize].role(inverse)?.cell;
                    Some((id, strength(cell.at(self.time, &counts.fading), cell.n)))
                })
                .collect();
            keep_best(&mut strong, POPULAR);
            strong.into_iter().map(|(id, _)| id).collect()
        })
    }

    /// Whom an entity deals with: `(a₁₆ + ½a₆₄ + 0.1a₂₅₆) / (1 + total)`, recently `a₄ / (0.5 + total)`.
    pub fn neighbours(&self, counts: &Counts, entity: u32) -> &Neighbours {
        self.neighbours[entity as usize].get_or_init(|| {
            let entity = &counts.entities[entity as usize];
            let mut found = Neighbours::default();
            let mut total = 0.0;
            for partner in &entity.partners {
                let faded = partner.cell.at(self.time, &counts.fading);
                let weight = faded[2] + 0.5 * faded[3] + 0.1 * faded[4];
                total += weight;
                if weight > LEAST_WEIGHT {
                    found.all.push((partner.other, weight));
                }
                if faded[1] > LEAST_RECENT {
                    found.recent.push((partner.other, faded[1]));
                }
            }
            let recent = entity.cell.at(self.time, &counts.fading)[1];
            keep_best(&mut found.all, NEIGHBOURS);
            keep_best(&mut found.recent, RECENT_NEIGHBOURS);
            scale(&mut found.all, 1.0 / (1.0 + total));
            scale(&mut found.recent, 1.0 / (0.5 + recent));
            found.all.shrink_to_fit();
            found
        })
    }

    /// What an entity usually does.
    pub fn profile(&self, counts: &Counts, entity: u32) -> &Profile {
        self.profiles[entity as usize].get_or_init(|| {
            let entity = &counts.entities[entity as usize];
            let mut found =
                Profile { activity: entity.cell.at(self.time, &counts.fading), ..Profile::default() };
            for role in &entity.roles {
                let faded = role.cell.at(self.time, &counts.fading);
                found.roles.push((role.relation, faded[3] + 0.1 * faded[4] + 0.005 * role.cell.n as f32));
                if faded[1] > LEAST_RECENT {
                    found.recent_roles.push((role.relation, faded[1]));
                }
            }
            keep_best(&mut found.roles, ROLES);
            keep_best(&mut found.recent_roles, RECENT_ROLES);
            let sum = |items: &Weighted| items.iter().map(|(_, weight)| weight).sum::<f32>();
            let (all, recent) = (sum(&found.roles), sum(&found.recent_roles));
            scale(&mut found.roles, 1.0 / all.max(1e-9));
            scale(&mut found.recent_roles, 1.0 / (recent + 0.3));
            (found.length, found.recent_length) = (length(&found.roles), length(&found.recent_roles));
            found
        })
    }

    /// The latest facts of an entity, by relation.
    pub fn latest(&self, counts: &Counts, entity: u32) -> &Latest {
        self.latest[entity as usize].get_or_init(|| {
            let entity = &counts.entities[entity as usize];
            let mut found = Latest::default();
            let mut own: Vec<(u32, u32)> = Vec::new();
            for role in &entity.roles {
                own.clear();
                own.extend(entity.links_of_role(role.relation).map(|(_, link)| {
                    (link.cell.age(self.time), entity.partners[link.partner as usize].other)
                }));
                if own.len() > LATEST {
                    own.select_nth_unstable(LATEST - 1);
                    own.truncate(LATEST);
                }
                own.sort_unstable();
                found.facts.extend(own.iter().map(|&(age, other)| (other, age)));
                found.ends.push((role.relation, found.facts.len() as u32));
            }
            found
        })
    }

    /// The strongest past answers of `(entity, relation)`: `(a₆₄ + 0.02) / (total + 0.5)`.
    pub fn answers(&self, counts: &Counts, entity: u32, relation: u32) -> &[(u32, f32)] {
        let of = &counts.entities[entity as usize];
        let Ok(role) = of.roles.binary_search_by_key(&relation, |role| role.relation) else { return &[] };
        let by_role = self.answers[entity as usize].get_or_init(|| slots(of.roles.len()));
        by_role[role].get_or_init(|| {
            let mut total = 0.0;
            let mut found = Vec::with_capacity(of.roles[role].answers as usize);
            for (_, link) in of.links_of_role(relation) {
                let weight = link.cell.at(self.time, &counts.fading)[3] + 0.02;
                total += weight;
                found.push((of.partners[link.partner as usize].other, weight));
            }
            keep_best(&mut found, ANSWERS);
            scale(&mut found, 1.0 / (total + 0.5));
            found.shrink_to_fit();
            found
        })
    }
}
