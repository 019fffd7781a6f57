//! The agent's habits, chosen by flags.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// An ACP agent with the habits of agents in the wild.
///
/// The prompt says what the agent does within a turn: see the documentation of its source.
#[derive(Debug, Default, Parser)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag, free of the others"
)]
pub(crate) struct Habits {
    /// The ids of the agent's own requests.
    #[arg(long, value_enum, default_value_t, value_name = "KIND")]
    pub(crate) ids: Ids,
    /// Write `result` before `id` in answers.
    #[arg(long)]
    pub(crate) result_first: bool,
    /// Leave `agentCapabilities` out of the `initialize` answer.
    #[arg(long)]
    pub(crate) no_capabilities: bool,
    /// Send a session/update and a `_vendor/hello` for a session before the session/new response
    /// that names it.
    #[arg(long)]
    pub(crate) early_updates: bool,
    /// Send an `available_commands_update` line of that many bytes after each session/new
    /// response.
    #[arg(long, value_name = "BYTES")]
    pub(crate) big_update: Option<usize>,
    /// Send each session/new request as a chunk, after its response.
    #[arg(long)]
    pub(crate) show_setup: bool,
    /// Never answer requests of that method (may be repeated).
    #[arg(long, value_name = "METHOD")]
    pub(crate) never: Vec<String>,
    /// Send a stored question and its answer before each session/load response.
    #[arg(long)]
    pub(crate) replay: bool,
    /// Ignore `$/cancel_request`.
    #[arg(long)]
    pub(crate) ignore_cancel: bool,
    /// Require a login, in a terminal, before any session.
    #[arg(long)]
    pub(crate) login: bool,
    /// Require a login, by `authenticate`, before any session.
    #[arg(long)]
    pub(crate) key: bool,
    /// Write a line to stdout that is not JSON, before anything else.
    #[arg(long)]
    pub(crate) garbage: bool,
    /// Write that many bytes to stderr, before anything else.
    #[arg(long, value_name = "BYTES")]
    pub(crate) stderr: Option<usize>,
    /// Exit at once with that code.
    #[arg(long, value_name = "CODE")]
    pub(crate) exit: Option<i32>,
    /// Keep running after stdin has ended, and send a `_vendor/still_here` notification.
    #[arg(long)]
    pub(crate) survive_eof: bool,
    /// Start a child that sleeps for ever with this process's stdout and stderr, and write its
    /// process id to that file.
    #[arg(long, value_name = "FILE")]
    pub(crate) child: Option<PathBuf>,
    /// Only sleep for ever, as that child does.
    #[arg(long)]
    pub(crate) sleep: bool,
}

/// The ids of an agent's own requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Ids {
    /// 1, 2, …
    #[default]
    Number,
    /// 0, 1, …
    Zero,
    /// UUIDs, as strings.
    Uuid,
    /// Always null.
    Null,
}

impl Ids {
    /// The id of the request with that number, as JSON text. Numbers begin at 0.
    pub(crate) fn id(self, number: u64) -> String {
        match self {
            Ids::Number => (number + 1).to_string(),
            Ids::Zero => number.to_string(),
            Ids::Uuid => format!("\"5f2c1c7e-9d0b-4a6e-8c3f-{number:012x}\""),
            Ids::Null => "null".to_owned(),
        }
    }
}
