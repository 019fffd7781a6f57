//! Finding the project of a working directory.
//!
//! The root of a project is the nearest folder upwards with a manifest. A repository is never part of a project around
//! it. Neither the user's home nor a folder above it is a project: otherwise a program that can write a file there
//! could insert proxies in front of every agent.

use std::io;
use std::path::{Path, PathBuf};

use super::worktree::is_marked;
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_system::files;

/// The name of a project's manifest.
pub const MANIFEST: &str = "acp-chain.toml";

/// The user's folders that are not projects.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    home: Option<PathBuf>,
    settings: Option<PathBuf>,
}

/// The result of [`find`].
#[derive(Debug)]
pub enum Found {
    /// The root of a project, without symbolic links.
    Project(PathBuf),
    /// No project: the search ended here.
    None(End),
}

/// Where the search ended.
#[derive(Debug, thiserror::Error)]
pub enum End {
    /// At a folder that cannot be read, or is not one.
    #[error("{} cannot be read: {}", Untrusted::new(.0.display()), .1)]
    Nowhere(PathBuf, io::Error),
    /// At the root of a repository.
    #[error(
        "the repository {} has no {MANIFEST} at its root, and is not part of another project",
        Untrusted::new(.0.display())
    )]
    Repository(PathBuf),
    /// At the user's home, or above it.
    #[error(
        "there is no {MANIFEST} in any folder up to {}, and neither your home nor a folder above it is a project",
        Untrusted::new(.0.display())
    )]
    Home(PathBuf),
    /// At the user's home, or above it, where this manifest is.
    #[error(
        "{} does not apply: neither your home nor a folder above it is a project; name it with `--manifest`, or put its \
         proxies into your config.toml",
        Untrusted::new(.0.display())
    )]
    HomeManifest(PathBuf),
    /// At the folder of the user's settings.
    #[error("{} has your settings, and is not a project", Untrusted::new(.0.display()))]
    Settings(PathBuf),
    /// At the root of the file system.
    #[error("there is no {MANIFEST} in this folder or above it")]
    Top,
}

impl Bounds {
    /// Folders that do not exist are ignored.
    pub fn new(home: Option<&Path>, settings: Option<&Path>) -> Self {
        let real = |path: Option<&Path>| path.and_then(|path| files::real(path).ok());
        Self {
            home: real(home),
            settings: real(settings),
        }
    }

    /// The reason, if the search ends before this folder.
    fn end(&self, folder: &Path) -> Option<End> {
        if folder.parent().is_none() {
            return Some(End::Top);
        }
        if self.settings.as_deref() == Some(folder) {
            return Some(End::Settings(folder.to_owned()));
        }
        let home = self.home.as_ref().filter(|home| home.starts_with(folder));
        home?;
        let manifest = folder.join(MANIFEST);
        Some(match manifest.symlink_metadata() {
            Ok(_) => End::HomeManifest(manifest),
            Err(_) => End::Home(folder.to_owned()),
        })
    }
}

/// The projects around one, the nearest first. Their guards apply to it, too.
pub fn around(root: &Path, bounds: &Bounds, is_known: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut roots = vec![root.to_owned()];
    while let Some(root) = roots.last()
        && !is_marked(root)
        && let Some(above) = root.parent()
        && let Found::Project(next) = find(above, bounds, is_known)
    {
        roots.push(next);
    }
    roots.split_off(1)
}

/// Searches for a project from a working directory upwards. A folder that the user has trusted (`is_known`) stays a
/// project when its manifest is removed.
pub fn find(cwd: &Path, bounds: &Bounds, is_known: &dyn Fn(&Path) -> bool) -> Found {
    let nowhere = |error| Found::None(End::Nowhere(cwd.to_owned(), error));
    if !cwd.is_absolute() {
        return nowhere(io::Error::other("the path is not absolute"));
    }
    let start = match files::real(cwd) {
        Ok(start) if start.is_dir() => start,
        Ok(_) => return nowhere(io::ErrorKind::NotADirectory.into()),
        Err(error) => return nowhere(error),
    };
    for folder in start.ancestors() {
        if let Some(end) = bounds.end(folder) {
            return Found::None(end);
        }
        match folder.join(MANIFEST).symlink_metadata() {
            Ok(_) => return Found::Project(folder.to_owned()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return nowhere(error),
        }
        if is_known(folder) {
            return Found::Project(folder.to_owned());
        }
        if is_marked(folder) {
            return Found::None(End::Repository(folder.to_owned()));
        }
    }
    Found::None(End::Top)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn world() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        fs::create_dir_all(top.join("home/work/src/deep")).unwrap();
        (folder, top)
    }

    fn bounds(top: &Path) -> Bounds {
        Bounds::new(Some(&top.join("home")), Some(&top.join("home/settings")))
    }

    #[test]
    fn the_nearest_manifest_upwards_is_that_of_the_project() {
        let (_folder, top) = world();
        let work = top.join("home/work");
        fs::write(work.join(MANIFEST), "").unwrap();
        for cwd in ["", "src", "src/deep", "src/../src/deep/."] {
            let found = find(&work.join(cwd), &bounds(&top), &|_| false);
            assert!(
                matches!(&found, Found::Project(root) if *root == work),
                "{found:?}"
            );
        }
        fs::write(work.join("src").join(MANIFEST), "").unwrap();
        let found = find(&work.join("src/deep"), &bounds(&top), &|_| false);
        assert!(
            matches!(&found, Found::Project(root) if *root == work.join("src")),
            "{found:?}"
        );
    }

    #[test]
    fn a_repository_is_not_part_of_a_project_around_it() {
        let (_folder, top) = world();
        let work = top.join("home/work");
        fs::write(work.join(MANIFEST), "").unwrap();
        // In a worktree or a submodule, it is a file.
        fs::write(work.join("src/.git"), "gitdir: elsewhere").unwrap();
        let found = find(&work.join("src/deep"), &bounds(&top), &|_| false);
        assert!(
            matches!(&found, Found::None(End::Repository(at)) if *at == work.join("src")),
            "{found:?}"
        );
        // The root of the repository is searched.
        fs::write(work.join("src").join(MANIFEST), "").unwrap();
        let found = find(&work.join("src/deep"), &bounds(&top), &|_| false);
        assert!(
            matches!(&found, Found::Project(root) if *root == work.join("src")),
            "{found:?}"
        );
    }

    #[test]
    fn home_folders_above_it_and_settings_are_not_projects() {
        let (_folder, top) = world();
        fs::create_dir(top.join("home/settings")).unwrap();
        fs::write(top.join("home/settings").join(MANIFEST), "").unwrap();
        let found = find(&top.join("home/work/src"), &bounds(&top), &|_| false);
        assert!(
            matches!(&found, Found::None(End::Home(at)) if *at == top.join("home")),
            "{found:?}"
        );
        let Found::None(end) = found else {
            panic!("no project")
        };
        let home = top.join("home");
        let expected = format!(
            "there is no {MANIFEST} in any folder up to {}, ",
            home.display()
        );
        assert!(end.to_string().starts_with(&expected), "{end}");
        for (folder, cwd) in [(&home, home.join("work/src")), (&top, top.clone())] {
            let manifest = folder.join(MANIFEST);
            fs::write(&manifest, "").unwrap();
            let found = find(&cwd, &bounds(&top), &|_| false);
            assert!(
                matches!(&found, Found::None(End::HomeManifest(at)) if *at == manifest),
                "{found:?}"
            );
        }
        let found = find(&top.join("home/settings"), &bounds(&top), &|_| false);
        assert!(matches!(&found, Found::None(End::Settings(_))), "{found:?}");
        let found = find(Path::new("/"), &bounds(&top), &|_| false);
        assert!(matches!(&found, Found::None(End::Top)), "{found:?}");
    }

    #[test]
    fn a_missing_working_directory_has_no_project() {
        let (_folder, top) = world();
        fs::write(top.join("home/file"), "").unwrap();
        for cwd in [
            Path::new("home/work"),
            Path::new(""),
            &top.join("gone"),
            &top.join("home/file"),
        ] {
            let found = find(cwd, &bounds(&top), &|_| false);
            assert!(matches!(&found, Found::None(End::Nowhere(..))), "{found:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn any_file_with_the_name_of_a_manifest_makes_a_project() {
        let (_folder, top) = world();
        let work = top.join("home/work");
        std::os::unix::fs::symlink("/nowhere", work.join(MANIFEST)).unwrap();
        let found = find(&work.join("src"), &bounds(&top), &|_| false);
        assert!(
            matches!(&found, Found::Project(root) if *root == work),
            "{found:?}"
        );
    }

    #[test]
    fn a_trusted_project_stays_one_without_its_manifest() {
        let (_folder, top) = world();
        let work = top.join("home/work");
        let known = |folder: &Path| folder == work;
        let found = find(&work.join("src"), &bounds(&top), &known);
        assert!(
            matches!(&found, Found::Project(root) if *root == work),
            "{found:?}"
        );
    }

    #[test]
    fn the_projects_around_one_are_found_up_to_the_root_of_its_repository() {
        let (_folder, top) = world();
        let work = top.join("home/work");
        for folder in ["", "src/deep"] {
            fs::write(work.join(folder).join(MANIFEST), "").unwrap();
        }
        let around = |root: &str| around(&work.join(root), &bounds(&top), &|_| false);
        assert_eq!(around("src/deep"), std::slice::from_ref(&work));
        assert!(around("").is_empty());
        fs::create_dir(work.join("src/deep/.git")).unwrap();
        assert!(around("src/deep").is_empty());
    }
}
