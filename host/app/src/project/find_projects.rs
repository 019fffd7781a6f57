//! The process that finds the projects of sessions, for the host that starts it.
//!
//! It has the rights of its user, since a session may be anywhere, and so runs no code of projects: it reads manifests,
//! locks, and the user's decisions.

use std::io;
use std::path::{Path, PathBuf};
use std::thread;

use super::locator::{Locator, Look};
use super::refuses;
use super::state::State;
use super::watch::{self, Watch};
use super::wire::{LINE, Reply};
use crate::{Error, home};
use acp_chain_extension::{Carried, Digest};
use acp_chain_project::{Bounds, Found, Keep, Records, around, find, folders};
use acp_chain_rpc::Mutex;
use acp_chain_rpc::json_lines::{read_line, send};
use acp_chain_system::files;

/// Reads this system's disks.
struct Disk {
    project: Option<PathBuf>,
    bounds: Bounds,
    records: Records,
    carried: Carried,
    watch: Watch,
}

/// Finds projects until standard input ends; with `project`, all sessions have that one. Lookups that hang then are
/// abandoned.
#[expect(clippy::disallowed_methods, reason = "the host reads it")]
pub fn serve(project: Option<PathBuf>) -> Result<(), Error> {
    let (watch, notifications) = watch::begin();
    let disk = Disk {
        project,
        bounds: super::bounds(),
        records: home::records()?,
        carried: home::carried()?,
        watch,
    };
    let user = home::user()?;
    let output = Mutex::new(io::stdout());
    let locator = Locator::new(disk, refuses(&user), move |said: &Reply| {
        // The host may have ended; then our input ends, too.
        let mut output = output.lock();
        let _ = send(&mut *output, said);
    });
    let changes = locator.clone();
    let watching = thread::Builder::new().spawn(move || {
        while notifications.wait() {
            changes.again();
        }
    });
    watching.map_err(Error::Thread)?;
    let mut input = io::stdin().lock();
    loop {
        let line = read_line(&mut input, LINE).unwrap_or_default();
        if line.is_empty() {
            return Ok(());
        }
        let lookup = serde_json::from_slice(&line);
        let misused = Error::Misused("find-projects", "; `acp-chain trust` is for you");
        locator.begin(lookup.map_err(|_| misused)?);
    }
}

impl Look for Disk {
    fn find(&self, cwd: &Path) -> Vec<PathBuf> {
        let is_known = |folder: &Path| self.records.know(folder);
        let folder = self.project.as_deref().unwrap_or(cwd);
        match find(folder, &self.bounds, &is_known) {
            Found::Project(root) => {
                let others = around(&root, &self.bounds, &is_known);
                [root].into_iter().chain(others).collect()
            }
            Found::None(end) => {
                tracing::info!("a session has no project: {end}");
                Vec::new()
            }
        }
    }

    fn kept(&self, root: &Path) -> Option<Digest> {
        let kept = self.records.kept(root, &self.carried, Keep::Digests);
        kept.map(|(_, content)| content.key())
    }

    fn state(&self, root: &Path) -> State {
        State::of(root, &self.records, &self.carried)
    }

    fn begin(&self, root: &Path) {
        self.watch.add(root);
        for folder in folders(root) {
            self.watch.add(&folder);
        }
        // Later decisions must be noticed, even if there are none yet.
        if files::make_private(self.records.folder()).is_ok() {
            self.watch.add(self.records.folder());
        }
    }
}
