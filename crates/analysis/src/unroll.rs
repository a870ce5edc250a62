//! From facts that hold over an interval to facts at steps, so that models of points in time can be trained and judged.
//!
//! A step is a year that begins or ends some interval. A fact holds at every step from its start to its end; an open start is
//! the first step, an open end the last. Training facts are unrolled over all their steps. Held-out facts are asked about at
//! their first step, at one that is drawn, or at all of them; filters know everywhere that they hold.

use quadcast_core::{
    Calendar, Dataset, Facts, IntervalDataset, IntervalFact, IntervalUse, PartialDate, Quad, Splits, Step,
    TimeAxis, stream,
};
use rand::Rng;

/// Of the times at which facts are asked about, where they are drawn.
const DRAW_SEED: u64 = 1;

/// The earliest year that a date can mean; `None` if nothing is known.
fn earliest(date: PartialDate) -> Option<i64> {
    let coarse = |(digits, missing): (i32, u8)| i64::from(digits) * 10_i64.pow(missing.into());
    date.year.map(i64::from).or(date.coarse_year.map(coarse))
}

/// The latest year that a date can mean.
fn latest(date: PartialDate) -> Option<i64> {
    let coarse = |(digits, missing): (i32, u8)| (i64::from(digits) + 1) * 10_i64.pow(missing.into()) - 1;
    date.year.map(i64::from).or(date.coarse_year.map(coarse))
}

/// The steps at which a fact holds, both included. An interval that ends before it begins is its start alone.
fn steps(fact: &IntervalFact, axis: &TimeAxis) -> (u32, u32) {
    let last = axis.len().saturating_sub(1) as u32;
    let first = earliest(fact.start).map_or(0, |year| axis.step_at_or_after(year).0.min(last));
    let until = match latest(fact.end) {
        None => last,
        // The last step that is not later.
        Some(year) => (axis.times().partition_point(|&time| time <= year) as u32).saturating_sub(1),
    };
    (first, until.max(first))
}

/// The dataset as facts at steps.
pub fn unroll(data: &IntervalDataset, asked: IntervalUse) -> Dataset {
    let all = || data.splits.iter().flat_map(|(_, facts)| facts);
    let years = all().flat_map(|fact| [earliest(fact.start), latest(fact.end)]).flatten().collect();
    let axis = TimeAxis::new(years, Calendar::years_from(0));
    let at = |fact: &IntervalFact, step: u32| fact.triple.at(Step(step));
    let whole = |facts: &[IntervalFact]| {
        let mut quads: Vec<Quad> = Vec::new();
        for fact in facts {
            let (first, last) = steps(fact, &axis);
            quads.extend((first..=last).map(|step| at(fact, step)));
        }
        // Intervals of one triple may overlap.
        quads.sort_unstable();
        quads.dedup();
        quads
    };
    let starts = |facts: &[IntervalFact]| -> Vec<Quad> {
        facts.iter().map(|fact| at(fact, steps(fact, &axis).0)).collect()
    };
    // The questions belong to the data: their seed is not that of a run.
    let drawn = |split: &str, facts: &[IntervalFact]| -> Vec<Quad> {
        let mut random = stream(DRAW_SEED, split, 0);
        let draw = |fact: &IntervalFact| {
            let (first, last) = steps(fact, &axis);
            at(fact, random.random_range(first..=last))
        };
        facts.iter().map(draw).collect()
    };
    let pack = |quads: Vec<Quad>| Facts::new(quads, axis.len());
    let (valid, test) = (&data.splits.valid, &data.splits.test);
    let (held_out, beyond) = match asked {
        IntervalUse::Start => ([starts(valid), starts(test)], [whole(valid), whole(test)].concat()),
        IntervalUse::Drawn => {
            ([drawn("valid", valid), drawn("test", test)], [whole(valid), whole(test)].concat())
        }
        IntervalUse::Every => ([whole(valid), whole(test)], Vec::new()),
    };
    let [valid, test] = held_out.map(pack);
    Dataset {
        name: data.name.clone(),
        vocabulary: data.vocabulary.clone(),
        splits: Splits { train: pack(whole(&data.splits.train)), valid, test },
        beyond: pack(beyond),
        axis: axis.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadcast_core::{Names, Vocabulary};

    fn year(year: i32) -> PartialDate {
        PartialDate { year: Some(year), ..PartialDate::default() }
    }

    fn fact(object: u32, start: PartialDate, end: PartialDate) -> IntervalFact {
        let triple = Quad::new(0, 0, object, 0).triple();
        IntervalFact { triple, start, end }
    }

    #[test]
    fn intervals_by_hand() {
        let open = PartialDate::default();
        let century = PartialDate { coarse_year: Some((19, 2)), ..open };
        // Years that occur: 1900 and 1999 (the coarse one), 1950, 1960, 1970.
        let data = IntervalDataset {
            name: "small".to_owned(),
            vocabulary: Vocabulary { entities: Names::anonymous(6), relations: Names::anonymous(1) },
            splits: Splits {
                train: vec![
                    fact(1, year(1950), year(1960)),
                    fact(2, open, year(1950)),
                    fact(3, year(1970), open),
                    fact(4, century, century),
                    fact(1, year(1960), year(1960)),
                ],
                valid: vec![fact(5, year(1970), year(1950))],
                test: vec![fact(5, year(1950), year(1970))],
            },
            unsplit: None,
        };
        let steps_of = |facts: &Facts, object: u32| -> Vec<u32> {
            facts.iter().filter(|fact| fact.object.0 == object).map(|fact| fact.step.0).collect()
        };
        let asked_once = unroll(&data, IntervalUse::Start);
        assert_eq!(asked_once.axis.times(), [1900, 1950, 1960, 1970, 1999]);
        assert_eq!(asked_once.axis.label(Step(1)), "1950");
        let train = &asked_once.splits.train;
        assert_eq!(steps_of(train, 1), [1, 2], "overlaps count once");
        assert_eq!(steps_of(train, 2), [0, 1], "open since ever");
        assert_eq!(steps_of(train, 3), [3, 4], "open until today");
        assert_eq!(steps_of(train, 4), [0, 1, 2, 3, 4], "sometime in the century");
        assert_eq!(steps_of(&asked_once.splits.valid, 5), [3], "reversed: its start alone");
        assert_eq!(steps_of(&asked_once.splits.test, 5), [1]);
        assert_eq!(steps_of(&asked_once.beyond, 5), [1, 2, 3, 3], "filters know all of it");
        let drawn = unroll(&data, IntervalUse::Drawn);
        let drawn_test = steps_of(&drawn.splits.test, 5);
        assert!(
            drawn_test.len() == 1 && (1..=3).contains(&drawn_test[0]),
            "one of its steps: {drawn_test:?}"
        );
        assert_eq!(steps_of(&drawn.beyond, 5), [1, 2, 3, 3], "filters know all of it");
        assert_eq!(drawn.fingerprint(), unroll(&data, IntervalUse::Drawn).fingerprint());
        let always = unroll(&data, IntervalUse::Every);
        assert_eq!(steps_of(&always.splits.test, 5), [1, 2, 3]);
        assert!(always.beyond.is_empty());
        assert_ne!(asked_once.fingerprint(), always.fingerprint());
    }
}
