//! The bounds at which new connections are rejected, so that open ones keep enough resources.
//!
//! From half of these bounds on, idle proxies are put to sleep early. Open connections may wake their proxies at any
//! time, even beyond the bounds.

use super::ServeLimits;
use acp_chain_sandbox::Bounds;
use acp_chain_system::memory;

/// The memory mappings of an instance: its memory in three parts, the guards on both sides of it, and its stack with a
/// guard.
const AREAS: u64 = 7;

/// The bounds of all instances together, by these limits and those of the system.
pub fn bounds(limits: &ServeLimits) -> Bounds {
    let most = memory::areas().map_or(u64::MAX, |areas| areas / AREAS);
    let bytes = limits.memory.or(memory::all().map(|all| all / 2));
    let bounded = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    Bounds {
        instances: bounded(u64::from(limits.instances).min(most)),
        memory: bounded(bytes.unwrap_or(u64::MAX)),
    }
}
