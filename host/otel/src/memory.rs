//! The memory of proxies: components' memory is in lines, programs' memory is read on export.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use acp_chain_trace::{Line, State};

/// The maximum number of connections, and of proxies of each.
const MOST: usize = 1000;

/// Returns the memory of process groups, by the ids of their leaders, in bytes.
pub type MemoryProbe = fn(&[u32]) -> HashMap<u32, u64>;

/// The state of each running proxy, by connection. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Memories(Arc<Mutex<HashMap<String, HashMap<String, Memory>>>>);

#[derive(Clone, Copy, Debug)]
enum Memory {
    Bytes(u64),
    Process(u32),
}

/// The value of a proxy, at first this one; `None` if too many proxies are known.
pub fn entry<'a, V>(
    all: &'a mut HashMap<String, HashMap<String, V>>,
    connection: &str,
    proxy: &str,
    first: V,
) -> Option<&'a mut V> {
    if !all.contains_key(connection) && all.len() < MOST {
        all.insert(connection.to_owned(), HashMap::new());
    }
    let proxies = all.get_mut(connection)?;
    if !proxies.contains_key(proxy) && proxies.len() < MOST {
        proxies.insert(proxy.to_owned(), first);
    }
    proxies.get_mut(proxy)
}

impl Memories {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, HashMap<String, Memory>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Handles a line about the state of a proxy, or the end of a connection.
    pub fn take(&self, line: &Line) {
        if line.is_end() {
            self.lock().remove(&line.connection);
        }
        let (Some(proxy), Some(state)) = (&line.proxy, line.state) else {
            return;
        };
        let memory = match (state, line.memory, line.process) {
            (State::Running, _, Some(process)) => Memory::Process(process),
            (State::Running, Some(memory), None) => Memory::Bytes(memory),
            _ => {
                if let Some(proxies) = self.lock().get_mut(&line.connection) {
                    proxies.remove(proxy);
                }
                return;
            }
        };
        if let Some(known) = entry(&mut self.lock(), &line.connection, proxy, Memory::Bytes(0)) {
            *known = memory;
        }
    }

    /// The total memory of proxies by name, over all connections.
    pub fn by_proxy(&self, memory_of: MemoryProbe) -> HashMap<String, u64> {
        let all = self.lock();
        let proxies = || all.values().flatten();
        let processes = proxies().filter_map(|(_, memory)| match memory {
            Memory::Process(process) => Some(*process),
            Memory::Bytes(_) => None,
        });
        let seen = memory_of(&processes.collect::<Vec<_>>());
        let mut sums = HashMap::new();
        for (proxy, memory) in proxies() {
            let memory = match memory {
                Memory::Bytes(memory) => Some(*memory),
                Memory::Process(process) => seen.get(process).copied(),
            };
            if let Some(memory) = memory {
                *sums.entry(proxy.clone()).or_default() += memory;
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_has_the_memory_of_all_proxies_with_it() {
        let memories = Memories::default();
        let take = |text: &str| memories.take(&serde_json::from_str(text).unwrap());
        for connection in ["x", "y"] {
            take(&format!(
                r#"{{"connection":"{connection}","proxy":"part","state":"running","memory":10}}"#
            ));
        }
        take(r#"{"connection":"x","proxy":"part","state":"running","memory":15}"#);
        take(r#"{"connection":"x","proxy":"program","state":"running","process":7}"#);
        take(r#"{"connection":"x","proxy":"gone","state":"running","process":8}"#);
        let sums = || memories.by_proxy(|_| HashMap::from([(7, 100)]));
        let expected = |of: &[(&str, u64)]| -> HashMap<_, _> {
            of.iter()
                .map(|(name, sum)| ((*name).to_owned(), *sum))
                .collect()
        };
        assert_eq!(sums(), expected(&[("part", 25), ("program", 100)]));
        take(r#"{"connection":"x","proxy":"program","state":"failed"}"#);
        take(r#"{"connection":"y","ended":true}"#);
        assert_eq!(sums(), expected(&[("part", 15)]));
    }
}
