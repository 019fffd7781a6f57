//! Whether the component starts, and subscribes only to messages that its powers cover.

use serde_json::{Map, Value};

use crate::conformance::asks;
use crate::conformance::finding::Finding;
use crate::conformance::stop::broke;
use crate::conformance::under_test::UnderTest;
use acp_chain_sandbox::{DECLINES, Guest};

/// A member that no configuration has.
const UNKNOWN: &str = "conformance-unknown-member";

pub fn run(under_test: &UnderTest) -> Vec<Finding> {
    let guest = &under_test.guest;
    let registration = match UnderTest::start(guest, None) {
        Ok(registration) => registration,
        Err(failure) => {
            let finding = if failure.reason == DECLINES {
                Finding::failure(failure.to_string())
                    .with_remedy("give it the configuration that it needs: `--config JSON`")
            } else {
                broke("when it starts", &failure)
            };
            return vec![Finding {
                is_last: true,
                ..finding
            }];
        }
    };
    let remarks = asks::compare(&registration, &guest.grant, None);
    let warnings = remarks.iter().filter_map(|line| line.strip_prefix("! "));
    let warnings = warnings.map(|line| Finding::warning(format!("it {line}")));
    let mut findings: Vec<_> = warnings.collect();
    if !registration.offers.is_empty() && !guest.grant.has("tools") {
        let offers = registration.offers;
        let what =
            format!("it has {offers}, but the agent does not get them: it lacks the power `tools`");
        findings.push(Finding::warning(what));
    }
    let mut config: Map<String, Value> = serde_json::from_str(&guest.config).unwrap_or_default();
    config.insert(UNKNOWN.to_owned(), Value::Bool(true));
    let config = Value::Object(config).to_string();
    let odd = Guest {
        config: config.as_str().into(),
        ..guest.clone()
    };
    match UnderTest::start(&odd, None) {
        Err(failure) if failure.reason != DECLINES => {
            let finding = broke("when its configuration has an unknown member", &failure);
            findings.push(finding.with_case([format!("  config {config}")]));
        }
        Ok(_) | Err(_) => {}
    }
    findings
}
