//! Runs what acp-chain promises on the machine that it is on, and says of each promise whether it holds.
//!
//! Nothing of the user's is used: the editor and the agent play a script, the component is in this program, and all
//! files are in a temporary folder. Chains run as an editor launches them, with `acp-chain run`.
//!
//! | file | what it is |
//! |---|---|
//! | `verdict` | whether a promise holds |
//! | `turn` | a turn, a trap, a loop, the bridge for tools |
//! | `kill` | a killed host, and what its agent has started |
//! | `cache` | compiled code |
//! | `confinement` | the rights that are given up |
//! | `sockets` | the sockets of chains and of hooks |
//! | `setup` | the configurations of editors |
//! | `private` | private files |
//! | `editor` | the editor: it launches a chain, and takes turns |
//! | `agent` | the agent, a process of its own |
//! | `stage` | the folder, and the commands of this program |

#![forbid(unsafe_code)]

mod agent;
mod cache;
mod confinement;
mod editor;
mod kill;
mod private;
mod setup;
mod sockets;
mod stage;
mod turn;
mod verdict;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use acp_chain_rpc::untrusted::Untrusted;

use self::stage::Stage;
pub use self::verdict::{Reason, Verdict};

/// How long each step may take: an answer, or the end of a process. Emulators are slow.
const PATIENCE: Duration = Duration::from_secs(30);

/// Looks whether a promise holds.
type Look = fn(&Stage) -> Verdict;

/// The promises, each by the name of its line.
const PROMISES: [(&str, Look); 11] = [
    ("chain", turn::chain),
    ("trap", turn::trap),
    ("loop", turn::endless),
    ("kill", kill::look),
    ("bridge", turn::bridge),
    ("cache", cache::look),
    ("confinement", confinement::look),
    ("live", sockets::live),
    ("hooks", sockets::hooks),
    ("setup", setup::look),
    ("private", private::look),
];

/// The length of the longest name of a promise.
pub const LONGEST_NAME: usize = 11;

/// Looks at all promises. `told` gets each by its name, in order, as soon as it is known.
///
/// # Errors
/// If there is no place for temporary files, or this program cannot be found.
pub fn run(mut told: impl FnMut(&'static str, &Verdict)) -> Result<(), String> {
    let stage = Stage::set()?;
    for (name, look) in PROMISES {
        told(name, &look(&stage));
    }
    stage.clear()
}

/// Plays a part of the self-test in a process of its own: the first word names it, and it takes one
/// more.
pub fn part(words: &[OsString]) -> ExitCode {
    let [name, rest @ ..] = words else {
        return ExitCode::FAILURE;
    };
    let played = match (name.to_str(), rest) {
        (Some(agent::AGENT), [folder]) => agent::serve(folder.as_ref()),
        (Some(kill::HOLD), [file]) => kill::hold(file.as_ref()),
        (Some(confinement::CONFINED), [file]) => confinement::attempt(file.as_ref()),
        (Some(sockets::WATCH), [process]) => sockets::watch(process),
        _ => Err("`self-test-part` is for acp-chain itself to start".into()),
    };
    match played {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // It ends up in the log of the chain.
            write_error(&format!("acp-chain: {}\n", Untrusted::new(error)));
            ExitCode::FAILURE
        }
    }
}

/// The error of a part.
type PartError = Box<dyn std::error::Error>;

#[expect(clippy::disallowed_methods, reason = "the chain reads it")]
fn write_error(text: &str) {
    // Standard error may be closed.
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Writes a line for the process that started this one.
#[expect(
    clippy::disallowed_methods,
    reason = "the process that started this one reads it"
)]
fn write_line(line: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "{line}")?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_name_is_that_of_a_promise() {
        let lengths = PROMISES.iter().map(|(name, _)| name.len());
        assert_eq!(lengths.max(), Some(LONGEST_NAME));
    }

    #[test]
    fn a_part_that_is_not_there_is_not_played() {
        let words: [&[OsString]; 3] = [&[], &["other".into()], &[agent::AGENT.into()]];
        for words in words {
            assert_eq!(
                format!("{:?}", part(words)),
                format!("{:?}", ExitCode::FAILURE)
            );
        }
    }
}
