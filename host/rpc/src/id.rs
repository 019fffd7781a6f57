//! Request ids, which keep their spelling.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};

/// The id of a request as its sender spelt it: a number, a string or null.
///
/// Two ids are equal when they are spelt alike; for strings, escapes do not matter.
#[derive(Clone, Debug)]
pub struct Id {
    text: Box<str>,
}

impl Id {
    /// Takes the JSON text of an id; `None` if it is not a number, string or null
    /// (JSON-RPC 2.0 §4).
    pub fn parse(text: &str) -> Option<Self> {
        Self::is_one(text).then(|| Self { text: text.into() })
    }

    /// Whether this JSON text is that of an id.
    pub(super) fn is_one(text: &str) -> bool {
        let first = text.as_bytes().first();
        matches!(first, Some(b'"' | b'-' | b'0'..=b'9' | b'n'))
    }

    /// The id `null`, for answers to messages without a readable id.
    pub fn null() -> Self {
        Self {
            text: "null".into(),
        }
    }

    /// The JSON text, as the sender spelt it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The whole number that the id is. Some programs read all numbers as fractions, and answer the request 1 under the
    /// id `1.0`, and the request 10000000 under `1.0E7`.
    pub fn number(&self) -> Option<u64> {
        if let Ok(number) = self.text.parse() {
            return Some(number);
        }
        let (digits, exponent) = match self.text.split_once(['e', 'E']) {
            Some((digits, exponent)) => (digits, exponent.parse::<usize>().ok()?),
            None => (&*self.text, 0),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let fraction = fraction.trim_end_matches('0');
        let zeros = u32::try_from(exponent.checked_sub(fraction.len())?).ok()?;
        let number: u64 = format!("{whole}{fraction}").parse().ok()?;
        number.checked_mul(10_u64.checked_pow(zeros)?)
    }

    /// The number of the request that an answer under this id is for, or that a message names by it. Some programs keep
    /// all ids as strings, and answer the request 1 under the id `"1"`.
    pub fn answered(&self) -> Option<u64> {
        let quoted = self.text.strip_prefix('"');
        let Some(digits) = quoted.and_then(|text| text.strip_suffix('"')) else {
            return self.number();
        };
        let number = digits.parse::<u64>().ok();
        number.filter(|number| number.to_string() == digits)
    }

    /// The canonical spelling, which equal ids share. For a text that cannot be decoded, it is the text itself.
    fn key(&self) -> Cow<'_, str> {
        if self.text.contains('\\')
            && let Ok(plain) = serde_json::from_str::<String>(&self.text)
        {
            return Cow::Owned(serde_json::Value::from(plain).to_string());
        }
        Cow::Borrowed(&self.text)
    }
}

impl From<u64> for Id {
    fn from(number: u64) -> Self {
        Self {
            text: number.to_string().into(),
        }
    }
}

impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Id {}

impl Hash for Id {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_number_a_string_or_null() {
        for good in ["0", "-1", "1e3", r#""""#, r#""a""#, "null"] {
            assert_eq!(
                Id::parse(good).map(|id| id.as_str().to_owned()).as_deref(),
                Some(good)
            );
        }
        for bad in ["true", "false", "{}", "[1]", ""] {
            assert!(Id::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_whole_number_may_be_spelt_as_a_fraction() {
        for (text, number) in [
            ("7", Some(7)),
            ("7.0", Some(7)),
            ("7.00", Some(7)),
            ("7.5", None),
            ("1.0E7", Some(10_000_000)),
            ("1e+05", Some(100_000)),
            ("1.50e1", Some(15)),
            ("1.25e1", None),
            ("1e-1", None),
            ("1e400", None),
            ("-1e1", None),
            ("-7", None),
            ("-7.0", None),
            (r#""7""#, None),
            (r#""7e1""#, None),
            ("null", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(Id::parse(text).unwrap().number(), number, "{text}");
        }
    }

    #[test]
    fn an_answer_may_have_its_number_as_a_string() {
        for (text, number) in [
            ("7", Some(7)),
            ("7.0", Some(7)),
            (r#""7""#, Some(7)),
            (r#""0""#, Some(0)),
            (r#""07""#, None),
            (r#""+7""#, None),
            (r#""-7""#, None),
            (r#""7.0""#, None),
            (r#"" 7""#, None),
            (r#""""#, None),
            (r#""99999999999999999999""#, None),
            ("null", None),
        ] {
            assert_eq!(Id::parse(text).unwrap().answered(), number, "{text}");
        }
    }

    #[test]
    fn escapes_do_not_tell_ids_apart_but_types_do() {
        assert_eq!(Id::parse(r#""a/\u0062""#), Id::parse(r#""a\/b""#));
        assert_ne!(Id::parse("1"), Id::parse(r#""1""#));
        assert_ne!(Id::parse(r#""\ud800""#), Id::parse(r#""\\ud800""#));
    }
}
