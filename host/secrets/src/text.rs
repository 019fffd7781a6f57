//! Decodes escapes: the rules read a text as it was before it was escaped.
//!
//! Each escape is read as its one character, such as a literal `\n`, an escaped quote or a percent code, and a terminal
//! colour as a space, so that secrets are also found after these. The text is not copied: it is decoded byte by byte,
//! from any position.

/// The next character.
pub(crate) enum NextChar {
    /// The character, and the position of the one after it.
    Byte(u8, usize),
    /// The rest of the character is missing.
    More,
    /// The text ends.
    End,
}

/// Whether more text may follow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    /// More may follow.
    Open,
    /// The text ends.
    Here,
}

/// How percent codes are read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Codes {
    /// Decoded.
    Read,
    /// Not decoded: in a URI, `%2F` is not a `/`.
    Kept,
}

/// The maximum length of an escape that is read as one character, in bytes.
pub(crate) const LONGEST: usize = 24;

/// The first bytes of escapes.
pub(crate) const ESCAPES: [u8; 3] = *b"\\%\x1b";

/// The character at this position.
#[inline]
pub(crate) fn next(text: &[u8], at: usize, end: End, codes: Codes) -> NextChar {
    match text.get(at) {
        Some(b'\\' | b'%' | 0x1b) => escape(text, at, end, codes),
        Some(byte) => NextChar::Byte(*byte, at + 1),
        None if end == End::Here => NextChar::End,
        None => NextChar::More,
    }
}

enum Escape {
    Stands(u8, usize),
    None,
    Cut,
}

#[cold]
fn escape(text: &[u8], at: usize, end: End, codes: Codes) -> NextChar {
    let rest = &text[at..];
    let read = match rest[0] {
        b'\\' => backslash(rest),
        b'%' if codes == Codes::Kept => Escape::None,
        b'%' => hex(rest, 1),
        _ => colour(rest),
    };
    match read {
        Escape::Stands(byte, length) => NextChar::Byte(byte, at + length),
        Escape::Cut if end == End::Open => NextChar::More,
        Escape::Cut | Escape::None => NextChar::Byte(rest[0], at + 1),
    }
}

/// A backslash escape such as `\n`, also if it was escaped several times.
fn backslash(text: &[u8]) -> Escape {
    let short = &text[..text.len().min(LONGEST / 2)];
    let Some(count) = short.iter().position(|byte| *byte != b'\\') else {
        return if short.len() < LONGEST / 2 {
            Escape::Cut
        } else {
            Escape::None
        };
    };
    let stands = match short[count] {
        b'n' | b'r' => b'\n',
        b't' => b'\t',
        quote @ (b'"' | b'\'' | b'`' | b'/') => quote,
        b'u' => {
            return match &short[count + 1..] {
                [b'0', b'0', ..] => hex(text, count + 3),
                [] | [b'0'] => Escape::Cut,
                _ => Escape::None,
            };
        }
        _ => return Escape::None,
    };
    Escape::Stands(stands, count + 1)
}

/// Two hexadecimal digits for an ASCII character.
fn hex(text: &[u8], at: usize) -> Escape {
    let digit = |at: usize| text.get(at).map(|byte| char::from(*byte).to_digit(16));
    match (digit(at), digit(at + 1)) {
        (Some(Some(high)), Some(Some(low))) => match u8::try_from(high * 16 + low) {
            Ok(byte) if byte.is_ascii_graphic() || byte.is_ascii_whitespace() => {
                Escape::Stands(byte, at + 2)
            }
            _ => Escape::None,
        },
        (None, _) | (Some(Some(_)), None) => Escape::Cut,
        _ => Escape::None,
    }
}

/// A terminal control sequence, such as a colour.
fn colour(text: &[u8]) -> Escape {
    let short = &text[..text.len().min(LONGEST)];
    match short.get(1) {
        Some(b'[') => {}
        Some(_) => return Escape::None,
        None => return Escape::Cut,
    }
    match short[2..].iter().position(|byte| !is_parameter(*byte)) {
        Some(length) => Escape::Stands(b' ', length + 3),
        None if short.len() < LONGEST => Escape::Cut,
        None => Escape::None,
    }
}

/// The character before this position.
pub(crate) fn before(text: &[u8], at: usize) -> Option<u8> {
    let last = *text[..at].last()?;
    if !last.is_ascii_alphanumeric() {
        return Some(last);
    }
    // The character may be an escape, which begins a few bytes earlier.
    let start = match text[..at] {
        [.., b'\\', _] => at - 2,
        [.., b'%', _, _] => at - 3,
        [.., b'\\', b'u', _, _, _, _] => at - 6,
        [.., byte, _] if last.is_ascii_alphabetic() && (is_parameter(byte) || byte == b'[') => {
            before_colour(&text[..at])
        }
        _ => return Some(last),
    };
    match next(text, start, End::Here, Codes::Read) {
        NextChar::Byte(byte, end) if end == at => Some(byte),
        _ => Some(last),
    }
}

/// The possible beginning of a colour that ends here, or else the last character.
fn before_colour(text: &[u8]) -> usize {
    let last = text.len() - 1;
    let short = &text[text.len().saturating_sub(LONGEST)..last];
    match short.iter().rposition(|byte| !is_parameter(*byte)) {
        Some(bracket) if short[bracket] == b'[' => (last + bracket).saturating_sub(short.len() + 1),
        _ => last,
    }
}

fn is_parameter(byte: u8) -> bool {
    (0x20..0x40).contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        let (mut at, mut read) = (0, String::new());
        while let NextChar::Byte(byte, next) = next(text.as_bytes(), at, End::Here, Codes::Read) {
            read.push(char::from(byte));
            at = next;
        }
        read
    }

    #[test]
    fn escapes_are_decoded() {
        for (text, expected) in [
            (r#"a\nb\\tc\"d"#, "a\nb\tc\"d"),
            ("a%3Db%2z%", "a=b%2z%"),
            ("\x1b[1;31mred\x1b[0m", " red "),
            (r"\u003d\u00e4\u12", r"=\u00e4\u12"),
            (r"C:\dir\", r"C:\dir\"),
        ] {
            assert_eq!(read(text), expected);
        }
    }

    #[test]
    fn an_incomplete_escape_is_withheld() {
        for text in [
            "\\", "%", "%3", "\x1b", "\x1b[", "\x1b[31", r"\u", r"\u0", r"\u00", r"\u003",
        ] {
            assert!(
                matches!(
                    next(text.as_bytes(), 0, End::Open, Codes::Read),
                    NextChar::More
                ),
                "{text:?}"
            );
            assert!(matches!(
                next(text.as_bytes(), 0, End::Here, Codes::Read),
                NextChar::Byte(..)
            ));
        }
    }

    #[test]
    fn an_escape_before_a_position_is_decoded() {
        for (text, expected) in [
            ("a", b'a'),
            (r"\n", b'\n'),
            ("x%3D", b'='),
            ("\x1b[31m", b' '),
            ("-", b'-'),
            ("31m", b'm'),
        ] {
            assert_eq!(
                before(text.as_bytes(), text.len()),
                Some(expected),
                "{text:?}"
            );
        }
        assert_eq!(before(b"", 0), None);
    }
}
