//! The pauses between retries, and their limit.

use std::time::Duration;

use tokio::time::Instant;

/// The first pause, and the longest: each is twice as long as the one before.
const FIRST: Duration = Duration::from_millis(100);
pub const LONGEST: Duration = Duration::from_secs(5);

/// How long to retry without any success.
pub const WHOLE: Duration = Duration::from_mins(1);

/// The pauses between retries.
#[derive(Debug)]
pub struct Patience {
    pause: Duration,
    /// When the first try failed.
    since: Option<Instant>,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            pause: FIRST,
            since: None,
        }
    }
}

impl Patience {
    /// Waits before the next try. Returns `false` at once if the time is over.
    pub async fn pause(&mut self) -> bool {
        let pause = self.pause;
        self.pause = (pause * 2).min(LONGEST);
        self.wait(pause).await
    }

    /// Waits for the pause that the server requests. Returns `false` at once if the time is over.
    pub async fn wait(&mut self, pause: Duration) -> bool {
        let since = *self.since.get_or_insert_with(Instant::now);
        let is_enough = since.elapsed().saturating_add(pause) > WHOLE;
        if !is_enough {
            tokio::time::sleep(pause).await;
        }
        !is_enough
    }

    /// Resets the pauses and the time after a success.
    pub fn renew(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_wait_never_exceeds_the_whole_whatever_a_server_requests() {
        let mut patience = Patience::default();
        assert!(!patience.wait(Duration::from_secs(u64::MAX)).await);
        assert!(patience.wait(WHOLE / 2).await);
        assert!(!patience.wait(WHOLE).await);
        assert!(patience.wait(Duration::ZERO).await);
    }
}
