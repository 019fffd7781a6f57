//! Checks what every proxy must withstand: a component runs in the sandbox and the chain of a run, between two
//! simulated ends.
//!
//! Invariants:
//! - Every run ends: a call of the component at its limits `time` and `wait`, a check after [`PATIENCE`]. After the
//!   component broke, nothing more is played.
//! - The same seed plays the same messages. Time is simulated, as in a [transcript](crate::transcript).
//! - Every finding has a remedy.

pub mod asks;
mod changed;
mod check;
mod checks;
mod excerpt;
mod finding;
pub mod lists;
mod mark;
mod play;
mod report;
mod stop;
#[cfg(test)]
mod tests;
mod traffic;
mod turns;
mod under_test;

pub use check::Check;
pub use checks::CHECKS;
pub use finding::Finding;
pub use report::{Outcome, Report, Verdict};
pub use stop::PATIENCE;
pub use under_test::UnderTest;

/// Runs the wanted checks on a component, in the order of [`CHECKS`]. After a finding that the component does not
/// start, or does not become idle, the other checks are not run.
pub fn run(under_test: &UnderTest, is_wanted: impl Fn(&Check) -> bool) -> Report {
    let mut outcomes = Vec::new();
    let mut goes_on = true;
    for check in CHECKS.iter().filter(|check| is_wanted(check)) {
        let outcome = Outcome::of(check, goes_on.then_some(under_test));
        goes_on &= !outcome.findings.iter().any(|finding| finding.is_last);
        outcomes.push(outcome);
    }
    Report {
        component: under_test.name().to_owned(),
        seed: under_test.seed,
        cases: under_test.cases,
        outcomes,
    }
}
