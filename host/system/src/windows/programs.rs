//! Where the file of a program is.
//!
//! To a name without an extension, the system itself only adds `.exe`, so that it finds no script, such as `npx.cmd`.
//! Here a name is looked up as by a shell: in the folders of `PATH`, with the extensions in `PATHEXT`, but not in the
//! working directory.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::windows::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use windows::Win32::System::Threading::CREATE_NO_WINDOW;

use crate::CommandLine;

/// The path of a program, or its name, if it is found nowhere.
pub fn find(command: &CommandLine) -> OsString {
    let is_path = |name: &OsStr| name.eq_ignore_ascii_case("PATH");
    let own = command.env.iter().rev().find(|(name, _)| is_path(name));
    let path = own.map(|(_, path)| path.clone());
    let path = path.or_else(|| env::var_os("PATH"));
    let here = env::current_dir().ok();
    let found = here.and_then(|here| which::which_in(&command.program, path, here).ok());
    found.map_or_else(|| command.program.clone(), PathBuf::into_os_string)
}

/// Under an editor without a console, opens no window for a program.
pub fn hide(command: &mut Command) -> &mut Command {
    command.creation_flags(CREATE_NO_WINDOW.0)
}
