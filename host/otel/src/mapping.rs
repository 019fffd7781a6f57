//! The names of spans and metrics, and the parts of messages that they may contain.
//!
//! `gen_ai.*` and `mcp.*` are from the [semantic conventions for generative AI][genai], which are in development and
//! have no release yet: spans as of commit `002c8a6ea1c8`, MCP as of `5c50d346f1c9`, metrics as of `004902b8cb70`, the
//! last before counters replaced `gen_ai.client.token.usage`. `error.type`, `rpc.response.status_code`,
//! `jsonrpc.request.id` and `enduser.id` are from the general conventions. `acp.*` are ours: there are none for the
//! Agent Client Protocol.
//!
//! `gen_ai.provider.name`, which these require, is omitted: the protocol does not report which models an agent uses.
//!
//! [genai]: https://github.com/open-telemetry/semantic-conventions-genai

use opentelemetry::{InstrumentationScope, KeyValue};

/// Attributes of the conventions.
pub const OPERATION: &str = "gen_ai.operation.name";
pub const AGENT_NAME: &str = "gen_ai.agent.name";
pub const AGENT_VERSION: &str = "gen_ai.agent.version";
pub const CONVERSATION: &str = "gen_ai.conversation.id";
pub const FINISH_REASONS: &str = "gen_ai.response.finish_reasons";
pub const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
pub const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
pub const CACHE_READ_TOKENS: &str = "gen_ai.usage.cache_read.input_tokens";
pub const CACHE_CREATION_TOKENS: &str = "gen_ai.usage.cache_creation.input_tokens";
pub const REASONING_TOKENS: &str = "gen_ai.usage.reasoning.output_tokens";
pub const TOKEN_TYPE: &str = "gen_ai.token.type";
pub const TOOL_NAME: &str = "gen_ai.tool.name";
pub const TOOL_CALL: &str = "gen_ai.tool.call.id";
pub const INPUT: &str = "gen_ai.input.messages";
pub const OUTPUT: &str = "gen_ai.output.messages";
pub const ARGUMENTS: &str = "gen_ai.tool.call.arguments";
pub const RESULT: &str = "gen_ai.tool.call.result";
pub const PROMPT_NAME: &str = "gen_ai.prompt.name";
pub const MCP_METHOD: &str = "mcp.method.name";
pub const MCP_SESSION: &str = "mcp.session.id";
pub const REQUEST_ID: &str = "jsonrpc.request.id";
pub const STATUS_CODE: &str = "rpc.response.status_code";
pub const ERROR_TYPE: &str = "error.type";
pub const USER: &str = "enduser.id";

/// Our own attributes.
pub const CONNECTION: &str = "acp.connection.id";
pub const ROLE: &str = "acp.role";
pub const PROXIES: &str = "acp.proxies";
pub const METHOD: &str = "acp.method";
pub const PROXY: &str = "acp.proxy.id";
pub const DECISION: &str = "acp.decision";
pub const TOOL_STATUS: &str = "acp.tool.status";
pub const OUTCOME: &str = "acp.permission.outcome";
pub const DECIDER: &str = "acp.permission.decider";
pub const PROVIDER: &str = "acp.mcp.provider";
pub const RESTARTS: &str = "acp.proxy.restarts";
pub const DENIAL: &str = "acp.denial";
pub const CUT: &str = "acp.content.truncated";
pub const MISSING: &str = "acp.trace.missing";

/// Prefixes of span names.
pub const TURN: &str = "invoke_agent";
pub const TOOL: &str = "execute_tool";
pub const PERMISSION: &str = "acp.permission";
pub const CONNECTION_SPAN: &str = "acp.connection";
pub const HOP: &str = "acp.proxy";

/// Names of events.
pub const FAILED: &str = "acp.proxy.failed";
pub const EXPIRED: &str = "acp.proxy.expired";
pub const RESTARTED: &str = "acp.proxy.restarted";
pub const DENIED: &str = "acp.proxy.denied";
pub const DROPPED: &str = "acp.trace.dropped";

/// Names of metrics.
pub const TOKEN_USAGE: &str = "gen_ai.client.token.usage";
pub const MESSAGES: &str = "acp.proxy.messages";
pub const DECISIONS: &str = "acp.proxy.decisions";
pub const DURATION: &str = "acp.proxy.duration";
pub const HELD: &str = "acp.proxy.held";
pub const FAILURES: &str = "acp.proxy.failures";
pub const RESTART_COUNT: &str = "acp.proxy.restarts";
pub const DENIALS: &str = "acp.proxy.denials";
pub const MEMORY: &str = "acp.proxy.memory";

/// The default name of the service.
pub const SERVICE: &str = "acp-chain";

/// The name of an error without a code.
pub const TOOL_ERROR: &str = "tool_error";

/// The maximum length of a name, in bytes. Longer ones are left out.
const LONGEST: usize = 128;

/// The instrumentation scope.
pub fn scope() -> InstrumentationScope {
    InstrumentationScope::builder("acp-chain")
        .with_version(env!("CARGO_PKG_VERSION"))
        .build()
}

/// The resource: this program and its version.
pub fn resource() -> [KeyValue; 2] {
    [
        KeyValue::new("service.name", SERVICE),
        KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
    ]
}

/// A name or an id from a message, if it may be exported: without spaces, since it could contain a sentence.
pub fn identifier(text: &str) -> Option<&str> {
    let may_be = |char: char| char.is_ascii_alphanumeric() || "-_.:/@$+=#".contains(char);
    (!text.is_empty() && text.len() <= LONGEST && text.chars().all(may_be)).then_some(text)
}

/// The kind of a tool, one of the protocol's constants.
pub fn tool_kind(kind: Option<&str>) -> &'static str {
    let known = "read edit delete move search execute think fetch switch_mode";
    kind.and_then(|kind| one_of(kind, known)).unwrap_or("other")
}

/// The status of a tool call.
pub fn tool_status(status: &str) -> Option<&'static str> {
    one_of(status, "pending in_progress completed failed")
}

/// The kind of the chosen option.
pub fn permission(kind: &str) -> Option<&'static str> {
    one_of(kind, "allow_once allow_always reject_once reject_always")
}

fn one_of(text: &str, words: &'static str) -> Option<&'static str> {
    words.split(' ').find(|word| *word == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_are_exported() {
        for name in [
            "sess_1f-3a",
            "tools/call",
            "mcp__fs:read",
            "https://id.example#ann",
            "7",
        ] {
            assert_eq!(identifier(name), Some(name));
        }
        for text in [
            "",
            "two words",
            "a\nb",
            "naïve",
            "\u{1b}[1m",
            &"x".repeat(129),
        ] {
            assert_eq!(identifier(text), None);
        }
        assert_eq!(tool_kind(Some("hunter2")), "other");
        assert_eq!(permission("hunter2"), None);
    }
}
