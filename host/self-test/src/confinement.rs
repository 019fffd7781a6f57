//! The host gives up its own rights before a component runs, where the system lets it.

use std::fs::{self, File};
use std::net::UdpSocket;
use std::path::Path;
use std::process::{Command, Stdio};

use acp_chain_system::{Rights, rights};
use serde::{Deserialize, Serialize};

use crate::stage::Stage;
use crate::verdict::{Reason, Verdict};
use crate::{PartError, write_line};

/// The part that gives up its rights, and attempts what it must not: `acp-chain self-test-part confined FILE`.
pub const CONFINED: &str = "confined";

/// What a process says that it gave up, and what it could still do.
#[derive(Debug, Serialize, Deserialize)]
struct Attempts {
    /// Why it still has rights to files, if so.
    keeps_files: Option<String>,
    /// Why it can still start programs and connect, if so.
    keeps_calls: Option<String>,
    has_opened: bool,
    has_started: bool,
    has_bound: bool,
}

/// Gives up all rights, and says what still works.
pub fn attempt(file: &Path) -> Result<(), PartError> {
    let program = std::env::current_exe()?;
    let Rights { files, calls } = rights::give_up(&[], None);
    let mut version = Command::new(program);
    version.arg("--version").stdout(Stdio::null());
    let attempts = Attempts {
        keeps_files: files.err(),
        keeps_calls: calls.err(),
        has_opened: File::open(file).is_ok(),
        has_started: version.status().is_ok(),
        has_bound: UdpSocket::bind("127.0.0.1:0").is_ok(),
    };
    write_line(&serde_json::to_string(&attempts)?)?;
    Ok(())
}

pub fn look(stage: &Stage) -> Verdict {
    let file = stage.path("outside");
    fs::write(&file, "").map_err(|error| format!("a file cannot be written: {error}"))?;
    let attempted = stage.part(CONFINED, "outside").output();
    let output = attempted.map_err(|error| format!("this program cannot be started: {error}"))?;
    let said = serde_json::from_slice(&output.stdout);
    let attempts: Attempts = said.map_err(|_| {
        let status = output.status;
        format!("a process that gave up its rights ended with {status}")
    })?;
    judge(&attempts)
}

fn judge(attempts: &Attempts) -> Verdict {
    let (keeps_files, keeps_calls) = (&attempts.keeps_files, &attempts.keeps_calls);
    let (gave_files, gave_calls) = (keeps_files.is_none(), keeps_calls.is_none());
    let broken = [
        (gave_files && attempts.has_opened, "opened a file"),
        (gave_calls && attempts.has_started, "started a program"),
        (gave_calls && attempts.has_bound, "opened a socket"),
    ];
    if let Some((_, what)) = broken.iter().find(|(is_broken, _)| *is_broken) {
        let why = format!("a process that had given up the right to has {what}");
        return Err(why.into());
    }
    let both = "opens no file, starts no program and connects to nothing";
    let why = match (keeps_files, keeps_calls) {
        (None, None) => return Ok(format!("a process that gave up its rights {both}")),
        (Some(why), None) => {
            format!("programs and connections are refused, but files are not: {why}")
        }
        (None, Some(why)) => {
            format!("files are refused, but programs and connections are not: {why}")
        }
        (Some(files), Some(calls)) if files == calls => files.clone(),
        (Some(files), Some(calls)) => format!("{files}; {calls}"),
    };
    Err(Reason::NotHere(why))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempts() -> Attempts {
        Attempts {
            keeps_files: None,
            keeps_calls: None,
            has_opened: false,
            has_started: false,
            has_bound: false,
        }
    }

    #[test]
    fn what_was_given_up_and_still_works_is_broken_and_what_was_kept_is_not() {
        assert!(judge(&attempts()).is_ok());
        let opened = Attempts {
            has_opened: true,
            ..attempts()
        };
        let why = "a process that had given up the right to has opened a file";
        assert_eq!(judge(&opened), Err(Reason::Broken(why.to_owned())));
        let kept = Attempts {
            keeps_files: Some("no Landlock".to_owned()),
            ..opened
        };
        let why = "programs and connections are refused, but files are not: no Landlock";
        assert_eq!(judge(&kept), Err(Reason::NotHere(why.to_owned())));
        let neither = Attempts {
            keeps_calls: Some("no Landlock".to_owned()),
            has_started: true,
            has_bound: true,
            ..kept
        };
        let why = "no Landlock".to_owned();
        assert_eq!(judge(&neither), Err(Reason::NotHere(why)));
    }
}
