//! Every form of date, and what is refused.

use super::*;

/// Step in hours, form and precision.
fn read(text: &str) -> Result<(String, Form, Granularity), Advice> {
    let parsed = parse(text.as_bytes(), None)?;
    assert!(!parsed.open, "{text}");
    let Moment { year, first, second, seconds } = parsed.moment;
    let label = format!(
        "{year:04}-{first:02}-{second:02} {:02}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    );
    Ok((label, parsed.form, parsed.precision))
}

#[test]
fn every_form() {
    use Form::{Compact, Dots, Milliseconds, Seconds, Year, YearFirst};
    use Granularity::{Day, Hour, Month};
    for (text, label, form, precision) in [
        ("2031-04-30", "2031-04-30 00:00:00", YearFirst, Day),
        ("2031/4/3", "2031-04-03 00:00:00", YearFirst, Day),
        ("2031.04.30", "2031-04-30 00:00:00", YearFirst, Day),
        ("2031-04", "2031-04-01 00:00:00", YearFirst, Month),
        ("2031-04-30T16:05", "2031-04-30 16:05:00", YearFirst, Hour),
        ("2031-04-30 16:05:07.123456", "2031-04-30 16:05:07", YearFirst, Hour),
        ("2031-04-30T16:05:60Z", "2031-04-30 16:05:59", YearFirst, Hour),
        ("2031-04-30T00:30:00+02:00", "2031-04-29 22:30:00", YearFirst, Hour),
        ("2031-12-31 23:30-0100", "2032-01-01 00:30:00", YearFirst, Hour),
        ("2031-04-30 16:05 UTC", "2031-04-30 16:05:00", YearFirst, Hour),
        ("2031-04-30 16:05 +05", "2031-04-30 11:05:00", YearFirst, Hour),
        ("30.04.2031", "2031-04-30 00:00:00", Dots, Day),
        ("3.4.2031 7:30", "2031-04-03 07:30:00", Dots, Hour),
        ("20310430", "2031-04-30 00:00:00", Compact, Day),
        ("20310430160507", "2031-04-30 16:05:07", Compact, Hour),
        ("2031", "2031-01-01 00:00:00", Year, Granularity::Year),
        ("1935331507", "2031-04-30 16:05:07", Seconds, Hour),
        ("999999999", "2001-09-09 01:46:39", Seconds, Hour),
        ("1935331507123", "2031-04-30 16:05:07", Milliseconds, Hour),
    ] {
        assert_eq!(read(text), Ok((label.to_owned(), form, precision)), "{text}");
    }
}

#[test]
fn an_open_order_is_kept_open() {
    for text in ["04/05/2031", "4/5/2031", "04-05-2031", "30/04/2031", "04/30/2031", "04/05/2031 4:05 PM"] {
        let parsed = parse(text.as_bytes(), None).expect(text);
        assert!(parsed.open, "{text}");
        assert_eq!(parsed.form, Form::YearLast);
    }
    let open = parse(b"04/05/2031", None).expect("a date").moment;
    assert_eq!((open.first, open.second), (4, 5));
    assert_eq!((open.decided(DateOrder::Dmy).first, open.decided(DateOrder::Mdy).first), (5, 4));
    for (order, month) in [(DateOrder::Dmy, 5), (DateOrder::Mdy, 4)] {
        let parsed = parse(b"04/05/2031", Some(order)).expect("a date");
        assert_eq!((parsed.moment.first, parsed.open), (month, false));
    }
}

#[test]
fn half_days() {
    for (text, hour) in [("12:10 AM", 0), ("1:10 am", 1), ("12:10 PM", 12), ("11:10:00 PM", 23)] {
        let parsed = parse(format!("2031-04-30 {text}").as_bytes(), None).expect(text);
        assert_eq!(parsed.moment.seconds / 3600, hour, "{text}");
    }
}

#[test]
fn what_is_refused() {
    for text in [
        "",
        "-",
        "April 30, 2031",
        "2031-04-30x",
        "2031-04-30T",
        "2031_04_30",
        "12345",
        "2031-04/30",
        "2031-04-30 16",
        "2031-04-30T16:05 CET",
        "99999999999999999999",
        "2031-",
        "2031-04-30T16:05+2",
        "30/04",
    ] {
        assert_eq!(read(text), Err(UNKNOWN), "{text}");
    }
    for text in [
        "2031-13-01",
        "2031-02-29",
        "31.04.2031",
        "20311301",
        "2031-00-10",
        "32/01/2031",
        "13/13/2031",
        "2031-04-30T24:00",
        "2031-04-30 13:00 PM",
        "20310430250000",
    ] {
        assert_eq!(read(text), Err(IMPOSSIBLE), "{text}");
    }
    assert_eq!(read("30.04.31"), Err(SHORT_YEAR));
    assert_eq!(read("04/05/2031 10:00+02:00"), Err(OPEN_ZONE));
    assert_eq!(parse(b"04/30/2031", Some(DateOrder::Dmy)), Err(IMPOSSIBLE));
}

#[test]
fn steps() {
    let moment = parse(b"2031-04-30T16:05", None).expect("a date").moment;
    let day = moment.step(Granularity::Day).expect("a day");
    assert_eq!(day, 22399);
    assert_eq!(moment.step(Granularity::Hour), Some(day * 24 + 16));
    // 2031-04-30 is a Wednesday.
    assert_eq!(moment.step(Granularity::Week), Some(day - 2));
    assert_eq!(moment.step(Granularity::Month), Some(day - 29));
    assert_eq!(moment.step(Granularity::Year), Some(day - 119));
    let before_1970 = parse(b"1969-12-28", None).expect("a Sunday").moment;
    assert_eq!(before_1970.step(Granularity::Week), Some(-10));
}
