//! What the user is told about a request that failed: the error with its data, and the end of the agent's standard
//! error.
//!
//! Everything in an error is from outside: each part is quoted, without secrets, and their number and lengths are
//! bounded.

use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_secrets::masked;
use serde_json::Value;

/// How many lines of a text are shown, and how many members of an error's data.
const LINES: usize = 8;

/// The prefix of a line of a longer text.
const MARK: &str = "  | ";

/// The prefix of the host's own errors, which the agent's output need not be about.
const OURS: &str = "acp-chain: ";

/// The member of an error's data in which the host passes on the agent's standard error.
const STDERR: &str = "stderr";

/// The lines about an error. `printed` is the agent's standard error, unless the error has it, or is the host's own.
pub fn lines(method: &str, error: &Value, printed: &str) -> Vec<String> {
    let mut lines = vec![headline(method, error)];
    match &error["data"] {
        Value::Null => {}
        Value::Object(members) => {
            let members = members.iter().filter(|(key, _)| *key != STDERR);
            for (key, value) in members.take(LINES) {
                lines.extend(detail(key, value));
            }
        }
        data => lines.extend(detail("data", data)),
    }
    let is_ours = error["message"]
        .as_str()
        .is_some_and(|message| message.starts_with(OURS));
    let other = if is_ours { "" } else { printed };
    let printed = error["data"][STDERR].as_str().unwrap_or(other);
    let all: Vec<_> = printed.trim().lines().collect();
    if !all.is_empty() {
        let last = &all[all.len().saturating_sub(LINES)..];
        lines.push("  The agent's standard error ends with:".to_owned());
        lines.extend(last.iter().map(|line| marked(line)));
    }
    lines
}

/// Whether the error is the host's own about a proxy.
pub fn is_of_proxy(error: &Value) -> bool {
    let message = error["message"].as_str().unwrap_or_default();
    let ours = message.strip_prefix(OURS);
    ours.is_some_and(|message| message.starts_with("the proxy `"))
}

/// Whether the error says that a guard lets no message of this method pass.
pub fn is_of_guard(method: &str, error: &Value) -> bool {
    let message = error["message"].as_str().unwrap_or_default();
    let refusal = format!("{OURS}{method} cannot pass the guard ");
    message.starts_with(&refusal)
}

/// The message; the host's own names the part that failed.
fn headline(method: &str, error: &Value) -> String {
    let Some(message) = error["message"].as_str() else {
        return format!(
            "`{method}` failed: {}",
            shown(&error.to_string(), MAX_QUOTE)
        );
    };
    match message.strip_prefix(OURS) {
        Some(message) => shown(message, 4 * MAX_QUOTE),
        None => format!("`{method}` failed: {}", shown(message, MAX_QUOTE)),
    }
}

/// A member of an error's data.
fn detail(name: &str, value: &Value) -> Vec<String> {
    let name = shown(name, MAX_QUOTE);
    let whole = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    let text = whole.trim();
    if text.lines().nth(1).is_none() {
        return vec![format!("  {name}: {}", shown(text, MAX_QUOTE))];
    }
    let heading = format!("  {name}:");
    let first = text.lines().take(LINES).map(marked);
    std::iter::once(heading).chain(first).collect()
}

fn marked(line: &str) -> String {
    format!("{MARK}{}", shown(line.trim_end(), MAX_QUOTE))
}

/// A text from outside, without the secrets that are found in it.
fn shown(text: &str, most: usize) -> String {
    quote(&masked(text), most)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_error_of_the_agent_is_told_with_its_request_its_data_and_the_last_output() {
        let error = json!({
            "code": -32603,
            "message": "Internal error",
            "data": { "details": "Claude Code process exited with code 1", "stack": "one\n  two" },
        });
        let expected = [
            "`session/new` failed: Internal error",
            "  details: Claude Code process exited with code 1",
            "  stack:",
            "  | one",
            "  |   two",
            "  The agent's standard error ends with:",
            "  | it cannot run as root",
        ];
        assert_eq!(
            lines("session/new", &error, "it cannot run as root\n"),
            expected
        );
    }

    #[test]
    fn an_error_of_the_host_has_the_standard_error_itself() {
        let error = json!({
            "message": "acp-chain: the agent exited with code 3",
            "data": { "stderr": "FATAL: license expired" },
        });
        let expected = [
            "the agent exited with code 3",
            "  The agent's standard error ends with:",
            "  | FATAL: license expired",
        ];
        assert_eq!(lines("initialize", &error, "other"), expected);
        let plain = json!({ "message": "acp-chain: no" });
        assert_eq!(lines("initialize", &plain, "other"), ["no"]);
    }

    #[test]
    fn secrets_are_not_told() {
        let token = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
        let error = json!({ "message": token, "data": { "url": token, "more": [token] } });
        let told = lines("initialize", &error, &format!("{token}\n")).join("\n");
        assert_eq!(told.matches("[redacted: ").count(), 4, "{told}");
        assert!(!told.contains(&token), "{told}");
    }

    #[test]
    fn what_is_told_is_bounded_and_cannot_steer_the_terminal() {
        let long = "\u{1b}[2J".repeat(MAX_QUOTE);
        let many: serde_json::Map<_, _> = (0..1000)
            .map(|number| (format!("k{number}"), json!(format!("{long}\n").repeat(100))))
            .collect();
        let error = json!({ "message": long, "data": many });
        let told = lines("initialize", &error, &format!("{long}\n").repeat(100));
        assert!(told.len() <= 2 + LINES * (LINES + 2), "{}", told.len());
        for line in told {
            assert!(line.len() < 2 * MAX_QUOTE && !line.contains('\u{1b}'));
        }
        for (data, shown) in [(json!(["a"]), "  data: [\"a\"]"), (json!("b"), "  data: b")] {
            let error = json!({ "message": "m", "data": data });
            assert_eq!(lines("x", &error, "")[1], shown);
        }
    }
}
