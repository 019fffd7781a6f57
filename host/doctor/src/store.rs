//! Installed extensions, and compiled code.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::finding::Finding;
use super::{Doctor, Findings, all};
use acp_chain_app::home;
use acp_chain_app::shell;
use acp_chain_channel::limits::about;
use acp_chain_extension::{Store, StoreError, Stored};
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_system::UserFiles;

/// How many bytes of components are read; the rest is only counted.
const MOST: u64 = 256 << 20;

pub fn look(_: &Doctor) -> Vec<Finding> {
    let (Some(folder), Some(cache)) = (home::extensions(), home::code_cache()) else {
        return vec![Finding::note(
            "there is no place for extensions, nor for compiled components: what comes with acp-chain runs all the \
             same",
        )];
    };
    let mut findings = all(store(&Store::open(&folder)));
    findings.push(code(&cache));
    findings
}

fn store(store: &Store) -> Findings {
    let shown = Untrusted::new(store.folder().display()).to_string();
    let all = store.all().map_err(|error| {
        Finding::problem(error).step(format!("let {shown} be a folder that you can read"))
    })?;
    let (mut findings, mut read) = (Vec::new(), 0);
    for stored in &all {
        read += fs::metadata(&stored.path).map_or(0, |about| about.len());
        if read > MOST {
            findings.push(Finding::note(format!(
                "{shown} has more components than were checked; those in the chain are checked above"
            )));
            break;
        }
        findings.extend(
            stored
                .read()
                .err()
                .map(|error| damaged(store, stored, &error)),
        );
    }
    if findings.is_empty() {
        findings.push(Finding::fine(match all.len() {
            0 => format!("nothing is installed in {shown}"),
            1 => format!("1 component in {shown}, intact"),
            count => format!("{count} components in {shown}, all intact"),
        }));
    }
    Ok(findings)
}

fn damaged(store: &Store, stored: &Stored, error: &StoreError) -> Finding {
    let finding = Finding::problem(error);
    let users = store.users_of(&stored.digest).unwrap_or_default();
    let own = home::config_file();
    match users.first().map(|lock| lock.with_extension("toml")) {
        Some(manifest) if Some(&manifest) == own.as_ref() => finding.run("acp-chain install"),
        Some(manifest) => finding.run(format!(
            "acp-chain install --manifest {}",
            shell::word(&manifest)
        )),
        None => finding.run("acp-chain gc"),
    }
}

/// The compiled code. Damaged code is recompiled, and no problem.
fn code(cache: &Path) -> Finding {
    let shown = Untrusted::new(cache.display());
    let entries = match fs::read_dir(cache) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Finding::fine(format!("nothing is compiled yet in {shown}"));
        }
        Err(error) => {
            return Finding::problem(format!("compiled components: {shown}: {error}")).step(
                format!(
                    "let it be a folder of yours, or {}",
                    UserFiles::Cache.step(UserFiles::YOURS)
                ),
            );
        }
    };
    let files = entries.flatten().filter_map(|entry| entry.metadata().ok());
    let (count, bytes) = files.fold((0u64, 0), |(count, bytes), about| {
        (count + 1, bytes + about.len())
    });
    // One file is the key.
    let count = count.saturating_sub(1);
    Finding::fine(format!(
        "compiled components: {count}, {}, in {shown}",
        about(bytes)
    ))
}
