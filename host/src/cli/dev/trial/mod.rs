//! A trial: a client and an agent of ours stand at the ends of the chain, and whoever is there sees what the proxy
//! makes of each message between them. A line of standard input is a prompt, and with its end the trial ends.

mod agent;
mod client;
mod wire;

use std::fs::File;
use std::io::{IsTerminal, Read, Seek, SeekFrom, Write, stdout};
use std::path::PathBuf;

use acp_chain_picture::{chain, legs, turn};
use console::Term;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader, DuplexStream, duplex};
use tokio::sync::watch;

use self::client::Client;
use super::cycle::Built;
use super::developed::Developed;
use super::told::tell;
use crate::limits::LINE;
use crate::untrusted::Untrusted;

/// What a stream holds before its writer waits.
const PIPE: usize = 64 * 1024;

/// How wide the picture is where there is no terminal, in columns.
const WIDTH: usize = 110;

/// What it takes.
pub struct Trial {
    pub developed: Developed,
    /// Where the chain is traced.
    pub trace: PathBuf,
    /// How much stands there that is of others.
    pub offset: u64,
    pub built: watch::Receiver<Built>,
    /// Our end of the client's connection.
    pub client: DuplexStream,
}

/// The streams between the ends of a chain and its host: those of one, and those of the other.
pub fn streams() -> (DuplexStream, DuplexStream) {
    duplex(PIPE)
}

/// Plays the agent, until the chain is gone.
pub async fn play_agent(stream: DuplexStream) {
    // Its end is that of the chain, which says why.
    let _ = agent::play(stream).await;
}

impl Trial {
    /// Plays the client, until there are no more prompts.
    pub async fn run(mut self, prompts: impl AsyncRead + Unpin) -> Result<(), String> {
        let mut client = Client::new(self.client, self.developed.folder.clone());
        let begin = json!({
            "protocolVersion": 1,
            "clientCapabilities": { "fs": { "readTextFile": true, "writeTextFile": false } },
        });
        let is_over = |_| "the project is built no more";
        loop {
            // One that is built while the chain begins with this one is tried next.
            let built = self.built.wait_for(Option::is_some).await;
            let is_built = matches!(&*built.map_err(is_over)?, Some(Ok(_)));
            let Err(error) = client.ask("initialize", &begin).await? else {
                break;
            };
            // What does not build is told already; the next version may begin.
            if is_built {
                tell(&Untrusted::new(error).to_string());
            }
            self.built.changed().await.map_err(is_over)?;
        }
        let manifest = self.developed.chain()?.manifest;
        say!("{}", chain(manifest.proxies.iter().map(|entry| &*entry.id)));
        let new = json!({ "cwd": self.developed.folder, "mcpServers": [] });
        let session = match client.ask("session/new", &new).await? {
            Ok(session) => session["sessionId"].clone(),
            Err(error) => return Err(format!("no session begins: {}", Untrusted::new(error))),
        };
        let mut trace = Tail {
            path: self.trace,
            offset: self.offset,
        };
        let mut prompts = BufReader::new(prompts);
        while let Some(text) = next(&mut prompts).await? {
            let prompt = json!([{ "type": "text", "text": text }]);
            let params = json!({ "sessionId": session, "prompt": prompt });
            // The picture has the answer, whatever it is.
            let _ = client.ask("session/prompt", &params).await?;
            let columns = Term::stdout().size_checked().map(|(_, columns)| columns);
            let legs = legs(&trace.read()?).map_err(|error| format!("the trace: {error}"))?;
            say!("{}\n", turn(&legs, columns.map_or(WIDTH, usize::from)));
        }
        Ok(())
    }
}

/// The next line that says something, if there is one.
async fn next(prompts: &mut (impl AsyncBufReadExt + Unpin)) -> Result<Option<String>, String> {
    loop {
        if stdout().is_terminal() {
            print!("> ");
            let _ = stdout().flush();
        }
        let mut line = Vec::new();
        let read = prompts.take(LINE as u64).read_until(b'\n', &mut line).await;
        if read.map_err(|error| format!("standard input cannot be read: {error}"))? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        if !line.trim().is_empty() {
            return Ok(Some(line.trim_end().to_owned()));
        }
    }
}

/// What comes to a file.
struct Tail {
    path: PathBuf,
    offset: u64,
}

impl Tail {
    /// What has come since the last time, as far as its lines are whole.
    fn read(&mut self) -> Result<String, String> {
        let mut bytes = Vec::new();
        let read = File::open(&self.path).and_then(|mut file| {
            file.seek(SeekFrom::Start(self.offset))?;
            file.read_to_end(&mut bytes)
        });
        read.map_err(|error| format!("{}: {error}", Untrusted::new(self.path.display())))?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n');
        bytes.truncate(whole.map_or(0, |end| end + 1));
        self.offset += bytes.len() as u64;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}
