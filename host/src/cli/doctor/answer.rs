//! Starts an agent, and sends it `initialize`, nothing else. In any case, it and everything that it started are gone
//! afterwards.

use std::time::{Duration, Instant};

use acp_chain_acp::INITIALIZE;
use acp_chain_ends::{Arrival, End, Outcome};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::time::timeout;

use crate::cli::initialize;
use crate::limits::LINE;
use crate::native::{Process, SpawnError, Startable, describe};

/// How long to wait for its end.
const ENDING: Duration = Duration::from_secs(5);

/// The result of asking an agent.
#[derive(Debug)]
pub enum Answer {
    /// It answered with this, within this time.
    Result(Value, Duration),
    /// It answered with an error.
    Error(Value),
    /// It ended before, in this way.
    Ended(String),
    /// It did not answer in time.
    Silent,
    /// It could not be started.
    NotStarted(SpawnError),
}

/// The outcome of asking an agent.
#[derive(Debug)]
pub struct Heard {
    pub answer: Answer,
    /// The end of what it wrote to standard error.
    pub words: String,
    /// Whether it wrote something to standard output that is not a message.
    pub is_noisy: bool,
}

/// Asks the agent.
pub async fn ask(program: Startable, patience: Duration) -> Heard {
    let begun = Instant::now();
    let (mut process, mut input, output) = match Process::start(&program, None) {
        Ok(started) => started,
        Err(error) => {
            return Heard {
                answer: Answer::NotStarted(error),
                words: String::new(),
                is_noisy: false,
            };
        }
    };
    let mut end = End::default();
    let request = end.request(INITIALIZE, initialize::params(), ());
    let mut is_noisy = false;
    let asked = async {
        // An agent that does not read may have ended, which its output shows.
        let _ = input.write_all(format!("{request}\n").as_bytes()).await;
        answer(end, output, &mut is_noisy).await
    };
    let answer = timeout(patience, asked).await;
    drop(input);
    let ending = process.end(answer.is_ok());
    let ended = timeout(ENDING, ending).await.ok().and_then(Result::ok);
    let answer = match answer {
        Ok(Some(Err(error))) => Answer::Error(error),
        Ok(Some(Ok(result))) => Answer::Result(result, begun.elapsed()),
        Ok(None) => Answer::Ended(match ended {
            Some(ended) if ended.by_itself => describe(ended.status),
            _ => "closed its standard output".to_owned(),
        }),
        Err(_) => Answer::Silent,
    };
    Heard {
        answer,
        words: process.last_words().await,
        is_noisy,
    }
}

/// The answer to the request; `None` if the output ends before.
async fn answer(
    mut end: End,
    from: impl AsyncRead + Unpin,
    is_noisy: &mut bool,
) -> Option<Outcome> {
    let mut output = BufReader::new(from);
    loop {
        let mut line = Vec::new();
        let read = (&mut output).take(LINE as u64);
        let read = { read }.read_until(b'\n', &mut line).await;
        if read.ok()? == 0 {
            return None;
        }
        match serde_json::from_slice::<Value>(&line) {
            Ok(message) if message.is_object() => {
                if let Arrival::Answer((), outcome) = end.take(message) {
                    return Some(outcome);
                }
            }
            _ => *is_noisy = true,
        }
    }
}
