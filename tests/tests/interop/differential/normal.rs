//! What the ends received, without a conductor's own ids and words.

use std::collections::HashMap;
use std::fmt::Write as _;

use serde_json::Value;

use crate::differential::play::PlayOutcome;

/// What the client and the agent received. The ids of requests, and those in cancellations, are numbered by
/// their first appearance. Errors that neither end sent have only their code.
pub fn heard(played: &PlayOutcome) -> String {
    let said = ["client", "agent"].map(|end| played.transcript.sent(end));
    let errors: Vec<_> = said
        .iter()
        .flatten()
        .filter_map(|line| error(line))
        .collect();
    let mut text = String::new();
    for end in ["client", "agent"] {
        let mut numbers = HashMap::new();
        for line in played.transcript.received(end) {
            let line = normal(&line, &mut numbers, &errors);
            let _ = writeln!(text, "{end} ← {line}");
        }
    }
    if !played.lives {
        text.push_str("the connection ended\n");
    }
    text
}

fn error(line: &str) -> Option<Value> {
    let line: Value = serde_json::from_str(line).ok()?;
    line.get("error").cloned()
}

fn normal(line: &str, numbers: &mut HashMap<String, usize>, said: &[Value]) -> String {
    let Ok(mut message) = serde_json::from_str::<Value>(line) else {
        return line.to_owned();
    };
    let mut number = |id: &Value| {
        let next = numbers.len() + 1;
        Value::from(format!(
            "#{}",
            numbers.entry(id.to_string()).or_insert(next)
        ))
    };
    if message.get("method").is_some()
        && let Some(id) = message.get_mut("id")
    {
        *id = number(id);
    }
    if message["method"] == "$/cancel_request" {
        let id = &mut message["params"]["requestId"];
        *id = number(id);
    }
    if let Some(error) = message
        .get_mut("error")
        .filter(|error| !said.contains(error))
    {
        *error = error["code"].clone();
    }
    message.to_string()
}
