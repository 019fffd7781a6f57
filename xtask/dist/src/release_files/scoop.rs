//! The manifest for Scoop, which installs the program of the archive for Windows.

use serde_json::json;

use super::{Archive, VERSION};
use crate::packages::product::DESCRIPTION;

/// The manifest, if there is an archive for Windows.
pub fn write(archives: &[Archive], homepage: &str) -> Option<String> {
    // One built by Microsoft's tools is preferred.
    let archives = archives.iter().rev();
    let mut archives = archives.filter(|archive| archive.machine.os == "windows");
    let archive = archives.next()?;
    let manifest = json!({
        "version": VERSION,
        "description": DESCRIPTION,
        "homepage": homepage,
        // Of these two, the user chooses one.
        "license": "Apache-2.0|MIT",
        "architecture": { "64bit": {
            "url": archive.url,
            "hash": archive.digest,
            "extract_dir": archive.name,
        } },
        "bin": archive.machine.program(),
    });
    Some(format!("{manifest:#}\n"))
}
