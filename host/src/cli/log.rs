//! The log: silent unless asked for, since some editors take any byte on our standard error for a
//! failure.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::Mutex;

use tracing_subscriber::EnvFilter;

/// Why there is no log.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    #[error("the log filter {filter:?} is not valid: {error}; try `info`")]
    Filter {
        filter: String,
        error: tracing_subscriber::filter::ParseError,
    },
    #[error("the log file {path} cannot be opened: {error}")]
    File { path: String, error: io::Error },
}

/// Starts the log. A file alone asks for `info`.
pub fn start(filter: Option<&str>, file: Option<&Path>) -> Result<(), LogError> {
    let filter = match (filter, file) {
        (None | Some(""), None) => return Ok(()),
        (None | Some(""), Some(_)) => "info",
        (Some(filter), _) => filter,
    };
    let filter = EnvFilter::try_new(filter).map_err(|error| LogError::Filter {
        filter: filter.to_owned(),
        error,
    })?;
    let log = tracing_subscriber::fmt().with_env_filter(filter);
    match file {
        None => log
            .with_ansi(io::stderr().is_terminal())
            .with_writer(io::stderr)
            .init(),
        Some(path) => {
            let file = File::options().create(true).append(true).open(path);
            let file = file.map_err(|error| LogError::File {
                path: path.display().to_string(),
                error,
            })?;
            log.with_ansi(false).with_writer(Mutex::new(file)).init();
        }
    }
    Ok(())
}
