//! The files of a package, and the archive format of most kinds of package.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use flate2::{Compression, GzBuilder};
use tar::{Builder, EntryType, Header};

/// The time of all files, in seconds: that of npm, so that the bytes do not depend on the time of packing.
pub const TIME: u32 = 499_162_500;

/// A file of a package.
#[derive(Clone)]
pub struct File {
    pub path: String,
    pub content: Arc<[u8]>,
    pub is_program: bool,
}

impl File {
    pub fn new(path: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        Self {
            path: path.into(),
            content: content.into().into(),
            is_program: false,
        }
    }

    /// The same file with another path.
    pub fn at(&self, path: &str) -> Self {
        Self {
            path: path.to_owned(),
            ..self.clone()
        }
    }

    pub fn mode(&self) -> u32 {
        if self.is_program { 0o755 } else { 0o644 }
    }
}

/// An archive of these files in a folder, with all folders above them, owned by root.
pub fn tar_gz(files: &[File], folder: &str) -> Result<Vec<u8>> {
    let mut builder = Builder::new(GzBuilder::new().write(Vec::new(), Compression::default()));
    let mut folders = BTreeSet::new();
    for file in files {
        let path = Path::new(folder).join(&file.path);
        let above: Vec<_> = path.ancestors().skip(1).collect();
        for folder in above.into_iter().rev() {
            if !folder.as_os_str().is_empty() && folders.insert(folder.to_owned()) {
                let mut header = header(EntryType::Directory, 0o755, 0);
                builder.append_data(&mut header, folder, &[][..])?;
            }
        }
        let mut header = header(EntryType::Regular, file.mode(), file.content.len() as u64);
        builder.append_data(&mut header, &path, &*file.content)?;
    }
    Ok(builder.into_inner()?.finish()?)
}

fn header(kind: EntryType, mode: u32, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size);
    header.set_mtime(TIME.into());
    header
}

/// One file, compressed.
pub fn gz(content: &[u8]) -> Result<Vec<u8>> {
    let mut packed = GzBuilder::new().write(Vec::new(), Compression::best());
    packed.write_all(content)?;
    Ok(packed.finish()?)
}
