//! Facts about the Agent Client Protocol: which side sends each method, and its effect on a connection, a session or a
//! turn; the effect of updates on a conversation; when a turn begins and ends; the dialects of proxies; and the codes
//! of errors. All other crates use these tables.
//!
//! Invariants: every method of both versions' schemas has a row, and nothing here grants anything.

#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

extern crate alloc;

mod dialect;
mod turns;
mod updates;

pub use dialect::{Dialect, is_successor};
pub use turns::{ACKNOWLEDGED, TurnState, Turns};
pub use updates::{Change, UPDATES};

/// The effect of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// It begins the connection.
    Connects,
    /// It begins a session, which its answer names.
    Begins,
    /// It continues a session that the agent has kept: the agent may replay the session's messages before the answer.
    Loads,
    /// It begins a session, which its answer names, with the history of another.
    Forks,
    /// It ends a running session. `session/delete` does not: it only removes a session from the list.
    Ends,
    /// It opens a turn.
    Prompts,
    /// It stops the turns of a session.
    Stops,
    /// It asks the user for a decision or an input.
    Asks,
    /// It cancels a request.
    Withdraws,
    /// None of these.
    Serves,
}

/// The side that sends a method's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// The client.
    Client,
    /// The agent.
    Agent,
    /// Either.
    Both,
    /// A conductor or a proxy, to its neighbour.
    Neighbour,
}

/// The scope of a method's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// A running session, which the messages name in `sessionId`.
    Session,
    /// The connection, or a session only if the messages name one.
    Connection,
}

/// A method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method {
    /// Its name on the wire.
    pub name: &'static str,
    /// The side that sends it.
    pub sender: Sender,
    /// Its effect.
    pub life: Life,
    /// The scope of its messages.
    pub scope: Scope,
}

/// Whether the protocol has a method of this name. Its messages name their parameters, and so do its answers.
#[must_use]
pub fn is_method(name: &str) -> bool {
    METHODS.iter().any(|row| row.name == name)
}

impl Scope {
    /// The scope of a method; [`Connection`](Self::Connection) for an unknown one.
    #[must_use]
    pub fn of(method: &str) -> Self {
        let row = METHODS.iter().find(|row| row.name == method);
        row.map_or(Self::Connection, |row| row.scope)
    }
}

/// The version that the JSON text of a `protocolVersion` names. Some programs write all numbers as fractions, and some
/// write them as strings.
#[must_use]
pub fn protocol_version(text: &str) -> Option<u64> {
    let quoted = text.strip_prefix('"');
    let bare = quoted
        .and_then(|text| text.strip_suffix('"'))
        .unwrap_or(text);
    let fraction = bare.split_once('.');
    let whole = fraction.filter(|(_, digits)| digits.bytes().all(|digit| digit == b'0'));
    whole.map_or(bare, |(whole, _)| whole).parse().ok()
}

/// The error codes that this program sends or looks for (JSON-RPC 2.0 §5.1, and ACP's own).
pub mod code {
    /// The line was not JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// The JSON was not a request, notification or response, or came out of turn.
    pub const INVALID_REQUEST: i64 = -32600;
    /// The receiver does not support the method.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The receiver cannot use the request's params.
    pub const INVALID_PARAMS: i64 = -32602;
    /// A part of the chain could not do its work.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// The agent requires that its user signs in first.
    pub const AUTH_REQUIRED: i64 = -32000;
    /// There is no such resource, file or session.
    pub const RESOURCE_NOT_FOUND: i64 = -32002;
    /// The request was cancelled by its sender (RFD request-cancellation).
    pub const REQUEST_CANCELLED: i64 = -32800;
}

/// The first request of a connection.
pub const INITIALIZE: &str = "initialize";
/// The request that signs in to the agent.
pub const AUTHENTICATE: &str = "authenticate";
/// The request that begins a session.
pub const NEW: &str = "session/new";
/// The request that opens a turn.
pub const PROMPT: &str = "session/prompt";
/// The notification that stops a session's turns.
pub const CANCEL: &str = "session/cancel";
/// The notification with which the agent sends everything that belongs to a session.
pub const UPDATE: &str = "session/update";
/// The agent's request for a permission.
pub const PERMISSION: &str = "session/request_permission";
/// The agent's request for the text of a file.
pub const READ: &str = "fs/read_text_file";
/// The agent's request to write the text of a file.
pub const WRITE: &str = "fs/write_text_file";
/// The agent's request for input by the user.
pub const ELICITATION: &str = "elicitation/create";
/// `mcp/message`, which carries a message of MCP (RFD mcp-over-acp).
pub const MCP_MESSAGE: &str = "mcp/message";
/// The prefix of the requests by which the host tells proxies of the agent's tool runs (extension methods of ACP). Only
/// the host sends them, and no end receives them.
pub const HOOK: &str = "_acp-chain/hook/";
/// A tool of the agent is about to run.
pub const BEFORE_TOOL: &str = "_acp-chain/hook/before_tool";
/// A tool of the agent has run, and the model has not got its result.
pub const AFTER_TOOL: &str = "_acp-chain/hook/after_tool";
/// The notification that cancels a request.
pub const CANCEL_REQUEST: &str = "$/cancel_request";
/// The same in the Language Server Protocol, whose libraries send it here, too. It names the request in `id`.
pub const CANCEL_REQUEST_OF_LSP: &str = "$/cancelRequest";

/// Whether a notification cancels a request.
#[must_use]
#[inline]
pub fn cancels_request(method: &str) -> bool {
    matches!(method, CANCEL_REQUEST | CANCEL_REQUEST_OF_LSP)
}

/// Whether this is a request by which the agent, or one of its hooks, asks for something within a turn. Once the turn
/// is stopped, nothing that it asks for is allowed (v1, Prompt Turn; RFD elicitation).
#[must_use]
#[inline]
pub fn asks_in_turn(method: &str) -> bool {
    matches!(method, PERMISSION | ELICITATION | BEFORE_TOOL)
}

macro_rules! methods {
    ($($name:literal $sender:ident $life:ident $scope:ident,)*) => {
        /// Every method of both versions.
        pub const METHODS: &[Method] = &[
            $(Method {
                name: $name,
                sender: Sender::$sender,
                life: Life::$life,
                scope: Scope::$scope,
            },)*
        ];

        impl Life {
            /// The effect of a method; [`Serves`](Self::Serves) for an unknown one.
            #[must_use]
            #[inline]
            pub fn of(method: &str) -> Self {
                match method {
                    $($name => Self::$life,)*
                    _ => Self::Serves,
                }
            }
        }
    };
}

methods! {
    // The most frequent first: they are compared in this order.
    "session/update" Agent Serves Session,
    "session/prompt" Client Prompts Session,
    "session/request_permission" Agent Asks Session,
    "initialize" Client Connects Connection,
    "authenticate" Client Serves Connection,
    "logout" Client Serves Connection,
    "auth/login" Client Serves Connection,
    "auth/logout" Client Serves Connection,
    "auth/status" Client Serves Connection,
    "auth/status_update" Agent Serves Connection,
    "providers/list" Client Serves Connection,
    "providers/set" Client Serves Connection,
    "providers/disable" Client Serves Connection,
    "session/new" Client Begins Connection,
    "session/load" Client Loads Session,
    "session/resume" Client Loads Session,
    "session/fork" Client Forks Session,
    "session/close" Client Ends Session,
    "session/archive" Client Ends Session,
    "session/unarchive" Client Serves Session,
    "session/delete" Client Serves Session,
    "session/list" Client Serves Connection,
    "session/status" Client Serves Session,
    "session/options" Client Serves Connection,
    "session/set_title" Client Serves Session,
    "session/set_mode" Client Serves Session,
    "session/set_config_option" Client Serves Session,
    "session/cancel" Client Stops Session,
    "elicitation/create" Agent Asks Connection,
    "elicitation/complete" Agent Serves Connection,
    "fs/read_text_file" Agent Serves Session,
    "fs/write_text_file" Agent Serves Session,
    "terminal/create" Agent Serves Session,
    "terminal/output" Agent Serves Session,
    "terminal/release" Agent Serves Session,
    "terminal/wait_for_exit" Agent Serves Session,
    "terminal/kill" Agent Serves Session,
    "terminal/cancel" Client Serves Session,
    "tool_call/cancel" Client Serves Session,
    "mcp/message" Both Serves Connection,
    "proxy/initialize" Neighbour Serves Connection,
    "proxy/successor" Neighbour Serves Connection,
    "$/cancel_request" Both Withdraws Connection,
}

impl Life {
    /// Whether it sets up a session, with a folder and MCP servers.
    #[must_use]
    pub const fn sets_up(self) -> bool {
        matches!(self, Self::Begins | Self::Loads | Self::Forks)
    }

    /// Whether its answer names the session that begins.
    #[must_use]
    pub const fn names_session(self) -> bool {
        matches!(self, Self::Begins | Self::Forks)
    }

    /// Whether it begins or ends a connection or a session.
    #[must_use]
    pub const fn is_boundary(self) -> bool {
        self.sets_up() || matches!(self, Self::Connects | Self::Ends)
    }

    /// Whether the session has a history, which the agent may replay before it answers.
    #[must_use]
    pub const fn has_history(self) -> bool {
        matches!(self, Self::Loads | Self::Forks)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::collections::BTreeMap;
    use std::vec::Vec;

    use acp_chain_messages::{Side, methods};

    use super::*;

    #[test]
    fn a_version_is_a_number_however_it_is_spelt() {
        for (text, version) in [
            ("1", Some(1)),
            ("2.0", Some(2)),
            (r#""2""#, Some(2)),
            (r#""2025-06-18""#, None),
            ("2.5", None),
            ("null", None),
            ("{}", None),
        ] {
            assert_eq!(protocol_version(text), version, "{text}");
        }
    }

    #[test]
    fn every_method_of_the_schemas_has_a_row_with_its_sender() {
        let mut senders = BTreeMap::<&str, Vec<Sender>>::new();
        for method in methods() {
            let sender = match method.side {
                Side::Agent => Sender::Client,
                Side::Client => Sender::Agent,
                Side::Protocol => Sender::Both,
                Side::Proxy => Sender::Neighbour,
            };
            senders.entry(&method.name).or_default().push(sender);
        }
        let senders = senders.into_iter().map(|(name, all)| {
            let one = all[0];
            let same = all.iter().all(|sender| *sender == one);
            (name, if same { one } else { Sender::Both })
        });
        let rows = METHODS.iter().map(|row| (row.name, row.sender));
        assert_eq!(
            rows.collect::<BTreeMap<_, _>>(),
            senders.collect::<BTreeMap<_, _>>()
        );
    }

    #[test]
    fn a_message_belongs_to_a_session_where_the_schemas_require_its_name() {
        for method in methods() {
            let scope = if method.requires("sessionId") {
                Scope::Session
            } else {
                Scope::Connection
            };
            assert_eq!(Scope::of(&method.name), scope, "{}", method.name);
        }
    }

    #[test]
    fn the_names_are_those_of_the_rows() {
        for (name, life) in [
            (INITIALIZE, Life::Connects),
            (NEW, Life::Begins),
            (PROMPT, Life::Prompts),
            (CANCEL, Life::Stops),
            (UPDATE, Life::Serves),
            (PERMISSION, Life::Asks),
            (READ, Life::Serves),
            (ELICITATION, Life::Asks),
            (CANCEL_REQUEST, Life::Withdraws),
        ] {
            let row = METHODS.iter().find(|row| row.name == name);
            assert_eq!(row.map(|row| row.life), Some(life), "{name}");
            assert_eq!(Life::of(name), life);
        }
    }
}
