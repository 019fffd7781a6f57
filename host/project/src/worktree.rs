//! Git worktrees (gitrepository-layout).
//!
//! A `.git` file names the repository that its folder is a worktree of. Such a file proves nothing by itself: the
//! repository must name the folder, too.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use acp_chain_system::files::real;

/// The maximum length of a Git file with a path, in bytes.
const LONGEST: u64 = 32 * 1024;

/// A folder in a repository that may have several worktrees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worktree {
    /// The folder that all worktrees of the repository share, without symbolic links.
    pub repository: PathBuf,
    /// The folder's path below its worktree.
    pub within: PathBuf,
}

impl Worktree {
    /// The worktree that contains a folder, whose path has no symbolic links; `None` outside worktrees.
    pub fn of(folder: &Path) -> Option<Self> {
        let top = folder.ancestors().find(|top| is_marked(top))?;
        let within = folder.strip_prefix(top).ok()?.to_owned();
        Some(Self {
            repository: repository(top)?,
            within,
        })
    }
}

/// Whether a folder has a `.git`, as the top of a worktree does. This is not verified.
pub fn is_marked(folder: &Path) -> bool {
    folder.join(".git").symlink_metadata().is_ok()
}

/// The shared folder of the repository whose worktree this is.
fn repository(top: &Path) -> Option<PathBuf> {
    let mark = top.join(".git");
    let about = mark.symlink_metadata().ok()?;
    if about.is_dir() {
        return real(&mark).ok();
    }
    // A link to the file of a worktree is none.
    if !about.is_file() {
        return None;
    }
    let own = line(&mark)?;
    let own = top.join(own.strip_prefix("gitdir:")?.trim());
    let own = real(&own).ok()?;
    let back = own.join(line(&own.join("gitdir"))?);
    if real(&back).ok()? != real(&mark).ok()? {
        return None;
    }
    let shared = own.join(line(&own.join("commondir"))?);
    let shared = real(&shared).ok()?;
    // Git keeps the files of each worktree in `worktrees`.
    (own.parent()? == shared.join("worktrees")).then_some(shared)
}

/// The content of a file with one line.
fn line(path: &Path) -> Option<String> {
    // A pipe would block.
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let file = File::open(path).ok()?;
    let text = io::read_to_string(file.take(LONGEST)).ok()?;
    Some(text.trim_end_matches(['\n', '\r']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repository `main` with a worktree `other`, as Git lays them out.
    fn world() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let own = top.join("main/.git/worktrees/other");
        for folder in ["main/sub", "other/sub", "evil"] {
            fs::create_dir_all(top.join(folder)).unwrap();
        }
        fs::create_dir_all(&own).unwrap();
        let mark = top.join("other/.git");
        fs::write(&mark, format!("gitdir: {}\n", own.display())).unwrap();
        fs::write(own.join("gitdir"), format!("{}\n", mark.display())).unwrap();
        fs::write(own.join("commondir"), "../..\n").unwrap();
        (folder, top)
    }

    #[test]
    fn worktrees_of_a_repository_share_it() {
        let (_folder, top) = world();
        let main = Worktree::of(&top.join("main/sub")).unwrap();
        assert_eq!(main.repository, top.join("main/.git"));
        assert_eq!(main.within, Path::new("sub"));
        assert_eq!(Worktree::of(&top.join("other/sub")), Some(main));
        assert_eq!(Worktree::of(&top), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_the_mark_of_a_worktree_is_none() {
        let (_folder, top) = world();
        let link = top.join("evil/.git");
        std::os::unix::fs::symlink(top.join("other/.git"), link).unwrap();
        assert_eq!(Worktree::of(&top.join("evil")), None);
    }

    #[test]
    fn a_mark_that_its_repository_does_not_name_is_ignored() {
        let (_folder, top) = world();
        let evil = top.join("evil");
        let own = top.join("main/.git/worktrees/other");
        let shared = top.join("main/.git");
        for claimed in [&own, &shared, &evil] {
            fs::write(evil.join(".git"), format!("gitdir: {}", claimed.display())).unwrap();
            assert_eq!(Worktree::of(&evil), None, "{}", claimed.display());
        }
        // A forged worktree, with the trusted repository as the shared folder.
        let fake = evil.join("fake/worktrees/evil");
        fs::create_dir_all(&fake).unwrap();
        fs::write(evil.join(".git"), format!("gitdir: {}", fake.display())).unwrap();
        fs::write(fake.join("gitdir"), evil.join(".git").to_str().unwrap()).unwrap();
        fs::write(fake.join("commondir"), shared.to_str().unwrap()).unwrap();
        assert_eq!(Worktree::of(&evil), None);
        fs::write(fake.join("commondir"), "../..").unwrap();
        let own = Worktree::of(&evil).unwrap().repository;
        assert_eq!(own, evil.join("fake"), "a repository of its own");
    }
}
