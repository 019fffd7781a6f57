//! Finds secrets in text, in whatever pieces it comes: for the proxy `redact`, and for what the host writes down.
//!
//! | file | what it is |
//! |---|---|
//! | `rules` | what is known of secrets |
//! | `pattern` | what a user knows of them: a regex as a rule |
//! | `needles` | the literal texts that a rule is looked for by |
//! | `detector` | looks through a text, and takes out what it finds |
//! | `machine` | a rule as automata |
//! | `judge` | what tells a secret from what only looks like one |
//! | `effort` | what a text may cost |
//! | `text` | a text as it was before it was escaped |
//! | `coding` | text that stands in a string as Base64 |
//! | `oracle` | what the tests compare with |
//!
//! What always holds: what comes out depends on the text alone, never on how it was cut, and what it costs is bounded by
//! its length.

#![forbid(unsafe_code)]

mod coding;
mod detector;
mod effort;
mod judge;
mod machine;
mod needles;
#[cfg(test)]
mod oracle;
mod pattern;
mod rules;
mod text;

pub use coding::Coding;
pub use detector::{Detector, MARKER, Place, Redacted, Secret, Tail, UNCLEAR};
pub use effort::Effort;
pub use pattern::pattern;
pub use rules::{ASSIGNMENT, Rule, defaults};
pub use text::End;
