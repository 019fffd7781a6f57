//! Knowing that something made or fetched earlier is still what would be made now.
//!
//! A stamp is a digest of everything that went into a product, kept in `target/xtask/stamps`. It
//! is written only once the product is whole, so that an interrupted step is done again.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::workspace::Workspace;

/// The digest of what goes into one product, and where the digest of the last time is.
pub struct Stamp {
    product: PathBuf,
    file: PathBuf,
    hasher: DefaultHasher,
}

impl Stamp {
    /// For a file or folder in `target/`.
    pub fn new(workspace: &Workspace, product: &Path) -> Self {
        let name = workspace.name_in_target(product).replace(['/', '\\'], "-");
        Self {
            product: product.to_owned(),
            file: workspace.target("xtask/stamps").join(name),
            hasher: DefaultHasher::new(),
        }
    }

    /// The product depends on this: an option, a version.
    #[must_use]
    pub fn on(mut self, what: impl Hash) -> Self {
        what.hash(&mut self.hasher);
        self
    }

    /// The product depends on the content of a file, or of all the files of a folder.
    pub fn on_path(mut self, path: &Path) -> Result<Self> {
        self.hash_path(path)
            .with_context(|| format!("{} cannot be read", path.display()))?;
        Ok(self)
    }

    /// Whether the product is there, made of exactly this.
    pub fn is_current(&self) -> bool {
        self.product.exists()
            && fs::read_to_string(&self.file).is_ok_and(|digest| digest == self.digest())
    }

    /// To be called when the product is whole.
    pub fn set(&self) -> Result<()> {
        fs::create_dir_all(self.file.with_file_name(""))?;
        fs::write(&self.file, self.digest())?;
        Ok(())
    }

    fn digest(&self) -> String {
        format!("{:016x}", self.hasher.finish())
    }

    fn hash_path(&mut self, path: &Path) -> Result<()> {
        path.file_name().hash(&mut self.hasher);
        if !path.is_dir() {
            fs::read(path)?.hash(&mut self.hasher);
            return Ok(());
        }
        let entries = fs::read_dir(path)?.map(|entry| Ok(entry?.path()));
        let mut entries = entries.collect::<Result<Vec<_>>>()?;
        entries.sort();
        entries.iter().try_for_each(|entry| self.hash_path(entry))
    }
}
