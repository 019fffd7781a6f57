//! What is read out of calls and questions: their words for a report, and the answer that a question gets.

use acp_chain_ends::client::{allowing, choose};
use acp_chain_hooks::{self as hooks, Kind};
use acp_chain_rpc::value_at;
use serde_json::Value;

/// What a call is in a report: its command, the file that it is about, or its name and its input.
pub(crate) fn title(run: &hooks::Event) -> String {
    let input: Value = serde_json::from_str(&run.input).unwrap_or_default();
    match (run.kind, &input["command"]) {
        (Kind::Execute, Value::String(command)) => return command.clone(),
        (Kind::Execute, Value::Array(words)) => {
            let words = words.iter().filter_map(Value::as_str);
            return words.collect::<Vec<_>>().join(" ");
        }
        _ => {}
    }
    let mut members = ["file_path", "filePath", "path", "url", "pattern", "query"]
        .into_iter()
        .filter_map(|name| input[name].as_str());
    match members.next() {
        Some(member) => format!("{} {member}", run.tool),
        None if run.input == "null" => run.tool.clone(),
        None => format!("{} {}", run.tool, run.input),
    }
}

/// The rule that a text names, as `permissions` does.
pub(crate) fn rule(text: &str) -> Option<String> {
    let digits = |rest: &str| {
        let end = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        rest[..end].to_owned()
    };
    let mut numbers = text.split("rule ").skip(1).map(digits);
    let number = numbers.find(|number| !number.is_empty() && number.len() < 6)?;
    Some(format!("rule {number}"))
}

/// The title of a question, in either version of the protocol.
pub(crate) fn title_of_question(params: &str) -> String {
    let title = value_at(params, "/toolCall/title");
    title
        .or_else(|| value_at(params, "/title"))
        .unwrap_or_default()
}

/// The answer to a question for a permission: the option that allows it, preferably once.
pub(crate) fn yes(params: &str) -> String {
    let params: Value = serde_json::from_str(params).unwrap_or_default();
    choose(allowing(&params)).to_string()
}

#[cfg(test)]
mod tests {
    use acp_chain_hooks::recorded;

    use super::*;

    #[test]
    fn a_rule_is_named_by_its_number() {
        for (text, expected) in [
            ("Denied by rule 12 of the user's settings", Some("rule 12")),
            (
                "rule 3 may match \"rm $(x\", so the user is asked",
                Some("rule 3"),
            ),
            ("the rule of law, by rule 4", Some("rule 4")),
            ("rule 1234567", None),
            ("no reason", None),
        ] {
            assert_eq!(rule(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_call_is_shown_by_what_it_is_about() {
        let shown = |tool: &str, input: &str| title(&recorded("claude", tool, input));
        assert_eq!(shown("Bash", r#"{"command":"make"}"#), "make");
        assert_eq!(shown("Bash", r#"{"command":["make","all"]}"#), "make all");
        assert_eq!(shown("Read", r#"{"file_path":"/a"}"#), "Read /a");
        assert_eq!(shown("mcp__a__b", r#"{"c":1}"#), r#"mcp__a__b {"c":1}"#);
        assert_eq!(shown("mcp__a__b", "null"), "mcp__a__b");
    }

    #[test]
    fn a_question_is_answered_with_yes_once() {
        let options = r#"{"options":[{"optionId":"x","kind":"reject_once"},{"optionId":"y","kind":"allow_once"}]}"#;
        assert_eq!(
            yes(options),
            r#"{"outcome":{"optionId":"y","outcome":"selected"}}"#
        );
        assert_eq!(yes("{}"), r#"{"outcome":{"outcome":"cancelled"}}"#);
    }
}
