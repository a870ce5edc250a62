//! The little of CSV that lists and score files need: quoted fields, one record per line.

use std::borrow::Cow;

/// A field as it stands in a file: quoted if it must be.
pub(super) fn field(text: &str) -> Cow<'_, str> {
    let plain = !text.contains(['"', ',', '\n', '\r']) && text.trim() == text;
    if plain { Cow::Borrowed(text) } else { Cow::Owned(format!("\"{}\"", text.replace('"', "\"\""))) }
}

/// The fields of a line, without quotes and surrounding blanks; `None` if a quote is not closed or followed by text.
pub(super) fn split(line: &str) -> Option<Vec<Field<'_>>> {
    let mut fields = Vec::with_capacity(4);
    let mut rest = Some(line);
    while let Some(text) = rest {
        let (field, after) =
            if text.trim_start().starts_with('"') { quoted(text.trim_start())? } else { plain(text) };
        fields.push(field);
        rest = after;
    }
    Some(fields)
}

/// One field of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field<'l> {
    pub text: Cow<'l, str>,
    /// A quoted field is text, even if it looks like a number.
    pub quoted: bool,
}

fn plain(text: &str) -> (Field<'_>, Option<&str>) {
    let (field, rest) = match text.split_once(',') {
        Some((field, rest)) => (field, Some(rest)),
        None => (text, None),
    };
    (Field { text: Cow::Borrowed(field.trim()), quoted: false }, rest)
}

fn quoted(text: &str) -> Option<(Field<'_>, Option<&str>)> {
    let inner = &text[1..];
    let mut from = 0;
    loop {
        let quote = from + inner[from..].find('"')?;
        if inner[quote + 1..].starts_with('"') {
            from = quote + 2;
            continue;
        }
        let after = inner[quote + 1..].trim();
        let rest = if after.is_empty() { None } else { Some(after.strip_prefix(',')?) };
        let field = &inner[..quote];
        let text =
            if field.contains('"') { Cow::Owned(field.replace("\"\"", "\"")) } else { Cow::Borrowed(field) };
        return Some((Field { text, quoted: true }, rest));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str) -> Option<Vec<String>> {
        Some(split(line)?.into_iter().map(|field| field.text.into_owned()).collect())
    }

    #[test]
    fn lines_split_into_fields() {
        assert_eq!(texts("1, 2,3").unwrap(), ["1", "2", "3"]);
        assert_eq!(texts("7,,").unwrap(), ["7", "", ""]);
        assert_eq!(texts("1,\"a, \"\"b\"\"\",2").unwrap(), ["1", "a, \"b\"", "2"]);
        assert_eq!(texts("\"a\" , 2").unwrap(), ["a", "2"]);
        assert_eq!(texts("\"a").as_deref(), None);
        assert_eq!(texts("\"a\"b,1").as_deref(), None);
    }

    #[test]
    fn what_is_quoted_splits_back() {
        for name in ["plain", "a,b", "say \"so\"", " padded ", "\"", ""] {
            let line = format!("1,{},2", field(name));
            assert_eq!(texts(&line).unwrap(), ["1", name, "2"], "{line}");
        }
    }
}
