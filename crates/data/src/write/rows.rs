//! Rows of numbers. A compiled benchmark has tens of millions of them, and formatting is what writing them costs.

use std::io::{self, Write};

use quadcast_core::{Triple, TripleOperation};

/// Bytes that are collected before they are written.
const FULL: usize = 1 << 16;

/// Digits of the largest number of 64 bits.
const DIGITS: usize = 20;

/// Writes a line per item; `row` appends it without the line end.
pub(crate) fn write_rows<T>(
    out: &mut dyn Write,
    items: impl IntoIterator<Item = T>,
    mut row: impl FnMut(&mut Vec<u8>, T),
) -> io::Result<()> {
    let mut rows = Vec::with_capacity(FULL + 256);
    for item in items {
        row(&mut rows, item);
        rows.push(b'\n');
        if rows.len() >= FULL {
            out.write_all(&rows)?;
            rows.clear();
        }
    }
    out.write_all(&rows)
}

/// Appends a number in decimal.
pub(crate) fn push_number(row: &mut Vec<u8>, value: impl Into<u64>) {
    let mut rest: u64 = value.into();
    let mut digits = [0; DIGITS];
    let mut at = DIGITS;
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    row.extend_from_slice(&digits[at..]);
}

/// Appends `head tail relation`.
pub(super) fn push_triple(row: &mut Vec<u8>, triple: Triple) {
    push_number(row, triple.subject.0);
    row.push(b' ');
    push_number(row, triple.object.0);
    row.push(b' ');
    push_number(row, triple.relation.0);
}

/// Writes `head tail relation`.
pub(super) fn write_triples(
    out: &mut dyn Write,
    triples: impl IntoIterator<Item = Triple>,
) -> io::Result<()> {
    write_rows(out, triples, push_triple)
}

/// Writes `head tail relation` and `+` or `-`.
pub(super) fn write_operations(out: &mut dyn Write, operations: &[TripleOperation]) -> io::Result<()> {
    write_rows(out, operations, |row, operation| {
        push_triple(row, operation.triple);
        row.extend_from_slice(if operation.insert { b" +" } else { b" -" });
    })
}

/// Writes `head tail relation` and `1` or `0`.
pub(super) fn write_labels(
    out: &mut dyn Write,
    examples: impl IntoIterator<Item = (Triple, bool)>,
) -> io::Result<()> {
    write_rows(out, examples, |row, (triple, label)| {
        push_triple(row, triple);
        row.extend_from_slice(if label { b" 1" } else { b" 0" });
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_everywhere_else() {
        for value in [0, 7, 10, 4_294_967_295, u64::MAX] {
            let mut row = Vec::new();
            push_number(&mut row, value);
            assert_eq!(row, value.to_string().into_bytes());
        }
    }

    #[test]
    fn every_row_is_written_once() {
        let mut out = Vec::new();
        let operations: Vec<TripleOperation> = (0..30_000)
            .map(|id| TripleOperation { triple: Triple::new(id, 1, 2 * id), insert: id % 3 > 0 })
            .collect();
        write_operations(&mut out, &operations).expect("memory takes everything");
        let lines: Vec<&str> = std::str::from_utf8(&out).expect("digits").lines().collect();
        assert_eq!((lines.len(), lines[0], lines[29_999]), (30_000, "0 0 1 -", "29999 59998 1 +"));
    }
}
