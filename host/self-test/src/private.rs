//! What acp-chain writes is its user's only.

use std::fs::File;
use std::io;
use std::path::Path;

use acp_chain_app::home;
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_system::files;

use crate::stage::Stage;
use crate::verdict::{Reason, Verdict};

pub fn look(stage: &Stage) -> Verdict {
    if !files::HAS_MODES {
        return Err(Reason::NotHere(
            "files have no modes here; they are private by the profile that they are in".to_owned(),
        ));
    }
    home::check_owner(stage.folder())?;
    let folder = stage.path("private/within");
    made(&folder, files::make_private(&folder))?;
    let file = folder.join("file");
    made(&file, files::append_private(&file))?;
    let shared = folder.join("shared");
    made(&shared, files::append_shared(&shared))?;
    // A chain has written it.
    for path in [&*folder, &file, &shared, &stage.path("chain.log")] {
        let opened = File::open(path);
        let opened =
            opened.map_err(|error| format!("{}: {error}", Untrusted::new(path.display())))?;
        files::check_secret(&opened, path).map_err(|exposed| exposed.to_string())?;
    }
    Ok("new folders and files, and the log of a chain, are readable by their user only".to_owned())
}

fn made<T>(path: &Path, made: io::Result<T>) -> Result<(), Reason> {
    made.map_err(|error| {
        format!(
            "{} cannot be created: {error}",
            Untrusted::new(path.display())
        )
    })?;
    Ok(())
}
