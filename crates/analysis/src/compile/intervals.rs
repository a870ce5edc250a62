//! Where the stream is cut.

use std::ops::Range;

use super::error::CompileError;
use super::options::{Border, IntervalRule};
use quadcast_data::{OperationStream, StreamClock};

/// The ranges of operations of the intervals, in order.
pub(super) fn intervals(
    stream: &OperationStream,
    rule: &IntervalRule,
) -> Result<Vec<Range<usize>>, CompileError> {
    let operations = stream.len();
    let count = |wanted: usize| match wanted {
        1.. if wanted <= operations => Ok(wanted),
        _ => Err(CompileError::Intervals { wanted, operations }),
    };
    let timed = || match stream.clock {
        StreamClock::Order => Err(CompileError::NoTimes { name: stream.name.clone() }),
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
        IntervalRule::Size(0) => return Err(CompileError::Size),
        IntervalRule::Size(size) => {
            (1..=operations.div_ceil(*size)).map(|i| (i * size).min(operations)).collect()
        }
        IntervalRule::Steps => stream
            .step_ends()
            .map(<[usize]>::to_vec)
            .ok_or_else(|| CompileError::NoSteps { name: stream.name.clone() })?,
    };
    let starts = [0].into_iter().chain(ends.iter().copied());
    Ok(starts.zip(&ends).map(|(start, &end)| start..end).collect())
}

/// Refuses borders that are out of order, and those with nothing before or nothing after them. Nothing between two of them is
/// a step at which nothing happens, and may well be meant.
fn check_borders(stream: &OperationStream, borders: &[Border]) -> Result<(), CompileError> {
    let pairs = borders.iter().zip(borders.iter().skip(1));
    if let Some((before, found)) = pairs.into_iter().find(|(before, found)| found.moment <= before.moment) {
        return Err(CompileError::Borders { found: found.text.clone(), before: before.text.clone() });
    }
    let (Some(&first), Some(&last)) = (stream.moments().first(), stream.moments().last()) else {
        return Ok(());
    };
    match borders.iter().find(|border| border.moment <= first || border.moment > last) {
        Some(border) => Err(CompileError::IdleBorder {
            border: border.text.clone(),
            name: stream.name.clone(),
            first: stream.clock.label(first),
            last: stream.clock.label(last),
        }),
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
    use quadcast_data::FaultPolicy;
    use quadcast_data::StreamBuilder;

    fn stream(times: &[i64]) -> OperationStream {
        let mut builder = StreamBuilder::new("s".to_owned(), StreamClock::Number, FaultPolicy::Error);
        for (at, &time) in times.iter().enumerate() {
            builder.push(Triple::new(at as u32, 0, at as u32 + 1), true, time).expect("new triples in order");
        }
        builder.finish(Vocabulary::default(), None)
    }

    fn ends(times: &[i64], rule: &IntervalRule) -> Vec<usize> {
        let ranges = intervals(&stream(times), rule).expect("a possible rule");
        assert_eq!(ranges[0].start, 0);
        assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
        ranges.iter().map(|range| range.end).collect()
    }

    fn borders<const N: usize>(times: [i64; N]) -> IntervalRule {
        IntervalRule::Borders(times.map(Border::from).to_vec())
    }

    #[test]
    fn by_hand() {
        let times = [0, 0, 0, 5, 6, 7, 90, 91, 92, 100];
        assert_eq!(ends(&times, &IntervalRule::Operations(4)), [2, 5, 7, 10]);
        assert_eq!(ends(&times, &IntervalRule::Operations(1)), [10]);
        assert_eq!(ends(&times, &IntervalRule::Size(4)), [4, 8, 10]);
        assert_eq!(ends(&times, &borders([6, 91])), [4, 7, 10]);
        // 101 seconds in two halves: 0..=50 and 51..=100.
        assert_eq!(ends(&times, &IntervalRule::Time(2)), [6, 10]);
        assert_eq!(ends(&[1, 1, 2, 3, 4, 4], &IntervalRule::Time(4)), [2, 3, 4, 6]);
    }

    #[test]
    fn impossible_cuts() {
        let few = stream(&[1, 2]);
        for rule in [IntervalRule::Operations(0), IntervalRule::Operations(3), IntervalRule::Time(3)] {
            assert!(matches!(intervals(&few, &rule), Err(CompileError::Intervals { operations: 2, .. })));
        }
        assert!(matches!(intervals(&few, &borders([3, 3])), Err(CompileError::Borders { .. })));
        assert!(matches!(intervals(&few, &IntervalRule::Steps), Err(CompileError::NoSteps { .. })));
        assert!(matches!(intervals(&few, &IntervalRule::Size(0)), Err(CompileError::Size)));
        let mut ordered = few;
        ordered.clock = StreamClock::Order;
        assert!(matches!(intervals(&ordered, &IntervalRule::Time(2)), Err(CompileError::NoTimes { .. })));
    }

    #[test]
    fn borders_outside_cut_off_nothing() {
        let times = [10, 10, 20, 30];
        assert_eq!(ends(&times, &borders([11, 30])), [2, 3, 4]);
        assert_eq!(ends(&times, &borders([21, 25, 30])), [3, 3, 3, 4], "nothing happens in between");
        for outside in [9, 10, 31] {
            let error = intervals(&stream(&times), &borders([outside])).expect_err("nothing on one side");
            let text = error.to_string();
            for part in [&format!("--borders: {outside} cuts off nothing of s"), "from 10 to 30"] {
                assert!(text.contains(part), "{part} is missing in: {text}");
            }
        }
    }

    #[test]
    fn messages_have_times_as_they_were_written() {
        let mut utc = stream(&[0, 86_400]);
        utc.clock = StreamClock::Utc;
        let written = |text: &str| Border {
            moment: StreamClock::Utc.moment(text).expect("a date"),
            text: text.to_owned(),
        };
        let text = |texts: &[&str]| {
            let rule = IntervalRule::Borders(texts.iter().map(|text| written(text)).collect());
            intervals(&utc, &rule).expect_err("wrong borders").to_string()
        };
        let late = text(&["1971-05-01"]);
        assert!(
            late.contains("1971-05-01 cuts off nothing of s, whose operations are from 1970-01-01T00:00:00Z")
        );
        assert!(late.contains("to 1970-01-02T00:00:00Z"), "{late}");
        // Noon in Almaty is six in the morning.
        let order = text(&["1970-01-01T12:00:00Z", "1970-01-01T12:00:00+06:00"]);
        assert!(order.contains("found 1970-01-01T12:00:00+06:00 after 1970-01-01T12:00:00Z"), "{order}");
    }
}
