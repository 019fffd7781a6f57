//! The usage of stores: memory, tables, instances and log output.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use wasmtime::ResourceLimiter;

use acp_chain_channel::limits::{Limits, Quantity};

/// The usage of the successive instances of a component. Clones share the values.
#[derive(Clone, Debug, Default)]
pub struct Gauge {
    memory: Arc<AtomicUsize>,
    logged: Arc<AtomicUsize>,
}

impl Gauge {
    /// The total size of the memories of the last started instance, in bytes. The memories of an instance never shrink.
    pub fn memory(&self) -> usize {
        self.memory.load(Ordering::Relaxed)
    }

    /// The value of [`memory`](Self::memory), which is updated.
    pub(crate) fn shared(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.memory)
    }

    /// How many bytes all instances have written to the log.
    pub(crate) fn logged(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.logged)
    }
}

/// The total usage of all instances of one engine.
#[derive(Debug, Default)]
pub struct Total {
    instances: AtomicUsize,
    memory: AtomicUsize,
    bounds: OnceLock<Bounds>,
}

/// How much all instances of an engine should use together. These bounds are not enforced: each instance may be needed.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The number of instances.
    pub instances: usize,
    /// Their memory, in bytes.
    pub memory: usize,
}

impl Total {
    /// The number of instances.
    pub fn instances(&self) -> usize {
        self.instances.load(Ordering::Relaxed)
    }

    /// Their memory, in bytes.
    pub fn memory(&self) -> usize {
        self.memory.load(Ordering::Relaxed)
    }

    /// Sets the bounds, once; without bounds, they are never reached.
    pub fn bound(&self, bounds: Bounds) {
        let _ = self.bounds.set(bounds);
    }

    /// Whether the bounds are reached.
    pub fn is_full(&self) -> bool {
        self.exceeds(1)
    }

    /// Whether half of the bounds is reached.
    pub fn is_crowded(&self) -> bool {
        self.exceeds(2)
    }

    fn exceeds(&self, part: usize) -> bool {
        self.bounds.get().is_some_and(|bounds| {
            self.instances() >= bounds.instances / part || self.memory() >= bounds.memory / part
        })
    }
}

#[derive(Debug)]
pub struct Usage {
    memory: usize,
    gauge: Gauge,
    total: Arc<Total>,
    elements: usize,
    limits: Arc<Limits>,
}

impl Usage {
    pub fn new(limits: Arc<Limits>, gauge: Gauge, total: Arc<Total>) -> Self {
        total.instances.fetch_add(1, Ordering::Relaxed);
        Self {
            memory: 0,
            gauge,
            total,
            elements: 0,
            limits,
        }
    }
}

impl Drop for Usage {
    fn drop(&mut self) {
        self.total.instances.fetch_sub(1, Ordering::Relaxed);
        self.total.memory.fetch_sub(self.memory, Ordering::Relaxed);
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
        if memory > self.limits.memory {
            let limit = Quantity::Size.show(self.limits.memory as u64);
            wasmtime::bail!("it needs more than {limit} of memory");
        }
        self.total
            .memory
            .fetch_add(memory - self.memory, Ordering::Relaxed);
        self.memory = memory;
        self.gauge.memory.store(memory, Ordering::Relaxed);
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
        if elements > self.limits.table_elements {
            let limit = self.limits.table_elements;
            wasmtime::bail!("it needs more than {limit} elements in its tables");
        }
        self.elements = elements;
        Ok(true)
    }

    fn instances(&self) -> usize {
        self.limits.instances
    }

    fn tables(&self) -> usize {
        self.limits.instances
    }

    fn memories(&self) -> usize {
        self.limits.instances
    }
}
