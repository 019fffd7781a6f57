//! This program, and its folders.

use std::env;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use directories::BaseDirs;

use super::Doctor;
use super::finding::Finding;
use acp_chain_app::home;
use acp_chain_extension::Carried;
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_system::mounts::{self, Mount};
use acp_chain_system::{UserFiles, writable};

/// A folder of the user's with files of this program.
struct Folder {
    /// What is in it.
    what: &'static str,
    kept: UserFiles,
    path: fn() -> Option<PathBuf>,
    /// What it means that it is on a network disk.
    on_network: &'static str,
}

const FOLDERS: [Folder; 2] = [
    Folder {
        what: "extensions and your trust decisions",
        kept: UserFiles::Data,
        path: home::extensions,
        on_network: "all machines that have it share them, with the values that proxies store, for which it has to lock \
                     files",
    },
    Folder {
        what: "compiled components",
        kept: UserFiles::Cache,
        path: home::code_cache,
        on_network: "each chain copies its code from there into its memory, where chains would share it otherwise",
    },
];

pub fn look(_: &Doctor) -> Vec<Finding> {
    let mut findings = vec![program()];
    findings.extend(home());
    let folders = FOLDERS.iter();
    findings.extend(folders.filter_map(|folder| Some(folder.look(&(folder.path)()?))));
    findings.extend(home::check_owners().err().map(|exposed| {
        Finding::problem(exposed).step("do one of the two; until then acp-chain does not start")
    }));
    findings
}

fn program() -> Finding {
    let (version, system) = (env!("CARGO_PKG_VERSION"), env::consts::OS);
    let path = match env::current_exe() {
        Ok(path) => path,
        Err(error) => return Finding::problem(format!("this program cannot be found: {error}")),
    };
    let shown = Untrusted::new(path.display());
    let this = format!(
        "acp-chain {version} for {system} ({}), {shown}",
        env::consts::ARCH
    );
    match Carried::by(&path) {
        Ok(carried) => {
            let names: Vec<_> = carried.iter().map(|extension| &*extension.name).collect();
            if names.is_empty() {
                Finding::fine(format!("{this}; it has no built-in extensions"))
            } else {
                Finding::fine(format!(
                    "{this}; with the built-in extensions {}",
                    names.join(", ")
                ))
            }
        }
        Err(error) => Finding::problem(format!("{this}: it cannot be read: {error}"))
            .step("install it again: `cargo xtask install`"),
    }
}

/// The finding about a home that is missing, or uncertain.
fn home() -> Option<Finding> {
    let folder = BaseDirs::new();
    let Some(folder) = folder.filter(|_| home::config_file().is_some()) else {
        return Some(
            Finding::problem(
                "there is no home folder: no configuration of yours is read, nothing can be installed or trusted, \
                 and there is no log",
            )
            .step("let HOME name a folder of yours, by its whole path, where acp-chain is launched"),
        );
    };
    let is_named = ["HOME", "USERPROFILE"].map(env::var_os);
    if is_named.iter().flatten().any(|home| !home.is_empty()) {
        return None;
    }
    let folder = Untrusted::new(folder.home_dir().display());
    Some(
        Finding::note(format!(
            "HOME is not set; {folder} is taken for your home, as the system has it"
        ))
        .step("let whatever launches acp-chain pass HOME on, if that is another folder"),
    )
}

impl Folder {
    fn look(&self, path: &Path) -> Finding {
        let Self { what, kept, .. } = self;
        let shown = Untrusted::new(path.display());
        let Err(refusal) = writable::check(path) else {
            let disk = mounts::of(path).filter(Mount::is_remote);
            return self.placed(&shown, disk.map(|disk| disk.kind).as_deref());
        };
        let step = refusal.step.as_deref().unwrap_or("make it writable");
        Finding::problem(format!("{what}: {shown} cannot be written: {refusal}"))
            .step(format!("{step}, or {}", kept.step(UserFiles::YOURS)))
    }

    /// The finding about a place that can be written. `network` is the kind of its disk, if that is on another machine.
    fn placed(&self, shown: &dyn Display, network: Option<&str>) -> Finding {
        let Self {
            what,
            kept,
            on_network,
            ..
        } = self;
        let Some(kind) = network else {
            return Finding::fine(format!("{what}: {shown}"));
        };
        let kind = Untrusted::new(kind);
        Finding::note(format!(
            "{what}: {shown}, on a network disk ({kind}): {on_network}"
        ))
        .step(format!(
            "{}, if that matters",
            kept.step("a folder on this machine")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Remedy, State};

    #[test]
    fn a_folder_on_a_network_disk_is_told_with_what_that_means() {
        for folder in &FOLDERS {
            let fine = folder.placed(&"/home/me/x", None);
            assert_eq!(fine.state, State::Fine);
            let note = folder.placed(&"/home/me/x", Some("nfs4"));
            assert_eq!(note.state, State::Note);
            let says = format!(
                "/home/me/x, on a network disk (nfs4): {}",
                folder.on_network
            );
            assert!(note.says.contains(&says), "{}", note.says);
            let Some(Remedy::Step(step)) = note.remedy else {
                panic!("there is a step");
            };
            let moves = folder.kept.step("a folder on this machine");
            assert!(step.contains(&moves), "{step}");
        }
    }
}
