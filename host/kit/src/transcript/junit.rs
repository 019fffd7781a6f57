//! Reports for CI systems, in `JUnit` format.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

/// The name of a transcript or a check, and its failure; `None` if it passed.
pub type Case = (String, Option<String>);

/// The `JUnit` report of a command, with one suite named `kind`.
///
/// # Errors
/// If the report cannot be represented in XML.
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
