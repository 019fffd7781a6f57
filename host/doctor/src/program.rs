//! This program, and its folders.

use std::env;
use std::path::Path;

use directories::BaseDirs;

use super::Doctor;
use super::finding::Finding;
use acp_chain_app::home;
use acp_chain_extension::Carried;
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_system::writable;

pub fn look(_: &Doctor) -> Vec<Finding> {
    let mut findings = vec![program()];
    findings.extend(home());
    let folders = [
        (
            "extensions and your trust decisions",
            "XDG_DATA_HOME",
            home::extensions(),
        ),
        ("compiled components", "XDG_CACHE_HOME", home::code_cache()),
    ];
    for (what, variable, path) in folders {
        findings.extend(path.map(|path| folder(what, variable, &path)));
    }
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

fn folder(what: &str, variable: &str, path: &Path) -> Finding {
    let shown = Untrusted::new(path.display());
    let Err(refusal) = writable::check(path) else {
        return Finding::fine(format!("{what}: {shown}"));
    };
    let step = refusal.step.as_deref().unwrap_or("make it writable");
    Finding::problem(format!("{what}: {shown} cannot be written: {refusal}"))
        .step(format!("{step}, or let {variable} name a folder of yours"))
}
