//! What the commands about extensions work on: a manifest, or the user's own file, with the lock beside
//! it, and the store.

use std::path::{Path, PathBuf};

use crate::cli::folders;
use crate::extension::{Lock, Store};
use crate::manifest::Edit;

/// Which chain a command is about.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Named {
    /// The manifest; by default, your own config.toml
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
}

/// Where everything is.
pub struct Place {
    /// The manifest, by its absolute path.
    pub manifest: PathBuf,
    /// What is installed.
    pub store: Store,
}

impl Named {
    /// Finds it. An error if there is no place for it, or somebody else could change it.
    pub fn place(self) -> Result<Place, String> {
        folders::check_owners()?;
        let none = "there is no home folder to keep extensions in; let XDG_DATA_HOME and XDG_CONFIG_HOME \
                    name folders of yours";
        let manifest = match self.manifest {
            Some(path) => std::path::absolute(path).map_err(|error| error.to_string())?,
            None => folders::config_file().ok_or(none)?,
        };
        Ok(Place {
            manifest,
            store: Store::open(&folders::extensions().ok_or(none)?),
        })
    }
}

impl Place {
    /// The folder that paths in the lock begin at.
    pub fn folder(&self) -> &Path {
        self.manifest.parent().unwrap_or(Path::new("/"))
    }

    /// What is locked now.
    pub fn lock(&self) -> Result<Lock, String> {
        Lock::read(&Lock::beside(&self.manifest)).map_err(|error| error.to_string())
    }

    /// The manifest as it is now.
    pub fn edit(&self) -> Result<Edit, String> {
        Edit::read(&self.manifest).map_err(|error| error.to_string())
    }
}
