//! Projects on the command line: trusting them, finding them, and running their proxies.
//!
//! The host that serves an editor reads nothing of a project. It starts two other processes for that through its
//! supervisor: `find-projects` finds the projects of sessions, with all of the user's rights, and runs no code of
//! projects; `project-chain` has the components of one project, and gives up its rights before they run.
//!
//! | file | what it is |
//! |---|---|
//! | `shell` | paths as words of a shell |
//! | `wire` | the protocol between the host and the two processes |
//! | `state` | the current state of a project, and the notices about it |
//! | `opened` | an opened project: its manifest, and the directories of its proxies |
//! | `locator` | finding projects, any number of them concurrently |
//! | `watch` | notifications of changes |
//! | `find_projects` | `acp-chain find-projects` |
//! | `project_chain` | `acp-chain project-chain` |
//! | `client` | the host's side of both processes |
//! | `question` | the question that the user is asked about a project |
//! | `trust` | `acp-chain trust` |
//! | `here` | `acp-chain check` without a manifest: what applies in a folder |

pub mod client;
pub mod find_projects;
pub mod here;
mod locator;
mod opened;
pub mod project_chain;
mod question;
pub mod shell;
mod state;
pub mod trust;
mod watch;
mod wire;

pub use self::opened::Opened;
pub use self::state::State;

use std::path::{Path, PathBuf};

use directories::BaseDirs;

use super::folders;
use acp_chain_extension::Lock;
use acp_chain_manifest::{UntrustedPolicy, User};
use acp_chain_project::{Bounds, Found, MANIFEST, Records, find};
use acp_chain_rpc::untrusted::Untrusted;

/// The folders at which a search upwards ends.
pub fn bounds() -> Bounds {
    let home = BaseDirs::new();
    let settings = folders::config_file();
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
pub fn root(folder: &Path) -> Result<PathBuf, String> {
    let folder = std::path::absolute(folder).map_err(|error| error.to_string())?;
    match locate(&folder, records().ok().as_ref()) {
        Found::Project(root) => Ok(root),
        Found::None(end) => {
            let folder = Untrusted::new(folder.display());
            Err(format!("there is no project at {folder}: {end}"))
        }
    }
}

/// The paths of the locks of trusted projects; the files need not exist.
pub fn locks() -> Result<Vec<PathBuf>, String> {
    let all = records()?.all().map_err(|error| error.to_string())?;
    let trusted = all.iter().filter(|record| record.agreed().is_some());
    let locks = trusted.map(|record| Lock::beside(&Path::new(&record.root).join(MANIFEST)));
    let kept = records()?.kept_locks().map_err(|error| error.to_string())?;
    Ok(locks.chain(kept).collect())
}

/// Whether sessions must not begin in projects that are not trusted as they are.
pub fn refuses(user: &User) -> bool {
    user.untrusted == UntrustedPolicy::Refuse
}

/// The user's decisions about projects.
fn records() -> Result<Records, String> {
    let folder = folders::trust();
    folder.map(|folder| Records::open(&folder)).ok_or_else(|| {
        "there is no home folder to remember trusted projects in; let XDG_DATA_HOME name a folder of yours"
            .to_owned()
    })
}
