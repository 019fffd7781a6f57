//! Stored values of proxies: where their database is, and whether proxies can use it.

use std::path::Path;

use super::finding::Finding;
use super::{Doctor, Findings};
use acp_chain_app::home;
use acp_chain_channel::limits::about;
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_state::{Database, StateError};
use acp_chain_system::{UserFiles, writable};

pub fn look(_: &Doctor) -> Findings {
    let path = home::database().map_err(Finding::note)?;
    let shown = Untrusted::new(path.display()).to_string();
    let folder = path.parent().unwrap_or(&path);
    for place in [folder, &path] {
        writable::check(place).map_err(|error| {
            Finding::problem(format!("no proxy can store values in {shown}: {error}")).step(
                format!(
                    "make it writable for you, or {}",
                    UserFiles::Data.step(UserFiles::YOURS)
                ),
            )
        })?;
    }
    // Opening it would complete the change.
    let finding = if path.exists() && Database::is_changing(&path) {
        Finding::note(format!(
            "{shown} was not examined: a change is under way, or was interrupted and is undone at the next use"
        ))
    } else {
        examined(&path).unwrap_or_else(|error| wrong(&error))
    };
    Ok(vec![finding])
}

fn examined(path: &Path) -> Result<Finding, StateError> {
    let shown = Untrusted::new(path.display());
    let Some(database) = Database::find(path)? else {
        return Ok(Finding::fine(format!(
            "nothing is stored yet; the first value creates {shown}"
        )));
    };
    let all = database.namespaces()?;
    let count: u64 = all.iter().map(|summary| summary.count).sum();
    let bytes: u64 = all.iter().map(|summary| summary.bytes).sum();
    Ok(Finding::fine(format!(
        "values of proxies: {count}, {}, in {shown}, intact",
        about(bytes)
    )))
}

/// The finding about a database that proxies cannot use.
fn wrong(error: &StateError) -> Finding {
    let finding = Finding::problem(format!("no proxy can store values: {error}"));
    match error {
        StateError::Damaged { .. } => finding.run("acp-chain state wipe --all"),
        StateError::Newer { .. } => finding.step(
            "use the acp-chain that wrote it; or `acp-chain state wipe --all`, if its values may be lost",
        ),
        StateError::Exposed(_) => {
            finding.step(format!("make it yours alone, or {}", UserFiles::Data.step(UserFiles::YOURS)))
        }
        StateError::Locked { .. } => finding.step("end the program that has locked it"),
        _ => finding.step("fix that; until then requests of proxies for their values fail"),
    }
}
