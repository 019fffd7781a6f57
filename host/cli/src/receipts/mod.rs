//! `acp-chain receipts`: verifies, shows and exports what `--receipts` has written. Also the options for that.
//!
//! | file | what it is |
//! |---|---|
//! | `verify` | whether a log is as it was written |
//! | `show` | a line per record |
//! | `export` | JSON and CSV |
//! | `args` | the options for writing one |

mod args;
mod export;
mod show;
mod verify;

use std::path::Path;
use std::process::ExitCode;

use acp_chain_receipts::{LastCheckpoint, Record};
use acp_chain_rpc::untrusted::Untrusted;

use crate::{Result, report_as};

pub use self::args::ReceiptsArgs;

/// The exit code if something cannot be read.
const UNREADABLE: u8 = 2;

#[derive(Debug, clap::Subcommand)]
pub enum ReceiptsCommand {
    /// Say whether a log is as it was written: no record was changed, moved, left out or cut off
    Verify(verify::Verify),
    /// Print its records, a line each
    Show(show::Show),
    /// Write its records in another format
    Export(export::Export),
}

impl ReceiptsCommand {
    pub fn main(self) -> ExitCode {
        match self {
            Self::Verify(verify) => report_as(UNREADABLE, verify.main()),
            Self::Show(show) => report_as(UNREADABLE, show.main()),
            Self::Export(export) => report_as(UNREADABLE, export.main()),
        }
    }
}

/// Prints the last checkpoint of a run, if there is one, to be kept elsewhere.
pub fn tell_checkpoint(last: Option<&LastCheckpoint>) {
    if let Some(line) = last.and_then(LastCheckpoint::line) {
        tell!("acp-chain: {line}");
    }
}

/// An error if this cannot be the folder of a log.
fn check_folder(folder: &Path) -> Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let shown = Untrusted::new(folder.display());
    let why = if folder.exists() {
        "it is not a folder"
    } else {
        "there is no such folder"
    };
    Err(wrong!("{shown}: {why}; name that of `--receipts`"))
}

/// Calls `take` with each record of a log, and its number, until it returns false. An error if there are lines that are
/// no records: anything that is added to the files becomes a part of the log, and must not hide what comes after it.
fn each(folder: &Path, mut take: impl FnMut(u64, Record) -> bool) -> Result<()> {
    let shown = Untrusted::new(folder.display());
    check_folder(folder)?;
    let (mut is_first, mut is_enough) = (true, false);
    let mut unread: Option<(u64, u64)> = None;
    let read = acp_chain_receipts::each(folder, |entry| -> Result<()> {
        is_first = false;
        let number = entry.number;
        let Ok(record) = serde_json::from_slice(&entry.text) else {
            let (_, count) = unread.get_or_insert((number, 0));
            *count += 1;
            return Ok(());
        };
        is_enough = !take(number, record);
        if is_enough {
            Err("no further record is wanted".into())
        } else {
            Ok(())
        }
    });
    match read {
        Ok(()) if is_first => Err(wrong!("{shown}: there are no receipts in this folder")),
        Err(_) if is_enough => Ok(()),
        Err(error) => Err(error),
        Ok(()) => match unread {
            None => Ok(()),
            Some((number, count)) => Err(wrong!(
                "{shown}: {count} of its lines cannot be read, and were left out, the first at record {number}; \
                 `acp-chain receipts verify` says whether the log is damaged"
            )),
        },
    }
}
