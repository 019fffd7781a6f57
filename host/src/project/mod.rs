//! Projects: what a repository brings, and whether its user trusts it.
//!
//! Opening a repository is not consent to anything in it. What always holds:
//! - Until the user has said yes to the content that there is now, or somebody has signed it whose word the user
//!   lets count, no more of a project is read than its manifest, its lock and the bytes of its components, of which
//!   the digest is taken. Nothing of it is parsed further, compiled, fetched or started.
//! - The files of a project are opened beneath its root, never through a link that leads out of it, and never wait:
//!   what is not a regular file is an error, and so is one that is too large.
//! - A [`key`](Content::key) stands for all of the content. The user's consent is bound to it.
//!
//! | file | what it is |
//! |---|---|
//! | `find` | the way up from a working directory to the root |
//! | `files` | opening what lies beneath a root |
//! | `content` | what a project consists of, and its key |
//! | `agreed` | what its proxies are and may do, as it is kept, and how two such differ |
//! | `trust` | the records of what the user said |
//! | `signed` | those whose word counts instead of the user's |

mod agreed;
mod content;
mod files;
mod find;
mod signed;
mod trust;

pub use agreed::{Agreed, Difference};
pub use content::{Content, Keep, ProjectError, Stored};
pub use files::FileError;
pub use find::{Bounds, End, Found, MANIFEST, find};
pub use signed::{is_signed, vouched};
pub use trust::{Record, Records, Standing, TrustDecision, TrustError};
