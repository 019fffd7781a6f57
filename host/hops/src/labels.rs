//! Labels: metadata that the chain keeps of a message.
//!
//! Labels travel with the message, and from a request to its answer. Only the rules here set or change one.

use std::num::NonZeroU32;

use crate::hop::Hop;
use crate::route::HopIndex;

/// The labels of a message. A message that arrives at an end has none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Labels {
    /// Counted from one, so that labels are as small as a pointer.
    maker: Option<NonZeroU32>,
    is_sealed: bool,
    is_canonical: bool,
    is_internal: bool,
}

impl Labels {
    /// The labels of a message that a proxy sends.
    #[inline]
    pub fn sent_by(maker: HopIndex, hops: &[Hop]) -> Self {
        Self {
            is_internal: true,
            ..Self::answered_by(maker, hops)
        }
    }

    /// The labels of a proxy's answer.
    #[inline]
    pub fn answered_by(maker: HopIndex, hops: &[Hop]) -> Self {
        let mut labels = Self::default();
        labels.change(maker, hops);
        labels
    }

    /// Notes that a proxy changes the message, or answers it.
    #[inline]
    pub fn change(&mut self, maker: HopIndex, hops: &[Hop]) {
        self.maker = u32::try_from(maker + 1).ok().and_then(NonZeroU32::new);
        self.is_sealed |= hops[maker].is_guard();
        self.is_canonical = false;
    }

    /// Notes that all readers agree about the message; this holds until a proxy changes it.
    #[inline]
    pub fn mark_canonical(&mut self) {
        self.is_canonical = true;
    }

    /// The labels of the answer to a request with these labels, from the place where the request is.
    #[inline]
    #[must_use]
    pub fn of_answer(self, is_for_proxy: bool) -> Self {
        Self {
            is_canonical: false,
            is_internal: is_for_proxy && self.maker.is_some(),
            ..self
        }
    }

    /// The proxy that sent the message, or changed it last.
    #[inline]
    pub fn maker(self) -> Option<HopIndex> {
        self.maker.map(|maker| maker.get() as HopIndex - 1)
    }

    /// Whether a guard has decided about the message, so that only guards may still change it.
    #[inline]
    pub fn is_sealed(self) -> bool {
        self.is_sealed
    }

    /// Whether it is known that all readers agree about the message.
    #[inline]
    pub fn is_canonical(self) -> bool {
        self.is_canonical
    }

    /// Whether the message is between proxies: no client or agent sent it, or waits for it.
    #[inline]
    pub fn is_internal(self) -> bool {
        self.is_internal
    }
}
