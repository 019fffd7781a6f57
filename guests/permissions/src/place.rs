//! A path of a tool call, brought to the one form that globs are matched against.

use acp_chain_proxy::path;

pub(crate) struct Place {
    /// Normal (see [`path::normal`]), and absolute as far as that is known.
    pub(crate) path: String,
    /// Whether the agent gave an absolute path, as the protocol demands. Anything else may mean
    /// another place than it seems to, so nothing is allowed by it.
    pub(crate) sure: bool,
}

impl Place {
    pub(crate) fn of(given: &str, cwd: Option<&str>) -> Self {
        let sure = path::is_absolute(given);
        let path = match cwd {
            Some(cwd) if !sure => path::normal(&path::join(cwd, given)),
            _ => path::normal(given),
        };
        Self { path, sure }
    }
}
