//! Titles of calls, safe to show: in the log, and in questions to the user.

use std::fmt;

use acp_chain_proxy::Json;

/// A title for the log: on one line, truncated, with hidden characters escaped.
pub struct LogTitle<'a>(pub Option<&'a str>);

impl fmt::Display for LogTitle<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 200;
        let Some(title) = self.0 else {
            return formatter.write_str("a tool call");
        };
        let shown: String = title.chars().take(MOST).collect();
        let more = if shown.len() < title.len() { "…" } else { "" };
        write!(formatter, "{shown:?}{more}")
    }
}

/// The title of a question about a run: the agent's name of the tool, and its command, or else its first path. `title`
/// is that of the call.
pub fn of_question(call: &Json, title: String) -> String {
    let shown = |pointer| {
        let text = call.at::<String>(pointer);
        text.map(|text| LogTitle(Some(&text)).to_string())
    };
    let Some(tool) = shown("/title") else {
        return title;
    };
    let object = Some(title).filter(|object| *object != tool);
    match object.or_else(|| shown("/locations/0/path")) {
        Some(object) => format!("{tool}: {object}"),
        None => tool,
    }
}
