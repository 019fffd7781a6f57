//! Signing in from a terminal (RFD auth-methods): the client launches its agent's command in a terminal, and that
//! command is this program. An environment variable marks such a launch. Without it, `acp-chain run` gives no terminal
//! to an agent, as its user expects the agent behind proxies.

use acp_chain_acp::{INITIALIZE, protocol_version};
use acp_chain_powers::fold;
use acp_chain_rpc::{Entries, decoded, edit, look_through, member};
use serde_json::{Value, json};

/// The environment variable of a terminal for signing in.
pub const VARIABLE: &str = "ACP_CHAIN_SIGN_IN";

/// The result of `initialize` with the variable in the `env` of each method to sign in from a terminal; `None` if there
/// is nothing to add.
pub fn with_variable(result: &str) -> Option<String> {
    let methods = member(result, "authMethods")?;
    let methods: Vec<Value> = serde_json::from_str(methods).ok()?;
    let version = member(result, "protocolVersion").and_then(protocol_version);
    let is_list = version.is_some_and(|version| version != 1);
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
/// such method. What cannot be read is left out, too: a client may read it.
/// An agent elsewhere cannot use a terminal of this machine, and chooses the words and variables of the command.
pub fn without_terminals(result: &str) -> Option<String> {
    let entries: Vec<_> = Entries::of(result)?.collect();
    let meant = fold(METHODS);
    let (alike, others): (Vec<_>, Vec<_>) = entries.iter().partition(|entry| {
        let name = entry.name.map(decoded);
        name.is_some_and(|name| name.is_none_or(|name| fold(&name) == meant))
    });
    let offered = match &alike[..] {
        [] => return None,
        [one] if one.name.and_then(decoded).as_deref() == Some(METHODS) => Some(one.value),
        // Readers disagree about which one counts.
        _ => None,
    };
    let list = offered.filter(|text| *text == "null" || text.starts_with('['));
    let methods = list.and_then(Entries::of).into_iter().flatten();
    let (dropped, kept): (Vec<_>, Vec<_>) = methods
        .map(|method| method.value)
        .partition(|method| may_run(method));
    if list.is_some() && dropped.is_empty() {
        return None;
    }
    let others = others
        .into_iter()
        .map(|entry| format!("{}:{}", entry.name.unwrap_or_default(), entry.value));
    let without = format!(r#""{METHODS}":[{}]"#, kept.join(","));
    let members: Vec<_> = others.chain([without]).collect();
    Some(format!("{{{}}}", members.join(",")))
}

/// The member with the methods to sign in.
const METHODS: &str = "authMethods";

/// Whether a client may run a command for a method to sign in (JSON text): of the method itself or, as for older agents,
/// of its `_meta`. Some readers take a list for an object, and ignore the case of names.
fn may_run(method: &str) -> bool {
    let Ok(read) = serde_json::from_str::<Value>(method) else {
        return true;
    };
    let is_terminal = |place: &Value| named(place, "type").any(|kind| kind == "terminal");
    let mut metas = named(&read, "_meta");
    let is_of_meta = metas.any(|meta| {
        is_terminal(meta) || named(meta, "terminal-auth").any(|command| !command.is_null())
    });
    !read.is_object()
        || is_terminal(&read)
        || is_of_meta
        || look_through(method, INITIALIZE).is_err()
}

/// The members of an object with this name in lower case, however they are spelt.
fn named<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    let members = value.as_object().into_iter().flatten();
    let named = members.filter(move |(own, _)| fold(own) == name);
    named.map(|(_, value)| value)
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
        const KEY: &str = r#"{ "id":"key","type":"env_var" }"#;
        let offers = |methods: &str| format!(r#"{{"authMethods":{methods},"x":1e400}}"#);
        let left = |methods: &str| format!(r#"{{"x":1e400,"authMethods":{methods}}}"#);
        let deep = format!(
            r#"{{"type":"terminal","a":{}}}"#,
            "[".repeat(200) + &"]".repeat(200)
        );
        for run in [
            r#"{"id":"t","type":"terminal","args":["--","sh"]}"#,
            r#"{"id":"t","_meta":{"type":"terminal"}}"#,
            r#"{"id":"t","_meta":{"terminal-auth":{"command":"sh","args":[]}}}"#,
            r#"["terminal","t","Sign in",null,["--","sh"],{},null]"#,
            // Some readers take these for the same, and some read what others cannot.
            r#"{"id":"t","Type":"terminal"}"#,
            r#"{"id":"t","_META":{"Terminal-Auth":{"command":"sh"}}}"#,
            r#"{"type":"terminal","type":"env_var"}"#,
            r#"{"type":"terminal","_meta":{"a":1e400}}"#,
            r#"{"type":"terminal","name":"\ud800"}"#,
            &deep,
        ] {
            let offered = offers(&format!("[{KEY},{run}]"));
            let expected = left(&format!("[{KEY}]"));
            assert_eq!(without_terminals(&offered), Some(expected), "{run}");
        }
        let terminal = r#"[{"type":"terminal"}]"#;
        for odd in [
            r#""authMethods":{"0":{"type":"terminal"}}"#.to_owned(),
            r#""authMethods":7"#.to_owned(),
            format!(r#""AuthMethods":{terminal}"#),
            format!(r#""authMethods":[],"authMethods":{terminal}"#),
            format!(r#""authMethods":[],"auth\ud800":{terminal}"#),
        ] {
            let offered = format!(r#"{{{odd},"x":1e400}}"#);
            assert_eq!(without_terminals(&offered), Some(left("[]")), "{odd}");
        }
        for kept in ["[]", "null", &format!("[{KEY}]")] {
            assert_eq!(without_terminals(&offers(kept)), None, "{kept}");
        }
        assert_eq!(without_terminals(r#"{"x":1e400}"#), None);
    }
}
