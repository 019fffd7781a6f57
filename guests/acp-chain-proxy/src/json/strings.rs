//! The strings of a JSON text in place: only requested parts are parsed or copied.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use memchr::memchr2;
use serde::de::{Deserializer, Visitor};

/// How deep a text may be nested for its strings to be read; the limit of most parsers.
pub const DEPTH: usize = 128;

/// The room for a pointer, in bytes; most are shorter.
const POINTER: usize = 48;

/// Iterates over the strings of a JSON text, in order, without names of members.
///
/// ```
/// use acp_chain_proxy::Strings;
///
/// let mut strings = Strings::of(r#"{"a":[1,"b"],"c":"d\n"}"#);
/// let found = strings.next()?.expect("a string");
/// assert_eq!((found.decoded(), strings.pointer()), ("b".into(), "/a/1".into()));
/// let found = strings.next()?.expect("another one");
/// assert_eq!((found.decoded(), strings.pointer()), ("d\n".into(), "/c".into()));
/// assert!(strings.next()?.is_none());
/// # Ok::<(), acp_chain_proxy::StringsError>(())
/// ```
pub struct Strings<'j> {
    cursor: Cursor<'j>,
    path: Vec<Step<'j>>,
    /// Whether the next string is the name of a member.
    names: bool,
}

/// A step from a value to a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'j> {
    /// A member of an object.
    Member(RawString<'j>),
    /// An element of an array.
    Item(usize),
}

/// A string of a JSON text, without its quotes and with its escapes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RawString<'j> {
    text: &'j str,
    start: usize,
    end: usize,
    escaped: bool,
}

/// Why the strings of a text cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StringsError {
    /// Nested deeper than [`DEPTH`].
    #[error("the body is nested deeper than {most} levels", most = DEPTH)]
    Deep,
    /// It is not JSON.
    #[error("the body is not JSON")]
    Malformed,
}

impl<'j> Strings<'j> {
    /// The strings of this text.
    #[must_use]
    pub fn of(text: &'j str) -> Self {
        Self {
            cursor: Cursor { text, at: 0 },
            path: Vec::new(),
            names: false,
        }
    }

    /// The next string, if any.
    #[expect(
        clippy::should_implement_trait,
        reason = "each string is used with its path"
    )]
    pub fn next(&mut self) -> Result<Option<RawString<'j>>, StringsError> {
        while let Some(byte) = self.cursor.next() {
            match byte {
                b'"' => {
                    let string = self.cursor.string()?;
                    if !self.names {
                        return Ok(Some(string));
                    }
                    *self.path.last_mut().ok_or(StringsError::Malformed)? = Step::Member(string);
                    self.names = false;
                }
                b'{' | b'[' if self.path.len() == DEPTH => return Err(StringsError::Deep),
                b'{' => {
                    // Its name follows.
                    self.path.push(Step::Member(RawString::default()));
                    self.names = true;
                }
                b'[' => self.path.push(Step::Item(0)),
                b'}' | b']' => {
                    self.path.pop().ok_or(StringsError::Malformed)?;
                    self.names = false;
                }
                b',' => match self.path.last_mut().ok_or(StringsError::Malformed)? {
                    Step::Item(index) => *index += 1,
                    Step::Member(_) => self.names = true,
                },
                _ => {}
            }
        }
        if self.path.is_empty() {
            Ok(None)
        } else {
            Err(StringsError::Malformed)
        }
    }

    /// The path to the last returned string.
    #[must_use]
    pub fn path(&self) -> &[Step<'j>] {
        &self.path
    }

    /// The path to the last returned string, as a JSON Pointer.
    #[must_use]
    pub fn pointer(&self) -> String {
        let mut pointer = String::with_capacity(POINTER);
        for step in &self.path {
            pointer.push('/');
            match step {
                Step::Member(name) => {
                    let token = name.decoded();
                    if memchr2(b'~', b'/', token.as_bytes()).is_some() {
                        pointer.push_str(&token.replace('~', "~0").replace('/', "~1"));
                    } else {
                        pointer.push_str(&token);
                    }
                }
                Step::Item(index) => pointer.push_str(&index.to_string()),
            }
        }
        pointer
    }
}

/// A place in a JSON text.
pub(super) struct Cursor<'j> {
    pub(super) text: &'j str,
    pub(super) at: usize,
}

impl<'j> Cursor<'j> {
    fn next(&mut self) -> Option<u8> {
        let byte = *self.text.as_bytes().get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    pub(super) fn next_but_space(&mut self) -> Option<u8> {
        loop {
            let byte = self.next()?;
            if !byte.is_ascii_whitespace() {
                return Some(byte);
            }
        }
    }

    /// The text up to the next quote.
    pub(super) fn string(&mut self) -> Result<RawString<'j>, StringsError> {
        let (text, start) = (self.text, self.at);
        let mut escaped = false;
        loop {
            let rest = text
                .as_bytes()
                .get(self.at..)
                .ok_or(StringsError::Malformed)?;
            let found = memchr2(b'"', b'\\', rest).ok_or(StringsError::Malformed)?;
            self.at += found + 1;
            if rest[found] == b'"' {
                let end = self.at - 1;
                return Ok(RawString {
                    text,
                    start,
                    end,
                    escaped,
                });
            }
            escaped = true;
            self.at += 1;
        }
    }

    /// The next value, of any kind.
    pub(super) fn value(&mut self) -> Option<Range<usize>> {
        let mut depth = 0_usize;
        self.next_but_space()?;
        self.at -= 1;
        let start = self.at;
        loop {
            let end = self.at;
            match self.next() {
                Some(b'"') => drop(self.string().ok()?),
                Some(b'{' | b'[') => depth += 1,
                Some(b'}' | b']') if depth > 0 => depth -= 1,
                // The end of a number or a literal.
                Some(b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n') | None if depth == 0 => {
                    self.at = end;
                    return (end > start).then_some(start..end);
                }
                Some(_) => continue,
                None => return None,
            }
            if depth == 0 {
                return Some(start..self.at);
            }
        }
    }
}

impl<'j> RawString<'j> {
    /// The range of the string in the text, without quotes.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.start..self.end
    }

    /// The string without escapes. Lone surrogates are replaced.
    #[must_use]
    pub fn decoded(&self) -> Cow<'j, str> {
        if !self.escaped {
            return self.text[self.range()].into();
        }
        let quoted = &self.text[self.start - 1..=self.end];
        let decoded = lossy(quoted);
        decoded
            .unwrap_or_else(|| self.text[self.range()].to_owned())
            .into()
    }

    /// Whether the decoded string equals this text.
    #[must_use]
    pub fn is(&self, text: &str) -> bool {
        if self.escaped {
            self.decoded() == text
        } else {
            &self.text[self.range()] == text
        }
    }

    /// Whether it is this name of a member, for the host as well: a name with a lone surrogate is none.
    pub(super) fn spells(&self, name: &str) -> bool {
        if !self.escaped {
            return self.is(name);
        }
        let quoted = &self.text[self.start - 1..=self.end];
        serde_json::from_str::<String>(quoted).is_ok_and(|own| own == name)
    }
}

/// The text of a string, which may have a lone surrogate.
fn lossy(quoted: &str) -> Option<String> {
    struct Text;
    impl Visitor<'_> for Text {
        type Value = String;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a string")
        }

        fn visit_bytes<E>(self, bytes: &[u8]) -> Result<String, E> {
            Ok(String::from_utf8_lossy(bytes).into_owned())
        }
    }
    // Only bytes can have lone surrogates.
    serde_json::Deserializer::from_str(quoted)
        .deserialize_bytes(Text)
        .ok()
}
