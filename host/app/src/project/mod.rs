//! Projects: finding them, and running their proxies.
//!
//! The host that serves an editor reads nothing of a project. It starts two other processes for that through its
//! supervisor: `find-projects` finds the projects of sessions, with all of the user's rights, and runs no code of
//! projects; `project-chain` has the components of one project, and gives up its rights before they run.
//!
//! | file | what it is |
//! |---|---|
//! | `wire` | the protocol between the host and the two processes |
//! | `state` | the current state of a project, and the notices about it |
//! | `opened` | an opened project: its manifest and proxies |
//! | `locator` | finding projects, any number of them concurrently |
//! | `watch` | notifications of changes |
//! | `find_projects` | the process that finds projects |
//! | `client` | the host's side of both processes |

mod client;
pub mod find_projects;
mod locator;
mod opened;
mod state;
mod watch;
mod wire;

pub use self::client::{Client, Finder};
pub use self::opened::{OpenProject, check_installed};
pub use self::state::State;
pub(crate) use self::wire::{ProjectStart, first_line};

use std::path::{Path, PathBuf};

use directories::BaseDirs;

use crate::{Error, home};
use acp_chain_extension::Lock;
use acp_chain_manifest::{UntrustedPolicy, User};
use acp_chain_project::{Bounds, Found, MANIFEST, Records, find};

/// The folders at which a search upwards ends.
pub fn bounds() -> Bounds {
    let home = BaseDirs::new();
    let settings = home::config_file();
    Bounds::new(
        home.as_ref().map(BaseDirs::home_dir),
        settings.as_deref().and_then(Path::parent),
    )
}

/// The project that contains a folder. A project that was trusted counts even without its manifest.
pub fn locate(folder: &Path, records: Option<&Records>) -> Found {
    let is_known = |folder: &Path| records.is_some_and(|records| records.know(folder));
    find(folder, &bounds(), &is_known)
}

/// The root of the project that contains a folder. Fails if there is none.
pub fn root(folder: &Path) -> Result<PathBuf, Error> {
    let folder = std::path::absolute(folder).map_err(Error::Io)?;
    match locate(&folder, home::records().ok().as_ref()) {
        Found::Project(root) => Ok(root),
        Found::None(end) => Err(Error::NoProject(folder, end)),
    }
}

/// The paths of the locks of trusted projects; the files need not exist.
pub fn locks() -> Result<Vec<PathBuf>, Error> {
    let records = home::records()?;
    let all = records.all()?;
    let trusted = all.iter().filter(|record| record.agreed().is_some());
    let locks = trusted.map(|record| Lock::beside(&Path::new(&record.root).join(MANIFEST)));
    Ok(locks.chain(records.kept_locks()?).collect())
}

/// Whether sessions must not begin in projects that are not trusted as they are.
pub fn refuses(user: &User) -> bool {
    user.untrusted == UntrustedPolicy::Refuse
}
