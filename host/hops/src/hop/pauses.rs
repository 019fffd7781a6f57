//! Pauses, and how long a proxy rests after them.

use std::time::Duration;

use foldhash::HashSet;
use tokio::time::Instant;

use super::Hop;
use acp_chain_channel::MessageId;
use acp_chain_channel::limits::REST;

#[derive(Default)]
pub(super) struct Pauses {
    /// The pauses whose calls are yet to come. A pause does not keep an idle instance awake.
    open: HashSet<MessageId>,
    rests_until: Option<Instant>,
    /// When the current call began, if it is one at the end of a pause.
    woken: Option<Instant>,
}

impl Hop {
    /// Notes a pause.
    #[inline]
    pub fn pause(&mut self, id: MessageId) {
        self.pauses.open.insert(id);
    }

    /// Ends a pause. Returns how long the proxy has yet to rest; `None` if there was no such pause.
    #[inline]
    pub fn end_pause(&mut self, id: MessageId, now: Instant) -> Option<Duration> {
        self.pauses.open.take(&id)?;
        let until = self.pauses.rests_until.unwrap_or(now);
        Some(until.saturating_duration_since(now))
    }

    /// Takes all pauses, which end with the instance.
    #[inline]
    pub fn take_pauses(&mut self) -> impl Iterator<Item = MessageId> {
        self.pauses.woken = None;
        self.pauses.open.drain()
    }

    /// Notes that the proxy is called at the end of a pause.
    #[inline]
    pub fn note_woken(&mut self) {
        self.pauses.woken = Some(Instant::now());
    }

    /// Notes the end of a call and its effects. If the call was at the end of a pause, the proxy rests for a multiple
    /// of its duration.
    #[inline]
    pub fn rest(&mut self) {
        if let Some(woken) = self.pauses.woken.take() {
            let now = Instant::now();
            self.pauses.rests_until = Some(now + (now - woken) * REST);
        }
    }
}
