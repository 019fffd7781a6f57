//! Calls that an agent shows in ACP and for which it runs no hook: they run at the model's provider, are no tools, or
//! were rejected by the agent itself.

use acp_chain_rpc::value_at;

/// How such calls are recognized, by the updates that show them.
#[derive(Debug)]
pub(crate) enum Unhooked {
    /// By a text that begins like this, at this pointer.
    Marked(&'static str, &'static str),
    /// By a failure whose text begins like this.
    Rejected(&'static str),
    /// By the agent's own name of the tool, its kind, and these members of the input. A tool of a server has another
    /// kind.
    Tool(&'static str, &'static str, &'static [&'static str]),
}

/// Where updates have the text of a failure. Some agents put it into a fenced block.
const FAILURES: &[&str] = &["/rawOutput", "/rawOutput/0/text", "/content/0/content/text"];

impl Unhooked {
    /// Whether an update (JSON text) is of such a call.
    pub(crate) fn is_shown_by(&self, update: &str) -> bool {
        match self {
            Self::Marked(pointer, start) => begins(update, pointer, start),
            Self::Tool(name, kind, members) => {
                let is = |pointer, text: &str| {
                    value_at::<String>(update, pointer).is_some_and(|value| value == text)
                };
                let has = |name: &&str| value_at::<String>(update, &format!("/rawInput/{name}"));
                is("/title", name)
                    && is("/kind", kind)
                    && members.iter().all(|name| has(name).is_some())
            }
            Self::Rejected(start) => {
                value_at::<String>(update, "/status").as_deref() == Some("failed")
                    && FAILURES
                        .iter()
                        .any(|pointer| begins(update, pointer, start))
            }
        }
    }
}

fn begins(update: &str, pointer: &str, start: &str) -> bool {
    value_at::<String>(update, pointer)
        .is_some_and(|text| text.trim_start_matches(['`', '\n']).starts_with(start))
}

#[cfg(test)]
mod tests {
    use crate::dialect;

    #[test]
    fn calls_without_a_hook_are_recognized_by_their_updates() {
        for (name, update, expected) in [
            (
                "codex",
                r#"{"kind":"search","rawInput":{"type":"webSearch"}}"#,
                true,
            ),
            ("codex", r#"{"kind":"search","title":"rg x"}"#, false),
            (
                "codex-older",
                r#"{"kind":"fetch","title":"Searching the Web"}"#,
                true,
            ),
            (
                "codex",
                r#"{"toolCallId":"mcp_startup.x","status":"failed"}"#,
                true,
            ),
            ("codex", r#"{"kind":"execute","status":"completed"}"#, false),
            ("claude", r#"{"toolCallId":"srvtoolu_1"}"#, true),
            (
                "claude",
                r#"{"status":"failed","rawOutput":"<tool_use_error>InputValidationError: x</tool_use_error>"}"#,
                true,
            ),
            (
                "claude",
                r#"{"status":"failed","content":[{"content":{"text":"```\n<tool_use_error>Error: No such tool available: x"}}]}"#,
                true,
            ),
            (
                "claude",
                r#"{"status":"completed","rawOutput":"<tool_use_error>"}"#,
                false,
            ),
            (
                "claude",
                r#"{"status":"failed","rawOutput":"Exit code 1"}"#,
                false,
            ),
            (
                "pi",
                r#"{"status":"failed","rawOutput":"<tool_use_error>"}"#,
                false,
            ),
            (
                "opencode",
                r#"{"title":"task","kind":"think","rawInput":{"subagent_type":"general","command":"sub"}}"#,
                true,
            ),
            // The model's own call, and tools of servers.
            (
                "opencode",
                r#"{"title":"task","kind":"think","rawInput":{"subagent_type":"general"}}"#,
                false,
            ),
            (
                "opencode",
                r#"{"title":"task","kind":"other","rawInput":{"subagent_type":"general","command":"sub"}}"#,
                false,
            ),
            (
                "kilo",
                r#"{"title":"x_task","kind":"think","rawInput":{"subagent_type":"general","command":"sub"}}"#,
                false,
            ),
            (
                "kilo",
                r#"{"title":"bash","kind":"execute","rawInput":{"subagent_type":"","command":"rm"}}"#,
                false,
            ),
            ("claude", "7", false),
        ] {
            let dialect = dialect(name).unwrap();
            assert_eq!(dialect.runs_no_hook(update), expected, "{name} {update}");
        }
    }
}
