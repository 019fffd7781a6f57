//! Tracks the sizes of the proxies' memories of a connection.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use acp_chain_trace::{Line, State};

use super::Event;
use super::event::in_use;

/// The gauge of each running proxy, and the last reported value.
#[derive(Debug, Default)]
pub struct Memories(Vec<Memory>);

#[derive(Debug)]
struct Memory {
    proxy: String,
    restarts: u64,
    gauge: Arc<AtomicUsize>,
    reported: u64,
}

impl Memories {
    /// Notes an event about a proxy.
    pub fn note(&mut self, event: &Event) {
        let Event::Became {
            proxy,
            state,
            restarts,
            memory,
            ..
        } = event
        else {
            return;
        };
        self.0.retain(|known| known.proxy != *proxy);
        if let (State::Running, Some(memory)) = (state, memory) {
            // Most chains have few proxies, and a server keeps thousands of chains.
            self.0.reserve_exact(1);
            self.0.push(Memory {
                proxy: proxy.clone(),
                restarts: *restarts,
                gauge: Arc::clone(memory),
                reported: 0,
            });
        }
    }

    /// Notes the value in a line that is written.
    pub fn written(&mut self, line: &Line) {
        if let (Some(proxy), Some(memory)) = (&line.proxy, line.memory)
            && let Some(known) = self.0.iter_mut().find(|known| known.proxy == *proxy)
        {
            known.reported = memory;
        }
    }

    /// A line for each proxy whose memory has changed since the last report.
    pub fn changed(&mut self) -> impl Iterator<Item = Line> {
        self.0.iter_mut().filter_map(|known| {
            let memory = in_use(&known.gauge);
            let is_new = std::mem::replace(&mut known.reported, memory) != memory;
            is_new.then(|| Line {
                proxy: Some(known.proxy.clone()),
                state: Some(State::Running),
                restarts: Some(known.restarts),
                memory: Some(memory),
                ..Line::default()
            })
        })
    }
}
