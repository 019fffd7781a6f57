//! `acp-chain receipts verify`: whether a log is as it was written.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use acp_chain_disk as disk;
use acp_chain_receipts::{Damage, Evidence, Verified, verify};
use acp_chain_rpc::untrusted::Untrusted;

use super::check_folder;
use crate::Result;

/// The longest file of kept checkpoints, in bytes.
const WITNESS: usize = 64 << 20;

#[derive(Debug, clap::Args)]
pub struct Verify {
    /// The folder of the log
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// A file with checkpoints that were kept elsewhere: signed notes, or lines as a run prints them, among other text
    #[arg(long, value_name = "FILE")]
    witness: Vec<PathBuf>,
    /// The key of the log, if it was kept elsewhere: the content of its file `verifier`
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

impl Verify {
    pub fn main(self) -> Result<ExitCode> {
        let kept: Result<Vec<_>> = self.witness.iter().map(|path| read(path)).collect();
        let evidence = Evidence {
            key: self.key,
            kept: kept?,
        };
        check_folder(&self.folder)?;
        let shown = Untrusted::new(self.folder.display());
        match verify(&self.folder, &evidence) {
            Ok(verified) => {
                print(&verified);
                Ok(ExitCode::SUCCESS)
            }
            Err(Damage::Unreadable(error)) => Err(error.into()),
            Err(damage) => {
                say!("{shown}: {damage}");
                Ok(ExitCode::FAILURE)
            }
        }
    }
}

fn read(path: &Path) -> Result<String> {
    let read = disk::read(path, WITNESS);
    let bytes = read.map_err(|error| {
        let path = Untrusted::new(path.display());
        wrong!("{path}: {error}")
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn print(verified: &Verified) {
    let checkpoint = &verified.checkpoint;
    say!("All {} records are as they were written.", checkpoint.size);
    if verified.removed > 0 {
        say!(
            "Of the first {} only the hashes are left, as they were kept for long enough.",
            verified.removed
        );
    }
    if verified.uncovered > 0 || verified.is_cut {
        say!(
            "Behind them are {} that no checkpoint covers, from a host that runs, or was killed: they could be \
             anybody's.",
            verified.uncovered
        );
    }
    let mut sizes = verified.witnessed.clone();
    sizes.sort_unstable();
    match &sizes[..] {
        [] => say!(
            "No checkpoint that was kept elsewhere was given: whoever can write to the folder can write all of it \
             anew, or put it back to an earlier checkpoint."
        ),
        [size] => say!("It is the log of which a checkpoint of {size} records was kept."),
        [.., newest] => say!(
            "It is the log of which {} checkpoints were kept, the last of {newest} records.",
            sizes.len()
        ),
    }
    say!("{checkpoint}");
}
