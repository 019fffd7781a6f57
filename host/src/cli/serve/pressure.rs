//! When nobody else comes in, so that those who are there have what they need.
//!
//! Whoever is there may wake his proxies up at any time: they get instances beyond what is said here.

use std::sync::Arc;

use crate::manifest::ServeLimits;
use crate::sandbox::Total;
use crate::system::memory;

/// How many areas of memory an instance takes at most while it is called: its memories, their guards, and its stack.
const AREAS: u64 = 6;

/// What all instances may take before nobody else comes in.
pub struct Pressure {
    total: Arc<Total>,
    instances: usize,
    memory: usize,
}

impl Pressure {
    /// As these limits have it, and as the system lets it be.
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
