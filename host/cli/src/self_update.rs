//! `acp-chain self-update`: replaces this program by a newer release that is signed.

use std::cmp::Ordering;
use std::process::ExitCode;

use acp_chain_app::home;
use acp_chain_fetch::{Patience, Web};
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_update::{Channel, Program, Release, running};

use crate::Result;
use crate::extension::consent::agrees;
use crate::progress::Progress;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain self-update --check
  acp-chain self-update
  acp-chain self-update --rollback")]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate option")]
pub struct SelfUpdate {
    /// Only say what the channel has
    #[arg(long, conflicts_with_all = ["downgrade", "rollback", "yes"])]
    check: bool,
    /// Also take an older release
    #[arg(long, conflicts_with = "rollback")]
    downgrade: bool,
    /// Put back the program that the last update replaced
    #[arg(long)]
    rollback: bool,
    /// Do not ask
    #[arg(long)]
    yes: bool,
}

impl SelfUpdate {
    pub fn main(self) -> Result<ExitCode> {
        // Others could name another channel and key.
        home::check_owners()?;
        let program = Program::running()?;
        if !self.check {
            program.check_unmanaged()?;
        }
        if self.rollback {
            return self.roll_back(&program);
        }
        let updates = home::user()?.updates;
        let channel = Channel::new(updates.channel.as_deref(), updates.key.as_ref())?;
        let web = Web::new(Patience::default())?;
        let runtime = acp_chain_app::runtime()?;
        let release = runtime.block_on(Release::fetch(&web, &channel))?;
        let (new, old) = (&release.version, running());
        if release.compare() == Ordering::Equal {
            say!("acp-chain {old} is the newest release.");
            return Ok(ExitCode::SUCCESS);
        }
        if self.check {
            let relation = match release.compare() {
                Ordering::Less => "older",
                _ => "newer",
            };
            say!("The channel has acp-chain {new}, which is {relation}: this is {old}.");
            if let Some(manager) = program.manager() {
                say!("This program was installed by {manager}");
            }
            return Ok(ExitCode::SUCCESS);
        }
        if !self.downgrade {
            release.check_age()?;
        }
        // Before the download, as it may fail.
        let mut staged = program.stage()?;
        let path = Untrusted::new(program.path().display());
        say!("acp-chain {old} → {new}, in place of {path}");
        say!("It is signed by {}", release.signer);
        if !agrees(self.yes, "Install it?")? {
            return Ok(ExitCode::FAILURE);
        }
        let download = Progress::default().download(&format!("acp-chain {new}"));
        let seen = |there, whole| download.set(there, whole);
        let archive = runtime.block_on(release.download(&web, &seen))?;
        drop(download);
        staged.fill(&release, archive)?;
        staged.put(Some(&new.to_string()))?;
        say!("acp-chain {new} is installed; running chains keep {old}.");
        say!("`acp-chain self-update --rollback` puts {old} back.");
        Ok(ExitCode::SUCCESS)
    }

    fn roll_back(&self, program: &Program) -> Result<ExitCode> {
        let staged = program.stage_previous()?;
        let path = program.previous();
        let shown = Untrusted::new(path.display());
        if !agrees(self.yes, &format!("Put back {shown}?"))? {
            return Ok(ExitCode::FAILURE);
        }
        let reported = staged.put(None)?;
        say!("{} is put back.", Untrusted::new(reported));
        Ok(ExitCode::SUCCESS)
    }
}
