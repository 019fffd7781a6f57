//! What proxies store beyond a connection: texts under keys, for a user or a project, in one database of the user.
//!
//! | file | what it is |
//! |---|---|
//! | `namespace` | whose values they are |
//! | `limits` | how much fits |
//! | `database` | the file: found, created, checked, reset |
//! | `values` | loading and storing a value |
//! | `inventory` | what there is, and removing it |
//! | `protocol` | the lines between the host and the process that has the database |
//! | `service` | that process |
//! | `keeper` | the host's side |
//! | `error` | why something is not loaded or stored |
//!
//! Invariants:
//! - A value is stored only over the version that its writer knows, by however many processes at once.
//! - A version names one value forever: a new one is larger than all earlier ones of its namespace, also after values
//!   were removed.
//! - What was reported as stored survives the end of any process, and of the system. What was not is as before.
//! - A damaged database is an error until the user removes it. It is never replaced by an empty one.

#![forbid(unsafe_code)]

mod database;
mod error;
mod inventory;
mod keeper;
mod limits;
mod namespace;
mod protocol;
mod service;
mod values;

#[cfg(all(test, unix))]
mod tests;

pub use self::database::Database;
pub use self::error::StateError;
pub use self::inventory::{Filter, Removed, Summary};
pub use self::keeper::{Keeper, KeeperError};
pub use self::limits::LimitError;
pub use self::namespace::Namespace;
pub use self::service::serve;
pub use self::values::{Loaded, StoreOutcome};
