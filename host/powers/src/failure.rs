//! What happens when a proxy breaks.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What happens to a broken proxy, and to the messages that it had: `on-failure` in manifests and packages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailurePolicy {
    /// Its messages are refused, and it is restarted. If it fails too often, it is given up, and all messages that it
    /// subscribed to are refused.
    #[default]
    Restart,
    /// Its messages are refused, and it is restarted. If it fails too often, it is given up and bypassed.
    RestartThenBypass,
    /// It is given up: its messages pass unchanged, and it is bypassed.
    Bypass,
    /// It is given up: its messages are refused, and so are all later messages that it subscribed to.
    Refuse,
}

impl FailurePolicy {
    /// Whether a broken proxy is restarted.
    pub fn restarts(self) -> bool {
        matches!(self, Self::Restart | Self::RestartThenBypass)
    }

    /// Whether a proxy that was given up is bypassed.
    pub fn ends_open(self) -> bool {
        matches!(self, Self::RestartThenBypass | Self::Bypass)
    }
}

/// As in manifests.
impl fmt::Display for FailurePolicy {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::Restart => "restart",
            Self::RestartThenBypass => "restart-then-bypass",
            Self::Bypass => "bypass",
            Self::Refuse => "refuse",
        })
    }
}
