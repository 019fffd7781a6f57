//! `acp-chain replay`: plays one end of a recording, and compares the other end's messages with it.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use crate::Result;
use acp_chain_trace::Reader;
use clap::value_parser;

use super::out;
use super::run::on_a_runtime;
use super::trace::{warn_of_cut, wrong};
use acp_chain_app::plan::supervise;
use acp_chain_channel::Peer;
use acp_chain_conductor::native::CommandLine;
use acp_chain_kit::replay::{self, Difference, Pace, Recording, Wire};
use acp_chain_rpc::untrusted::Untrusted;

/// How many bytes of a message are shown.
const SHOWN: usize = 2000;

/// The exit code if the other side differs from the recording.
const DIFFERENT: u8 = 1;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain replay trace.jsonl --as agent
  acp-chain replay trace.jsonl --as client -- claude-agent-acp
  acp-chain replay trace.jsonl --as client --speed 1 -- gemini --acp

Exit codes:
  0  the other side sent what it sent in the recording
  1  it sent something else, which is shown with the line of the recording
  2  the command line is wrong, the recording cannot be read, or the command cannot be started")]
pub struct Replay {
    /// The recording, a trace
    #[arg(value_name = "TRACE")]
    trace: PathBuf,
    /// The side to play
    #[arg(long = "as", value_name = "SIDE")]
    side: Side,
    /// Keep the recording's timing, divided by this; by default, do not wait
    #[arg(long, value_name = "FACTOR", value_parser = speed)]
    speed: Option<f64>,
    /// How long a client waits for a message of the agent, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = value_parser!(u64).range(..=LONGEST))]
    patience: u64,
    /// The command to use as the other side; by default, standard input and output
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Side {
    /// Answer as the agent did
    Agent,
    /// Ask as the client did
    Client,
}

/// The longest patience, in seconds: a year. No clock can count up to the largest numbers.
const LONGEST: u64 = 365 * 24 * 60 * 60;

/// The lowest speed: a second takes a quarter of an hour.
const SLOWEST: f64 = 0.001;

fn speed(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(speed) if (SLOWEST..f64::INFINITY).contains(&speed) => Ok(speed),
        _ => Err(format!("it is a number from {SLOWEST} on")),
    }
}

impl Replay {
    pub fn main(self) -> ExitCode {
        on_a_runtime(async {
            Ok(match self.play().await? {
                None => 0,
                Some(difference) => {
                    tell!("acp-chain: {difference}");
                    DIFFERENT
                }
            })
        })
    }

    async fn play(self) -> Result<Option<String>> {
        let side = match self.side {
            Side::Agent => Peer::Agent,
            Side::Client => Peer::Client,
        };
        let shown = Untrusted::new(self.trace.display()).to_string();
        let file = File::open(&self.trace).map_err(|error| {
            format!("{shown}: the recording cannot be read: {error}; `acp-chain try --trace FILE` or `run --trace FILE` writes one")
        })?;
        let mut reader = Reader::new(BufReader::new(file));
        let recording = Recording::read(&mut reader, side);
        let recording = recording.map_err(|error| wrong(&self.trace, &error))?;
        warn_of_cut(&self.trace, reader.cut());
        let pace = Pace {
            speed: self.speed,
            patience: Duration::from_secs(self.patience),
        };
        let difference = replay::play(recording, self.open()?, pace).await;
        Ok(difference.map(|difference| describe(&shown, &difference)))
    }

    /// Starts the command, or uses our own standard streams if there is none.
    fn open(&self) -> Result<Wire> {
        let wire = match self.command.split_first() {
            None => Wire::of_process(),
            Some((program, args)) => {
                let ourselves = std::env::current_exe().map_err(|error| {
                    let program = Untrusted::new(program.display());
                    format!("`{program}` cannot be started: {error}")
                })?;
                let supervisor = supervise(&ourselves)?;
                let command = CommandLine::new(program, args);
                Wire::start(&supervisor, command, |bytes| {
                    out::write(format_args!("{}", String::from_utf8_lossy(bytes)));
                })
            }
        };
        Ok(wire?)
    }
}

/// The text about a difference. All parts may be text from outside.
fn describe(trace: &str, difference: &Difference) -> String {
    let shown = |text: &str| Untrusted::within(text, SHOWN).to_string();
    let place = difference
        .line
        .map_or(String::new(), |line| format!(":{line}"));
    let mut text = format!("{trace}{place}: the other side differs from the recording");
    if let Some(at) = &difference.at {
        let _ = write!(text, ", at {}", shown(at));
    }
    let (expected, received) = (shown(&difference.expected), shown(&difference.received));
    let _ = write!(text, "\n  expected: {expected}\n  received: {received}");
    text
}
