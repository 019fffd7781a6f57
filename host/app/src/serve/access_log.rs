//! The access log: a file of lines that [starts over](acp_chain_system::rotated) when it grows too long, or standard
//! error.

use std::io::{self, Write};
use std::path::Path;

use crate::ChainError;
use acp_chain_remote::server::access_log::{AccessLog, Writer};

use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_system::rotated::Rotated;

/// A file of whole lines.
struct AccessFile(Rotated);

/// A log and its writer; `-` is standard error.
#[expect(clippy::disallowed_methods, reason = "its lines are plain")]
pub fn open(path: &Path) -> Result<(AccessLog, Writer), ChainError> {
    if path == Path::new("-") {
        return Ok(AccessLog::new(Box::new(io::stderr())));
    }
    match Rotated::open(path, &acp_chain_trace::kept(path)) {
        Ok(file) => Ok(AccessLog::new(Box::new(AccessFile(file)))),
        Err(error) => {
            let path = Untrusted::new(path.display());
            Err(ChainError::new(format_args!(
                "the access log {path} cannot be opened: {error}; name another file, or `-` for standard error"
            )))
        }
    }
}

impl Write for AccessFile {
    /// Writes all of it, or nothing.
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        let length = self.0.turn()?;
        self.0.append(lines, length)?;
        Ok(lines.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
