//! What the played host lets the proxy do, as the real one does by the user's manifest.

use super::message::Message;
use crate::subscription::Kind;
use crate::{Action, ChannelError, Json};

/// What the proxy may do with which methods; the default is that of a manifest without
/// `[proxy.grant]`. A method is given by its name, or by a prefix ending in `*`; a leading `!` takes
/// away.
#[derive(Clone, Copy, Debug)]
pub struct Grant {
    /// What it sees. Everything else passes by, whatever it subscribed to.
    pub observe: &'static [&'static str],
    /// What it may edit, replace, reject, discard or hold. A changed message has to stay in its
    /// session, unless the proxy may originate such a message.
    pub change: &'static [&'static str],
    /// Which requests it may answer itself; it may also reject or hold them.
    pub answer: &'static [&'static str],
    /// Which requests and notifications it may send.
    pub originate: &'static [&'static str],
    /// Whether it may have tools for the agent.
    pub tools: bool,
}

impl Default for Grant {
    fn default() -> Self {
        Self {
            observe: &["*", "!authenticate", "!auth/*", "!providers/*"],
            change: &[
                "*",
                "!session/request_permission",
                "!elicitation/*",
                "!session/cancel",
                "!session/new",
                "!session/load",
                "!session/resume",
                "!session/fork",
                "!session/set_*",
                "!terminal/*",
                "!fs/write_text_file",
                "!mcp/*",
                "!authenticate",
                "!auth/*",
                "!providers/*",
            ],
            answer: &[],
            originate: &[],
            tools: false,
        }
    }
}

impl Grant {
    /// Where a test gives none, nothing is denied.
    pub(super) const ALL: Self = Self {
        observe: &["*"],
        change: &["*"],
        answer: &["*"],
        originate: &["*"],
        tools: true,
    };

    pub(super) fn observes(&self, method: &str) -> bool {
        contain(self.observe, method)
    }

    /// Whether the proxy has a say in what becomes of such a message.
    pub(super) fn decides(&self, method: &str) -> bool {
        contain(self.change, method) || contain(self.answer, method)
    }

    pub(super) fn originates(&self, method: &str) -> Result<(), ChannelError> {
        allow("originate", self.originate, method)
    }

    /// Whether the proxy may have this become of a message. Edits are given as the body that they
    /// make.
    pub(super) fn covers(&self, message: &Message, action: &Action) -> Result<(), ChannelError> {
        let method = &message.head.method;
        match (message.kind, action) {
            (_, Action::Forward) => return Ok(()),
            (Kind::Request, Action::Respond(_)) => {
                return allow("answer", self.answer, method);
            }
            // Whoever may answer a request may also keep it for a while, or refuse it.
            (Kind::Request, Action::Reject(_) | Action::Hold) => {
                return allow("change", self.change, method)
                    .or_else(|_| allow("answer", self.answer, method));
            }
            _ => allow("change", self.change, method)?,
        }
        match (action, &message.body) {
            (Action::Replace(new), Ok(old)) if session(new) != session(old) => {
                self.originates(method)
            }
            _ => Ok(()),
        }
    }
}

fn session(body: &Json) -> Option<String> {
    body.at("/sessionId")
}

fn allow(power: &str, methods: &[&str], method: &str) -> Result<(), ChannelError> {
    if contain(methods, method) {
        return Ok(());
    }
    Err(ChannelError::Denied(format!(
        "its grant does not cover it: `{power}` lacks {method:?}"
    )))
}

fn contain(methods: &[&str], method: &str) -> bool {
    let given = |pattern: &&str| matches(pattern, method);
    let taken = |pattern: &&str| {
        let pattern = pattern.strip_prefix('!');
        pattern.is_some_and(|pattern| matches(pattern, method))
    };
    methods.iter().any(given) && !methods.iter().any(taken)
}

/// Whether a pattern, exact or a prefix ending in `*`, fits a method.
pub(super) fn matches(pattern: &str, method: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => method.starts_with(prefix),
        None => method == pattern,
    }
}
