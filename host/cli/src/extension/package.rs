//! `acp-chain package`: makes an extension from a component and its project's metadata.

use std::fs;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use crate::Result;
use acp_chain_package::{Package as Extension, Project};

use super::about::{self, Reasons};
use super::folder::check_file;
use acp_chain_channel::limits::{COMPONENT, Quantity};
use acp_chain_disk as disk;
use acp_chain_extension::Digest;
use acp_chain_manifest::check_asks;
use acp_chain_rpc::untrusted::Untrusted;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain package shout.wasm
  acp-chain package target/core.wasm --project ./shout --output shout.wasm")]
pub struct Package {
    /// The component
    #[arg(value_name = "COMPONENT")]
    component: PathBuf,
    /// The project with its metadata, or its folder: Cargo.toml, package.json, pyproject.toml or
    /// extension.toml
    #[arg(long, value_name = "PATH", default_value = ".")]
    project: PathBuf,
    /// The revision of the source
    #[arg(long, value_name = "REVISION")]
    revision: Option<String>,
    /// Where to write the extension; by default, it replaces the component
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Package {
    pub fn main(self) -> Result<()> {
        let mut project = Project::read(&self.project)?;
        let file = project.file.display().to_string();
        if self.revision.is_some() {
            project.package.about.revision = self.revision;
        }
        let component = read(&self.component)?;
        let written = project.package.write(&component);
        let written = written.map_err(|error| wrong!("{file}: {error}"))?;
        let package = Extension::read(Cursor::new(&written))?;
        check_asks(&package).map_err(|error| wrong!("{file}: {error}"))?;
        let output = self.output.as_ref().unwrap_or(&self.component);
        write(output, &written).map_err(|error| {
            let output = Untrusted::new(output.display());
            format!("{output} cannot be written: {error}")
        })?;
        let (digest, size) = (Digest::of(&written), written.len() as u64);
        about::print(&package, digest, size, Reasons::All);
        say!("It is in {}", Untrusted::new(output.display()));
        Ok(())
    }
}

/// Replaces a file, such as the component itself, atomically.
fn write(output: &Path, bytes: &[u8]) -> io::Result<()> {
    match fs::metadata(output) {
        Ok(about) if about.is_file() => disk::write(&output.canonicalize()?, bytes),
        // A new path, or not a regular file, such as a pipe.
        _ => fs::write(output, bytes),
    }
}

/// Reads a file, which must not be larger than components may be.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    let shown = Untrusted::new(path.display());
    let unreadable = |error: std::io::Error| format!("{shown}: the file cannot be read: {error}");
    check_file(path)?;
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(wrong!("{shown}: it is not a file"));
    }
    let file = fs::File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    let read = file.take(COMPONENT as u64 + 1).read_to_end(&mut bytes);
    read.map_err(unreadable)?;
    if bytes.len() > COMPONENT {
        Err(wrong!(
            "{shown}: the file is larger than {}",
            Quantity::Size.show(COMPONENT as u64)
        ))
    } else {
        Ok(bytes)
    }
}
