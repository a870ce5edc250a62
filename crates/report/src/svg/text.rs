//! Text in drawings: escaping and estimated widths.

use std::borrow::Cow;

/// Mean width of a letter at the size of labels (13 pixels), in pixels; generous, so that labels do not collide.
const LETTER: f64 = 7.3;

/// Text with the characters that mean something to SVG and HTML replaced.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // Not allowed in XML, not even as a reference.
            c if c.is_control() && c != '\n' && c != '\t' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Estimated width of a label, in pixels.
pub(super) fn width(text: &str) -> f64 {
    text.chars().count() as f64 * LETTER
}

/// The text, cut with an ellipsis to at most this many letters.
pub(crate) fn shorten(text: &str, most: usize) -> Cow<'_, str> {
    if text.chars().count() <= most {
        return Cow::Borrowed(text);
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    Cow::Owned(format!("{}…", kept.trim_end()))
}

/// Letters that fit into a width.
pub(super) fn letters(width: f64) -> usize {
    (width / LETTER) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_characters_are_replaced() {
        assert_eq!(
            escape(r#"<a href="x">'Ærø' & 東京</a>"#),
            "&lt;a href=&quot;x&quot;&gt;&#39;Ærø&#39; &amp; 東京&lt;/a&gt;"
        );
        assert_eq!(escape("a\u{0}b"), "a\u{fffd}b");
    }

    #[test]
    fn long_text_is_cut_at_letters() {
        assert_eq!(shorten("東京都庁", 4), "東京都庁");
        assert_eq!(shorten("東京都庁前", 4), "東京都…");
    }
}
