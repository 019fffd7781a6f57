//! Stored values of proxies: whose they are, and the process that has their database.
//!
//! | file | what it is |
//! |---|---|
//! | `plan` | whose values the proxies of a chain store; starting the process |
//! | `keep` | the process: `acp-chain keep-values` |
//! | `folders` | the folder of a session's project |
//!
//! A running chain cannot open the database, nor take its locks, nor look for a project. So a process is started before
//! these rights are given up. It has all rights of the user, runs no code of proxies, and loads and stores only what
//! the proxies of its chain may. That of a server with a database for its replicas has connections to that, beside those
//! of the store: heartbeats do not wait for what proxies store.

mod folders;
mod keep;
mod plan;

use serde::{Deserialize, Serialize};

use acp_chain_state::Namespace;
use acp_chain_store::PostgresPlace;

pub use self::keep::serve;
pub use self::plan::{ValuesPlan, ValuesProcess};

/// The subcommand that is the process.
const SUBCOMMAND: &str = "keep-values";

/// The power to store values.
const POWER: &str = "values.keep";

/// The first line that the process reads: whose values it may load and store, for any user and project. The rest is
/// the protocol of `acp_chain_state`.
#[derive(Debug, Serialize, Deserialize)]
struct Start {
    /// Names of extensions, and where they come from.
    extensions: Vec<(String, String)>,
    /// Whether what is stored is lost at the end: the process then uses a copy of the database.
    #[serde(default)]
    is_dry_run: bool,
    /// The store of a server's replicas, if values are there, and not in the user's database.
    #[serde(default)]
    store: Option<PostgresPlace>,
}

impl Start {
    fn admits(&self, namespace: &Namespace) -> bool {
        let mut extensions = self.extensions.iter();
        extensions.any(|(name, source)| *name == namespace.extension && *source == namespace.source)
    }
}
