//! The trace of a run: by the command line, else the environment, else the user's config.toml.

use std::ffi::OsString;
use std::path::Path;

use clap::builder::FalseyValueParser;

use acp_chain_app::home;
use acp_chain_app::trace::TraceTarget;
use acp_chain_manifest::written;

#[derive(Clone, Debug, Default, clap::Args)]
pub struct TraceArgs {
    /// Append each message that crosses from one part of the chain to the next, and what each proxy decides about it,
    /// to this file, one JSON object a line; an empty name is none. Markers replace the secrets that are found in
    /// messages
    #[arg(long, value_name = "FILE", env = "ACP_CHAIN_TRACE")]
    trace: Option<OsString>,
    /// Leave messages in the trace as they are, secrets included
    #[arg(long, env = "ACP_CHAIN_TRACE_BODIES", value_parser = FalseyValueParser::new())]
    trace_bodies: bool,
    /// Send the agent the span that OpenTelemetry gets for a turn, in the `_meta` of its prompt, where the client does
    /// not say which trace it is part of. Without this, messages that no proxy changes arrive as they were sent
    #[arg(long, env = "ACP_CHAIN_OTEL_PROPAGATE", value_parser = FalseyValueParser::new())]
    otel_propagate: bool,
}

impl TraceArgs {
    /// Whether agents receive the spans of their turns, if spans are exported.
    pub fn propagates(&self) -> bool {
        self.otel_propagate
    }

    /// The file, if one is wanted.
    pub fn target(&self) -> Option<TraceTarget> {
        // Errors in the user's file are reported with the chain.
        let user = home::user().ok();
        let bodies = self.trace_bodies || user.as_ref().is_some_and(|user| user.trace_bodies);
        let path = match &self.trace {
            Some(name) => Some(name)
                .filter(|name| !name.is_empty())
                .map(|name| written(Path::new(name))),
            None => user.and_then(|user| user.trace),
        };
        Some(TraceTarget {
            path: path?,
            bodies,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_may_be_in_the_home() {
        let args = TraceArgs {
            trace: Some("~/t.jsonl".into()),
            ..TraceArgs::default()
        };
        let expected = std::env::home_dir().unwrap().join("t.jsonl");
        assert_eq!(args.target().unwrap().path, expected);
    }
}
