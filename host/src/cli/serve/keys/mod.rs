//! What those who come in are verified by, as it changes: files of tokens, keys of issuers, and our own certificate.
//!
//! A server may open no files and connect to nothing. So a process is started before those rights are given up, and has
//! none of its clients' words: it is told once what to watch, and later only that keys may be missing. Each time that
//! something has changed, it says all of it, as a line of JSON. Of what is wrong, what it said before holds.
//!
//! | file | what it is |
//! |---|---|
//! | `feed` | the process, as the server has it |
//! | `watch` | the process |
//! | `files` | what it reads |
//! | `issuers` | what it fetches |

mod feed;
mod files;
mod issuers;
mod watch;

use std::path::PathBuf;

use acp_chain_remote::gate::{GateSettings, JwksSource};
use serde::{Deserialize, Serialize};

pub use self::feed::KeysFeed;
pub use self::watch::main;

/// The largest file or answer, in bytes.
pub const LONGEST: usize = 1 << 20;

/// What there is to watch.
#[derive(Debug, Serialize, Deserialize)]
struct Watched {
    tokens: Option<PathBuf>,
    issuers: Vec<(String, JwksSource)>,
    /// The certificate and its key.
    tls: Option<(PathBuf, PathBuf)>,
}

impl Watched {
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
