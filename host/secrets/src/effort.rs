//! The budget for examining a text: an amount for every byte, and an advance. It depends on the text alone, so that the
//! findings do not depend on how it was cut.
//!
//! Text on which rules fail repeatedly exhausts it. Such text is hostile or meaningless, and a stretch of it is removed
//! without being examined.

use serde::{Deserialize, Serialize};

/// The budget of a text.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Effort {
    /// The remaining budget for rules with needles. Below zero, the excess is repaid first.
    rules: i32,
    /// The remaining budget for user patterns without needles, which are tried everywhere.
    patterns: i32,
    /// How much of the text is still to be removed unexamined, in bytes.
    blind: u32,
}

/// The advance of both budgets.
const ADVANCE: i32 = 128 * 1024;
/// The amount for each byte of text.
const RULES: i32 = 4;
const PATTERNS: i32 = 48;
/// The cost of starting an automaton, in characters.
const BEGIN: i32 = 32;

/// The length of a removed stretch, and how much more may be removed to reach the end of a word, in bytes.
const STRETCH: u32 = 16 * 1024;
const WORD: u32 = 1024;

impl Default for Effort {
    fn default() -> Self {
        Self {
            rules: ADVANCE,
            patterns: ADVANCE,
            blind: 0,
        }
    }
}

impl Effort {
    /// Adds the budget for this many bytes of text.
    pub(crate) fn pass(&mut self, bytes: usize) {
        let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
        let earned = |rate: i32| bytes.saturating_mul(rate);
        self.rules = self.rules.saturating_add(earned(RULES)).min(ADVANCE);
        self.patterns = self.patterns.saturating_add(earned(PATTERNS)).min(ADVANCE);
    }

    /// Subtracts the cost of examining this many characters without a match.
    pub(crate) fn spend(&mut self, looked: usize, is_pattern: bool) {
        let spent = i32::try_from(looked)
            .unwrap_or(i32::MAX)
            .saturating_add(BEGIN);
        let left = if is_pattern {
            &mut self.patterns
        } else {
            &mut self.rules
        };
        *left = left.saturating_sub(spent);
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.rules <= 0 || self.patterns <= 0
    }

    /// Begins a stretch that is removed.
    pub(crate) fn go_blind(&mut self) {
        self.blind = STRETCH + WORD;
    }

    /// The end of a removed stretch that began at `from` or earlier, or the end of the text.
    pub(crate) fn blind_end(&mut self, text: &str, from: usize) -> usize {
        let mut at = from;
        for byte in &text.as_bytes()[from..] {
            if self.blind == 0 || (self.blind <= WORD && byte.is_ascii_whitespace()) {
                self.blind = 0;
                break;
            }
            self.blind -= 1;
            at += 1;
        }
        self.pass(at - from);
        // The rest of a character is removed with it.
        text.ceil_char_boundary(at)
    }
}
