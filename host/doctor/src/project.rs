//! The project of the current folder, and whether its user trusts it.

use std::path::Path;

use super::finding::Finding;
use super::{Doctor, Findings};
use acp_chain_app::home;
use acp_chain_app::project::{self, OpenProject, State, check_installed};
use acp_chain_app::protected::NamedFiles;
use acp_chain_app::{Error, shell};
use acp_chain_extension::Installed;
use acp_chain_manifest::{Manifest, User};
use acp_chain_project::{Content, Found, Keep, MANIFEST, Records};
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_system::UserFiles;

pub fn look(doctor: &Doctor) -> Findings {
    if doctor.manifest.is_some() {
        return Ok(vec![Finding::fine(
            "not checked: the named manifest is the whole chain",
        )]);
    }
    let here = acp_chain_app::here();
    let here = here.map_err(|error| Finding::problem(error).step("go to another folder"))?;
    let records = home::trust().map(|folder| Records::open(&folder));
    let root = match project::locate(&here, records.as_ref()) {
        Found::Project(root) => root,
        Found::None(end) => return Ok(vec![Finding::fine(format!("none here: {end}"))]),
    };
    let shown = Untrusted::new(root.display());
    let records = records.ok_or_else(|| {
        Finding::problem(format!(
            "{shown} is a project, and without a home folder it cannot be trusted"
        ))
        .step(UserFiles::Data.step(UserFiles::YOURS))
    })?;
    let (user, installed) = home::settings().map_err(|error| {
        Finding::problem(format!("{shown} cannot be looked at: {error}")).step("fix that first")
    })?;
    Ok(vec![standing(&root, &records, &user, &installed)])
}

fn standing(root: &Path, records: &Records, user: &User, installed: &Installed) -> Finding {
    let shown = Untrusted::new(root.display());
    let word = shell::word(root);
    let trust = format!("acp-chain trust {word}");
    match State::of(root, records, &installed.carried) {
        State::Trusted(_) => match opened(root, user, installed) {
            Ok(opened) => {
                let count = opened.proxies.len();
                Finding::fine(format!(
                    "{shown} is trusted, as it is now; sessions here have its proxies ({count})"
                ))
            }
            Err(error) => {
                let finding =
                    Finding::problem(format!("{shown} is trusted, and does not run: {error}"));
                if matches!(error, Error::NotInstalled { .. }) {
                    finding.run(format!(
                        "acp-chain install --manifest {}",
                        shell::word(&root.join(MANIFEST))
                    ))
                } else {
                    finding.step(format!("fix that in the project, then `{trust}`"))
                }
            }
        },
        State::Changed => Finding::problem(format!(
            "{shown} has changed since you agreed to it: its proxies, as they are now, do not run"
        ))
        .run(trust),
        State::Unknown => Finding::problem(format!(
            "{shown} is not trusted: its proxies do not run before you have seen them and agreed"
        ))
        .run(trust),
        State::Denied => Finding::fine(format!(
            "{shown} is denied: its proxies never run. `{trust}` asks you again"
        )),
        State::Wrong(error) => Finding::problem(format!("{shown} cannot be used: {error}")).step(
            format!("fix that in the project, or run `acp-chain trust --deny {word}`"),
        ),
        State::Gone => Finding::fine(format!("{shown} no longer has an {MANIFEST}")),
    }
}

/// A trusted project, checked as far as possible without running it.
fn opened(root: &Path, user: &User, installed: &Installed) -> Result<OpenProject, Error> {
    let content = Content::read(root, &installed.carried, Keep::Components)?;
    check_installed(&content, installed)?;
    // `chain` reports errors in the user's own chain.
    let own = Manifest::of_user(user, installed).ok();
    let named = own.map_or_else(NamedFiles::default, |own| NamedFiles::default().and(&own));
    OpenProject::new(content, user, installed, &named)
}
