//! An opened project: its manifest, and the directories of its proxies.

use std::ffi::OsStr;
use std::io;
use std::path::{self, Path, PathBuf};

use crate::protected::{self, NAMES, NamedFiles};
use crate::{Error, proxies, shell};
use acp_chain::host::ProxyPlan;
use acp_chain_extension::{Installed, Locked};
use acp_chain_manifest::{Manifest, ProxyKind, User};
use acp_chain_project::{Agreed, Content, MANIFEST};
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_sandbox::Opened;
use walkdir::WalkDir;

/// A project that has been read, and checked as far as possible without running it.
pub struct OpenProject {
    pub content: Content,
    pub manifest: Manifest,
    /// The proxies of the manifest, in order.
    pub proxies: Vec<ProxyPlan>,
}

impl OpenProject {
    /// Reads the rest of a project whose components were kept. No proxy may write to the files in `named`.
    pub fn new(
        content: Content,
        user: &User,
        installed: &Installed,
        named: &NamedFiles,
    ) -> Result<Self, Error> {
        let manifest = content.manifest(user, installed)?;
        for entry in &manifest.proxies {
            if let Some(stored) = content.stored(&entry.id) {
                let revoked = installed.revoked.check(&stored.digest);
                revoked.map_err(|revocation| Error::Proxy(manifest.about(entry, &revocation)))?;
            }
        }
        let proxies = proxies::open(&manifest)?;
        let each = |check: &dyn Fn(&Opened) -> Result<(), String>| {
            for (entry, opened) in proxies::directories(&proxies) {
                check(opened).map_err(|wrong| Error::Proxy(manifest.about(entry, &wrong)))?;
            }
            Ok::<_, Error>(())
        };
        each(&|opened| fits(opened, content.root()))?;
        protected::check(&manifest, &proxies, named)?;
        each(&spares_git)?;
        Ok(Self {
            content,
            manifest,
            proxies,
        })
    }

    /// Removes all proxies but guards, according to their packages.
    pub fn retain_guards(&mut self) {
        self.proxies.retain(|proxy| match &proxy.entry.kind {
            ProxyKind::Component(component) => component.is_guard,
            ProxyKind::Native(_) => false,
        });
    }

    /// The proxies and their permissions.
    pub fn agreed(&self) -> Vec<Agreed> {
        Agreed::of(&self.manifest, &self.content)
    }
}

/// Fails if a locked extension is missing. Nothing is downloaded for an untrusted project.
pub fn check_installed(content: &Content, installed: &Installed) -> Result<(), Error> {
    let is_missing = |locked: &&Locked| {
        let digest = &locked.agreed.digest;
        let store = installed.store.as_ref();
        installed.carried.of_digest(digest).is_none()
            && store.and_then(|store| store.find(digest)).is_none()
    };
    let missing = content.lock().extensions().filter(is_missing);
    let missing: Vec<_> = missing.map(|locked| format!("`{}`", locked.name)).collect();
    let names = match &missing[..] {
        [] => return Ok(()),
        [name] => format!("{name} is"),
        names => format!("{} are", names.join(", ")),
    };
    let manifest = shell::word(&content.root().join(MANIFEST));
    Err(Error::NotInstalled { names, manifest })
}

/// Checks that a directory is the one that the user agrees to by its path: a link could be changed later without a new
/// consent. An opened directory stays the same, whatever its path leads to later.
fn fits(opened: &Opened, root: &Path) -> Result<(), String> {
    let (named, real) = (&opened.by, &opened.directory.path);
    let (name, path) = (shown(named), shown(real));
    if !real.starts_with(root) {
        return Err(format!(
            "its directory {name} leads out of the project, to {path}"
        ));
    }
    if !real.components().eq(named.components()) {
        return Err(format!(
            "its directory {name} is reached by a link, and is {path}: name it by that path"
        ));
    }
    Ok(())
}

/// Checks that no writable directory contains a `.git`, from which Git runs programs.
fn spares_git(opened: &Opened) -> Result<(), String> {
    if !opened.directory.write {
        return Ok(());
    }
    let (named, real) = (&opened.by, &opened.directory.path);
    if real.iter().any(is_git) {
        return Err(format!(
            "its directory {} is Git's own, from which Git runs programs: no proxy of a project may write there",
            shown(named)
        ));
    }
    match git_in(real, NAMES) {
        Ok(None) => Ok(()),
        Ok(Some(git)) => Err(format!(
            "its directory {} contains {}, from which Git runs programs: no proxy of a project may write there",
            shown(named),
            shown(&git)
        )),
        Err(error) => Err(format!(
            "its directory {} cannot be searched for a `.git`, in which no proxy of a project may write: {error}; \
             give it another one",
            shown(named)
        )),
    }
}

fn shown(path: &Path) -> Untrusted<path::Display<'_>> {
    Untrusted::new(path.display())
}

fn is_git(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case(".git")
}

/// Finds a `.git` in a directory or below it. Does not follow links: they lead out of the directory, or to another
/// place in it. Fails after `most` names.
fn git_in(directory: &Path, most: usize) -> io::Result<Option<PathBuf>> {
    for (seen, entry) in WalkDir::new(directory).min_depth(1).into_iter().enumerate() {
        let entry = entry?;
        if seen >= most {
            return Err(io::Error::other("it has too many files"));
        }
        if is_git(entry.file_name()) {
            return Ok(Some(entry.into_path()));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_git_is_found_at_any_depth_within_the_limit_of_names() {
        let folder = tempfile::tempdir().unwrap();
        let (top, deep) = (folder.path(), folder.path().join("a/b"));
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join("git"), "").unwrap();
        let found = |most| git_in(top, most).ok();
        assert_eq!(found(3), Some(None));
        // The `.git` of a worktree or a submodule is a file. Some file systems are case-insensitive.
        fs::write(deep.join(".GIT"), "").unwrap();
        assert_eq!(found(4), Some(Some(deep.join(".GIT"))));
        assert_eq!(found(2), None);
    }
}
