//! Where the store is. It is the first line that the process of the store reads.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Where the store is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// A file of this machine, at an absolute path.
    Embedded(PathBuf),
    /// A database of `PostgreSQL`.
    Postgres(PostgresPlace),
}

/// A database of `PostgreSQL`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostgresPlace {
    /// The address, without a password: `postgres://USER@HOST/DATABASE`.
    pub url: String,
    /// A file whose first line is the password. Without one, the password is in the environment, if there is any.
    pub password: Option<PathBuf>,
    /// The authorities of its certificate (PEM). Without any, those of the system.
    pub authorities: Option<PathBuf>,
    /// How many connections there may be.
    pub connections: u32,
}
