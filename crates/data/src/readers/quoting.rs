//! Whether a dataset quotes its names as CSV does, and how to take the quotes off.
//!
//! Names may hold plain quote characters, so quoting is only assumed on proof: every field with a quote is a
//! well-formed quoted field, and at least one of them doubles a quote inside. One field that breaks the rule, such as
//! `Nicholas "Nick" Xenophon`, shows that quotes are part of the names.

use super::lines::{Lines, tab_fields};

/// What the fields with quotes of a file prove.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Evidence {
    /// Well-formed quoted fields.
    pub quoted: usize,
    /// Quoted fields with a doubled quote inside.
    doubled: usize,
    /// Fields with quotes that no CSV writer would produce.
    pub plain: usize,
}

impl Evidence {
    /// Looks at the names of every row.
    pub(super) fn of(text: &[u8]) -> Self {
        let mut evidence = Self::default();
        if memchr::memchr(b'"', text).is_none() {
            return evidence;
        }
        for (_, line) in Lines::new(text) {
            if memchr::memchr(b'"', line).is_none() {
                continue;
            }
            let (fields, _) = tab_fields::<3>(line);
            for field in fields.into_iter().filter(|field| field.contains(&b'"')) {
                match inside(field) {
                    Some(inner) => {
                        evidence.quoted += 1;
                        evidence.doubled += usize::from(inner.contains(&b'"'));
                    }
                    None => evidence.plain += 1,
                }
            }
        }
        evidence
    }

    /// Sums up several files.
    pub(super) const fn with(self, other: Self) -> Self {
        Self {
            quoted: self.quoted + other.quoted,
            doubled: self.doubled + other.doubled,
            plain: self.plain + other.plain,
        }
    }

    /// Whether the dataset uses CSV quoting.
    pub(super) const fn proves_quoting(self) -> bool {
        self.doubled > 0 && self.plain == 0
    }
}

/// Whether a name that is written as it is could prove quoting: it has quotes at both ends and doubled ones inside.
pub(crate) fn looks_quoted(name: &str) -> bool {
    Evidence::of(name.as_bytes()).proves_quoting()
}

/// What a well-formed quoted field has between its quotes, still doubled.
fn inside(field: &[u8]) -> Option<&[u8]> {
    let inner = field.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    let mut run = 0;
    for &byte in inner {
        if byte == b'"' {
            run += 1;
        } else if run % 2 == 1 {
            return None;
        } else {
            run = 0;
        }
    }
    (run % 2 == 0).then_some(inner)
}

/// The name that a quoted field stands for; other fields stand for themselves.
pub fn unquoted(field: &str) -> String {
    match inside(field.as_bytes()) {
        Some(_) => field[1..field.len() - 1].replace("\"\"", "\""),
        None => field.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoting_needs_proof() {
        let proves = |text: &str| Evidence::of(text.as_bytes()).proves_quoting();
        assert!(proves("\"A \"\"B\"\" C\"\tr\to\t2014-01-01\n"));
        assert!(!proves("A \"B\" C\tr\to\t2014-01-01\n"));
        assert!(!proves("\"A\"\tr\to\t2014-01-01\n"), "no doubled quote, no proof");
        assert!(
            !proves("\"A \"\"B\"\" C\"\tr\tX \"Y\"\t2014-01-01\n"),
            "one plain quote is a counterexample"
        );
        assert!(!proves("\"\tr\t\"\"\"\t2014-01-01\n"));
    }

    #[test]
    fn quotes_come_off() {
        assert_eq!(unquoted("\"A \"\"B\"\" C\""), "A \"B\" C");
        assert_eq!(unquoted("A \"B\""), "A \"B\"");
        assert_eq!(unquoted("\"\""), "");
        assert_eq!(unquoted("\""), "\"");
    }
}
