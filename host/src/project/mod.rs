//! Projects: what a repository brings, and whether its user trusts it.
//!
//! Opening a repository is not consent to anything in it. Invariants:
//! - Until the user has agreed to the present content, or a signer whom the user accepts has signed it, nothing of a
//!   project is read but its manifest, its lock and the bytes of its components, to compute their digests. Nothing of
//!   it is parsed further, compiled, fetched or started.
//! - The files of a project are opened beneath its root, never through a link that leads out of it, and without
//!   blocking: anything but a regular file is an error, and so is one that is too large.
//! - A [`key`](Content::key) identifies all of the content. The user's consent is bound to it.
//!
//! | file | what it is |
//! |---|---|
//! | `find` | the search from a working directory up to the root |
//! | `files` | opening files beneath a root |
//! | `content` | the content of a project, and its key |
//! | `agreed` | its proxies and their permissions as stored, and differences between such lists |
//! | `trust` | the records of the user's decisions |
//! | `worktree` | the worktrees of a repository, in all of which a yes counts |
//! | `signed` | signers whose word counts in the user's place |

mod agreed;
mod content;
mod files;
mod find;
mod signed;
mod trust;
mod worktree;

pub use agreed::{Agreed, Difference};
pub use content::{Content, Keep, ProjectError, Stored, folders};
pub use files::FileError;
pub use find::{Bounds, End, Found, MANIFEST, around, find};
pub use signed::{is_signed, vouched};
pub use trust::{Record, Records, Standing, TrustDecision, TrustError};
