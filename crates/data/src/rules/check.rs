//! Whether a line says something that a rule can say. People edit these files, so every mistake is named with the key
//! that holds it.

use super::line::Line;

/// The longest body that models follow.
const LONGEST: usize = 3;

/// How far the confidence may be from the ratio of the supports: it is written to six digits, and people round.
const TOLERANCE: f64 = 1e-4;

/// What is wrong, and the key it stands under.
pub(super) type Fault = (&'static str, String);

/// Checks what the syntax alone does not.
pub(super) fn check(line: &Line) -> Result<(), Fault> {
    let length = line.body.len();
    if !(1..=LONGEST).contains(&length) {
        return Err((
            "body",
            format!("the body has {length} relations, expected 1 to {LONGEST}; correct or remove the rule"),
        ));
    }
    constraints(&line.constraints, length)?;
    confidence(line)
}

fn constraints(groups: &[Vec<u8>], length: usize) -> Result<(), Fault> {
    let refuse = |message: String| Err(("constraints", message));
    let mut taken = vec![false; length + 1];
    for group in groups {
        if group.len() < 2 {
            return refuse(format!(
                "the group {group:?} binds nothing, expected two or more positions; complete or remove it"
            ));
        }
        if !group.windows(2).all(|pair| pair[0] < pair[1]) {
            return refuse(format!(
                "the group {group:?} is out of order, expected different positions in rising order; sort it"
            ));
        }
        for &position in group {
            match taken.get_mut(usize::from(position)) {
                None => {
                    return refuse(format!(
                        "position {position} does not exist, expected 0 to {length}: a body of {length} has \
                         {} variables; correct the group {group:?}",
                        length + 1
                    ));
                }
                Some(true) => {
                    return refuse(format!(
                        "position {position} stands in two groups, expected one; join them or take it out of one"
                    ));
                }
                Some(free) => *free = true,
            }
        }
    }
    Ok(())
}

fn confidence(line: &Line) -> Result<(), Fault> {
    let Line { confidence, rule_support, body_support, .. } = *line;
    if !(confidence.is_finite() && confidence > 0.0 && confidence <= 1.0) {
        return Err((
            "confidence",
            format!(
                "the confidence is {confidence}, expected a fraction above 0 and at most 1; \
                 correct it, or remove a rule that never holds"
            ),
        ));
    }
    for (key, support) in [("rule_support", rule_support), ("body_support", body_support)] {
        if support == 0 {
            return Err((key, format!("{key} is 0, expected 1 or more; correct it or remove the rule")));
        }
    }
    if rule_support > body_support {
        return Err((
            "rule_support",
            format!(
                "rule_support {rule_support} exceeds body_support {body_support}, expected at most that: the rule \
                 can hold only where its body does; correct one of them"
            ),
        ));
    }
    let ratio = f64::from(rule_support) / f64::from(body_support);
    if (confidence - ratio).abs() > TOLERANCE {
        return Err((
            "confidence",
            format!(
                "the confidence is {confidence}, expected rule_support / body_support = {rule_support} / \
                 {body_support} = {ratio:.6}; correct the confidence, or the supports if they are wrong"
            ),
        ));
    }
    Ok(())
}
