//! What has been counted: a pure function of the facts before a ceiling.
//!
//! For every fact, pair, role and entity: how often, when last, when before that, and counts that fade with five half-lives. Facts
//! are read from both ends. Everything that a query needs stands in arrays of its known entity; the hash map serves `add` alone.

use quadcast_core::{DirectedRelation, Direction, History, HistoryKey, Query, Snapshot, Step};
use rustc_hash::FxHashMap;

/// Half-lives of the fading counts, in units of the time axis.
pub(super) const HALF_LIVES: [f64; 5] = [1.0, 4.0, 16.0, 64.0, 256.0];
/// Fading counts of one key, one per half-life.
pub(super) type Faded = [f32; HALF_LIVES.len()];
/// Distances beyond this one have faded: 2⁻³² of a count is left at the longest half-life.
const LONGEST: usize = 8192;
/// No index.
pub(super) const NONE: u32 = u32::MAX;

/// How much is left of a count, by distance in time.
pub(super) struct Fading(Vec<Faded>);

impl Fading {
    fn new() -> Self {
        let left =
            |distance: usize| HALF_LIVES.map(|half_life| (-(distance as f64) / half_life).exp2() as f32);
        Self((0..LONGEST).map(left).collect())
    }

    #[inline]
    fn over(&self, distance: u32) -> Faded {
        self.0.get(distance as usize).copied().unwrap_or_default()
    }
}

/// The counts of one key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cell {
    /// How often.
    pub n: u32,
    /// When last.
    pub last: u32,
    /// When before that, at another time; `NONE` if never.
    pub previous: u32,
    /// Fading counts as of `last`.
    faded: Faded,
}

impl Cell {
    pub const EMPTY: Self = Self { n: 0, last: 0, previous: NONE, faded: [0.0; HALF_LIVES.len()] };

    fn add(&mut self, time: u32, fading: &Fading) {
        if self.n > 0 && time > self.last {
            let left = fading.over(time - self.last);
            self.faded.iter_mut().zip(left).for_each(|(faded, left)| *faded *= left);
            self.previous = self.last;
        }
        self.last = time;
        self.n += 1;
        self.faded.iter_mut().for_each(|faded| *faded += 1.0);
    }

    /// Fading counts as of a time after `last`.
    #[inline]
    pub fn at(&self, time: u32, fading: &Fading) -> Faded {
        let mut faded = fading.over(time.saturating_sub(self.last));
        for (faded, then) in faded.iter_mut().zip(self.faded) {
            *faded *= then;
        }
        faded
    }

    /// Distance in time; at least 1.
    #[inline]
    pub fn age(&self, time: u32) -> u32 {
        time.saturating_sub(self.last).max(1)
    }
}

/// Someone whom an entity shared facts with.
pub(super) struct Partner {
    pub other: u32,
    /// Number of directed relations between them.
    pub relations: u32,
    /// The first of their links.
    pub first: u32,
    pub cell: Cell,
}

/// A fact without time, read from one of its ends.
pub(super) struct Link {
    pub relation: u32,
    /// The place of the other end among the partners.
    pub partner: u32,
    /// The next link to the same partner.
    pub next_of_partner: u32,
    /// The next link of the same relation.
    pub next_of_role: u32,
    pub cell: Cell,
}

/// A directed relation in which an entity stood to others.
pub(super) struct Role {
    pub relation: u32,
    /// The first of its links.
    pub first: u32,
    /// Number of distinct others.
    pub answers: u32,
    pub cell: Cell,
}

/// What has been counted about one entity.
pub(super) struct Entity {
    pub partners: Vec<Partner>,
    pub links: Vec<Link>,
    /// In order of relations.
    pub roles: Vec<Role>,
    pub cell: Cell,
}

impl Entity {
    const EMPTY: Self =
        Self { partners: Vec::new(), links: Vec::new(), roles: Vec::new(), cell: Cell::EMPTY };

    /// The role of a directed relation.
    #[inline]
    pub fn role(&self, relation: u32) -> Option<&Role> {
        self.roles.binary_search_by_key(&relation, |role| role.relation).ok().map(|place| &self.roles[place])
    }

    /// The links of one relation, the newest link first.
    pub fn links_of_role(&self, relation: u32) -> impl Iterator<Item = (u32, &Link)> {
        let mut next = self.role(relation).map_or(NONE, |role| role.first);
        std::iter::from_fn(move || {
            let (place, link) = (next, self.links.get(next as usize)?);
            next = link.next_of_role;
            Some((place, link))
        })
    }

    /// The links to one partner, the newest link first.
    #[inline]
    pub fn links_of_partner(&self, partner: &Partner) -> impl Iterator<Item = (u32, &Link)> {
        let mut next = partner.first;
        std::iter::from_fn(move || {
            let (place, link) = (next, self.links.get(next as usize)?);
            next = link.next_of_partner;
            Some((place, link))
        })
    }
}

/// Everything that has been counted.
pub(super) struct Counts {
    pub entities: Vec<Entity>,
    /// By directed relation.
    pub relations: Vec<Cell>,
    /// Entities that ever answered a directed relation.
    pub answers: Vec<Vec<u32>>,
    pub fading: Fading,
    /// Places of partners by pair.
    places: FxHashMap<u64, u32>,
    key: Option<HistoryKey>,
}

impl Counts {
    pub fn new() -> Self {
        Self {
            entities: Vec::new(),
            relations: Vec::new(),
            answers: Vec::new(),
            fading: Fading::new(),
            places: FxHashMap::default(),
            key: None,
        }
    }

    /// Number of original relations.
    pub fn original_relations(&self) -> usize {
        self.relations.len() / 2
    }

    /// A directed relation read from the other side.
    #[inline]
    pub fn inverse(&self, relation: u32) -> u32 {
        DirectedRelation(relation).inverse(self.original_relations()).0
    }

    /// Counts up to the end of a history; only facts that are new are read, unless it is another history.
    pub fn follow(&mut self, history: &History<'_>) {
        let from = match self.key {
            Some(key) if key.follows_in(history.key()) => key.ceiling(),
            _ => {
                self.clear(history.entities(), 2 * history.relations());
                Step(0)
            }
        };
        for snapshot in history.snapshots_from(from) {
            self.add_snapshot(&snapshot, time_of(history, snapshot.step));
        }
        self.key = Some(history.key());
    }

    fn clear(&mut self, entities: usize, relations: usize) {
        self.entities.clear();
        self.entities.resize_with(entities, || Entity::EMPTY);
        self.relations = vec![Cell::EMPTY; relations];
        self.answers = vec![Vec::new(); relations];
        self.places.clear();
    }

    fn add_snapshot(&mut self, snapshot: &Snapshot<'_>, time: u32) {
        let relations = self.original_relations();
        let mut previous = None;
        for fact in snapshot.iter() {
            // Duplicates stand next to each other; a fact is true once at a time.
            if previous.replace(fact) == Some(fact) {
                continue;
            }
            for direction in Direction::BOTH {
                let (query, answer) = Query::hide(fact, direction);
                self.add(query.known.0, query.directed(relations).0, answer.0, time);
            }
        }
    }

    fn add(&mut self, known: u32, relation: u32, other: u32, time: u32) {
        let inverse = self.inverse(relation);
        let fading = &self.fading;
        self.relations[relation as usize].add(time, fading);
        let entity = &mut self.entities[known as usize];
        entity.cell.add(time, fading);
        let place = *self.places.entry(u64::from(known) << 32 | u64::from(other)).or_insert_with(|| {
            entity.partners.push(Partner { other, relations: 0, first: NONE, cell: Cell::EMPTY });
            entity.partners.len() as u32 - 1
        });
        let role = match entity.roles.binary_search_by_key(&relation, |role| role.relation) {
            Ok(role) => role,
            Err(role) => {
                entity.roles.insert(role, Role { relation, first: NONE, answers: 0, cell: Cell::EMPTY });
                self.answers[inverse as usize].push(known);
                role
            }
        };
        let (partner, role) = (&mut entity.partners[place as usize], &mut entity.roles[role]);
        partner.cell.add(time, fading);
        role.cell.add(time, fading);
        let mut link = partner.first;
        while link != NONE && entity.links[link as usize].relation != relation {
            link = entity.links[link as usize].next_of_partner;
        }
        if link == NONE {
            link = entity.links.len() as u32;
            let (next_of_partner, next_of_role) = (partner.first, role.first);
            entity.links.push(Link {
                relation,
                partner: place,
                next_of_partner,
                next_of_role,
                cell: Cell::EMPTY,
            });
            (partner.first, role.first) = (link, link);
            partner.relations += 1;
            role.answers += 1;
        }
        entity.links[link as usize].cell.add(time, fading);
    }
}

/// A step on the axis: units since the first step, gaps kept.
pub(super) fn time_of(history: &History<'_>, step: Step) -> u32 {
    let axis = history.axis();
    u32::try_from(axis.ordinal(step) - axis.ordinal(Step(0))).unwrap_or(u32::MAX - 1)
}
