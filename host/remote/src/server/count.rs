//! Bytes that are counted by themselves, and among those of all streams of a connection, of which there may be thousands.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What all counts of one kind come to.
#[derive(Clone, Debug, Default)]
pub struct Total(Arc<AtomicUsize>);

/// One that is part of a total for as long as it lives.
#[derive(Debug)]
pub struct Count {
    count: usize,
    total: Total,
}

impl Total {
    pub fn get(&self) -> usize {
        // Whoever counts holds the lock of the connection.
        self.0.load(Ordering::Relaxed)
    }
}

impl Count {
    /// Nothing so far.
    pub fn of(total: &Total) -> Self {
        Self {
            count: 0,
            total: total.clone(),
        }
    }

    pub fn get(&self) -> usize {
        self.count
    }

    pub fn add(&mut self, more: usize) {
        self.count += more;
        self.total.0.fetch_add(more, Ordering::Relaxed);
    }

    pub fn take(&mut self, less: usize) {
        self.count -= less;
        self.total.0.fetch_sub(less, Ordering::Relaxed);
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        self.take(self.count);
    }
}
