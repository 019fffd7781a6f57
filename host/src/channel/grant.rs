//! What the user allows a proxy to do with which methods.
//!
//! To change the answer to a question that the user decides is as good as to answer it, and so is
//! to change the question; and to change what starts a program is as good as to start one. So none
//! of that is granted unless it is said.

use super::ChannelError;
use super::pattern::Methods;

/// What a proxy may do with messages, by their method. Of a response, the request's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// See them.
    pub observe: Methods,
    /// Alter, refuse, drop or hold them back.
    pub change: Methods,
    /// Answer requests itself, in place of whoever was asked; refuse them or hold them back.
    pub answer: Methods,
    /// Send messages of its own.
    pub originate: Methods,
    /// Give the agent tools (MCP).
    pub tools: bool,
}

/// What is granted where the manifest does not say otherwise, by the keys of `[proxy.grant]`.
pub const OBSERVE: &[&str] = &["*", "!authenticate", "!auth/*", "!providers/*"];
/// See [`OBSERVE`].
pub const CHANGE: &[&str] = &[
    "*",
    // What the user decides.
    "!session/request_permission",
    "!elicitation/*",
    "!session/cancel",
    // What starts programs, or says what the agent may do without asking.
    "!session/new",
    "!session/load",
    "!session/resume",
    "!session/fork",
    "!session/set_*",
    "!terminal/*",
    "!fs/write_text_file",
    "!mcp/*",
    // What has to do with keys and accounts.
    "!authenticate",
    "!auth/*",
    "!providers/*",
];

impl Default for Grant {
    /// To see and change what passes, but for what the user decides, what starts programs, and keys.
    /// Not to answer, nor to say anything itself.
    fn default() -> Self {
        let methods = |patterns: &[&str]| Methods::new(patterns).unwrap_or_default();
        Self {
            observe: methods(OBSERVE),
            change: methods(CHANGE),
            answer: Methods::default(),
            originate: Methods::default(),
            tools: false,
        }
    }
}

impl Grant {
    /// Everything that can be granted.
    #[must_use]
    pub fn all() -> Self {
        let all = Methods::new(&["*"]).unwrap_or_default();
        Self {
            observe: all.clone(),
            change: all.clone(),
            answer: all.clone(),
            originate: all,
            tools: true,
        }
    }

    /// Whether the proxy has any say in what becomes of such a message.
    #[must_use]
    pub fn decides(&self, method: &str) -> bool {
        self.change.contain(method) || self.answer.contain(method)
    }

    pub(super) fn may_change(&self, method: &str) -> Result<(), ChannelError> {
        allow(&self.change, "change", method)
    }

    pub(super) fn may_answer(&self, method: &str) -> Result<(), ChannelError> {
        allow(&self.answer, "answer", method)
    }

    pub(super) fn may_have_tools(&self) -> Result<(), ChannelError> {
        match self.tools {
            true => Ok(()),
            false => Err(ChannelError::Denied(
                "its grant does not cover it: `tools` is not true".to_owned(),
            )),
        }
    }

    pub(super) fn may_originate(&self, method: &str) -> Result<(), ChannelError> {
        allow(&self.originate, "originate", method)
    }
}

fn allow(methods: &Methods, power: &str, method: &str) -> Result<(), ChannelError> {
    match methods.contain(method) {
        true => Ok(()),
        false => Err(ChannelError::Denied(format!(
            "its grant does not cover it: `{power}` lacks {method:?}"
        ))),
    }
}
