//! How proxies spell the methods that are used only between a conductor and its proxies (RFD proxy-chains).

/// A generation of the proxy protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `proxy/…` as in the newest SDKs, with metadata of the hop in `_meta`.
    Proxy,
    /// `proxy/…` as in the RFD, with metadata of the hop in `meta`. The host sends none and ignores both, so this
    /// differs from [`Dialect::Proxy`] only in name.
    ProxyMeta,
    /// `_proxy/…`, of SDKs from before the methods were adopted.
    Underscore,
}

impl Dialect {
    /// All dialects.
    pub const ALL: [Self; 3] = [Self::Proxy, Self::ProxyMeta, Self::Underscore];

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
    #[inline]
    #[must_use]
    pub fn of_initialize(method: &str) -> Option<Self> {
        match method {
            "proxy/initialize" => Some(Self::Proxy),
            "_proxy/initialize" => Some(Self::Underscore),
            _ => None,
        }
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
#[inline]
#[must_use]
pub fn is_successor(method: &str) -> bool {
    matches!(method, "proxy/successor" | "_proxy/successor")
}
