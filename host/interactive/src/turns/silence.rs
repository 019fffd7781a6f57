//! A hint for the user when an answer is long in coming.

use std::time::Duration;

use acp_chain_acp::PROMPT;
use tokio::time::{Instant, sleep_until};

/// After how long there is a hint.
pub const LONG: Duration = Duration::from_secs(10);

/// The time since a request, until a message arrives.
#[derive(Debug, Default)]
pub struct Silence {
    /// When it is long; `None` if there is none.
    until: Option<Instant>,
}

impl Silence {
    /// A request was sent.
    pub fn begin(&mut self) {
        self.until = Some(Instant::now() + LONG);
    }

    /// A message has arrived.
    pub fn end(&mut self) {
        self.until = None;
    }

    /// Resolves when it is long, once. Cancel safe.
    pub async fn is_long(&mut self) {
        match self.until {
            Some(until) => sleep_until(until).await,
            None => std::future::pending().await,
        }
        self.until = None;
    }
}

/// What to do about a request without an answer; `doctor` is the command that checks the agent.
pub fn hint(method: &str, doctor: &str) -> String {
    let seconds = LONG.as_secs();
    match method {
        PROMPT => format!(
            "The agent has sent nothing for {seconds} s. Ctrl-C cancels the turn; `{doctor}` checks the agent."
        ),
        _ => format!(
            "`{method}` has had no answer for {seconds} s. Does the agent wait for a login, the network, or an \
             argument such as `--acp`? `{doctor}` checks it; Ctrl-C ends acp-chain."
        ),
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_long_silence_is_noticed_once() {
        let mut silence = Silence::default();
        silence.begin();
        timeout(LONG / 2, silence.is_long()).await.unwrap_err();
        timeout(LONG, silence.is_long()).await.unwrap();
        timeout(LONG * 2, silence.is_long()).await.unwrap_err();
    }

    #[tokio::test(start_paused = true)]
    async fn there_is_no_silence_before_a_request_nor_after_a_message() {
        let mut silence = Silence::default();
        timeout(LONG * 2, silence.is_long()).await.unwrap_err();
        silence.begin();
        silence.end();
        timeout(LONG * 2, silence.is_long()).await.unwrap_err();
    }

    #[test]
    fn the_hint_names_the_request_and_the_next_step() {
        let hint = hint("initialize", "acp-chain doctor -- gemini");
        for part in ["`initialize`", "--acp", "`acp-chain doctor -- gemini`"] {
            assert!(hint.contains(part), "{hint}\nlacks\n{part}");
        }
    }
}
