//! Where the stream is cut.

use std::ops::Range;

use super::options::{Border, IntervalRule};
use crate::error::{AnalysisError, refuse};
use quadcast_data::{OperationStream, StreamClock};

/// The ranges of operations of the intervals, in order.
pub(super) fn intervals(
    stream: &OperationStream,
    rule: &IntervalRule,
) -> Result<Vec<Range<usize>>, AnalysisError> {
    let (name, operations) = (&stream.name, stream.len());
    let count = |wanted: usize| match wanted {
        1.. if wanted <= operations => Ok(wanted),
        _ => refuse(format!(
            "--intervals {wanted}: expected 1 to {operations}, as many as the stream has operations"
        )),
    };
    let timed = || match stream.clock {
        StreamClock::Order => refuse(format!(
            "{name} has no times, only an order; intervals can be cut with --by ops or --by size"
        )),
        StreamClock::Number | StreamClock::Utc => Ok(()),
    };
    let ends: Vec<usize> = match rule {
        IntervalRule::Operations(wanted) => {
            let wanted = count(*wanted)?;
            // In 128 bits the product never overflows.
            (1..=wanted).map(|i| (i as u128 * operations as u128 / wanted as u128) as usize).collect()
        }
        IntervalRule::Time(wanted) => {
            timed()?;
            by_time(stream, count(*wanted)?)
        }
        IntervalRule::Borders(borders) => {
            timed()?;
            check_borders(stream, borders)?;
            borders.iter().map(|border| first_at(stream, border.moment.into())).chain([operations]).collect()
        }
        IntervalRule::Size(0) => {
            return refuse("--size 0: expected a number of operations per interval from 1".to_owned());
        }
        IntervalRule::Size(size) => {
            (1..=operations.div_ceil(*size)).map(|i| (i * size).min(operations)).collect()
        }
        IntervalRule::Steps => match stream.step_ends() {
            Some(ends) => ends.to_vec(),
            None => {
                return refuse(format!(
                    "{name} is not cut into steps; intervals can be cut with --by ops, --by time or --by size"
                ));
            }
        },
    };
    let starts = [0].into_iter().chain(ends.iter().copied());
    Ok(starts.zip(&ends).map(|(start, &end)| start..end).collect())
}

/// Refuses borders that are out of order, and those with nothing before or nothing after them. Nothing between two of them is
/// a step at which nothing happens, and may well be meant.
fn check_borders(stream: &OperationStream, borders: &[Border]) -> Result<(), AnalysisError> {
    if let Some(pair) = borders.windows(2).find(|pair| pair[1].moment <= pair[0].moment) {
        return refuse(format!(
            "--borders: found {} after {}; expected times in ascending order, each once",
            pair[1].text, pair[0].text
        ));
    }
    let (Some(&first), Some(&last)) = (stream.moments().first(), stream.moments().last()) else {
        return Ok(());
    };
    match borders.iter().find(|border| border.moment <= first || border.moment > last) {
        Some(border) => refuse(format!(
            "--borders: {} cuts off nothing of {}, whose operations are from {} to {}; expected times after \
             the first and not after the last of them; leave this one out",
            border.text,
            stream.name,
            stream.clock.label(first),
            stream.clock.label(last)
        )),
        None => Ok(()),
    }
}

/// The place of the first operation at a time or later.
fn first_at(stream: &OperationStream, time: i128) -> usize {
    stream.moments().partition_point(|&moment| i128::from(moment) < time)
}

fn by_time(stream: &OperationStream, wanted: usize) -> Vec<usize> {
    let [first, last] =
        [stream.moments().first(), stream.moments().last()].map(|m| i128::from(m.copied().unwrap_or(0)));
    let span = last - first + 1;
    // Border i is the first time that is not below first + i · span / wanted.
    let border = |i: usize| first + (i as i128 * span + wanted as i128 - 1) / wanted as i128;
    (1..wanted).map(|i| first_at(stream, border(i))).chain([stream.len()]).collect()
}

#[cfg(test)]
mod tests {
    use quadcast_core::{Triple, Vocabulary};

    use super::*;
    use quadcast_data::{FaultPolicy, StreamBuilder};

    fn stream(times: &[i64]) -> OperationStream {
        let mut builder = StreamBuilder::new("s".to_owned(), StreamClock::Number, FaultPolicy::Error);
        for (at, &time) in times.iter().enumerate() {
            builder.push(Triple::new(at as u32, 0, at as u32 + 1), true, time).expect("new triples in order");
        }
        builder.finish(Vocabulary::default(), None)
    }

    fn borders(clock: StreamClock, texts: &[&str]) -> IntervalRule {
        let border =
            |text: &&str| Border { moment: clock.moment(text).expect("a time"), text: (*text).to_owned() };
        IntervalRule::Borders(texts.iter().map(border).collect())
    }

    #[test]
    fn by_hand() {
        let times = [0, 0, 0, 5, 6, 7, 90, 91, 92, 100];
        let numbers = |texts| borders(StreamClock::Number, texts);
        for (times, rule, expected) in [
            (&times[..], IntervalRule::Operations(4), &[2, 5, 7, 10][..]),
            (&times, IntervalRule::Operations(1), &[10]),
            (&times, IntervalRule::Size(4), &[4, 8, 10]),
            (&times, numbers(&["6", "91"]), &[4, 7, 10]),
            // 101 seconds in two halves: 0..=50 and 51..=100.
            (&times, IntervalRule::Time(2), &[6, 10]),
            (&[1, 1, 2, 3, 4, 4], IntervalRule::Time(4), &[2, 3, 4, 6]),
            (&[10, 10, 20, 30], numbers(&["11", "30"]), &[2, 3, 4]),
            // Nothing happens between the first two.
            (&[10, 10, 20, 30], numbers(&["21", "25", "30"]), &[3, 3, 3, 4]),
        ] {
            let ranges = intervals(&stream(times), &rule).expect("a possible rule");
            assert_eq!(ranges[0].start, 0, "{rule:?}");
            assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start), "{rule:?}");
            assert_eq!(ranges.iter().map(|range| range.end).collect::<Vec<_>>(), expected, "{rule:?}");
        }
    }

    #[test]
    fn impossible_cuts_say_why() {
        let refused = |stream: &OperationStream, rule: &IntervalRule, texts: &[&str]| {
            let error = intervals(stream, rule).expect_err("an impossible rule").to_string();
            for text in texts {
                assert!(error.contains(text), "{text} is missing in: {error}");
            }
        };
        let mut few = stream(&[1, 2]);
        let equal = borders(few.clock, &["3", "3"]);
        for (rule, text) in [
            (IntervalRule::Operations(0), "--intervals 0: expected 1 to 2"),
            (IntervalRule::Operations(3), "--intervals 3: expected 1 to 2"),
            (IntervalRule::Time(3), "--intervals 3: expected 1 to 2"),
            (equal, "--borders: found 3 after 3; expected times in ascending order"),
            (IntervalRule::Steps, "s is not cut into steps"),
            (IntervalRule::Size(0), "--size 0: expected"),
        ] {
            refused(&few, &rule, &[text]);
        }
        few.clock = StreamClock::Order;
        refused(&few, &IntervalRule::Time(2), &["s has no times, only an order"]);
        // Nothing lies on one side of these.
        let some = stream(&[10, 10, 20, 30]);
        for outside in ["9", "10", "31"] {
            let text = format!("--borders: {outside} cuts off nothing of s");
            refused(&some, &borders(some.clock, &[outside]), &[&text, "from 10 to 30"]);
        }
        // Times are said as they were written.
        let mut utc = stream(&[0, 86_400]);
        utc.clock = StreamClock::Utc;
        let late = "1971-05-01 cuts off nothing of s, whose operations are from 1970-01-01T00:00:00Z";
        refused(&utc, &borders(utc.clock, &["1971-05-01"]), &[late, "to 1970-01-02T00:00:00Z"]);
        // Noon in Almaty is six in the morning.
        let order = borders(utc.clock, &["1970-01-01T12:00:00Z", "1970-01-01T12:00:00+06:00"]);
        refused(&utc, &order, &["found 1970-01-01T12:00:00+06:00 after 1970-01-01T12:00:00Z"]);
    }
}
