//! Names as people see them: what would act on a terminal or a page instead of being read is spelt out.
//!
//! Names come from data files, records and the command line, and may hold anything. A name with an escape sequence could
//! recolour or clear a terminal, one with a line end could forge a line, and one with a direction override could make a line
//! read as another. Text for people therefore takes names through [`shown`]; whole texts pass [`shown_lines`] before they
//! are printed, which lets nothing through but our own line ends. Programs get exact text: CSV as it is, JSON with the
//! escapes of JSON ([`shown_json`]).

use std::borrow::Cow;
use std::fmt::{self, Display, Write};

/// A name for people; see [`shown`].
#[derive(Clone, Copy, Debug)]
pub struct Shown<T>(T);

/// A name, label, path or sentence as part of a line: `\u{1b}` for an escape, `\n` for a line end, and so on. Widths of
/// formats hold for the result. Showing it again changes nothing.
pub const fn shown<T: Display>(name: T) -> Shown<T> {
    Shown(name)
}

impl<T: Display> Display for Shown<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&replaced(&self.0.to_string(), is_hidden, spelt))
    }
}

/// A text of several lines: everything but its line ends is shown as [`shown`] does.
pub fn shown_lines(text: &str) -> Cow<'_, str> {
    replaced(text, |c| c != '\n' && is_hidden(c), spelt)
}

/// A JSON document. Its strings mean the same, but hold no raw character that acts on a terminal: JSON itself only
/// requires that of the first 32.
pub fn shown_json(document: &str) -> Cow<'_, str> {
    replaced(
        document,
        |c| c != '\n' && is_hidden(c),
        |out, c| {
            let mut units = [0; 2];
            c.encode_utf16(&mut units).iter().try_for_each(|unit| write!(out, "\\u{unit:04x}"))
        },
    )
}

/// Whether a character is not seen itself but acts on its surroundings, or hides between others. The joiners U+200C and
/// U+200D stay: Persian, Indic scripts and emoji are written with them.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            // Soft hyphen, marks and overrides of direction.
            '\u{ad}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}'
            // Line and paragraph separators, blanks without width, byte order mark.
            | '\u{2028}' | '\u{2029}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{feff}'
            // Annotations and tags.
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
        )
}

/// As in Rust: `\n`, `\t`, `\u{1b}`.
fn spelt(out: &mut String, c: char) -> fmt::Result {
    write!(out, "{}", c.escape_default())
}

/// The text with some characters written otherwise.
fn replaced(
    text: &str,
    is_replaced: impl Fn(char) -> bool,
    write: impl Fn(&mut String, char) -> fmt::Result,
) -> Cow<'_, str> {
    if !text.contains(&is_replaced) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_replaced(c) {
            write(&mut out, c).expect("memory takes everything");
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every character, in strings of a thousand.
    fn all_characters() -> Vec<String> {
        let all: Vec<char> = ('\0'..=char::MAX).collect();
        all.chunks(1000).map(|part| part.iter().collect()).collect()
    }

    #[test]
    fn hidden_characters_are_spelt_out_and_others_stay() {
        assert_eq!(shown("\u{1b}[31mred\u{9b}0m\u{7f}").to_string(), "\\u{1b}[31mred\\u{9b}0m\\u{7f}");
        assert_eq!(shown("a\tb\r\nc").to_string(), "a\\tb\\r\\nc");
        assert_eq!(shown("x\u{202e}y\u{2066}z\u{2028}").to_string(), "x\\u{202e}y\\u{2066}z\\u{2028}");
        for plain in ["Ærø & 東京", "می\u{200c}خواهم", "👩\u{200d}🚀", "C:\\new", ""] {
            assert_eq!(shown(plain).to_string(), plain);
        }
        assert_eq!(format!("{:<8}|", shown("a\u{7}")), "a\\u{7}  |");
    }

    #[test]
    fn nothing_hidden_is_left_and_showing_twice_is_showing_once() {
        for text in all_characters() {
            let once = shown(&text).to_string();
            assert!(!once.contains(is_hidden), "{once:?}");
            assert_eq!(shown(&once).to_string(), once);
            let lines = shown_lines(&text);
            assert!(!lines.contains(|c| is_hidden(c) && c != '\n'), "{lines:?}");
            assert_eq!(lines.matches('\n').count(), text.matches('\n').count());
        }
    }

    #[test]
    fn json_means_the_same() {
        for text in all_characters() {
            let document = serde_json::to_string_pretty(&[&text]).expect("strings can be written");
            let safe = shown_json(&document);
            assert!(!safe.contains(|c| is_hidden(c) && c != '\n'), "{safe:?}");
            assert_eq!(serde_json::from_str::<[String; 1]>(&safe).expect("JSON"), [text]);
        }
    }
}
