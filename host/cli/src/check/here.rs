//! The settings and the project that apply in a folder, for `acp-chain check` without a manifest.

use std::path::Path;

use crate::Result;
use acp_chain_app::home;
use acp_chain_app::project::{OpenProject, State, check_installed, locate};
use acp_chain_app::protected::NamedFiles;
use acp_chain_app::shell::trust;
use acp_chain_extension::{Installed, Lock};
use acp_chain_manifest::{Manifest, User};
use acp_chain_project::{Content, Found, Keep, MANIFEST, Records, Standing, vouched};
use acp_chain_rpc::untrusted::Untrusted;

/// Prints, file by file, what applies in a folder. Returns the project, if its proxies would run. Fails if the folder
/// has a project that cannot be used, trusted or not, unless the user denied it.
pub fn print(
    folder: &Path,
    own: &Manifest,
    user: &User,
    installed: &Installed,
    named: &NamedFiles,
) -> Result<Option<OpenProject>> {
    let show = |path: &Path| Untrusted::new(path.display()).to_string();
    match home::config_file() {
        Some(path) if path.exists() => {
            let proxies = match own.proxies.len() {
                0 => "no proxies".to_owned(),
                1 => "1 proxy".to_owned(),
                count => format!("{count} proxies"),
            };
            show!("config.toml  {}: {proxies} of your own", show(&path));
        }
        Some(path) => show!("config.toml  {} is not there", show(&path)),
        None => show!("config.toml  there is no home folder for one"),
    }
    let records = home::trust().map(|folder| Records::open(&folder));
    let root = match locate(folder, records.as_ref()) {
        Found::Project(root) => root,
        Found::None(end) => {
            show!("project      none: {end}");
            return Ok(None);
        }
    };
    show!(
        "project      {}, the nearest folder upwards with {MANIFEST}",
        show(&root)
    );
    let manifest = root.join(MANIFEST);
    show!("manifest     {}", show(&manifest));
    let lock = Lock::beside(&manifest);
    if lock.symlink_metadata().is_ok() {
        show!("lock         {}", show(&lock));
    } else {
        show!("lock         {} is not there", show(&lock));
    }
    let Some(records) = &records else {
        show!("trust        none: there is no home folder to remember it in");
        return Ok(None);
    };
    let command = trust(&root);
    let state = State::of(&root, records, &installed.carried);
    // What the user has not decided about is checked as far as the question about it would be, which runs nothing.
    if matches!(state, State::Unknown | State::Changed) {
        let content = Content::read(&root, &installed.carried, Keep::Components)?;
        check_installed(&content, installed)?;
        OpenProject::new(content, user, installed, named)?;
    }
    // Until the user has agreed to what is there now, sessions have what was there before.
    if matches!(state, State::Changed | State::Gone)
        && let Some((record, content)) = records.kept(&root, &installed.carried, Keep::Components)
    {
        let opened = OpenProject::new(content, user, installed, named)?;
        if record.lets(&opened.agreed()) {
            show!(
                "trust        since {}, to its files as they were then, which still run; {command} shows what is \
                 different",
                Untrusted::new(&record.since)
            );
            return Ok(Some(opened));
        }
    }
    let why = match state {
        State::Trusted(_) => None,
        State::Changed => Some(format!(
            "none: it has changed since you agreed to it; {command} shows what is different"
        )),
        State::Unknown | State::Gone => Some(format!(
            "none: its proxies do not run; {command} shows them, and asks you"
        )),
        State::Denied => Some(format!(
            "denied: its proxies never run; {command} asks again"
        )),
        State::Wrong(error) => return Err(error.into()),
    };
    if let Some(why) = why {
        show!("trust        {why}");
        return Ok(None);
    }
    let content = Content::read(&root, &installed.carried, Keep::Components)?;
    let opened = OpenProject::new(content, user, installed, named)?;
    let agreed = opened.agreed();
    match records.standing(&root, Some(&opened.content))? {
        Standing::Trusted(record) if record.lets(&agreed) => {
            show!("trust        since {}", Untrusted::new(record.since));
        }
        Standing::Trusted(_) => {
            show!(
                "trust        none: its proxies ask for more than you agreed to; {command} shows what it is"
            );
            return Ok(None);
        }
        _ => match vouched(&opened.content, &agreed, &user.signers) {
            Some(key) => show!("trust        signed by {key}, whom your config.toml trusts"),
            None => return Err(wrong!("it was changed just now; retry")),
        },
    }
    Ok(Some(opened))
}
