//! The comparison of two runs as text.

use quadcast_core::Filter;
use quadcast_eval::{Comparison, Difference, SignFlips, Unit};
use quadcast_run::Compared;

use crate::tables::filter_title;
use crate::terminal::points;
use crate::{counted, percent, plain_table, shown};

/// Two runs side by side, with intervals and p-values.
pub fn comparison_text(compared: &Compared) -> String {
    let Compared { first, second, dataset, protocol, comparison } = compared;
    let headlines = [first.headline, second.headline];
    let headline =
        if headlines[0] == headlines[1] { headlines[0].to_owned() } else { headlines.join(" and ") };
    let mut text = format!(
        "{} · {} · ties {} · {} queries, {}\n",
        shown(&dataset.name),
        headline,
        protocol.ties.word(),
        counted(comparison.queries),
        units(comparison.bootstrap.units, comparison.bootstrap.unit)
    );
    for (title, run) in [("first ", first), ("second", second)] {
        let (model, seed) = (shown(&run.model), run.seed);
        text.push_str(&format!("{title}  {model}, seed {seed}: {}\n", shown(&run.folder)));
    }
    text.push('\n');
    text.push_str(&table(comparison));
    text.push('\n');
    text.push_str(&format!("{}\n", conclusion(&comparison.filters[0].mrr)));
    text.push_str(&format!("{}\n", method(comparison)));
    for (title, run) in [("first", first), ("second", second)] {
        if run.scores.as_ref().is_some_and(|scores| !scores.order_verified) {
            text.push_str(&format!(
                "warning: the {title} run comes from scores whose row order was not verified\n"
            ));
        }
        if run.scores.as_ref().is_some_and(|scores| scores.ranked_by.is_some()) {
            text.push_str(&format!("warning: the ranks of the {title} run come from an external model\n"));
        }
        if run.isolation.is_some_and(|isolation| isolation.is_broken()) {
            text.push_str(&format!(
                "warning: the scores of the {title} run change when other queries are in the same batch\n         \
                 (isolation broken)\n"
            ));
        }
    }
    text
}

fn table(comparison: &Comparison) -> String {
    let header = ["filter", "metric", "first", "second", "difference", "95 % interval", "p", "verdict"];
    let mut table = plain_table(&header, 2..header.len() - 1);
    for (filter, differences) in Filter::ALL.into_iter().zip(&comparison.filters) {
        let metrics = [
            ("MRR", differences.mrr),
            ("H@1", differences.hits1),
            ("H@3", differences.hits3),
            ("H@10", differences.hits10),
        ];
        for (metric, difference) in metrics {
            table.add_row([
                filter_title(filter).to_owned(),
                metric.to_owned(),
                percent(difference.first),
                percent(difference.second),
                points(difference.difference),
                interval(&difference),
                p_value(difference.p),
                verdict(&difference).to_owned(),
            ]);
        }
    }
    table.text() + "\n"
}

/// A number of units, such as `20 steps` or `1 fact`.
fn units(count: usize, unit: Unit) -> String {
    format!("{} {}{}", counted(count as u64), unit.word(), if count == 1 { "" } else { "s" })
}

fn interval(difference: &Difference) -> String {
    difference
        .ci95
        .map_or_else(|| "–".to_owned(), |[low, high]| format!("{} – {}", points(low), points(high)))
}

fn p_value(p: f64) -> String {
    if p < 0.001 { format!("{p:.4}") } else { format!("{p:.3}") }
}

fn verdict(difference: &Difference) -> &'static str {
    match difference {
        d if d.is_clear() && d.difference > 0.0 => "second better",
        d if d.is_clear() => "first better",
        d if d.difference == 0.0 && d.p == 1.0 => "equal",
        _ => "no clear difference",
    }
}

/// The one sentence to take away: the primary filter and metric.
fn conclusion(mrr: &Difference) -> String {
    let size = format!("{} points", points(mrr.difference.abs()).trim_start_matches('+'));
    let p = p_value(mrr.p);
    match verdict(mrr) {
        "second better" => format!("The second run is better by {size} of time-aware MRR (p = {p})."),
        "first better" => format!("The first run is better by {size} of time-aware MRR (p = {p})."),
        "equal" => "The two runs are equal in time-aware MRR.".to_owned(),
        _ => format!("The difference of {size} of time-aware MRR may be chance (p = {p})."),
    }
}

fn method(comparison: &Comparison) -> String {
    let SignFlips { blocks, patterns, exact } = comparison.permutation;
    let patterns = counted(patterns.into());
    let patterns =
        if exact { format!("all {patterns} patterns") } else { format!("{patterns} drawn patterns") };
    let mut text = format!(
        "Intervals: bootstrap over blocks of {}. p: sign flips of {blocks} blocks, {patterns}, two-sided.",
        units(comparison.bootstrap.block, comparison.bootstrap.unit)
    );
    let least = 2.0 / 2_f64.powf(blocks as f64);
    if least >= 0.05 {
        text.push_str(&format!(
            "\nToo few {}s for a verdict: {blocks} blocks cannot give a p below {}.",
            comparison.bootstrap.unit.word(),
            p_value(least)
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use quadcast_eval::IsolationVerdict;
    use quadcast_run::Results;

    use super::*;
    use crate::samples::run;

    #[test]
    fn points_have_signs_except_zero() {
        assert_eq!(points(0.0123), "+1.23");
        assert_eq!(points(-0.00001), "0.00");
        assert_eq!(points(0.0), "0.00");
    }

    #[test]
    fn a_run_that_knew_the_other_queries_is_warned_about() {
        let [first, mut second] = [run("a", |_| 0), run("b", |_| 1)];
        second.record.isolation.as_mut().expect("a finding").verdict = IsolationVerdict::Broken;
        let results =
            [first, second].map(|run| Results { record: run.record, ranks: run.ranks, samples: run.samples });
        let compared = Compared::new([Path::new("a"), Path::new("b")], &results);
        let text = comparison_text(&compared.expect("the same queries"));
        let warning = "warning: the scores of the second run change when other queries are in the same batch";
        assert!(text.contains(warning), "{text}");
        assert!(!text.contains("the scores of the first"), "{text}");
    }

    #[test]
    fn a_verdict_needs_interval_and_p() {
        let difference =
            |ci95, p| Difference { first: 0.5, second: 0.4, difference: -0.1, ci95: Some(ci95), p };
        assert_eq!(verdict(&difference([-0.2, -0.05], 0.01)), "first better");
        assert_eq!(verdict(&difference([-0.2, 0.05], 0.01)), "no clear difference");
        assert_eq!(verdict(&difference([-0.2, -0.05], 0.06)), "no clear difference");
    }
}
