//! What is kept for somebody: how much there is of it, and how much there may be.
//!
//! What is kept holds a [`Charge`], which is given back when it is dropped. So nothing has to be
//! counted down by hand, and no way on which something goes can be forgotten.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The account of whoever caused that something is kept, in bytes. Cloning it shares it.
#[derive(Clone, Debug)]
pub struct Account(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    kept: AtomicUsize,
    limit: usize,
}

impl Account {
    /// An empty account on which so many bytes may be kept.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        let kept = AtomicUsize::new(0);
        Self(Arc::new(Shared { kept, limit }))
    }

    /// Charges for so many bytes; `None` if that is more than may be kept.
    #[must_use]
    pub fn charge(&self, bytes: usize) -> Option<Charge> {
        let mut charge = Charge {
            account: self.clone(),
            bytes: 0,
        };
        charge.grow(bytes).then_some(charge)
    }

    /// How many bytes are kept.
    #[must_use]
    pub fn kept(&self) -> usize {
        self.0.kept.load(Ordering::Relaxed)
    }
}

/// What something that is kept is charged for. Dropping it gives the bytes back.
#[derive(Debug)]
#[must_use]
pub struct Charge {
    account: Account,
    bytes: usize,
}

impl Charge {
    /// Charges for so many bytes more. Says whether they may be kept; if not, nothing changes.
    pub fn grow(&mut self, bytes: usize) -> bool {
        let Shared { kept, limit } = &*self.account.0;
        let grown = kept.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |kept| {
            kept.checked_add(bytes).filter(|kept| kept <= limit)
        });
        if grown.is_ok() {
            self.bytes += bytes;
        }
        grown.is_ok()
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.account.0.kept.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_charged_until_it_is_dropped_and_never_past_the_limit() {
        let account = Account::new(100);
        let one = account.charge(60);
        assert!(one.is_some() && account.charge(41).is_none());
        let mut other = account.charge(30).expect("there is room");
        assert!(other.grow(10) && !other.grow(1));
        assert!(account.charge(usize::MAX).is_none());
        assert_eq!(account.kept(), 100);
        drop(one);
        assert!(other.grow(60));
        drop(other);
        assert_eq!(account.kept(), 0);
    }
}
