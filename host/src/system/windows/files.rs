//! Files for their owner alone.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens a file to append to it. If it is not there, it is made for whom its folder is for: a
/// user's profile is for that user alone.
pub fn append_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}
