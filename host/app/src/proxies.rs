//! The proxies of a manifest, before they are loaded.

use acp_chain::host::{self, ProxyPlan};
use acp_chain_manifest::Manifest;

use crate::Error;

/// The proxies of a manifest, in order, with their directories opened.
pub fn open(manifest: &Manifest) -> Result<Vec<ProxyPlan>, Error> {
    host::plan(manifest).map_err(Error::Proxy)
}
