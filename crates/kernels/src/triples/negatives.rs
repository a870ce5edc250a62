//! Negative sampling: a false triple is a true one with a random entity at one end, or with a random relation.

use super::sample::Draws;

/// Which end of a true triple is replaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replaced {
    /// Either, with probability 1/2.
    #[default]
    Either,
    /// By relation: with many tails per head the head is replaced more often, and the other way round.
    Bern,
    /// Heads and tails in alternating batches.
    InTurn,
}

/// How false triples are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NegativesConfig {
    /// Which end is replaced.
    pub replaced: Replaced,
    /// Whether drawn triples are never true ones.
    pub filtered: bool,
    /// Whether relations are drawn as well.
    pub relations: bool,
    /// Draws as the published code does: an unfiltered draw spares the other end instead of the true one, and
    /// probabilities are thousandths.
    pub compat: bool,
}

/// Which end of a triple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Head,
    Tail,
}

/// Draws false triples.
#[derive(Clone, Debug)]
pub struct Negatives {
    compat: bool,
    in_turn: bool,
    /// Entities that may be drawn, ascending.
    pool: Vec<u32>,
    /// Relations that may be drawn, ascending: those of the true triples.
    relations: Vec<u32>,
    /// Place in the pool by entity; [`NOWHERE`] if it is not there.
    places: Vec<u32>,
    /// Probability by relation that the tail is replaced.
    tail_chances: Vec<f64>,
    answers: Option<Answers>,
}

const NOWHERE: u32 = u32::MAX;

/// The places of all true answers to the questions that training triples answer.
#[derive(Clone, Debug)]
struct Answers {
    /// Ascending within a question; tails, then heads, then relations.
    lists: [Vec<u32>; 3],
    /// By training triple: start and end of the list of its question.
    ranges: [Vec<[u32; 2]>; 3],
}

/// The list of relations in [`Answers`].
const RELATIONS: usize = 2;

impl Negatives {
    /// Draws for the training triples from `pool`, which ascends. `known` are the triples that count as true: those that
    /// probabilities are taken from and that a filtered draw avoids.
    ///
    /// # Panics
    /// If the pool is empty.
    pub fn new(
        config: NegativesConfig,
        triples: &[[u32; 3]],
        known: &[[u32; 3]],
        pool: Vec<u32>,
        (entities, relations): (usize, usize),
    ) -> Self {
        assert!(!pool.is_empty(), "the pool of entities to draw is empty");
        let mut places = vec![NOWHERE; entities];
        pool.iter().zip(0..).for_each(|(&entity, place)| places[entity as usize] = place);
        let own = if config.relations { distinct(known, relations) } else { Vec::new() };
        let tail_chances = if config.replaced == Replaced::Bern {
            bern(known, relations)
                .into_iter()
                .map(|p| if config.compat { (1000.0 * p).floor() / 1000.0 } else { p })
                .collect()
        } else {
            vec![0.5; relations]
        };
        let answers = config.filtered.then(|| Answers::new(triples, known, &places, &own));
        let in_turn = config.replaced == Replaced::InTurn;
        Self { compat: config.compat, in_turn, pool, relations: own, places, tail_chances, answers }
    }

    /// A false triple for the training triple of this index, in the batch of this number.
    #[inline(always)]
    pub(super) fn draw(
        &self,
        index: usize,
        triple: [u32; 3],
        turn: u64,
        draws: &mut Draws,
    ) -> ([u32; 3], End) {
        let [head, relation, tail] = triple;
        let is_tail =
            if self.in_turn { turn % 2 == 1 } else { draws.share() < self.tail_chances[relation as usize] };
        let end = if is_tail { End::Tail } else { End::Head };
        let (own, other) = if end == End::Tail { (tail, head) } else { (head, tail) };
        let drawn = match &self.answers {
            Some(answers) => self.draw_beside(answers.of(index, usize::from(end == End::Head)), own, draws),
            None => self.draw_but(if self.compat { other } else { own }, draws),
        };
        (if end == End::Tail { [head, relation, drawn] } else { [drawn, relation, tail] }, end)
    }

    /// The training triple of this index with another relation; with its own, if there is no other or none are drawn.
    #[inline(always)]
    pub(super) fn draw_relation(&self, index: usize, triple: [u32; 3], draws: &mut Draws) -> [u32; 3] {
        let [head, relation, tail] = triple;
        let Ok(own) = self.relations.binary_search(&relation) else { return triple };
        let own = [own as u32];
        let listed = self.answers.as_ref().map_or(&own[..], |answers| answers.of(index, RELATIONS));
        let listed = if listed.len() < self.relations.len() { listed } else { &own };
        match self.relations.len() - listed.len() {
            0 => triple,
            free => [head, self.relations[beside(listed, draws.below(free))], tail],
        }
    }

    /// Any entity except one; that one, if it is the only one.
    #[inline(always)]
    fn draw_but(&self, spared: u32, draws: &mut Draws) -> u32 {
        let place = self.places[spared as usize];
        if place == NOWHERE {
            return self.pool[draws.below(self.pool.len())];
        }
        if self.pool.len() == 1 {
            return spared;
        }
        let drawn = draws.below(self.pool.len() - 1);
        self.pool[drawn + usize::from(drawn >= place as usize)]
    }

    /// Any entity whose place is not listed; any except `own`, if all are listed.
    #[inline(always)]
    fn draw_beside(&self, listed: &[u32], own: u32, draws: &mut Draws) -> u32 {
        let free = self.pool.len() - listed.len();
        if free == 0 {
            return self.draw_but(own, draws);
        }
        self.pool[beside(listed, draws.below(free))]
    }
}

/// The place of this number among those that are not listed.
#[inline(always)]
fn beside(listed: &[u32], number: usize) -> usize {
    // The j-th listed place has j listed ones before it: it is skipped if the free places before it do not exceed the number.
    let (mut low, mut high) = (0, listed.len());
    while low < high {
        let middle = usize::midpoint(low, high);
        if listed[middle] as usize - middle <= number {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    number + low
}

/// The relations of triples, ascending.
fn distinct(known: &[[u32; 3]], relations: usize) -> Vec<u32> {
    let mut occurs = vec![false; relations];
    known.iter().for_each(|triple| occurs[triple[1] as usize] = true);
    (0..).zip(occurs).filter_map(|(relation, occurs)| occurs.then_some(relation)).collect()
}

/// hpt / (hpt + tph): heads per tail, and tails per head, of each relation.
fn bern(known: &[[u32; 3]], relations: usize) -> Vec<f64> {
    let distinct = |end: usize| {
        let mut pairs: Vec<[u32; 2]> = known.iter().map(|triple| [triple[1], triple[end]]).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut counts = vec![0_u32; relations];
        pairs.iter().for_each(|&[relation, _]| counts[relation as usize] += 1);
        counts
    };
    // tph = n / heads and hpt = n / tails, so that n cancels out.
    let share = |(heads, tails): (u32, u32)| {
        if heads + tails == 0 { 0.5 } else { f64::from(heads) / f64::from(heads + tails) }
    };
    distinct(0).into_iter().zip(distinct(2)).map(share).collect()
}

impl Answers {
    fn new(triples: &[[u32; 3]], known: &[[u32; 3]], places: &[u32], relations: &[u32]) -> Self {
        let (mut lists, mut ranges) = (<[Vec<u32>; 3]>::default(), <[Vec<[u32; 2]>; 3]>::default());
        let sides = if relations.is_empty() { 2 } else { 3 };
        let questions = [([0, 1], 2), ([2, 1], 0), ([0, 2], 1)];
        for (side, (asked, answer)) in questions.into_iter().take(sides).enumerate() {
            let place = |id: u32| match side {
                RELATIONS => relations.binary_search(&id).map_or(NOWHERE, |place| place as u32),
                _ => places[id as usize],
            };
            let key = |triple: &[u32; 3]| asked.map(|end| triple[end]);
            let mut rows: Vec<[u32; 3]> = known
                .iter()
                .map(|triple| {
                    let [first, second] = key(triple);
                    [first, second, place(triple[answer])]
                })
                .filter(|row| row[2] != NOWHERE)
                .collect();
            rows.sort_unstable();
            rows.dedup();
            let range = |triple: &[u32; 3]| {
                let question = key(triple);
                let from = rows.partition_point(|row| row[..2] < question[..]);
                let to = from + rows[from..].partition_point(|row| row[..2] == question[..]);
                [from as u32, to as u32]
            };
            ranges[side] = triples.iter().map(range).collect();
            lists[side] = rows.into_iter().map(|row| row[2]).collect();
        }
        Self { lists, ranges }
    }

    #[inline(always)]
    fn of(&self, index: usize, side: usize) -> &[u32] {
        let [from, to] = self.ranges[side][index];
        &self.lists[side][from as usize..to as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bern_by_hand() {
        // Relation 0: heads 0 and 1, tails 2, 3, 4. Four triples: tph 2, hpt 4/3, so 0.4. Relation 1: one of each.
        let known = [[0, 0, 2], [0, 0, 3], [0, 0, 4], [1, 0, 2], [5, 1, 5]];
        let config = NegativesConfig { replaced: Replaced::Bern, ..NegativesConfig::default() };
        let negatives = Negatives::new(config, &known, &known, (0..6).collect(), (6, 3));
        assert_eq!(negatives.tail_chances, [0.4, 0.5, 0.5]);
        let thirds = [[0, 0, 1], [0, 0, 2]];
        let config = NegativesConfig { compat: true, ..config };
        assert_eq!(Negatives::new(config, &thirds, &thirds, vec![0], (3, 1)).tail_chances, [0.333]);
    }

    /// How often each entity is drawn for an end of the first triple.
    fn counts(negatives: &Negatives, triple: [u32; 3], end: End, entities: usize) -> Vec<u32> {
        let mut counts = vec![0; entities];
        for sample in 0..60_000 {
            let (drawn, replaced) = negatives.draw(0, triple, 0, &mut Draws::new(11, sample));
            let kept = if replaced == End::Tail { 0 } else { 2 };
            assert_eq!((drawn[kept], drawn[1]), (triple[kept], triple[1]), "one end is kept");
            if replaced == end {
                counts[drawn[2 - kept] as usize] += 1;
            }
        }
        counts
    }

    /// χ² of the entities that may be drawn; all others were not.
    fn chi_squared(counts: &[u32], allowed: &[u32]) -> f64 {
        let total: u32 = counts.iter().sum();
        let of_allowed: u32 = allowed.iter().map(|&e| counts[e as usize]).sum();
        assert_eq!(total, of_allowed, "{counts:?}");
        let expected = f64::from(total) / allowed.len() as f64;
        allowed.iter().map(|&e| (f64::from(counts[e as usize]) - expected).powi(2) / expected).sum()
    }

    #[test]
    fn filtered_draws_are_even_over_what_is_not_true() {
        let known = [[1, 0, 7], [1, 0, 2], [1, 0, 9], [1, 0, 3], [4, 0, 7], [1, 1, 5]];
        let config = NegativesConfig { filtered: true, ..NegativesConfig::default() };
        // Neither 0 and 8 nor the true tail 3 are present.
        let pool = vec![1, 2, 4, 5, 6, 7, 9];
        let negatives = Negatives::new(config, &known, &known, pool, (10, 2));
        // 16.3 and 18.5: 1 in 1000 for 3 and 4 degrees of freedom.
        let tails = counts(&negatives, known[0], End::Tail, 10);
        assert!(chi_squared(&tails, &[1, 4, 5, 6]) < 16.3, "{tails:?}");
        let heads = counts(&negatives, known[0], End::Head, 10);
        assert!(chi_squared(&heads, &[2, 5, 6, 7, 9]) < 18.5, "{heads:?}");
    }

    #[test]
    fn unfiltered_draws_spare_the_true_end_or_as_published_the_other() {
        let known = [[1, 0, 3], [1, 0, 2]];
        let pool: Vec<u32> = (0..5).collect();
        let honest = Negatives::new(NegativesConfig::default(), &known, &known, pool.clone(), (5, 1));
        let tails = counts(&honest, known[0], End::Tail, 5);
        assert!(chi_squared(&tails, &[0, 1, 2, 4]) < 16.3, "{tails:?}");
        let config = NegativesConfig { compat: true, ..NegativesConfig::default() };
        let published = Negatives::new(config, &known, &known, pool, (5, 1));
        let tails = counts(&published, known[0], End::Tail, 5);
        assert!(chi_squared(&tails, &[0, 2, 3, 4]) < 16.3, "{tails:?}");
    }

    #[test]
    fn ends_go_in_turn() {
        let known = [[0, 0, 1], [2, 0, 3]];
        let config = NegativesConfig { replaced: Replaced::InTurn, ..NegativesConfig::default() };
        let negatives = Negatives::new(config, &known, &known, (0..4).collect(), (4, 1));
        for turn in 0..10 {
            let expected = if turn % 2 == 0 { End::Head } else { End::Tail };
            let ends = (0..20).map(|sample| negatives.draw(0, known[0], turn, &mut Draws::new(1, sample)).1);
            assert!(ends.into_iter().all(|end| end == expected), "batch {turn}");
        }
    }

    #[test]
    fn relations_are_drawn_evenly_among_those_that_are_not_true() {
        // Relation 4 has no triples. Between 0 and 1 are the relations 0 and 2.
        let known = [[0, 0, 1], [0, 2, 1], [0, 1, 2], [3, 3, 1], [1, 5, 0]];
        let pool: Vec<u32> = (0..4).collect();
        for (filtered, allowed) in [(true, &[1, 3, 5][..]), (false, &[1, 2, 3, 5])] {
            let config = NegativesConfig { filtered, relations: true, ..NegativesConfig::default() };
            let negatives = Negatives::new(config, &known, &known, pool.clone(), (4, 6));
            let mut counts = vec![0; 6];
            for sample in 0..60_000 {
                let drawn = negatives.draw_relation(0, known[0], &mut Draws::new(11, sample));
                assert_eq!([drawn[0], drawn[2]], [0, 1], "both ends are kept");
                counts[drawn[1] as usize] += 1;
            }
            // 16.3: 1 in 1000 for 3 degrees of freedom.
            assert!(chi_squared(&counts, allowed) < 16.3, "{counts:?}");
        }
        let config = NegativesConfig { filtered: true, relations: true, ..NegativesConfig::default() };
        let lonely = Negatives::new(config, &known[..1], &known[..1], pool, (4, 6));
        assert_eq!(lonely.draw_relation(0, known[0], &mut Draws::new(11, 0)), known[0], "there is no other");
    }

    #[test]
    fn where_everything_is_true_somebody_is_drawn() {
        let known = [[0, 0, 0], [0, 0, 1]];
        let config = NegativesConfig { filtered: true, ..NegativesConfig::default() };
        let negatives = Negatives::new(config, &known, &known, vec![0, 1], (2, 1));
        let tails = counts(&negatives, known[0], End::Tail, 2);
        assert_eq!(tails[0], 0, "anybody but the true one");
    }
}
