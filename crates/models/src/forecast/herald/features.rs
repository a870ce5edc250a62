//! Features of candidates: counted evidence as numbers of about the same size, 0 for no evidence.

use super::counts::{Cell, NONE};
use super::evidence::{Ask, Evidence, Found, PATHS, Path};
use super::moment::{Profile, Weighted};
use super::names::Labels;

/// Kinds of evidence, for explanations and ablations.
pub(super) const GROUPS: usize = 6;
/// First feature of each group, and the number of features. The last four are 0 but in the demonstration of the query-set leak.
pub(super) const STARTS: [usize; GROUPS + 1] = [0, 20, 43, 58, 74, 87, 104];
/// Features of a candidate: a multiple of the width of vectors.
pub(super) const FEATURES: usize = STARTS[GROUPS];
/// Where the features of the demonstration of the leak begin.
pub(super) const LEAKED: usize = FEATURES - 4;
const SAME: usize = STARTS[0];
const PAIR: usize = STARTS[1];
const PRIOR: usize = STARTS[2];
const RULES: usize = STARTS[3];
/// Where the features of rules with two facts begin.
const CHAINS: usize = RULES + 8;
const PATH: usize = STARTS[4];
const ROLES: usize = STARTS[5];
/// Where the features read from names begin.
const NAMES: usize = ROLES + 6;
/// Offset in logarithms of shares.
const SMALL_SHARE: f32 = 1e-4;
/// Offset in logarithms of rule evidence.
const SMALL_RULE: f32 = 0.002;

/// Names of the groups, for people.
pub(super) const GROUP_NAMES: [&str; GROUPS] =
    ["same fact", "same pair", "popularity", "rules", "paths", "roles"];

/// What all candidates of a query share.
pub(super) struct Shared {
    /// Counts of the known entity with the asked relation.
    asked: Cell,
    recurrence: f32,
    distinct: f32,
    number: f32,
    largest_rule: f32,
    largest_chain: f32,
    largest_path: [f32; PATHS],
    /// Mean roles of past answers, of partners, and recent roles of past answers, with their lengths.
    roles: [(Vec<f32>, f32); 3],
}

/// Switches for parts that an ablation leaves out.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    pub ranks: bool,
    pub roles: bool,
}

/// `ln x` of a normal positive number, to a few units in the last place: the exponent, and `2·artanh((m−1)/(m+1))` of the rest,
/// whose series falls by a factor of 30 per term. A tenth of the time of training went into the exact one.
#[inline]
fn ln(x: f32) -> f32 {
    /// The rest lies between √½, which has these bits, and √2.
    const LOWEST: u32 = 0x3f35_04f3;
    const ONE: u32 = 0x3f80_0000;
    let bits = x.to_bits().wrapping_add(ONE - LOWEST);
    let exponent = (bits >> 23) as i32 - 127;
    let rest = f32::from_bits((bits & 0x007f_ffff) + LOWEST);
    let s = (rest - 1.0) / (rest + 1.0);
    let square = s * s;
    let series = 2.0 + square * (2.0 / 3.0 + square * (0.4 + square * (2.0 / 7.0 + square * (2.0 / 9.0))));
    s * series + exponent as f32 * std::f32::consts::LN_2
}

/// `ln(1 + x)` of a number that is not negative. What is below the rounding of 1 counts as nothing.
#[inline]
fn log(x: f32) -> f32 {
    ln(1.0 + x)
}

fn ratio(part: f32, whole: f32) -> f32 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

fn log_share(part: f32, whole: f32) -> f32 {
    0.2 * log(ratio(part, whole) / SMALL_SHARE)
}

/// How far evidence of rules is below the best of all candidates.
fn below_best(own: f32, best: f32) -> f32 {
    0.3 * ln((own + SMALL_RULE) / (best + SMALL_RULE))
}

fn path_value(x: f32) -> f32 {
    if x > 0.0 { 0.3 * ln(100.0 * x + 0.05) + 1.0 } else { 0.0 }
}

impl Shared {
    pub fn new(relations: usize) -> Self {
        let zeros = || (vec![0.0; relations], 0.0);
        Self {
            asked: Cell::EMPTY,
            recurrence: 0.0,
            distinct: 0.0,
            number: 0.0,
            largest_rule: 0.0,
            largest_chain: 0.0,
            largest_path: [0.0; PATHS],
            roles: [zeros(), zeros(), zeros()],
        }
    }

    /// Takes what the candidates of a query share.
    pub fn prepare(&mut self, ask: &Ask<'_>, evidence: &Evidence) {
        let role = ask.entity().role(ask.relation);
        self.asked = role.map_or(Cell::EMPTY, |role| role.cell);
        self.recurrence = ask.tables.recurrence[ask.relation as usize];
        self.distinct = log(role.map_or(0, |role| role.answers) as f32);
        self.number = log(self.asked.n as f32);
        (self.largest_rule, self.largest_chain, self.largest_path) = (0.0, 0.0, [0.0; PATHS]);
        for &place in &evidence.candidates {
            let found = &evidence.found[place as usize];
            self.largest_rule = self.largest_rule.max(found.rules.noisy_or);
            self.largest_chain = self.largest_chain.max(found.chains.noisy_or);
            for (largest, &value) in self.largest_path.iter_mut().zip(&found.paths) {
                *largest = largest.max(value);
            }
        }
        let partners = &ask.moment.neighbours(ask.counts, ask.known).all;
        let partners = &partners[..partners.len().min(12)];
        mean_roles(&mut self.roles[0], ask, &evidence.answers, |profile| &profile.roles);
        mean_roles(&mut self.roles[1], ask, partners, |profile| &profile.roles);
        mean_roles(&mut self.roles[2], ask, &evidence.answers, |profile| &profile.recent_roles);
    }
}

fn mean_roles(
    (mean, length): &mut (Vec<f32>, f32),
    ask: &Ask<'_>,
    of: &[(u32, f32)],
    roles: impl Fn(&Profile) -> &Weighted,
) {
    mean.fill(0.0);
    for &(id, weight) in of {
        for &(role, share) in roles(ask.moment.profile(ask.counts, id)) {
            mean[role as usize] += weight * share;
        }
    }
    *length = mean.iter().map(|x| x * x).sum::<f32>().sqrt();
}

fn cosine((mean, length): &(Vec<f32>, f32), roles: &Weighted, own: f32) -> f32 {
    if *length <= 0.0 || own <= 0.0 {
        return 0.0;
    }
    roles.iter().map(|&(role, share)| share * mean[role as usize]).sum::<f32>() / (length * own)
}

/// Writes number, age and fading counts of a cell to `out[0..9]`.
fn write_cell(cell: &Cell, ask: &Ask<'_>, out: &mut [f32]) -> [f32; 5] {
    let faded = cell.at(ask.moment.time, &ask.counts.fading);
    let age = cell.age(ask.moment.time) as f32;
    out[0] = 1.0;
    out[1] = log(cell.n as f32);
    out[2] = 0.2 * ln(age);
    out[3] = 1.0 / age;
    for (out, faded) in out[4..9].iter_mut().zip(faded) {
        *out = log(faded);
    }
    faded
}

/// Writes the features of all candidates to `rows[candidates, FEATURES]`.
pub(super) fn write_rows(
    ask: &Ask<'_>,
    evidence: &Evidence,
    shared: &Shared,
    labels: Option<&Labels>,
    parts: Parts,
    rows: &mut Vec<f32>,
) {
    rows.clear();
    rows.resize(evidence.candidates.len() * FEATURES, 0.0);
    for (&place, row) in evidence.candidates.iter().zip(rows.chunks_exact_mut(FEATURES)) {
        let found = &evidence.found[place as usize];
        write_row(ask, shared, found, parts, row);
        if let Some(labels) = labels {
            labels.write(ask, evidence, found.id, &mut row[NAMES..]);
        }
    }
    if parts.ranks {
        write_ranks(rows);
    }
}

/// The features of someone about whom nothing is known.
pub(super) fn row_without_evidence(shared: &Shared, parts: Parts) -> [f32; FEATURES] {
    let mut row = [0.0; FEATURES];
    write_question(shared, parts, &mut row);
    row
}

/// Features that are the same for all candidates.
fn write_question(shared: &Shared, parts: Parts, row: &mut [f32]) {
    row[SAME + 16] = shared.recurrence;
    row[SAME + 17] = 0.5 * shared.distinct;
    row[SAME + 18] = 0.3 * shared.number;
    if parts.ranks {
        row[RULES + 6] = below_best(0.0, shared.largest_rule);
        row[CHAINS + 5] = below_best(0.0, shared.largest_chain);
    }
}

fn write_row(ask: &Ask<'_>, shared: &Shared, found: &Found, parts: Parts, row: &mut [f32]) {
    write_question(shared, parts, row);
    let entity = ask.entity();
    if found.same != NONE {
        write_same(&entity.links[found.same as usize].cell, ask, shared, &mut row[SAME..]);
    }
    if found.partner != NONE {
        write_pair(ask, shared, found, &mut row[PAIR..]);
    }
    row[PAIR + 18] = f32::from(u8::from(found.id == ask.known));
    let profile = ask.moment.profile(ask.counts, found.id);
    write_prior(ask, shared, found, profile, &mut row[PRIOR..PRIOR + 14]);
    write_rules(shared, found, parts, &mut row[RULES..RULES + 7]);
    write_chains(shared, found, parts, &mut row[CHAINS..PATH]);
    for (out, &value) in row[PATH..].iter_mut().zip(&found.paths) {
        *out = path_value(value);
    }
    let compared = [Path::TwoHop, Path::Collaborative, Path::PartnersAnswers, Path::SimilarSubjects];
    for (out, path) in row[PATH + PATHS..].iter_mut().zip(compared) {
        *out = ratio(found.paths[path as usize], shared.largest_path[path as usize]);
    }
    if parts.roles {
        let unseen = row[PRIOR + 3] == 0.0;
        write_roles(ask, shared, profile, unseen, &mut row[ROLES..ROLES + 6]);
    }
}

fn write_same(cell: &Cell, ask: &Ask<'_>, shared: &Shared, out: &mut [f32]) {
    let faded = write_cell(cell, ask, out);
    let whole = shared.asked.at(ask.moment.time, &ask.counts.fading);
    out[9] = ratio(cell.n as f32, shared.asked.n as f32);
    for h in 1..5 {
        out[9 + h] = ratio(faded[h], whole[h]);
    }
    out[14] = f32::from(u8::from(cell.last == shared.asked.last));
    if cell.previous != NONE {
        let gap = (cell.last - cell.previous) as f32;
        out[15] = (-(cell.age(ask.moment.time) as f32 / gap).ln().abs()).exp();
    }
}

fn write_pair(ask: &Ask<'_>, shared: &Shared, found: &Found, out: &mut [f32]) {
    let entity = ask.entity();
    let partner = &entity.partners[found.partner as usize];
    let faded = write_cell(&partner.cell, ask, out);
    let whole = ask.moment.profile(ask.counts, ask.known).activity;
    for h in 1..5 {
        out[8 + h] = ratio(faded[h], whole[h]);
    }
    out[13] = log(partner.relations as f32);
    if found.inverse != NONE {
        let cell = &entity.links[found.inverse as usize].cell;
        let faded = cell.at(ask.moment.time, &ask.counts.fading);
        out[14] = 1.0;
        out[15] = log(faded[1]);
        out[16] = log(faded[3]);
        out[17] = 1.0 / cell.age(ask.moment.time) as f32;
    }
    out[19] = shared.recurrence;
    out[20] = 0.3 * shared.number;
    out[21] = 0.5 * shared.distinct;
}

fn write_prior(ask: &Ask<'_>, shared: &Shared, found: &Found, profile: &Profile, out: &mut [f32]) {
    let Ask { counts, moment, relation, .. } = *ask;
    let entity = &counts.entities[found.id as usize];
    if let Some(role) = entity.role(counts.inverse(relation)) {
        let own = role.cell.at(moment.time, &counts.fading);
        let all = &counts.relations[relation as usize];
        let whole = all.at(moment.time, &counts.fading);
        for h in 1..4 {
            out[h - 1] = log_share(own[h], whole[h]);
        }
        out[3] = log_share(role.cell.n as f32, all.n as f32);
        out[4] = 1.0 / role.cell.age(moment.time) as f32;
    }
    if entity.cell.n > 0 {
        for h in 1..4 {
            out[4 + h] = 0.5 * log(profile.activity[h]);
        }
        out[8] = 1.0 / entity.cell.age(moment.time) as f32;
        out[9] = 0.2 * log(entity.cell.n as f32);
    }
    out[10] = shared.recurrence * out[3];
    out[11] = 0.3 * shared.number * out[3];
    out[12] = 0.5 * shared.distinct * out[3];
    out[13] = if shared.asked.n == 0 { out[3] } else { 0.0 };
}

fn write_rules(shared: &Shared, found: &Found, parts: Parts, out: &mut [f32]) {
    let rules = &found.rules;
    if rules.noisy_or > 0.0 {
        out[0] = 2.0 * rules.largest;
        out[1] = log(4.0 * rules.sum);
        out[2] = 0.3 * log(rules.log_odds);
        out[3] = 2.0 * rules.noisy_or;
        out[4] = 0.2 * log(1e3 * rules.noisy_or);
        out[5] = f32::from(u8::from(rules.noisy_or == shared.largest_rule));
    }
    if parts.ranks {
        out[6] = below_best(rules.noisy_or, shared.largest_rule);
    }
}

fn write_chains(shared: &Shared, found: &Found, parts: Parts, out: &mut [f32]) {
    let chains = &found.chains;
    if chains.noisy_or > 0.0 {
        out[0] = 2.0 * chains.largest;
        out[1] = log(4.0 * chains.sum);
        out[2] = 2.0 * chains.noisy_or;
        out[3] = 0.2 * log(1e3 * chains.noisy_or);
        out[4] = f32::from(u8::from(chains.noisy_or == shared.largest_chain));
        out[7] = if found.partner == NONE { out[2] } else { 0.0 };
    }
    if parts.ranks {
        out[5] = below_best(chains.noisy_or, shared.largest_chain);
    }
}

fn write_roles(ask: &Ask<'_>, shared: &Shared, profile: &Profile, unseen: bool, out: &mut [f32]) {
    let odds = ask.tables.role_odds_of(ask.relation);
    let likely =
        |roles: &Weighted| 0.5 * roles.iter().map(|&(role, share)| share * odds[role as usize]).sum::<f32>();
    out[0] = likely(&profile.roles);
    out[1] = likely(&profile.recent_roles);
    out[2] = if unseen { out[0] } else { 0.0 };
    out[3] = cosine(&shared.roles[0], &profile.roles, profile.length);
    out[4] = cosine(&shared.roles[1], &profile.roles, profile.length);
    out[5] = cosine(&shared.roles[2], &profile.recent_roles, profile.recent_length);
}

/// A feature for a rank, and what is ranked.
type Ranked = (usize, fn(&[f32]) -> f32);

/// `1 / (1 + rank)` among the candidates by seven kinds of evidence. Ties share the best rank, no evidence has none.
fn write_ranks(rows: &mut [f32]) {
    let count = rows.len() / FEATURES;
    let mut order: Vec<(f32, u32)> = Vec::with_capacity(count);
    let ranked: [Ranked; 7] = [
        (SAME + 19, |row| row[SAME + 6] + 0.3 * row[SAME + 7]),
        (PAIR + 22, |row| row[PAIR + 6] + 0.3 * row[PAIR + 7]),
        (PRIOR + 14, |row| row[PRIOR + 2] + 0.3 * row[PRIOR + 3]),
        (RULES + 7, |row| row[RULES + 3]),
        (CHAINS + 6, |row| row[CHAINS + 2]),
        (PATH + 11, |row| row[PATH + Path::TwoHop as usize]),
        (PATH + 12, |row| row[PATH + Path::SimilarSubjects as usize]),
    ];
    for (feature, value) in ranked {
        order.clear();
        let values = rows.chunks_exact(FEATURES).map(value);
        order.extend(values.zip(0..).filter(|(value, _)| *value > 0.0));
        order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        let (mut best, mut last) = (0, f32::INFINITY);
        for (place, &(value, row)) in order.iter().enumerate() {
            if value < last {
                (best, last) = (place, value);
            }
            rows[row as usize * FEATURES + feature] = 1.0 / (1 + best) as f32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_those_of_the_library() {
        let mut x = 1e-6_f32;
        while x < 1e9 {
            let (found, exact) = (f64::from(ln(x)), f64::from(x).ln());
            assert!(
                (found - exact).abs() < 5e-7 * exact.abs().max(1.0),
                "ln {x}: {found} instead of {exact}"
            );
            x *= 1.01;
        }
        assert_eq!((ln(1.0), log(0.0)), (0.0, 0.0));
    }
}
