//! Signing in from a terminal (RFD auth-methods): the client launches its agent's command in a terminal, and that
//! command is this program. An environment variable marks such a launch. Without it, `acp-chain run` gives no terminal
//! to an agent, as its user expects the agent behind proxies.

use acp_chain_rpc::{edit, member};
use serde_json::{Value, json};

/// The environment variable of a terminal for signing in.
pub const VARIABLE: &str = "ACP_CHAIN_SIGN_IN";

/// The result of `initialize` with the variable in the `env` of each method to sign in from a terminal; `None` if there
/// is nothing to add.
pub fn with_variable(result: &str) -> Option<String> {
    let methods = member(result, "authMethods")?;
    let methods: Vec<Value> = serde_json::from_str(methods).ok()?;
    let is_list = member(result, "protocolVersion").is_some_and(|version| version != "1");
    let mut edited: Option<String> = None;
    for (index, method) in methods.iter().enumerate() {
        // In the method, or for older agents in its `_meta`.
        let mut places = ["", "/_meta"].into_iter();
        let is_terminal = |place: &&str| {
            let kind = method.pointer(place).map(|place| &place["type"]);
            kind.is_some_and(|kind| kind == "terminal")
        };
        let Some(place) = places.find(is_terminal) else {
            continue;
        };
        let env = method.pointer(&format!("{place}/env"));
        let at = format!("/authMethods/{index}{place}/env");
        let one = json!({ "name": VARIABLE, "value": "1" });
        let (at, value) = match env {
            Some(Value::Object(env)) if env.contains_key(VARIABLE) => continue,
            Some(Value::Array(env)) if env.contains(&one) => continue,
            Some(Value::Object(_)) => (format!("{at}/{VARIABLE}"), json!("1")),
            Some(Value::Array(_)) => (format!("{at}/-"), one),
            _ if is_list => (at, json!([one])),
            _ => (at, json!({ VARIABLE: "1" })),
        };
        let text = edited.as_deref().unwrap_or(result);
        edited = Some(edit(text, &at, Some(&value.to_string())).ok()?);
    }
    edited
}

/// The result of `initialize` without the methods to sign in for which the client runs a command; `None` if it has no
/// such method.
/// An agent elsewhere cannot use a terminal of this machine, and chooses the words and variables of the command.
pub fn without_terminals(result: &str) -> Option<String> {
    let methods = member(result, "authMethods")?;
    let methods: Vec<Value> = serde_json::from_str(methods).ok()?;
    let kept: Vec<_> = methods.iter().filter(|method| !may_run(method)).collect();
    if kept.len() == methods.len() {
        return None;
    }
    edit(result, "/authMethods", Some(&json!(kept).to_string())).ok()
}

/// Whether a client may run a command for a method to sign in: of the method itself or, as for older agents, of its
/// `_meta`. Some readers take a list for an object.
fn may_run(method: &Value) -> bool {
    let meta = &method["_meta"];
    let is_terminal = |place: &Value| place["type"] == "terminal";
    let is_named = !meta["terminal-auth"].is_null();
    !method.is_object() || is_terminal(method) || is_terminal(meta) || is_named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_from_a_terminal_has_the_variable_once() {
        for (version, methods, expected) in [
            (1, r#"[{"id":"key"}]"#, None),
            (
                1,
                r#"[{"id":"k"},{"type":"terminal","args":["-l"]},{"_meta":{"type":"terminal"}}]"#,
                Some(
                    r#"[{"id":"k"},{"type":"terminal","args":["-l"],"env":{"ACP_CHAIN_SIGN_IN":"1"}},{"_meta":{"type":"terminal","env":{"ACP_CHAIN_SIGN_IN":"1"}}}]"#,
                ),
            ),
            (
                1,
                r#"[{"type":"terminal","env":{"A":"b"}}]"#,
                Some(r#"[{"type":"terminal","env":{"A":"b","ACP_CHAIN_SIGN_IN":"1"}}]"#),
            ),
            (
                2,
                r#"[{"type":"terminal"},{"type":"terminal","env":[]}]"#,
                Some(
                    r#"[{"type":"terminal","env":[{"name":"ACP_CHAIN_SIGN_IN","value":"1"}]},{"type":"terminal","env":[{"name":"ACP_CHAIN_SIGN_IN","value":"1"}]}]"#,
                ),
            ),
            (1, r#"{"type":"terminal"}"#, None),
            (1, "[7, null]", None),
        ] {
            let result =
                |methods| format!(r#"{{"protocolVersion":{version},"authMethods":{methods}}}"#);
            let marked = with_variable(&result(methods));
            assert_eq!(marked, expected.map(result), "{methods}");
            if let Some(marked) = marked {
                assert_eq!(with_variable(&marked), None, "{methods}");
            }
        }
        assert_eq!(with_variable("{}"), None);
    }

    #[test]
    fn an_agent_elsewhere_has_no_command_run_to_sign_in() {
        let result = |methods: &str| format!(r#"{{"authMethods":{methods},"x":1e400}}"#);
        for run in [
            r#"{"id":"t","type":"terminal","args":["--","sh"]}"#,
            r#"{"id":"t","_meta":{"type":"terminal"}}"#,
            r#"{"id":"t","_meta":{"terminal-auth":{"command":"sh","args":[]}}}"#,
            r#"["terminal","t","Sign in",null,["--","sh"],{},null]"#,
        ] {
            let offered = result(&format!(r#"[{{"id":"key"}},{run}]"#));
            let left = without_terminals(&offered);
            assert_eq!(left, Some(result(r#"[{"id":"key"}]"#)), "{run}");
        }
        for kept in [r#"[{"id":"key","type":"env_var"}]"#, "[]", "7"] {
            assert_eq!(without_terminals(&result(kept)), None, "{kept}");
        }
    }
}
