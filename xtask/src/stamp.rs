//! Detects whether something built or fetched earlier is up to date.
//!
//! A stamp is a digest of everything that went into a product, kept in `target/xtask/stamps`. It is written only once
//! the product is complete, so that an interrupted step is repeated.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::workspace::Workspace;

/// The digest of a product's inputs, and the file with the digest of the last time.
pub struct Stamp {
    product: PathBuf,
    file: PathBuf,
    hasher: DefaultHasher,
}

impl Stamp {
    /// A stamp for a file or folder in `target/`.
    pub fn new(workspace: &Workspace, product: &Path) -> Self {
        let name = workspace.name_in_target(product).replace(['/', '\\'], "-");
        Self {
            product: product.to_owned(),
            file: workspace.target("xtask/stamps").join(name),
            hasher: DefaultHasher::new(),
        }
    }

    /// Adds an input: an option, a version.
    #[must_use]
    pub fn on(mut self, what: impl Hash) -> Self {
        what.hash(&mut self.hasher);
        self
    }

    /// Adds the content of a file, or of all files in a folder, as an input.
    pub fn on_path(mut self, path: &Path) -> Result<Self> {
        self.hash_path(path)
            .with_context(|| format!("{} cannot be read", path.display()))?;
        Ok(self)
    }

    /// Whether the product exists, and was made from exactly these inputs.
    pub fn is_current(&self) -> bool {
        self.product.exists()
            && fs::read_to_string(&self.file).is_ok_and(|digest| digest == self.digest())
    }

    /// To be called when the product is complete.
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
