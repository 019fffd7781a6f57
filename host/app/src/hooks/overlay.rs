//! The files that hooks need for one run, in the folder of their socket, with which they are removed.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use acp_chain_hooks::{OverlayContent, OverlayFile};
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_system::files;

use super::{NoHooks, file_error};

/// The name of the client in the folder.
const CLIENT: &str = "hook";

/// The words of the client that agents start for each event: a small program in this folder, or this one, where
/// programs cannot be run in the folder.
pub fn client(folder: &Path) -> Result<Vec<String>, NoHooks> {
    if let Some(program) = acp_chain_hooks::client() {
        let path = folder.join(CLIENT);
        files::write_program(&path, program).map_err(|error| file_error(&path, error))?;
        if files::may_run(&path) {
            return Ok(vec![path.to_string_lossy().into_owned()]);
        }
    }
    let own = std::env::current_exe().map_err(|error| file_error(Path::new("acp-chain"), error))?;
    Ok(vec![own.to_string_lossy().into_owned(), "hook".to_owned()])
}

/// Writes the files of the overlay into this folder.
pub fn write(folder: &Path, overlay: &[OverlayFile]) -> Result<(), NoHooks> {
    for file in overlay {
        let path = folder.join(&file.path);
        let made = path.parent().map_or(Ok(()), files::make_private);
        let written = made.and_then(|()| match &file.content {
            // A link is not followed.
            OverlayContent::Text(text) => {
                File::create_new(&path).and_then(|mut file| file.write_all(text.as_bytes()))
            }
            OverlayContent::Script(script) => files::write_program(&path, script.as_bytes()),
            OverlayContent::Link(to) => files::link(to, &path),
        });
        written.map_err(|error| file_error(&path, error))?;
        if matches!(file.content, OverlayContent::Script(_)) && !files::may_run(&path) {
            return Err(NoHooks::NoPrograms(
                Untrusted::new(folder.display()).to_string(),
            ));
        }
    }
    Ok(())
}
