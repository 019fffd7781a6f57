//! What one proxy may use.

use std::time::Duration;

use wasmtime::ResourceLimiter;

use crate::channel::Bounds;

/// Core instances, memories and tables of one component, far more than any toolchain makes.
const PARTS: usize = 1000;

/// The limits of one proxy. Passing one hurts only the proxy that did it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Linear memory of the component, of all its memories together, in bytes.
    pub memory: usize,
    /// Elements in all its tables.
    pub table_elements: usize,
    /// Time for one message. The proxy is stopped when it takes longer; it never holds up
    /// messages that do not concern it.
    pub time: Duration,
    /// Time for `init`, which interpreters need more of.
    pub init_time: Duration,
    /// Requests of its own that are not answered yet.
    pub requests: usize,
    /// Messages that it holds.
    pub held: usize,
    /// Bytes of the messages that it holds.
    pub held_bytes: usize,
    /// Messages that it sends or settles while it handles one.
    pub effects: usize,
    /// Bytes of the messages that it sends while it handles one.
    pub effect_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory: 64 << 20,
            table_elements: 100_000,
            time: Duration::from_secs(2),
            init_time: Duration::from_secs(10),
            requests: 1024,
            held: 1024,
            held_bytes: 64 << 20,
            effects: 2048,
            effect_bytes: 128 << 20,
        }
    }
}

impl Limits {
    pub(super) fn bounds(&self) -> Bounds {
        Bounds {
            requests: self.requests,
            held: self.held,
            held_bytes: self.held_bytes,
            effects: self.effects,
            effect_bytes: self.effect_bytes,
        }
    }
}

/// What one store has used of its limits, summed over all its memories and tables.
#[derive(Debug)]
pub struct Usage {
    memory: usize,
    memory_limit: usize,
    elements: usize,
    elements_limit: usize,
}

impl Usage {
    pub fn new(limits: &Limits) -> Self {
        Self {
            memory: 0,
            memory_limit: limits.memory,
            elements: 0,
            elements_limit: limits.table_elements,
        }
    }
}

impl ResourceLimiter for Usage {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let memory = self.memory.saturating_add(desired.saturating_sub(current));
        if memory > self.memory_limit {
            let mib = self.memory_limit >> 20;
            wasmtime::bail!("it needs more than {mib} MiB of memory");
        }
        self.memory = memory;
        Ok(true)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let elements = self
            .elements
            .saturating_add(desired.saturating_sub(current));
        if elements > self.elements_limit {
            let limit = self.elements_limit;
            wasmtime::bail!("it needs more than {limit} elements in its tables");
        }
        self.elements = elements;
        Ok(true)
    }

    fn instances(&self) -> usize {
        PARTS
    }

    fn tables(&self) -> usize {
        PARTS
    }

    fn memories(&self) -> usize {
        PARTS
    }
}
