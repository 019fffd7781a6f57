//! The lines of a file.

use std::path::Path;
use std::sync::Arc;
use std::thread;

use crate::Result;
use acp_chain_inspect::{Log, follow, open};

use acp_chain_rpc::untrusted::Untrusted;

/// Opens a trace, and reads it from a thread, even while it grows. Fails if its first line is not from a trace; later
/// errors appear on the page and on standard error.
pub fn begin(log: &Arc<Log>, trace: &Path) -> Result<()> {
    let shown = Untrusted::new(trace.display()).to_string();
    let opened = open(log, trace, &shown).map_err(|error| {
        let error = Untrusted::new(error).to_string();
        if error.starts_with(|c: char| c.is_ascii_digit()) { format!("{shown}:{error}") } else { format!(
                "{shown}: the trace cannot be read: {error}; `acp-chain try --trace FILE` or `run --trace FILE` \
                 writes one"
            ) }
    })?;
    let log = Arc::clone(log);
    thread::spawn(move || follow(&log, opened, super::warn));
    Ok(())
}
