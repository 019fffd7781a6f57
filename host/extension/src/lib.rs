//! Extensions: their sources, installation and storage.
//!
//! An extension is one component. Invariants:
//! - A component is identified by its digest. Nothing is parsed, compiled or stored before the digest of the received
//!   bytes matches the requested one.
//! - [`Store`] has the components, and the [`Lock`] of a manifest names those of its proxies. A component is added to
//!   the store first, then to the lock, then to the manifest: an interruption leaves the earlier state, or an unused
//!   component.
//! - Only locked components run. Only explicit commands of the user download.

#![forbid(unsafe_code)]

pub mod carried;
pub mod change;
pub mod digest;
pub mod installed;
pub mod lock;
pub mod revoked;
pub mod signature;
pub mod source;
pub mod store;

pub use carried::Carried;
pub use change::Change;
pub use digest::Digest;
pub use installed::{Installed, Location, NotInstalled};
pub use lock::{Lock, LockError, Locked, Release};
pub use revoked::{Revocation, Revoked, RevokedError};
pub use signature::{SignatureError, Signer};
pub use source::{Reference, Source, SourceError};
pub use store::{Changing, CollectOutcome, Store, StoreError, Stored};

/// Whether this can be the name of an extension, and of a proxy: 1 to 64 letters, digits, `-`, `_` or `.`.
pub fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=64).contains(&name.len()) && name.chars().all(plain)
}
