//! Distinguishes secrets from lookalikes.

use crate::machine::{CombinedRegex, Machine};
use crate::rules::Rule;

/// Whether a text in a match of a rule is a secret. `never` are the patterns that no secret of the catalogue matches.
pub(crate) fn is_secret(
    rule: &Rule,
    machine: &Machine,
    never: &CombinedRegex,
    secret: &[u8],
    around: &[u8],
) -> Result<bool, String> {
    let is_unlikely = (rule.entropy > 0.0 && entropy(secret) < rule.entropy)
        || (rule.random && reads_like_words(secret))
        || (rule.repeats && repeats(secret, around));
    if is_unlikely {
        return Ok(false);
    }
    for regexes in &machine.all {
        if !regexes.is_in(secret)? {
            return Ok(false);
        }
    }
    Ok(!machine.none.is_in(secret)?
        && !machine.around.is_in(around)?
        && (rule.custom || !never.is_in(secret)?))
}

/// Shannon entropy, in bits per byte.
#[expect(clippy::cast_precision_loss, reason = "a secret is short")]
fn entropy(text: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text {
        counts[usize::from(*byte)] += 1;
    }
    let length = text.len() as f64;
    let weighed = |count: &u32| match count {
        0 | 1 => 0.0,
        2 => 2.0,
        _ => f64::from(*count) * f64::from(*count).log2(),
    };
    length.log2() - counts.iter().map(weighed).sum::<f64>() / length
}

/// Whether a text consists of words, as names do: with few digits, and with a word's share of vowels. The catalogue
/// uses a tokenizer, whose tables are larger than this whole proxy.
fn reads_like_words(text: &[u8]) -> bool {
    let letters = text
        .iter()
        .filter(|byte| byte.is_ascii_alphabetic())
        .count();
    let digits = text.iter().filter(|byte| byte.is_ascii_digit()).count();
    let vowels = text
        .iter()
        .filter(|byte| b"aeiouyAEIOUY".contains(byte))
        .count();
    digits * 10 <= letters && (letters..=letters * 2).contains(&(vowels * 4))
}

/// Whether a password is the name of its user.
fn repeats(secret: &[u8], around: &[u8]) -> bool {
    around.starts_with(&[b"://", secret, b":", secret].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_is_that_of_shannon() {
        assert!((entropy(b"aaaa") - 0.0).abs() < 1e-9);
        assert!((entropy(b"abab") - 1.0).abs() < 1e-9);
        assert!((entropy(b"abcdefgh") - 3.0).abs() < 1e-9);
    }

    #[test]
    fn names_read_like_words_and_tokens_do_not() {
        for name in ["my_application_configuration", "ThisIsAnIdentifierInCode"] {
            assert!(reads_like_words(name.as_bytes()), "{name}");
        }
        for token in ["k3jf9xq2lz8v7b1n", "4f2a8c91e07d3b65", "xkqzvbnmtrplkjhg"] {
            assert!(!reads_like_words(token.as_bytes()), "{token}");
        }
    }
}
