//! `acp-chain info`: the description of an extension, and what it asks for.

use std::fmt::Display;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use crate::Result;
use crate::path::path;
use acp_chain_package::Package;
use clap::builder::NonEmptyStringValueParser;

use super::about::{self, Reasons};
use super::folder::meant;
use super::package;
use acp_chain_app::home;
use acp_chain_extension::{Digest, Location, Lock, Stored};
use acp_chain_rpc::untrusted::Untrusted;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain info redact
  acp-chain info ./shout.wasm --json")]
pub struct Info {
    /// The name of an extension, or a file: with a slash, or ending in `.wasm`
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    extension: String,
    /// The manifest whose lock resolves the name; by default, the user's config.toml
    #[arg(long, value_name = "FILE", value_parser = path())]
    manifest: Option<PathBuf>,
    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

impl Info {
    pub fn main(self) -> Result<()> {
        let location = self.locate()?;
        let unreadable = |error: &dyn Display| {
            format!("{}: {}", Untrusted::new(&location), Untrusted::new(error))
        };
        let of = |component: &[u8]| {
            let package = Package::read(Cursor::new(component));
            (package, Digest::of(component), component.len() as u64)
        };
        let (package, digest, size) = match &location {
            Location::File(path) | Location::Stored(Stored { path, .. }) => {
                of(&package::read(path)?)
            }
            Location::Read(_, component) => of(component),
            Location::Carried(extension) => {
                let component = extension.component().map_err(|error| unreadable(&error))?;
                (Package::read(component), extension.digest, extension.size())
            }
        };
        let package = package.map_err(|error| unreadable(&error))?;
        if self.json {
            say!("{:#}", about::json(&package, digest, size));
        } else {
            about::print(&package, digest, size, Reasons::All);
        }
        Ok(())
    }

    fn locate(&self) -> Result<Location> {
        let name = &self.extension;
        let is_wasm = Path::new(name)
            .extension()
            .is_some_and(|extension| extension == "wasm");
        if is_wasm || name.contains(std::path::is_separator) || matches!(&**name, "." | "..") {
            return Ok(Location::File(name.into()));
        }
        let lock = match self.manifest.clone().or_else(home::config_file) {
            Some(manifest) => Lock::read(&Lock::beside(&manifest))?,
            None => Lock::default(),
        };
        let user = home::user()?;
        let found = home::installed(&user)?.find(name, &lock);
        let found = found.map_err(|error| wrong!("{error}{}", meant(name)))?;
        Ok(found.location)
    }
}
