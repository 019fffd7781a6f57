//! Whatever either end sends, errors are clear, no request stays open, and the connection keeps working.

mod agent;
mod client;
mod repaired;

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::PathBuf;

use acp_chain_tests::host;
use acp_chain_tests::process::{Exit, Process};
use acp_chain_tests::transcript::Transcript;
use tempfile::TempDir;

const AGENT: &str = env!("CARGO_BIN_EXE_wild-agent");

/// The limit for the length of a line, in bytes.
const LIMIT: usize = 64 << 20;

/// The memory that the program may take while it is sent lines that are too long: a buffer grows to twice the
/// longest line, and the rest is for everything else. A reader without a bound would take more.
const MEMORY: u64 = 3 * LIMIT as u64;

/// The program with two proxies that see everything, and with a log.
struct Chain {
    process: Process,
    transcript: Transcript,
    log: PathBuf,
    _folder: TempDir,
}

impl Chain {
    fn start(flags: &[&str]) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let manifest = host::passes(folder.path(), 2)?;
        let log = folder.path().join("log");
        let options: [&OsStr; 4] = [
            "--manifest".as_ref(),
            manifest.as_ref(),
            "--log-file".as_ref(),
            log.as_ref(),
        ];
        let transcript = Transcript::new();
        let command = host::run_with(options, [AGENT].iter().chain(flags));
        Ok(Self {
            process: Process::start("client", &transcript, command)?,
            transcript,
            log,
            _folder: folder,
        })
    }

    /// The same after `initialize`, which the transcript does not contain.
    async fn initialized(flags: &[&str]) -> io::Result<Self> {
        let mut chain = Self::start(flags)?;
        chain.process.initialize().await;
        Ok(chain)
    }

    fn send(&mut self, line: impl Into<String>) {
        self.process.wire.send(line);
    }

    async fn receive(&mut self) -> String {
        let message = self.process.wire.receive().await;
        message.expect("a message").line
    }

    /// Checks that a request still gets its answer, and that nothing else comes before the answer.
    async fn goes_on(&mut self) {
        let before = self.transcript.received("client").len();
        self.send(r#"{"jsonrpc":"2.0","id":"on","method":"session/list"}"#);
        let answer = self.process.wire.response(r#""on""#).await;
        assert_eq!(answer.result.as_deref(), Some(r#"{"sessions":[]}"#));
        let after = self.transcript.received("client").len();
        assert_eq!(after, before + 1, "{}", self.transcript);
    }

    /// Ends the program; it must succeed, and its log must contain each of these texts.
    async fn ends_well(self, logged: &[&str]) -> Exit {
        let exit = self.process.finish().await.expect("an exit");
        assert!(exit.status.success(), "{exit:?}");
        assert_eq!(exit.stderr, "");
        let log = fs::read_to_string(&self.log).expect("a log");
        for text in logged {
            assert!(log.contains(text), "{log}\nlacks {text}");
        }
        exit
    }
}
