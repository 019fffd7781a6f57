//! The credentials that verify clients, as they change: token files, keys of issuers, and our own certificate.
//!
//! A server may open no files and connect to nothing. So a process is started before those rights are given up, and
//! receives none of the clients' data: the server first sends it what to watch, and later only that keys may be
//! missing. After each change, the process sends all keys, as a line of JSON. If something is malformed, its previous
//! content stays valid.
//!
//! | file | what it is |
//! |---|---|
//! | `feed` | the server's side of the process |
//! | `watch` | the process |
//! | `files` | the files that it reads |
//! | `issuers` | the keys that it fetches |

mod feed;
mod files;
mod issuers;
mod watch;

use std::path::PathBuf;

use acp_chain_remote::gate::{GateSettings, JwksSource};
use serde::{Deserialize, Serialize};

pub use self::feed::KeysFeed;
pub use self::watch::serve;

/// The largest file or answer, in bytes.
pub const LONGEST: usize = 1 << 20;

/// The files and issuers to watch.
#[derive(Debug, Serialize, Deserialize)]
struct KeySources {
    tokens: Option<PathBuf>,
    issuers: Vec<(String, JwksSource)>,
    /// The certificate and its key.
    tls: Option<(PathBuf, PathBuf)>,
}

impl KeySources {
    fn of(settings: &GateSettings) -> Self {
        let issuers = settings.issuers.iter();
        let tls = settings.tls.as_ref();
        Self {
            tokens: settings.tokens.clone(),
            issuers: issuers
                .map(|issuer| (issuer.issuer.clone(), issuer.jwks.clone()))
                .collect(),
            tls: tls.map(|tls| (tls.cert.clone(), tls.key.clone())),
        }
    }

    fn is_empty(&self) -> bool {
        self.tokens.is_none() && self.issuers.is_empty() && self.tls.is_none()
    }
}
