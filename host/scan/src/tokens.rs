//! What a model has used, and what that costs.

use std::array;
use std::ops::AddAssign;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// Tokens, in kinds that do not overlap. Thoughts are output. Agents name the kinds in several ways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Tokens {
    /// Tokens of the input, without those of the cache.
    #[serde(alias = "input_tokens", alias = "inputTokens")]
    #[serde(deserialize_with = "count")]
    pub input: u64,
    /// Tokens of the output.
    #[serde(alias = "output_tokens", alias = "outputTokens")]
    #[serde(deserialize_with = "count")]
    pub output: u64,
    /// Tokens of the input that were read from the cache.
    #[serde(alias = "cache_read_input_tokens", alias = "cached_input_tokens")]
    #[serde(alias = "cachedReadTokens", deserialize_with = "count")]
    pub cached_read: u64,
    /// Tokens of the input that were written to the cache.
    #[serde(alias = "cache_creation_input_tokens")]
    #[serde(alias = "cache_write_input_tokens")]
    #[serde(alias = "cachedWriteTokens", deserialize_with = "count")]
    pub cached_write: u64,
}

impl Tokens {
    pub(crate) fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// What a later sum over a session adds to an earlier one. A sum that is smaller counts from the start again.
    pub(crate) fn since(self, earlier: Self) -> Self {
        let mut both = self.all().into_iter().zip(earlier.all());
        if both.any(|(now, before)| now < before) {
            self
        } else {
            self.beyond(earlier)
        }
    }

    /// What is more than in another report of the same.
    pub(crate) fn beyond(self, other: Self) -> Self {
        let [own, other] = [self.all(), other.all()];
        Self::of(array::from_fn(|kind| own[kind].saturating_sub(other[kind])))
    }

    pub(crate) fn all(self) -> [u64; 4] {
        [self.input, self.output, self.cached_read, self.cached_write]
    }

    fn of([input, output, cached_read, cached_write]: [u64; 4]) -> Self {
        Self {
            input,
            output,
            cached_read,
            cached_write,
        }
    }
}

impl AddAssign for Tokens {
    fn add_assign(&mut self, other: Self) {
        let [own, other] = [self.all(), other.all()];
        *self = Self::of(array::from_fn(|kind| own[kind].saturating_add(other[kind])));
    }
}

/// The user's prices for a million tokens, in the form of `prices` of the extension `brake`. Tokens of the cache cost
/// as much as those of the input, unless they have a price.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Prices {
    input: f64,
    output: f64,
    cached_read: Option<f64>,
    cached_write: Option<f64>,
}

impl Prices {
    /// Whether all are amounts: neither negative nor infinite.
    pub fn are_amounts(&self) -> bool {
        let all = [
            Some(self.input),
            Some(self.output),
            self.cached_read,
            self.cached_write,
        ];
        all.iter()
            .flatten()
            .all(|price| (0.0..f64::INFINITY).contains(price))
    }

    /// The cost of these tokens, in millionths.
    pub fn of(&self, tokens: &Tokens) -> u64 {
        let cached = [self.cached_read, self.cached_write].map(|price| price.unwrap_or(self.input));
        let prices = [self.input, self.output, cached[0], cached[1]].map(millionths);
        let amounts = tokens.all().into_iter().zip(prices);
        let costs = amounts.map(|(tokens, price)| u128::from(tokens) * u128::from(price));
        let cost = costs.fold(0, u128::saturating_add) / 1_000_000;
        u64::try_from(cost).unwrap_or(u64::MAX)
    }
}

/// An amount of money in millionths.
pub(crate) fn millionths(amount: f64) -> u64 {
    whole(amount * 1e6)
}

/// The nearest whole number from 0 to the largest; 0 of what is no number.
fn whole(number: f64) -> u64 {
    let digits = format!("{:.0}", number.max(0.0).abs());
    digits.parse().unwrap_or(u64::MAX)
}

/// A count in a recording. What is negative or no number counts as nothing.
pub(crate) fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(value
        .as_u64()
        .unwrap_or_else(|| whole(value.as_f64().unwrap_or_default())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prices(text: &str) -> Prices {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn tokens_of_the_cache_cost_as_much_as_the_input_unless_they_have_a_price() {
        let tokens = Tokens::of([1_000_000, 2_000_000, 3_000_000, 4_000_000]);
        assert_eq!(prices(r#"{"input":3,"output":15}"#).of(&tokens), 54_000_000);
        let all = prices(r#"{"input":3,"output":15,"cached-read":0.3,"cached-write":3.75}"#);
        assert_eq!(all.of(&tokens), 48_900_000);
        let most = Tokens::of([u64::MAX; 4]);
        assert_eq!(all.of(&most), u64::MAX);
        let dear = prices(r#"{"input":1e300,"output":1e300}"#);
        assert_eq!(dear.of(&most), u64::MAX);
        assert!(all.are_amounts());
        assert!(!prices(r#"{"input":-1,"output":15}"#).are_amounts());
    }

    #[test]
    fn a_sum_that_shrinks_counts_from_the_start_again() {
        let [small, large] = [Tokens::of([1, 2, 0, 0]), Tokens::of([5, 2, 1, 0])];
        assert_eq!(large.since(small), Tokens::of([4, 0, 1, 0]));
        assert_eq!(small.since(large), small);
    }

    #[test]
    fn counts_that_are_none_are_nothing() {
        for (text, expected) in [
            ("7", 7),
            ("-7", 0),
            ("1.6", 2),
            ("1e300", u64::MAX),
            ("\"7\"", 0),
            ("null", 0),
        ] {
            let mut from = serde_json::Deserializer::from_str(text);
            assert_eq!(count(&mut from).unwrap(), expected, "{text}");
        }
    }
}
