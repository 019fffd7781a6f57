//! A dry run: what `--dry-run` takes from proxies before they start. The router takes the rest.

use acp_chain_manifest::{Manifest, ProxyKind};
use acp_chain_sandbox::Directory;

use crate::ChainError;

/// Lets no proxy write to its directories.
///
/// # Errors
/// If one is a program: nothing keeps it from acting.
pub fn confine(manifest: &mut Manifest) -> Result<(), ChainError> {
    if let Some((entry, _)) = manifest.natives().next() {
        let wrong = "it is a program, which nothing keeps from acting; a dry run is of components, so leave it out \
                     of the manifest for `--dry-run`";
        return Err(ChainError::new(manifest.about(entry, &wrong)));
    }
    for entry in &mut manifest.proxies {
        if let ProxyKind::Component(component) = &mut entry.kind {
            let directories = component.directories.iter();
            let read_only = directories.map(|directory| Directory {
                write: false,
                ..directory.clone()
            });
            component.directories = read_only.collect();
        }
    }
    Ok(())
}
