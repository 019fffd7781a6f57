//! The user's config.toml.

use std::io::ErrorKind::{NotADirectory, NotFound};

use super::finding::Finding;
use super::{Doctor, Findings};
use acp_chain_app::home;
use acp_chain_rpc::untrusted::Untrusted;

pub fn look(_: &Doctor) -> Findings {
    let Some(path) = home::config_file() else {
        return Ok(vec![Finding::note(
            "there is no place for a config.toml; the defaults apply",
        )]);
    };
    let shown = Untrusted::new(path.display());
    let found = path.symlink_metadata();
    // A home that is not a folder has none, and of one that cannot be read nobody knows.
    if found.is_err_and(|error| matches!(error.kind(), NotFound | NotADirectory)) {
        return Ok(vec![Finding::fine(format!(
            "{shown} is not there: no chain of your own, and the defaults apply"
        ))]);
    }
    let user = home::user().map_err(|error| {
        Finding::problem(error).step("fix that; until then acp-chain runs no chain")
    })?;
    let mut findings = vec![Finding::fine(if user.has_chain() {
        format!("{shown} has a chain of your own")
    } else {
        format!("{shown} has no chain")
    })];
    if user.native {
        findings.push(Finding::note(
            "`native = true`: manifests may start programs as proxies, which no sandbox holds",
        ));
    }
    Ok(findings)
}
