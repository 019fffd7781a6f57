//! One entry of the table of checks.

use super::finding::Finding;
use super::under_test::UnderTest;

/// A requirement for every proxy.
#[derive(Debug)]
pub struct Check {
    /// The name on the command line.
    pub name: &'static str,
    /// The promise that a passing component keeps.
    pub promise: &'static str,
    /// The remedy for a failing component.
    pub remedy: &'static str,
    pub(super) run: fn(&UnderTest) -> Vec<Finding>,
}
