//! Proxies that are due: for their turn, for their end, or for a newer version.

use std::collections::VecDeque;

use crate::hop::Hop;
use crate::route::HopIndex;
use acp_chain_channel::Failure;

#[derive(Default)]
pub(super) struct Due {
    /// Those with something in their inbox.
    ready: VecDeque<HopIndex>,
    to_end: Vec<HopIndex>,
    to_swap: Vec<HopIndex>,
}

impl Due {
    /// A proxy waits for its turn, if it can be called.
    #[inline]
    pub fn make_ready(&mut self, index: HopIndex, hop: &mut Hop) {
        if hop.queues_up() {
            self.ready.push_back(index);
        }
    }

    /// The turn of the proxy that has waited longest.
    #[inline]
    pub fn next_ready(&mut self, hops: &mut [Hop]) -> Option<HopIndex> {
        let index = self.ready.pop_front()?;
        hops[index].has_its_turn();
        Some(index)
    }

    pub fn is_any_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// A proxy is to be ended as soon as it is not busy.
    pub fn end_soon(&mut self, index: HopIndex, hop: &mut Hop, reason: &str) {
        if hop.end_soon(reason) {
            self.to_end.push(index);
        }
    }

    /// A proxy that is due to end and can be ended, and why.
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

    /// A newer version of a proxy waits.
    pub fn swap_soon(&mut self, index: HopIndex) {
        self.to_swap.push(index);
    }

    /// A proxy with a newer version waiting, if it is not being called.
    #[inline]
    pub fn next_to_swap(&mut self, hops: &[Hop]) -> Option<HopIndex> {
        let is_free = |index: &HopIndex| !hops[*index].is_busy();
        let at = self.to_swap.iter().position(is_free)?;
        Some(self.to_swap.swap_remove(at))
    }
}
