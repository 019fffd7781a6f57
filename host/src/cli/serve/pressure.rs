//! When nobody else is let in, so that the open connections have what they need.
//!
//! Open connections may wake their proxies up at any time: they get instances beyond these limits.

use std::sync::Arc;

use crate::manifest::ServeLimits;
use crate::sandbox::Total;
use crate::system::memory;

/// The maximum number of memory areas of an instance during a call: its memories, their guards, and its stack.
const AREAS: u64 = 6;

/// The maximum of all instances before nobody else is let in.
pub struct Pressure {
    total: Arc<Total>,
    instances: usize,
    memory: usize,
}

impl Pressure {
    /// With these limits, and those of the system.
    pub fn new(total: Arc<Total>, limits: &ServeLimits) -> Self {
        let most = memory::areas().map_or(u64::MAX, |areas| areas / AREAS);
        let bytes = limits.memory.or(memory::all().map(|all| all / 2));
        let bounded = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        Self {
            total,
            instances: bounded(u64::from(limits.instances).min(most)),
            memory: bounded(bytes.unwrap_or(u64::MAX)),
        }
    }

    /// Whether another connection may begin.
    pub fn is_bearable(&self) -> bool {
        self.total.instances() < self.instances && self.total.memory() < self.memory
    }
}
