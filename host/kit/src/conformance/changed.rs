//! Damage to a message that a component changes. Values may differ at the places that its powers let it change; the
//! rest of the message must stay. Numbers lose digits, and lone surrogates become U+FFFD, when a body is parsed into a
//! language's own values and rewritten.

use serde_json::value::RawValue;

use acp_chain_channel::{Grant, Subject};
use acp_chain_rpc::{Entries, look_through};

/// The maximum depth to which bodies are compared. Deeper values are ignored.
const DEEPEST: usize = 100;

/// The budget of a comparison, in bytes: more than any two messages have.
const BUDGET: usize = 1 << 30;

/// The damage in a changed body, if there is any.
pub fn damage(old: &str, new: &str, grant: &Grant, subject: &Subject) -> Option<String> {
    let raw = |text| serde_json::from_str::<&RawValue>(text).ok();
    let (old, new) = (raw(old)?, raw(new)?);
    let (places, mut budget) = (grant.changeable(subject), BUDGET);
    let differs = places.compare(old, new, &mut budget).is_err();
    // No power can judge a body with two readings.
    if differs && look_through(old.get(), subject.method).is_ok() {
        return Some("it changes places that its powers do not cover".to_owned());
    }
    values(old.get(), new.get(), DEEPEST)
}

/// The entries of an object, with their decoded names, or of an array, without names; `None` for other values.
fn entries(text: &str) -> Option<Vec<(Option<String>, &str)>> {
    let decoded = |name: &str| serde_json::from_str(name).unwrap_or_else(|_| name.to_owned());
    let entries = Entries::of(text)?.map(|entry| (entry.name.map(decoded), entry.value));
    Some(entries.collect())
}

fn values(old: &str, new: &str, depth: usize) -> Option<String> {
    if old == new || depth == 0 {
        return None;
    }
    match (entries(old), entries(new)) {
        (Some(olds), Some(news)) => {
            let is_object = olds.iter().chain(&news).any(|(name, _)| name.is_some());
            // In an array whose length changed, elements cannot be matched.
            if !is_object && olds.len() != news.len() {
                return None;
            }
            let pair = |at: usize, name: &Option<String>| match name {
                None => news.get(at),
                Some(_) => news.iter().find(|(other, _)| other == name),
            };
            let mut olds = olds.iter().enumerate();
            olds.find_map(|(at, (name, value))| {
                let (_, other) = pair(at, name)?;
                values(value, other, depth - 1)
            })
        }
        (None, None) => scalars(old, new),
        _ => None,
    }
}

fn scalars(old: &str, new: &str) -> Option<String> {
    let is_number = |text: &str| text.starts_with(|c: char| c == '-' || c.is_ascii_digit());
    if is_number(old) {
        let (before, after) = (old.parse::<f64>().ok()?, new.parse::<f64>().ok());
        let is_lost = match after {
            // A number with other digits must be the nearest float.
            Some(after) if is_number(new) => {
                before.to_bits() == after.to_bits() && digits(old) != digits(new)
            }
            _ => new == "null" && before.is_infinite(),
        };
        return is_lost.then(|| format!("the number {old} becomes {new}"));
    }
    let is_half = |text: &str| serde_json::from_str::<String>(text).is_err();
    let is_lost = old.starts_with('"') && is_half(old) && new.contains(['\u{fffd}']);
    let is_lost = is_lost || is_half(old) && new.to_ascii_lowercase().contains("\\ufffd");
    is_lost.then(|| "half of a surrogate pair, as `\\ud800`, becomes U+FFFD".to_owned())
}

/// The value of a number: its digits without surrounding zeros, and the position of its point.
fn digits(number: &str) -> (bool, String, i64) {
    let (is_negative, number) = match number.strip_prefix('-') {
        Some(number) => (true, number),
        None => (false, number),
    };
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let significant = all.trim_start_matches('0');
    let trimmed = significant.trim_end_matches('0');
    let zeros = significant.len() - trimmed.len();
    // No real text is longer.
    let length = |text: usize| i64::try_from(text).unwrap_or(i64::MAX);
    let exponent = exponent
        .trim_start_matches('+')
        .parse::<i64>()
        .unwrap_or(i64::MAX);
    let point = exponent
        .saturating_sub(length(fraction.len()))
        .saturating_add(length(zeros));
    if trimmed.is_empty() {
        (is_negative, String::new(), 0)
    } else {
        (is_negative, trimmed.to_owned(), point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_lost_digits_is_found_and_one_that_is_spelt_otherwise_is_not() {
        let lost = |old: &str, new: &str| values(old, new, DEEPEST).is_some();
        assert!(lost(
            r#"{"a":[9007199254740993]}"#,
            r#"{"a":[9007199254740992]}"#
        ));
        assert!(lost("1e400", "null"));
        assert!(lost("0.1000000000000000055511151231257827", "0.1"));
        for (old, new) in [
            ("1.0", "1"),
            ("1E+2", "100"),
            ("100e-2", "1"),
            ("-0", "-0.0"),
            ("1", "2"),
            ("5", "\"five\""),
            ("[1]", "[1,2]"),
        ] {
            assert!(!lost(old, new), "{old} {new}");
        }
    }

    #[test]
    fn half_a_surrogate_pair_that_was_replaced_is_found() {
        assert!(values(r#"{"a":"\ud800"}"#, "{\"a\":\"\u{fffd}\"}", DEEPEST).is_some());
        assert!(values(r#"{"a":"\ud800"}"#, r#"{"a":"\ufffd"}"#, DEEPEST).is_some());
        assert!(values(r#"{"a":"x"}"#, "{\"a\":\"\u{fffd}\"}", DEEPEST).is_none());
    }
}
