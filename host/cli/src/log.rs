//! The log: a file, since some editors take any output on standard error for a failure.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Mutex;

use tracing_subscriber::EnvFilter;

use super::{Result, out};
use acp_chain_app::home;
use acp_chain_rpc::untrusted::{Untrusted, plain};
use acp_chain_system::files;

/// The size at which the user's log is rotated; one old log is kept.
const LONGEST: u64 = 16 << 20;

/// Starts the log, at `info` unless the filter says otherwise. With a filter but no file it goes to
/// standard error. Returns the file.
pub fn start(filter: Option<&str>, file: Option<PathBuf>) -> Result<Option<PathBuf>> {
    let chosen = filter.filter(|filter| !filter.is_empty());
    let filter = chosen.unwrap_or("info");
    let layer = EnvFilter::try_new(filter)
        .map_err(|error| wrong!("the log filter {filter:?} is not valid: {error}; try `info`"))?;
    let log = tracing_subscriber::fmt()
        .with_env_filter(layer)
        .with_ansi(false)
        // Internal errors would be reported on standard error, which may be unread, too.
        .log_internal_errors(false);
    let (path, file) = match (file, chosen) {
        (Some(path), _) => {
            // The log reveals the activity of sessions.
            let opened = files::append_private(&path).map_err(|error| {
                let path = Untrusted::new(path.display());
                wrong!("the log file {path} cannot be opened: {error}; `--log-file` names another")
            });
            (path, opened?)
        }
        (None, Some(_)) => {
            log.with_writer(|| Plain(out::errors())).init();
            return Ok(None);
        }
        // The user did not request a log, so failures are not reported.
        (None, None) => match users() {
            Some(opened) => opened,
            None => return Ok(None),
        },
    };
    log.with_writer(Mutex::new(Plain(file))).init();
    Ok(Some(path))
}

/// A writer that escapes everything in a line that could deceive its readers.
struct Plain<W>(W);

impl<W: Write> Write for Plain<W> {
    /// Each line is written at once.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        self.0.write_all(plain(&text).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The user's log.
fn users() -> Option<(PathBuf, File)> {
    let path = home::log_file()?;
    // Another user who could change it could make us append to any file.
    home::check_owner(&path).ok()?;
    files::make_private(path.parent()?).ok()?;
    if fs::metadata(&path).is_ok_and(|about| about.len() > LONGEST) {
        // Another process may do the same concurrently; then one of two old logs is lost.
        let _ = fs::rename(&path, path.with_extension("log.old"));
    }
    let file = files::append_private(&path).ok()?;
    Some((path, file))
}
