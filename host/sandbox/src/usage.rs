//! The usage of one store, summed over all its memories and tables.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use wasmtime::ResourceLimiter;

use acp_chain_channel::limits::{Limits, Quantity};

/// The memory of a component's last started instance, in bytes. Cloning it shares it.
#[derive(Clone, Debug, Default)]
pub struct Gauge(Arc<AtomicUsize>);

impl Gauge {
    /// The size of all its memories together. It never shrinks.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// The same for code that knows nothing of components.
    pub(crate) fn shared(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.0)
    }
}

/// The total usage of all instances of one engine.
#[derive(Debug, Default)]
pub struct Total {
    instances: AtomicUsize,
    memory: AtomicUsize,
}

impl Total {
    /// The number of instances.
    #[must_use]
    pub fn instances(&self) -> usize {
        self.instances.load(Ordering::Relaxed)
    }

    /// Their memory, in bytes.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.memory.load(Ordering::Relaxed)
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
        self.gauge.0.store(memory, Ordering::Relaxed);
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
