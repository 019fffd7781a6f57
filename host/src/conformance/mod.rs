//! Checks what every proxy must withstand: a component runs in the sandbox and the chain of a run, between two
//! simulated ends.
//!
//! Invariants:
//! - It ends. A call of the component ends at its limits `time` and `wait`, a check after [`PATIENCE`], and nothing more is played
//!   once the component broke.
//! - The same seed plays the same messages. Time is simulated, as in a [transcript](crate::transcript).
//! - A finding has a remedy.

pub mod asks;
mod changed;
mod check;
mod checks;
mod excerpt;
mod finding;
mod mark;
mod observed;
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

/// Runs these checks on a component, in the order of [`CHECKS`]. They end early if it does not start, or does not
/// become idle.
pub fn run(under_test: &UnderTest, is_wanted: impl Fn(&Check) -> bool) -> Report {
    let mut outcomes = Vec::new();
    let mut goes_on = true;
    for check in CHECKS.iter().filter(|check| is_wanted(check)) {
        let outcome = match goes_on {
            true => Outcome::of(check, under_test),
            false => Outcome::not_run(check),
        };
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
