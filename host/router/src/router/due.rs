//! Proxies that are due: to be called, to be ended, or to be replaced by a newer version.

use std::collections::VecDeque;

use crate::hop::Hop;
use crate::route::HopIndex;
use acp_chain_channel::Failure;

#[derive(Default)]
pub(super) struct Due {
    /// The proxies with items in their inbox.
    ready: VecDeque<HopIndex>,
    to_end: Vec<HopIndex>,
    to_swap: Vec<HopIndex>,
}

impl Due {
    /// Queues a proxy to be called, if it is ready and not queued yet.
    #[inline]
    pub fn make_ready(&mut self, index: HopIndex, hop: &mut Hop) {
        if hop.queues_up() {
            self.ready.push_back(index);
        }
    }

    /// Takes the proxy that has waited longest.
    #[inline]
    pub fn next_ready(&mut self, hops: &mut [Hop]) -> Option<HopIndex> {
        let index = self.ready.pop_front()?;
        hops[index].leave_queue();
        Some(index)
    }

    pub fn is_any_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Ends a proxy as soon as it is not busy.
    pub fn end_soon(&mut self, index: HopIndex, hop: &mut Hop, reason: &str) {
        if hop.end_soon(reason) {
            self.to_end.push(index);
        }
    }

    /// Takes a proxy that is due to end and is not busy, with the reason.
    pub fn next_to_end(&mut self, hops: &mut [Hop]) -> Option<(HopIndex, Failure)> {
        while let Some(index) = self.to_end.pop() {
            if let Some(failure) = hops[index].take_ending_if_free() {
                return Some((index, failure));
            }
        }
        None
    }

    pub fn is_any_to_end(&self) -> bool {
        !self.to_end.is_empty()
    }

    /// Notes that a newer version of a proxy is pending.
    pub fn swap_soon(&mut self, index: HopIndex) {
        self.to_swap.push(index);
    }

    /// Takes a proxy with a pending newer version that is not being called.
    #[inline]
    pub fn next_to_swap(&mut self, hops: &[Hop]) -> Option<HopIndex> {
        let is_free = |index: &HopIndex| !hops[*index].is_busy();
        let at = self.to_swap.iter().position(is_free)?;
        Some(self.to_swap.swap_remove(at))
    }
}
