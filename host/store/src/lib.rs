//! What replicas of a server must know together: who owns a session and who serves it, which prompts were sent, what
//! was used of a budget, how many connections and turns a user has, who is no longer admitted; and what proxies store.
//!
//! | file | what it is |
//! |---|---|
//! | `call` | the calls and their answers, as values |
//! | `limits` | how long names may be |
//! | `protocol` | the calls to the process that has the store |
//! | `client` | the server's side |
//! | `place` | where the store is, as the process is told |
//!
//! The rest is built with the feature `engines`: a server asks another process.
//!
//! | file | what it is |
//! |---|---|
//! | `service` | the process: requests, deadlines, the connections |
//! | `values` | the calls about what proxies store, and their answers; another process makes them |
//! | `migrations` | the tables, as numbered statements |
//! | `rules` | what becomes of each call, in statements of both engines |
//! | `engine` | the engines: `embedded` is `SQLite`, `postgres` is `PostgreSQL` over `tls` |
//!
//! Invariants:
//! - A call is carried out as a whole or not at all. If its answer is lost, it may have been carried out.
//! - Times are those of the database's clock. A caller only says how long something lasts.
//! - Numbers come from one counter and only grow, so a later lease has a larger one. A write about a session names the
//!   lease's number, and is refused if that is no longer the session's.
//! - A prompt's key begins once for a session, at any replica. If the store has lost some keys, it counts all that it
//!   does not know as perhaps sent, in all sessions that may have had some.
//! - A store that has lost what was last written ends all generations, and leases nothing until they all know.

#![forbid(unsafe_code)]

mod call;
mod client;
#[cfg(feature = "engines")]
mod engine;
mod limits;
#[cfg(feature = "engines")]
mod migrations;
mod place;
mod protocol;
#[cfg(feature = "engines")]
mod rules;
#[cfg(feature = "engines")]
mod service;
#[cfg(feature = "engines")]
mod values;

#[cfg(all(test, unix, feature = "engines"))]
mod tests;

pub use self::call::{
    Answer, Call, Fence, Holder, LeaseName, PROMPTS_KNOWN, PromptState, Replica, Revocation,
    ServedSession, SlotLimit, TakeRule, UsedBudget, UsedSlots,
};
pub use self::client::{Client, StoreError};
#[cfg(feature = "engines")]
pub use self::engine::embedded::Embedded;
#[cfg(feature = "engines")]
pub use self::engine::postgres::Postgres;
#[cfg(feature = "engines")]
pub use self::engine::{Store, Unusable, ValueStore};
pub use self::limits::{LimitError, SPELLING};
pub use self::place::{Place, PostgresPlace};
#[cfg(feature = "engines")]
pub use self::service::{ask, migrate, serve};
#[cfg(feature = "engines")]
pub use self::values::{
    ChosenOwners, NewValue, OwnerSummary, SelectedValue, StoredValue, ValueAnswer, ValueCall,
    ValueCount, ValueLimit, ValueLimits, ValueOwner,
};
