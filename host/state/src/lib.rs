//! What proxies store beyond a connection: texts under keys, for a user or a project. They are in one database of the
//! user, or, for the users of a server with a store, in that.
//!
//! | file | what it is |
//! |---|---|
//! | `namespace` | whose values they are |
//! | `limits` | how much fits |
//! | `protocol` | the calls of the host to the process that has the database |
//! | `keeper` | the host's side |
//!
//! The rest is built with the feature `database`: a host that asks another process needs no engine.
//!
//! | file | what it is |
//! |---|---|
//! | `database` | the file: found, created, checked, reset |
//! | `values` | loading and storing a value |
//! | `inventory` | what there is, and removing it |
//! | `service` | the process that has the database |
//! | `shelf` | a place where values are: this database, or the store of replicas |
//! | `error` | why something is not loaded or stored |
//!
//! With the feature `replicas`, values may also be in the store that replicas of a server share.
//!
//! | file | what it is |
//! |---|---|
//! | `shared` | values in the store, as its calls |
//! | `pool` | the process that has some connections to the store |
//! | `transfer` | moves values from the database into the store |
//!
//! Invariants:
//! - A value is stored only over the version that its writer knows, by however many processes at once.
//! - A version names one value forever: a new one is larger than all earlier ones of its namespace, also after values
//!   were removed.
//! - What was reported as stored survives the end of any process, and of the system. What was not is as before.
//! - A damaged database is an error until the user removes it. It is never replaced by an empty one.

#![forbid(unsafe_code)]

#[cfg(feature = "database")]
mod database;
#[cfg(feature = "database")]
mod error;
#[cfg(feature = "database")]
mod inventory;
mod keeper;
mod limits;
mod namespace;
#[cfg(feature = "replicas")]
mod pool;
mod protocol;
#[cfg(feature = "database")]
mod service;
#[cfg(feature = "replicas")]
mod shared;
#[cfg(feature = "database")]
mod shelf;
#[cfg(feature = "replicas")]
mod transfer;
#[cfg(feature = "database")]
mod values;

#[cfg(all(test, unix, feature = "database"))]
mod tests;

#[cfg(feature = "database")]
pub use self::database::Database;
#[cfg(feature = "database")]
pub use self::error::StateError;
#[cfg(feature = "database")]
pub use self::inventory::{Filter, PAGE, Page, Removed, Selected, Selection, Summary, Totals};
pub use self::keeper::{Keeper, KeeperError};
pub use self::limits::LimitError;
pub use self::namespace::Namespace;
#[cfg(feature = "replicas")]
pub use self::pool::{list_shared, open_shared, serve_shared, wipe_shared};
pub use self::protocol::{Loaded, StoreOutcome};
#[cfg(feature = "database")]
pub use self::service::serve;
#[cfg(feature = "replicas")]
pub use self::shared::Shared;
#[cfg(feature = "database")]
pub use self::shelf::Shelf;
#[cfg(feature = "replicas")]
pub use self::transfer::{Moved, Refusal, RefusalReason, move_values};
