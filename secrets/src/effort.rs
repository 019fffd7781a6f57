//! How much may be looked at: so much for every byte of text, and a little in advance. It depends on
//! the text alone, so that what is found does not depend on how it was cut.
//!
//! Text on which a rule fails again and again uses it up. It is hostile, or none that anybody reads,
//! and a stretch of it is taken out without being looked at.

use serde::{Deserialize, Serialize};

/// What a text may cost.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Effort {
    /// For the rules, which have needles. Below zero what was looked at too much is paid back.
    rules: i32,
    /// For patterns of the user's that have to be tried everywhere.
    patterns: i32,
    /// How much of the text is still to be taken out.
    blind: u32,
}

/// In advance, for both.
const ADVANCE: i32 = 128 * 1024;
/// What every byte of text is worth.
const RULES: i32 = 4;
const PATTERNS: i32 = 48;
/// To begin to look costs as much as so many characters.
const BEGIN: i32 = 32;

/// What is taken out at once, and how much more to get to the end of a word.
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
    /// So much text was passed.
    pub(crate) fn pass(&mut self, bytes: usize) {
        let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
        let earned = |rate: i32| bytes.saturating_mul(rate);
        self.rules = self.rules.saturating_add(earned(RULES)).min(ADVANCE);
        self.patterns = self.patterns.saturating_add(earned(PATTERNS)).min(ADVANCE);
    }

    /// So many characters were looked at in vain.
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

    /// From here on a stretch is taken out.
    pub(crate) fn go_blind(&mut self) {
        self.blind = STRETCH + WORD;
    }

    /// Where the stretch ends that is taken out, if that is in this text, which it began before.
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
        // The rest of a character goes with it.
        text.ceil_char_boundary(at)
    }
}
