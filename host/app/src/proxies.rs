//! The proxies of a manifest, before they are loaded.

use acp_chain::host::{self, ProxyPlan};
use acp_chain_manifest::{Manifest, ProxyEntry};
use acp_chain_sandbox::Opened;

use crate::Error;

/// The proxies of a manifest, in order, with their directories opened.
pub fn open(manifest: &Manifest) -> Result<Vec<ProxyPlan>, Error> {
    host::plan(manifest).map_err(Error::Proxy)
}

/// The directories of proxies, each with the entry of its proxy.
pub fn directories(proxies: &[ProxyPlan]) -> impl Iterator<Item = (&ProxyEntry, &Opened)> {
    proxies.iter().flat_map(|proxy| {
        let opened = proxy.directories.iter();
        opened.map(|opened| (&proxy.entry, opened))
    })
}
