//! Where the file of a program is: the system looks it up.

use std::ffi::OsString;
use std::process::Command;

use crate::CommandLine;

/// The program as it is named.
pub fn find(command: &CommandLine) -> OsString {
    command.program.clone()
}

/// Does nothing: no window opens for a program.
pub fn hide(command: &mut Command) -> &mut Command {
    command
}
