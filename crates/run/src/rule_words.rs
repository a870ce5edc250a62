//! Rules as sentences. Every fact is written in the direction of the data.

use crate::{DirectedName, RuleCard};
use quadcast_core::{DirectedRelation, Direction, EntityId, Names, Quad, Rule};

/// Names of the variables, in the order in which they appear.
const VARIABLES: [&str; 4] = ["X", "Y", "Z", "W"];

/// A rule with the names of a dataset.
pub fn card(rule: &Rule, relations: &Names) -> RuleCard {
    RuleCard {
        head: directed(rule.head, relations),
        body: rule.body.iter().map(|relation| directed(*relation, relations)).collect(),
        constraints: rule.constraints.clone(),
        confidence: rule.confidence,
        rule_support: rule.rule_support,
        body_support: rule.body_support,
        words: words(rule, relations),
        curve: None,
    }
}

fn directed(relation: DirectedRelation, relations: &Names) -> DirectedName {
    let (relation, direction) = relation.split(relations.len());
    DirectedName {
        relation: relations.name(relation.0).into_owned(),
        inverse: direction == Direction::Subject,
    }
}

/// A rule in words, with variables: "if X visits Y, and then Z hosts Y, then Z consults X"; without the first "then" if the facts of
/// the body may be in any order.
pub fn words(rule: &Rule, relations: &Names) -> String {
    sentence(rule, relations, &variables(rule))
}

/// A rule in words, with the entities of a chain of facts that fits it. Where no chain is known, variables stand for
/// the entities between the two ends.
pub fn told(
    rule: &Rule,
    names: (&Names, &Names),
    ends: (EntityId, EntityId),
    chain: Option<&[Quad]>,
) -> String {
    let (entities, relations) = names;
    let name = |entity: EntityId| entities.name(entity.0).into_owned();
    let mut places = variables(rule);
    for (i, (fact, relation)) in chain.unwrap_or_default().iter().zip(&rule.body).enumerate() {
        let reached = match relation.split(relations.len()).1 {
            Direction::Object => fact.object,
            Direction::Subject => fact.subject,
        };
        if let Some(place) = places.get_mut(i + 1) {
            *place = name(reached);
        }
    }
    // The ends are known for certain, and with them every place that is bound to one.
    let (known, answer) = ends;
    let bindings = rule.bindings();
    let last = bindings.last().copied().unwrap_or_default();
    for (place, binding) in places.iter_mut().zip(&bindings) {
        if *binding == last {
            *place = name(answer);
        }
        if *binding == 0 {
            *place = name(known);
        }
    }
    sentence(rule, relations, &places)
}

/// The variable of each position; positions that are bound share one.
fn variables(rule: &Rule) -> Vec<String> {
    let bindings = rule.bindings();
    let mut free = VARIABLES.iter();
    let mut given: Vec<String> = Vec::with_capacity(bindings.len());
    for (position, binding) in bindings.into_iter().enumerate() {
        let shared = given.get(binding).cloned();
        given.push(shared.unwrap_or_else(|| {
            // Bodies have three relations at most; longer ones would still be told apart.
            free.next().map_or_else(|| format!("X{position}"), |letter| (*letter).to_owned())
        }));
    }
    given
}

fn sentence(rule: &Rule, relations: &Names, places: &[String]) -> String {
    let fact = |relation: DirectedRelation, from: usize, to: usize| {
        let (relation, direction) = relation.split(relations.len());
        let (subject, object) = match direction {
            Direction::Object => (from, to),
            Direction::Subject => (to, from),
        };
        format!("{} {} {}", places[subject], relations.name(relation.0), places[object])
    };
    let body: Vec<String> = rule.body.iter().enumerate().map(|(i, b)| fact(*b, i, i + 1)).collect();
    let and = if rule.any_order { ", and " } else { ", and then " };
    format!("if {}, then {}", body.join(and), fact(rule.head, 0, rule.body.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RELATIONS: u32 = 3;

    fn names(names: &[&str]) -> Names {
        Names::new(names.iter().map(|name| Some((*name).to_owned())).collect(), None)
    }

    fn relations() -> Names {
        names(&["consults", "visits", "r"])
    }

    /// A rule of the relation `visits`; `true` reads it backwards. The head is `r`.
    fn rule(head: bool, body: &[bool], constraints: &[&[u8]]) -> Rule {
        let directed = |id: u32, inverse: bool| DirectedRelation(id + if inverse { RELATIONS } else { 0 });
        Rule {
            head: directed(2, head),
            body: body.iter().map(|inverse| directed(1, *inverse)).collect(),
            constraints: constraints.iter().map(|group| group.to_vec()).collect(),
            rule_support: 1,
            body_support: 4,
            confidence: 0.25,
            any_order: false,
        }
    }

    #[test]
    fn facts_stand_in_their_natural_direction() {
        let mut example = rule(true, &[false, true], &[]);
        example.body[0] = DirectedRelation(0);
        assert_eq!(words(&example, &relations()), "if X consults Y, and then Z visits Y, then Z r X");
        assert_eq!(words(&rule(false, &[false], &[]), &relations()), "if X visits Y, then X r Y");
        assert_eq!(words(&rule(true, &[true], &[]), &relations()), "if Y visits X, then Y r X");
    }

    #[test]
    fn every_pattern_of_constraints_has_its_variables() {
        let patterns: [(usize, &[&[u8]], &str); 22] = [
            (1, &[], "XY"),
            (1, &[&[0, 1]], "XX"),
            (2, &[], "XYZ"),
            (2, &[&[0, 1]], "XXY"),
            (2, &[&[0, 2]], "XYX"),
            (2, &[&[1, 2]], "XYY"),
            (2, &[&[0, 1, 2]], "XXX"),
            (3, &[], "XYZW"),
            (3, &[&[0, 1]], "XXYZ"),
            (3, &[&[0, 2]], "XYXZ"),
            (3, &[&[0, 3]], "XYZX"),
            (3, &[&[1, 2]], "XYYZ"),
            (3, &[&[1, 3]], "XYZY"),
            (3, &[&[2, 3]], "XYZZ"),
            (3, &[&[0, 1, 2]], "XXXY"),
            (3, &[&[0, 1, 3]], "XXYX"),
            (3, &[&[0, 2, 3]], "XYXX"),
            (3, &[&[1, 2, 3]], "XYYY"),
            (3, &[&[0, 1], &[2, 3]], "XXYY"),
            (3, &[&[0, 2], &[1, 3]], "XYXY"),
            (3, &[&[0, 3], &[1, 2]], "XYYX"),
            (3, &[&[0, 1, 2, 3]], "XXXX"),
        ];
        for (length, constraints, letters) in patterns {
            let v: Vec<char> = letters.chars().collect();
            let body: Vec<String> =
                v.windows(2).map(|pair| format!("{} visits {}", pair[0], pair[1])).collect();
            let expected = format!("if {}, then {} r {}", body.join(", and then "), v[0], v[length]);
            assert_eq!(words(&rule(false, &vec![false; length], constraints), &relations()), expected);
        }
    }

    #[test]
    fn entities_take_the_place_of_variables() {
        let entities = names(&["Ann", "Bob", "Cem", "Dag"]);
        let relations = relations();
        let both = (&entities, &relations);
        // Ann visits Bob, Cem visits Bob (read backwards), so Cem r Ann (read backwards).
        let example = rule(true, &[false, true], &[]);
        let chain = [Quad::new(0, 1, 1, 5), Quad::new(2, 1, 1, 6)];
        let ends = (EntityId(0), EntityId(2));
        assert_eq!(
            told(&example, both, ends, Some(&chain)),
            "if Ann visits Bob, and then Cem visits Bob, then Cem r Ann"
        );
        assert_eq!(
            told(&example, both, ends, None),
            "if Ann visits Y, and then Cem visits Y, then Cem r Ann"
        );
        let back = rule(false, &[false, true, false], &[&[0, 2], &[1, 3]]);
        let ends = (EntityId(0), EntityId(3));
        assert_eq!(
            told(&back, both, ends, None),
            "if Ann visits Dag, and then Ann visits Dag, and then Ann visits Dag, then Ann r Dag"
        );
    }
}
