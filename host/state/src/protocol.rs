//! The calls of the host to the process that has the database, such as `{"id":1,"load":{"namespace":{…},"key":"k"}}`,
//! answered by `{"id":1,"load":{"value":null,"version":0,"since":null}}`.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use acp_chain_channel::limits::{STORED_KEY, STORED_VALUE};

use crate::limits::{LimitError, NAME};
use crate::namespace::Namespace;

/// The longest line, in bytes. A byte of a text takes six at most, as `\u0000`.
pub const LINE: usize = 1 << 20;

const _: () = assert!(6 * (STORED_KEY + STORED_VALUE + 4 * NAME) < LINE / 2);

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Call {
    Load {
        namespace: Namespace,
        key: String,
    },
    Store {
        namespace: Namespace,
        key: String,
        /// The version that is replaced.
        version: u64,
        value: Option<String>,
    },
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    Load(Loaded),
    Store(StoreOutcome),
    /// A limit would be exceeded.
    Limit(LimitError),
    /// The database cannot be used, or has no values of this namespace, for this reason.
    Unavailable(String),
}

/// A value as it was loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loaded {
    /// The value; `None` if there is none under the key.
    pub value: Option<String>,
    /// Its version; 0 if there is none.
    pub version: u64,
    /// When the first value of the namespace was stored; `None` if that has not been, or the user has removed all.
    pub since: Option<SystemTime>,
}

/// What became of a value that was to be stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StoreOutcome {
    /// It is stored, or removed.
    Stored {
        /// Its version; 0 if it is removed.
        version: u64,
    },
    /// Nothing was changed: the version is not the expected one. Has the value that there is.
    Conflict(Loaded),
}
