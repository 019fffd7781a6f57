//! Counts bytes per stream, and in total for all streams of a connection, of which there may be thousands.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The total of all counts of one kind.
#[derive(Clone, Debug, Default)]
pub struct Total(Arc<AtomicUsize>);

/// A count that is part of a total while it lives.
#[derive(Debug)]
pub struct Count {
    count: usize,
    total: Total,
}

impl Total {
    pub fn get(&self) -> usize {
        // Counting requires the lock of the connection.
        self.0.load(Ordering::Relaxed)
    }
}

impl Count {
    /// A count of zero.
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
