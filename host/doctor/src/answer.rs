//! Starts an agent, and sends it `initialize`, nothing else. In any case, the agent and all processes that it started
//! end.

use std::time::{Duration, Instant};

use acp_chain_acp::INITIALIZE;
use acp_chain_ends::{Arrival, End};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::time::timeout;

use acp_chain_app::sign_in::params;
use acp_chain_channel::limits::LINE;
use acp_chain_process::{Process, SpawnError, Startable, describe};

/// How long to wait for the agent to end.
const ENDING: Duration = Duration::from_secs(5);

/// The answer of an agent to `initialize`.
#[derive(Debug)]
pub enum Answer {
    /// The result, and the time until it arrived.
    Result(Value, Duration),
    Error(Value),
    /// The agent ended, or closed its output, before it answered; the text says how.
    Ended(String),
    /// The request itself came back.
    Echo,
    /// No answer arrived in time.
    Silent,
    NotStarted(SpawnError),
}

/// The answer of an agent, and the rest of its output.
#[derive(Debug)]
pub struct Response {
    pub answer: Answer,
    /// The end of the agent's standard error.
    pub stderr: String,
    /// Whether the agent wrote something to standard output that is not a message.
    pub is_noisy: bool,
}

pub async fn initialize(program: Startable, patience: Duration) -> Response {
    let begun = Instant::now();
    let (mut process, mut input, output) = match Process::start(&program, None) {
        Ok(started) => started,
        Err(error) => {
            return Response {
                answer: Answer::NotStarted(error),
                stderr: String::new(),
                is_noisy: false,
            };
        }
    };
    let mut end = End::default();
    let request = end.request(INITIALIZE, params(false), ());
    let mut is_noisy = false;
    let answered = async {
        // An agent that does not read may have ended, which its output shows.
        let _ = input.write_all(format!("{request}\n").as_bytes()).await;
        answer(end, output, begun, &mut is_noisy).await
    };
    let answer = timeout(patience, answered).await;
    drop(input);
    let ending = process.end(answer.is_ok());
    let ended = timeout(ENDING, ending).await.ok().and_then(Result::ok);
    let answer = match answer {
        Ok(Some(answer)) => answer,
        Ok(None) => Answer::Ended(match ended {
            Some(ended) if ended.ended_first => describe(ended.status),
            _ => "closed its standard output".to_owned(),
        }),
        Err(_) => Answer::Silent,
    };
    Response {
        answer,
        stderr: process.last_words().await,
        is_noisy,
    }
}

/// The answer to the request that was sent then; `None` if the output ends before.
async fn answer(
    mut end: End,
    from: impl AsyncRead + Unpin,
    begun: Instant,
    is_noisy: &mut bool,
) -> Option<Answer> {
    let mut output = BufReader::new(from);
    loop {
        let mut line = Vec::new();
        let read = (&mut output).take(LINE as u64);
        let read = { read }.read_until(b'\n', &mut line).await;
        if read.ok()? == 0 {
            return None;
        }
        match serde_json::from_slice::<Value>(&line) {
            Ok(message) if message.is_object() => match end.take(message) {
                Arrival::Answer((), Ok(result)) => {
                    return Some(Answer::Result(result, begun.elapsed()));
                }
                Arrival::Answer((), Err(error)) => return Some(Answer::Error(error)),
                // Agents never send this one.
                Arrival::Request(request) if request.method() == INITIALIZE => {
                    return Some(Answer::Echo);
                }
                _ => {}
            },
            _ => *is_noisy = true,
        }
    }
}
