//! What the chain knows of a message beside what is in it.
//!
//! Labels travel with the message. Whoever makes or changes one says so here, so that none is forgotten.

use super::route::HopIndex;

/// The labels of a message. One that comes in at an end has none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Labels {
    /// The proxy that sent it, or changed it last.
    pub maker: Option<HopIndex>,
    /// Whether a guard has decided about it, so that only guards may still alter it.
    pub is_sealed: bool,
    /// Whether it is known that all readers agree about it.
    pub is_canonical: bool,
    /// Whether it is between proxies: no client or agent sent it, or waits for it.
    pub is_internal: bool,
}

impl Labels {
    /// Those of a message that a proxy sends.
    pub fn sent_by(maker: HopIndex, is_guard: bool) -> Self {
        Self {
            is_internal: true,
            ..Self::answered_by(maker, is_guard)
        }
    }

    /// Those of an answer of a proxy, or of the host's in its place.
    pub fn answered_by(maker: HopIndex, is_guard: bool) -> Self {
        Self {
            maker: Some(maker),
            is_sealed: is_guard,
            ..Self::default()
        }
    }

    /// A proxy changes the message.
    pub fn changed_by(&mut self, maker: HopIndex, is_guard: bool) {
        self.maker = Some(maker);
        self.is_sealed |= is_guard;
        self.is_canonical = false;
    }
}
