//! The receipts of a run: by the command line, else the manifest that it names, else the user's config.toml.

use std::ffi::OsString;
use std::path::Path;

use acp_chain_app::home;
use acp_chain_manifest::{OnReceiptsFailure, ReceiptsEntry, written};

use crate::Result;

#[derive(Clone, Debug, Default, clap::Args)]
pub struct ReceiptsArgs {
    /// Keep receipts in this folder: what was decided, by whom, and each tool call, in a log whose changes are found;
    /// an empty name is none
    #[arg(long, value_name = "FOLDER")]
    receipts: Option<OsString>,
    /// Whether turns stop when receipts cannot be written: `stop`, the default, or `continue`
    #[arg(long, value_name = "MODE")]
    receipts_on_failure: Option<OnReceiptsFailure>,
}

impl ReceiptsArgs {
    /// The log, if one is wanted; its folder is absolute.
    pub fn target(&self, manifest: Option<&Path>) -> Result<Option<ReceiptsEntry>> {
        if self.receipts.as_ref().is_some_and(|name| name.is_empty()) {
            return Ok(None);
        }
        // Errors in these files are reported with the chain.
        let of_manifest = manifest.and_then(|path| ReceiptsEntry::of_manifest(path).ok()?);
        let of_user = || home::user().ok()?.receipts;
        let mut entry = of_manifest.or_else(of_user);
        if let Some(folder) = &self.receipts {
            let named = ReceiptsEntry {
                folder: written(Path::new(folder)),
                keep_days: None,
                on_failure: OnReceiptsFailure::default(),
            };
            // How long they are kept, and what follows when they are not, is as the files say.
            let folder = named.folder.clone();
            entry = Some(entry.map_or(named, |set| ReceiptsEntry { folder, ..set }));
        }
        if let (Some(entry), Some(mode)) = (&mut entry, self.receipts_on_failure) {
            entry.on_failure = mode;
        }
        let Some(entry) = entry else { return Ok(None) };
        let folder = std::path::absolute(&entry.folder).map_err(|error| {
            let folder = entry.folder.display().to_string();
            wrong!(
                "receipts cannot be written to {folder:?}: {error}; name a folder by its whole path"
            )
        })?;
        Ok(Some(ReceiptsEntry { folder, ..entry }))
    }
}
