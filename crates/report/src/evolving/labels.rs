//! Short names for runs on changing graphs: model and procedure, and only what tells runs of one section apart.

use std::collections::BTreeSet;

use super::EvolvingRecord;
use crate::study::telling_words;

/// One label per run; no two are the same.
pub(super) fn labels(records: &[&EvolvingRecord]) -> Vec<String> {
    let mut labels: Vec<String> =
        records.iter().map(|record| format!("{}, {}", record.model.name, record.procedure.word())).collect();
    for shared in labels.iter().cloned().collect::<BTreeSet<_>>() {
        let mine: Vec<usize> = (0..labels.len()).filter(|&i| labels[i] == shared).collect();
        let configs = mine.iter().map(|&i| &records[i].model.config);
        for (&i, words) in mine.iter().zip(telling_words(configs)) {
            labels[i].push_str(&words);
        }
    }
    let seed = |i: usize| format!(" seed {}", records[i].seed);
    tell_apart(&mut labels, seed);
    let from =
        |i: usize| records[i].update.as_ref().map_or_else(String::new, |card| format!(" from {}", card.from));
    tell_apart(&mut labels, from);
    // Runs that are equal in all that a record says, such as repetitions, are numbered.
    let number = |i: usize| format!(" [{}]", i + 1);
    tell_apart(&mut labels, number);
    labels
}

/// Adds to labels that runs share, where it differs among them.
fn tell_apart(labels: &mut [String], more: impl Fn(usize) -> String) {
    let shared = |i: usize| (0..labels.len()).any(|j| labels[i] == labels[j] && more(i) != more(j));
    for i in (0..labels.len()).filter(|&i| shared(i)).collect::<Vec<_>>() {
        labels[i].push_str(&more(i));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::changing;

    fn named(records: &[EvolvingRecord]) -> Vec<String> {
        labels(&records.iter().collect::<Vec<_>>())
    }

    #[test]
    fn labels_say_what_differs() {
        let (small, large) = (changing("transe", 20, 1), changing("transe", 50, 1));
        assert_eq!(named(&[small.clone(), changing("transh", 20, 1)]), ["transe, static", "transh, static"]);
        assert_eq!(
            named(&[small.clone(), large.clone()]),
            ["transe, static dimension=20", "transe, static dimension=50"]
        );
        let other = changing("transe", 20, 2);
        assert_eq!(
            named(&[small.clone(), other, large]),
            [
                "transe, static dimension=20 seed 1",
                "transe, static dimension=20 seed 2",
                "transe, static dimension=50"
            ]
        );
        assert_eq!(named(&[small.clone(), small]), ["transe, static [1]", "transe, static [2]"]);
    }
}
