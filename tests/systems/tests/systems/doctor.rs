//! `acp-chain doctor`.

use serde_json::Value;

use crate::user::{User, agent, fails, succeeds};

/// The findings about the agent.
fn about_agent(printed: &str) -> Vec<Value> {
    // Behind the JSON, there may be lines of standard error.
    let mut values = serde_json::Deserializer::from_str(printed).into_iter::<Value>();
    let Some(Ok(found)) = values.next() else {
        panic!("{printed}");
    };
    let findings = found["findings"].as_array().unwrap().iter();
    let findings = findings.filter(|finding| finding["area"] == "agent");
    findings.cloned().collect()
}

#[test]
fn an_agent_that_answers_is_fine() {
    let user = User::new();
    let mut doctor = user.command("doctor");
    let printed = succeeds(doctor.arg("--json").arg("--").arg(agent()));
    let findings = about_agent(&printed);
    let is_fine = |finding: &Value| finding["state"] == "fine";
    assert!(findings.iter().any(is_fine), "{printed}");
}

#[test]
fn an_agent_that_is_nowhere_is_a_problem_with_a_remedy() {
    let user = User::new();
    let mut doctor = user.command("doctor");
    let printed = fails(doctor.args(["--json", "--", "no-such-agent"]));
    let findings = about_agent(&printed);
    let is_told = |finding: &Value| finding["state"] == "problem" && finding["remedy"].is_object();
    assert!(findings.iter().any(is_told), "{printed}");
}
