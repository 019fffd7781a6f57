//! A report as CI systems read it (`JUnit`).

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

/// The outcome of one transcript, or of one check, by name: `None`, or its failure.
pub type Case = (String, Option<String>);

/// Writes the report of a command, about cases of a kind.
///
/// # Errors
/// If it cannot be represented in XML.
pub fn report(command: &str, kind: &str, cases: &[Case]) -> Result<String, String> {
    let mut suite = TestSuite::new(kind);
    for (name, wrong) in cases {
        let status = match wrong {
            None => TestCaseStatus::success(),
            Some(wrong) => {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                let first = wrong.lines().next().unwrap_or_default();
                status.set_message(first).set_description(wrong);
                status
            }
        };
        suite.add_test_case(TestCase::new(name.as_str(), status));
    }
    let mut report = Report::new(command);
    report.add_test_suite(suite);
    report.to_string().map_err(|error| error.to_string())
}
