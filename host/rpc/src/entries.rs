//! The entries of an object or array, one after the other.
//!
//! The text must be JSON: lines are checked when they arrive, and not again here. For a text that is not JSON, the
//! entries are arbitrary.

/// A member of an object, or an element of an array.
pub struct Entry<'t> {
    /// The JSON text of the name; `None` for an element.
    pub name: Option<&'t str>,
    /// The JSON text of the value.
    pub value: &'t str,
}

/// The entries of an object or array.
pub struct Entries<'t> {
    text: &'t str,
    at: usize,
    /// Whether it is an object.
    pub(super) is_object: bool,
    /// The JSON text of the current member's name.
    pub(super) name: Option<&'t str>,
}

impl<'t> Entries<'t> {
    /// The entries of this text; `None` if it is neither an object nor an array.
    pub fn of(text: &'t str) -> Option<Self> {
        let at = text.bytes().position(|byte| !byte.is_ascii_whitespace())?;
        Self::within(text, at)
    }

    /// The entries of the value that begins at this place in a text.
    fn within(text: &'t str, at: usize) -> Option<Self> {
        let is_object = match text.as_bytes().get(at)? {
            b'{' => true,
            b'[' => false,
            _ => return None,
        };
        Some(Self {
            text,
            at: at + 1,
            is_object,
            name: None,
        })
    }

    /// The offset up to which the text is read.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Skips white space, and this character.
    fn pass(&mut self, sign: u8) {
        while let Some(byte) = self.text.as_bytes().get(self.at)
            && (*byte == sign || byte.is_ascii_whitespace())
        {
            self.at += 1;
        }
    }

    /// Advances to the next value, and reads its name. Returns false at the end.
    pub(super) fn advance(&mut self) -> bool {
        self.pass(b',');
        if self.is_object {
            self.name = self.value();
            self.pass(b':');
            return self.name.is_some();
        }
        let begins = |byte: &u8| !b":]}".contains(byte);
        self.text.as_bytes().get(self.at).is_some_and(begins)
    }

    /// The entries of the value that begins here; `None` if it has none.
    pub(super) fn inner(&self) -> Option<Self> {
        Self::within(self.text, self.at)
    }

    /// Continues behind a value whose entries were read to their end.
    pub(super) fn leave(&mut self, inner: &Self) {
        self.at = inner.at + 1;
    }

    /// The value that begins here; `None` if none does.
    pub(super) fn value(&mut self) -> Option<&'t str> {
        let start = self.at;
        self.at = end_of_value(self.text.as_bytes(), start);
        self.text
            .get(start..self.at)
            .filter(|text| !text.is_empty())
    }
}

impl<'t> Iterator for Entries<'t> {
    type Item = Entry<'t>;

    fn next(&mut self) -> Option<Entry<'t>> {
        if !self.advance() {
            return None;
        }
        let value = self.value()?;
        Some(Entry {
            name: self.name,
            value,
        })
    }
}

/// Whether a JSON text is a list, and not empty: some readers take its elements for the members of an object, by their
/// order. An empty one, as which some software writes an object without members, hides nothing.
pub fn is_by_position(json: &str) -> bool {
    Entries::of(json).is_some_and(|mut list| !list.is_object && list.advance())
}

/// The offset behind the value that begins at `start`; `start` if none does.
fn end_of_value(text: &[u8], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0_usize);
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => at = end_of_string(text, at),
            b'{' | b'[' => (at, depth) = (at + 1, depth + 1),
            b'}' | b']' if depth == 0 => return at,
            b'}' | b']' => (at, depth) = (at + 1, depth - 1),
            _ if depth > 0 => {
                at += 1;
                continue;
            }
            _ => {
                let is_in = |byte: &u8| !b",:]}".contains(byte) && !byte.is_ascii_whitespace();
                return at + text[at..].iter().take_while(|byte| is_in(byte)).count();
            }
        }
        if depth == 0 {
            return at;
        }
    }
    at
}

/// The offset behind the string that begins at `start`.
pub fn end_of_string(text: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(found) = memchr::memchr2(b'"', b'\\', text.get(at..).unwrap_or_default()) {
        match text[at + found] {
            b'"' => return at + found + 1,
            _ => at += found + 2,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(text: &str) -> Vec<(Option<&str>, &str)> {
        let entries = Entries::of(text).into_iter().flatten();
        entries.map(|entry| (entry.name, entry.value)).collect()
    }

    #[test]
    fn only_a_list_with_elements_is_by_position() {
        for (text, expected) in [
            ("[1]", true),
            (" [[] ]", true),
            ("[]", false),
            ("[ ]", false),
            (r#"{"a":[1]}"#, false),
            (r#""[1]""#, false),
            ("null", false),
            ("", false),
        ] {
            assert_eq!(is_by_position(text), expected, "{text}");
        }
    }

    #[test]
    fn entries_come_in_order_as_they_are_written() {
        assert_eq!(
            entries(r#" {"a" : [1, "]"],"\"" :{"b":{}} ,"a":-1e400 }"#),
            [
                (Some(r#""a""#), r#"[1, "]"]"#),
                (Some(r#""\"""#), r#"{"b":{}}"#),
                (Some(r#""a""#), "-1e400"),
            ]
        );
        assert_eq!(
            entries("\t[null,[],\n\"\\\\\" , true]"),
            [
                (None, "null"),
                (None, "[]"),
                (None, r#""\\""#),
                (None, "true")
            ]
        );
        for text in ["{}", " [ ] ", "7", "\"[1]\"", ""] {
            assert_eq!(entries(text), [], "{text}");
        }
    }

    #[test]
    fn texts_that_are_not_json_end() {
        for text in [
            "{", "[1", "[,,:]", "{\"a", "{\"a\":", "[\"\\", "[{]}", "{1:2}", "[é",
        ] {
            assert!(entries(text).len() <= 2, "{text}");
        }
    }
}
