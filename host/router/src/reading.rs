//! Files that proxies read through the client, as the conductor looks for them.

use std::path::PathBuf;
use std::sync::Arc;

use acp_chain_hops::exchange::ExchangeId;

/// A proxy's request for the text of a file, which is sent once its [place](FilePlace) is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRead {
    /// The number of the request, see [`Router::located`](crate::Router::located).
    pub number: ExchangeId,
    /// The folder of the session, if it is known.
    pub folder: Option<Arc<str>>,
    /// The path that the proxy names.
    pub path: String,
}

/// Where a file is, with links resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilePlace {
    /// In the project, or not on this machine.
    Within,
    /// Outside of the project, at this path.
    Outside(PathBuf),
    /// Not known, for this reason.
    Unknown(String),
}
