//! How a native proxy spells the methods that only a conductor and its proxies speak.

use serde::Deserialize;

/// A generation of the proxy protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Dialect {
    /// `proxy/…` as the newest SDKs speak it, with metadata of the hop in `_meta`.
    #[serde(rename = "proxy")]
    Proxy,
    /// `proxy/…` as the RFD has it, with metadata of the hop in `meta`. The host has none to send,
    /// and passes over both, so this differs from [`Dialect::Proxy`] in name only.
    #[serde(rename = "proxy-meta")]
    ProxyMeta,
    /// `_proxy/…`, of SDKs from before the methods were adopted.
    #[serde(rename = "_proxy")]
    Underscore,
}

impl Dialect {
    /// Its name, as manifests have it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Proxy => "proxy",
            Self::ProxyMeta => "proxy-meta",
            Self::Underscore => "_proxy",
        }
    }

    /// What a proxy gets in place of `initialize`.
    #[must_use]
    pub fn initialize(self) -> &'static str {
        match self {
            Self::Proxy | Self::ProxyMeta => "proxy/initialize",
            Self::Underscore => "_proxy/initialize",
        }
    }

    /// The dialect of a conductor that begins with this method; `None` if no conductor does.
    #[must_use]
    pub fn of_initialize(method: &str) -> Option<Self> {
        let dialects = [Self::Proxy, Self::Underscore];
        dialects
            .into_iter()
            .find(|dialect| dialect.initialize() == method)
    }

    /// What carries a message from or to the successor.
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
