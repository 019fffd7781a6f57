//! Untrusted text: from proxies, agents, clients, manifests and file systems. Wherever people see it, on a terminal, in
//! the log or in the editor, it is displayed with [`Untrusted`], so that it cannot be taken for text of the host:
//! without control characters, line breaks, changes of text direction, and invisible characters.

use std::borrow::Cow;
use std::error::Error;
use std::fmt::{self, Display, Write};

/// An untrusted text, displayed up to a number of bytes, with deceptive characters escaped.
#[derive(Clone, Copy)]
pub struct Untrusted<T> {
    inner: T,
    longest: usize,
}

impl<T: Display> Untrusted<T> {
    /// Displays the whole text.
    pub fn new(inner: T) -> Self {
        Self::within(inner, usize::MAX)
    }

    /// Displays at most this many bytes of the text.
    pub fn within(inner: T, longest: usize) -> Self {
        Self { inner, longest }
    }
}

impl<T: Display> Display for Untrusted<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut escapes = Escapes {
            out: f,
            left: self.longest,
            cut: 0,
        };
        write!(escapes, "{}", self.inner)?;
        match escapes.cut {
            0 => Ok(()),
            cut => write!(f, "… ({cut} bytes more)"),
        }
    }
}

/// Formats the text as [`Display`] does.
impl<T: Display> fmt::Debug for Untrusted<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// How many bytes of an untrusted text appear in an error or in the log.
pub const MAX_QUOTE: usize = 1000;

/// An untrusted text as it is displayed, at most this many bytes of it.
pub fn quote(text: &str, longest: usize) -> String {
    Untrusted::within(text, longest).to_string()
}

/// The innermost cause of an error. Errors of libraries mostly repeat in the others what was tried.
pub fn innermost<'e>(error: &'e (dyn Error + 'static)) -> &'e (dyn Error + 'static) {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last
}

/// A text for output, whether or not its parts were escaped before. Deceptive characters are escaped as in JSON, so
/// that the text may be JSON. Line feeds, tabs and colours stay.
pub fn plain(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find(is_out_of_place) else {
        return text.into();
    };
    let (start, rest) = text.split_at(first);
    let mut plain = start.to_owned();
    let mut rest = rest;
    while let Some(c) = rest.chars().next() {
        let colour = colour(rest);
        let (taken, behind) = rest.split_at(colour.unwrap_or(c.len_utf8()));
        if colour.is_none() && is_out_of_place(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(plain, "\\u{unit:04x}");
            }
        } else {
            plain.push_str(taken);
        }
        rest = behind;
    }
    plain.into()
}

fn is_out_of_place(c: char) -> bool {
    deceives(c) && !matches!(c, '\n' | '\t')
}

/// The length of the sequence at the beginning of a text, if it sets or resets a colour or a weight. Some other
/// sequences hide text.
fn colour(text: &str) -> Option<usize> {
    let (code, _) = text.strip_prefix("\u{1b}[")?.split_once('m')?;
    let is_known = matches!(code, "0" | "1" | "2" | "4" | "7")
        || matches!(code.as_bytes(), [b'3' | b'9', b'0'..=b'7']);
    is_known.then_some(code.len() + 3)
}

struct Escapes<'o, 'f> {
    out: &'o mut fmt::Formatter<'f>,
    /// How many bytes may still be shown, including escapes.
    left: usize,
    /// How many bytes were not shown.
    cut: usize,
}

impl Write for Escapes<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for (at, c) in text.char_indices() {
            // Not `escape_default`, which escapes all but ASCII, nor `escape_debug`, which leaves some deceptive
            // characters.
            let name = match c {
                '\n' => "\\n",
                '\r' => "\\r",
                '\t' => "\\t",
                _ => "",
            };
            let escape = (name.is_empty() && deceives(c)).then(|| c.escape_unicode());
            let shown = match &escape {
                Some(escape) => escape.len(),
                None => name.len().max(c.len_utf8()),
            };
            if self.cut > 0 || shown > self.left {
                // The rest is not shown, either.
                self.cut += text.len() - at;
                break;
            }
            self.left -= shown;
            match escape {
                Some(escape) => write!(self.out, "{escape}")?,
                None if name.is_empty() => self.out.write_char(c)?,
                None => self.out.write_str(name)?,
            }
        }
        Ok(())
    }
}

/// Whether a character breaks lines, moves the cursor, changes the text direction, or is invisible.
fn deceives(c: char) -> bool {
    c.is_control()
        || matches!(c,
            // Soft hyphen, combining grapheme joiner, Arabic letter mark, Hangul fillers.
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}'
            // Khmer vowels that are not shown, Mongolian selectors.
            | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            // Spaces without width, joiners, direction marks; line and paragraph separators; embeddings.
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            // Word joiner, invisible operators, isolates.
            | '\u{2060}'..='\u{206f}'
            // Variation selectors, byte order mark, annotations, tags.
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_is_short_and_shows_control_characters() {
        assert_eq!(quote("fine: ü", 100), "fine: ü");
        assert_eq!(quote("a\n\u{1b}[31mb", 100), "a\\n\\u{1b}[31mb");
        assert_eq!(quote("äöü", 3), "ä… (4 bytes more)");
    }

    #[test]
    fn deceptive_characters_are_escaped_and_the_rest_stays() {
        for (text, shown) in [
            (
                "fine: ü, 漢字, \"quoted\" \\ slashed",
                "fine: ü, 漢字, \"quoted\" \\ slashed",
            ),
            ("a\n\u{1b}[31mb\r\t", "a\\n\\u{1b}[31mb\\r\\t"),
            ("\u{9b}2J\u{85}", "\\u{9b}2J\\u{85}"),
            ("abc\u{202e}txt.exe\u{2066}", "abc\\u{202e}txt.exe\\u{2066}"),
            (
                "pro\u{200b}mpt\u{feff}\u{e0041}",
                "pro\\u{200b}mpt\\u{feff}\\u{e0041}",
            ),
            ("one\u{2028}two", "one\\u{2028}two"),
        ] {
            assert_eq!(Untrusted::new(text).to_string(), shown);
            assert_eq!(format!("{:?}", Untrusted::new(text)), shown);
        }
    }

    #[test]
    fn output_keeps_line_feeds_tabs_and_colours_and_no_other_deceptive_characters() {
        let fine = "fine:\t\u{1b}[1m\u{1b}[31mü\u{1b}[0m\n";
        assert_eq!(plain(fine), fine);
        for (text, expected) in [
            ("a\u{1b}[8mb\u{1b}]0;t\u{7}", r"a\u001b[8mb\u001b]0;t\u0007"),
            ("\u{9b}2J\u{7f}\r\n", "\\u009b2J\\u007f\\u000d\n"),
            (
                "{\"a\":\"\u{202e}\u{e0041}\"}",
                r#"{"a":"\u202e\udb40\udc41"}"#,
            ),
            ("\u{1b}[31", r"\u001b[31"),
        ] {
            assert_eq!(plain(text), expected);
        }
    }

    #[test]
    fn the_shown_length_is_bounded() {
        assert_eq!(Untrusted::within("äöü", 3).to_string(), "ä… (4 bytes more)");
        assert_eq!(Untrusted::within("abc", 3).to_string(), "abc");
        // Escapes are longer than the characters.
        let shown = Untrusted::within("\n\u{1}\u{1}\u{1}", 10).to_string();
        assert_eq!(shown, "\\n\\u{1} (2 bytes more)".replace(" (", "… ("));
        let path = std::path::Path::new("/a\nb");
        assert_eq!(Untrusted::new(path.display()).to_string(), "/a\\nb");
    }
}
