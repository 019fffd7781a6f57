//! A user's folders, which contain the configurations of editors.

use std::env;
use std::path::{Path, PathBuf};

use directories::BaseDirs;

/// The folders in which configurations are searched for.
#[derive(Clone, Debug)]
pub struct Folders {
    /// The user's home.
    pub home: PathBuf,
    /// The folder of programs' settings on this system.
    pub settings: PathBuf,
    /// The folder of settings that stay on this machine. On most systems it is the same as
    /// [`settings`](Self::settings).
    pub local_settings: PathBuf,
    /// The value of `NVIM_APPNAME`, or `nvim`.
    pub nvim: String,
}

impl Folders {
    /// The folders of the current user; `None` without a home, or if it would depend on the working directory.
    pub fn of_user() -> Option<Self> {
        let folders = BaseDirs::new().filter(|folders| folders.home_dir().is_absolute())?;
        let nvim = env::var("NVIM_APPNAME").ok();
        Some(Self {
            home: folders.home_dir().to_owned(),
            settings: folders.config_dir().to_owned(),
            local_settings: folders.config_local_dir().to_owned(),
            nvim: nvim
                .filter(|name| !name.is_empty())
                .unwrap_or_else(|| "nvim".to_owned()),
        })
    }

    /// A path in the user's home.
    pub(crate) fn in_home(&self, path: &str) -> PathBuf {
        below(&self.home, path)
    }

    /// A path in each existing folder of settings. Some programs keep theirs in `~/.config` on every system.
    pub(crate) fn in_settings(&self, path: &str) -> Vec<PathBuf> {
        let unix = self.home.join(".config");
        let mut paths = Vec::new();
        for folder in [&self.settings, &unix, &self.local_settings] {
            let path = below(folder, path);
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        paths
    }
}

/// A path below a folder, with the separators of this system between its names.
fn below(folder: &Path, path: &str) -> PathBuf {
    let mut below = folder.to_owned();
    below.extend(path.split('/'));
    below
}
