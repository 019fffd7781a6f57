//! A hint for the user when an answer is long in coming, and the end when the user waits no longer.

use std::time::Duration;

use acp_chain_acp::PROMPT;
use tokio::time::{Instant, sleep_until};

/// After how long there is a hint.
pub const LONG: Duration = Duration::from_secs(10);

/// How long an agent has sent nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// So long that there is a hint.
    Long,
    /// Longer than the user waits.
    TooLong,
}

/// The time since a request, or since the last message after it.
#[derive(Debug, Default)]
pub struct Silence {
    /// How long the user waits; without it, for ever.
    patience: Option<Duration>,
    /// When it is long; `None` if that does not matter any more.
    long: Option<Instant>,
    /// When it is too long.
    too_long: Option<Instant>,
}

impl Silence {
    pub fn new(patience: Option<Duration>) -> Self {
        Self {
            patience,
            ..Self::default()
        }
    }

    /// A request was sent.
    pub fn begin(&mut self) {
        self.long = Some(Instant::now() + LONG);
        self.too_long = self.patience.map(|patience| Instant::now() + patience);
    }

    /// A message has arrived, or the user has answered one.
    pub fn interrupt(&mut self) {
        self.long = None;
        if self.too_long.is_some() {
            self.too_long = self.patience.map(|patience| Instant::now() + patience);
        }
    }

    /// The request is answered.
    pub fn end(&mut self) {
        (self.long, self.too_long) = (None, None);
    }

    /// Resolves when it is long, once, and when it is too long, once. Cancel safe.
    pub async fn grows(&mut self) -> Length {
        let Some(next) = self.long.into_iter().chain(self.too_long).min() else {
            return std::future::pending().await;
        };
        sleep_until(next).await;
        if self.too_long == Some(next) {
            self.end();
            Length::TooLong
        } else {
            self.long = None;
            Length::Long
        }
    }
}

/// What to do about a request without an answer; `doctor` is the command that checks the agent, and `correction` what
/// speaks ACP in its place, if the agent is known not to.
pub fn hint(method: &str, doctor: &str, correction: Option<&str>) -> String {
    let seconds = LONG.as_secs();
    match (method, correction) {
        (PROMPT, _) => format!(
            "The agent has sent nothing for {seconds} s. Ctrl-C cancels the turn; `{doctor}` checks the agent."
        ),
        (_, Some(correction)) => format!(
            "`{method}` has had no answer for {seconds} s: {correction}. `{doctor}` checks the agent; Ctrl-C ends \
             acp-chain."
        ),
        (_, None) => format!(
            "`{method}` has had no answer for {seconds} s. Does the agent wait for a login, the network, or an \
             argument such as `--acp`? Or is it a program that does not speak ACP, such as `claude` in place of \
             `claude-agent-acp`? `{doctor}` checks it; Ctrl-C ends acp-chain."
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
        timeout(LONG / 2, silence.grows()).await.unwrap_err();
        assert_eq!(timeout(LONG, silence.grows()).await.unwrap(), Length::Long);
        timeout(LONG * 2, silence.grows()).await.unwrap_err();
    }

    #[tokio::test(start_paused = true)]
    async fn there_is_no_silence_before_a_request_nor_after_a_message() {
        let mut silence = Silence::default();
        timeout(LONG * 2, silence.grows()).await.unwrap_err();
        silence.begin();
        silence.interrupt();
        timeout(LONG * 2, silence.grows()).await.unwrap_err();
    }

    #[tokio::test(start_paused = true)]
    async fn with_patience_a_silence_is_too_long_after_the_last_message_of_an_open_request() {
        let patience = LONG * 3;
        let mut silence = Silence::new(Some(patience));
        silence.interrupt();
        timeout(patience * 2, silence.grows()).await.unwrap_err();
        silence.begin();
        assert_eq!(silence.grows().await, Length::Long);
        timeout(LONG, silence.grows()).await.unwrap_err();
        silence.interrupt();
        timeout(patience / 2, silence.grows()).await.unwrap_err();
        let grown = timeout(patience, silence.grows()).await;
        assert_eq!(grown.unwrap(), Length::TooLong);
        silence.begin();
        silence.end();
        timeout(patience * 2, silence.grows()).await.unwrap_err();
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_waits_for_less_gets_no_hint() {
        for patience in [LONG, LONG / 2] {
            let mut silence = Silence::new(Some(patience));
            silence.begin();
            assert_eq!(silence.grows().await, Length::TooLong);
            timeout(LONG * 2, silence.grows()).await.unwrap_err();
        }
    }

    #[test]
    fn the_hint_names_the_request_and_the_next_step() {
        let doctor = "acp-chain doctor -- gemini";
        let parts = ["`initialize`", "--acp", "`acp-chain doctor -- gemini`"];
        for correction in [None, Some("`gemini` speaks ACP as `gemini --acp`")] {
            let hint = hint("initialize", doctor, correction);
            for part in parts.into_iter().chain(correction) {
                assert!(hint.contains(part), "{hint}\nlacks\n{part}");
            }
        }
    }
}
