//! Finds secrets in text that arrives in pieces: for the proxy `redact`, and for the host's trace.
//!
//! | file | what it is |
//! |---|---|
//! | `rules` | the built-in rules for secrets |
//! | `pattern` | a user's rule: a regex |
//! | `needles` | the literal texts by which matches of a rule are found |
//! | `detector` | searches a text, and removes secrets |
//! | `machine` | a rule as automata |
//! | `judge` | distinguishes secrets from lookalikes |
//! | `effort` | the budget for examining a text |
//! | `masked` | text for people, without its secrets |
//! | `text` | decodes escapes |
//! | `coding` | text encoded as Base64 in a string |
//!
//! Invariants: the output depends on the text alone, never on how it was cut, and the cost is bounded by its length.

#![forbid(unsafe_code)]

mod coding;
mod detector;
mod effort;
mod judge;
mod machine;
mod masked;
mod needles;
mod pattern;
mod rules;
mod text;

pub use coding::{Coding, DecodedText};
pub use detector::{Detector, Marker, Marking, Place, RedactedText, Secret, Tail, UNCLEAR};
pub use effort::Effort;
pub use masked::masked;
pub use pattern::pattern;
pub use rules::{ASSIGNMENT, Rule, defaults};
pub use text::End;
