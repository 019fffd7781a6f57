//! Projects: manifests in repositories, and whether the user trusts them.
//!
//! Opening a repository is not consent to its content. Invariants:
//! - Until the user has agreed to the current content, or a trusted signer has signed it, only the manifest and the
//!   lock are parsed, and only the digests of the components are computed. Nothing is compiled, fetched or started.
//! - The files of a project are opened beneath its root, never through a link that leads out of it, and without
//!   blocking: anything but a regular file is an error, and so is one that is too large.
//! - The user's consent is bound to a [`key`](Content::key), a digest of the whole content.
//!
//! | file | what it is |
//! |---|---|
//! | `find` | the search from a working directory up to the root |
//! | `files` | opening files beneath a root |
//! | `content` | the content of a project, and its key |
//! | `agreed` | its proxies and their permissions as stored, and differences between such lists |
//! | `trust` | the records of the user's decisions |
//! | `worktree` | the worktrees of a repository: consent applies to all of them |
//! | `signed` | trusted signers, whose signature replaces the user's consent |

#![forbid(unsafe_code)]

mod agreed;
mod content;
mod files;
mod find;
mod signed;
mod trust;
mod worktree;

pub use agreed::{Agreed, Difference};
pub use content::{Content, Keep, ProjectComponent, ProjectError, folders};
pub use files::{FileError, Root};
pub use find::{Bounds, End, Found, MANIFEST, around, find};
pub use signed::{is_signed, vouched};
pub use trust::{Record, Records, Standing, TrustDecision, TrustError};
