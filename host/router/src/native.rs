//! How a native proxy spells the methods that are used only between a conductor and its proxies.

use serde::Deserialize;

pub use acp_chain_process::{CommandLine, Startable, Supervisor};

/// A generation of the proxy protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Dialect {
    /// `proxy/…` as in the newest SDKs, with metadata of the hop in `_meta`.
    #[serde(rename = "proxy")]
    Proxy,
    /// `proxy/…` as in the RFD, with metadata of the hop in `meta`. The host sends none and ignores both, so this
    /// differs from [`Dialect::Proxy`] only in name.
    #[serde(rename = "proxy-meta")]
    ProxyMeta,
    /// `_proxy/…`, of SDKs from before the methods were adopted.
    #[serde(rename = "_proxy")]
    Underscore,
}

impl Dialect {
    /// Its name in manifests.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Proxy => "proxy",
            Self::ProxyMeta => "proxy-meta",
            Self::Underscore => "_proxy",
        }
    }

    /// The method that a proxy gets instead of `initialize`.
    #[must_use]
    pub fn initialize(self) -> &'static str {
        match self {
            Self::Proxy | Self::ProxyMeta => "proxy/initialize",
            Self::Underscore => "_proxy/initialize",
        }
    }

    /// The dialect of a conductor whose first message has this method; `None` if there is none.
    #[must_use]
    pub fn of_initialize(method: &str) -> Option<Self> {
        let dialects = [Self::Proxy, Self::Underscore];
        dialects
            .into_iter()
            .find(|dialect| dialect.initialize() == method)
    }

    /// The method that carries a message from or to the successor.
    #[must_use]
    pub fn successor(self) -> &'static str {
        match self {
            Self::Proxy | Self::ProxyMeta => "proxy/successor",
            Self::Underscore => "_proxy/successor",
        }
    }
}

/// Whether a method carries a message from or to the successor, in any dialect.
#[must_use]
pub fn is_successor(method: &str) -> bool {
    matches!(method, "proxy/successor" | "_proxy/successor")
}
