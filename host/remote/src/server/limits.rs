//! The limits of a server.

use std::num::NonZeroU64;

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many connections, of all users.
    pub connections: usize,
    /// How many connections of one user.
    pub connections_per_user: usize,
    /// How many sessions a user may have open, over all connections.
    pub sessions_per_user: usize,
    /// How many turns of all users run at once.
    pub turns: usize,
    /// How many bytes of a user's incomplete messages are buffered.
    pub bodies_per_user: usize,
    /// How many bytes per second are read from a user; `None` without a limit.
    pub pace: Option<NonZeroU64>,
    pub files: Files,
}

/// Files, as the system counts them: sockets, and those of chains.
#[derive(Clone, Copy, Debug)]
pub struct Files {
    /// How many all sockets and chains may have together.
    pub all: usize,
    /// How many each chain uses.
    pub of_chain: usize,
}

impl Files {
    /// One file in this many is reserved for existing clients, when no new ones are accepted.
    const LEFT: usize = 16;

    /// Whether the files suffice for this many sockets and chains.
    pub fn suffice(self, sockets: usize, chains: usize) -> bool {
        sockets + chains.saturating_mul(self.of_chain) <= self.all
    }

    /// Whether one more chain leaves enough for existing clients.
    pub fn suffice_for_one_more(self, sockets: usize, chains: usize) -> bool {
        let all = self.all - self.all / Self::LEFT;
        Self { all, ..self }.suffice(sockets, chains + 1)
    }
}
