//! Accounts: how many bytes are kept on behalf of a proxy, an end or a connection, and how many may be.
//!
//! Everything kept holds a [`Charge`], which returns its bytes when it is dropped. So no code path can forget to return
//! them.

use std::iter;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A number of kept bytes with a limit. Clones share the account.
#[derive(Clone, Debug)]
pub struct Account(Arc<AccountState>);

#[derive(Debug)]
struct AccountState {
    kept: AtomicUsize,
    limit: usize,
    /// The account of which this one is a part.
    whole: Option<Account>,
}

impl Account {
    /// An empty account for this many bytes.
    pub fn new(limit: usize) -> Self {
        Self::of(limit, None)
    }

    /// An empty account that is a part of this one: charges count on both.
    #[must_use]
    pub fn part(&self, limit: usize) -> Self {
        Self::of(limit, Some(self.clone()))
    }

    fn of(limit: usize, whole: Option<Self>) -> Self {
        let kept = AtomicUsize::new(0);
        Self(Arc::new(AccountState { kept, limit, whole }))
    }

    /// Charges this many bytes; `None` if that would exceed a limit.
    pub fn charge(&self, bytes: usize) -> Option<Charge> {
        let mut charge = self.charge_anyway(0);
        charge.grow(bytes).then_some(charge)
    }

    /// Charges this many bytes, even past the limits: for things that exist already.
    pub fn charge_anyway(&self, bytes: usize) -> Charge {
        for account in self.with_wholes() {
            account.0.kept.fetch_add(bytes, Ordering::Relaxed);
        }
        let account = self.clone();
        Charge { account, bytes }
    }

    /// Whether nothing more may be kept.
    pub fn is_full(&self) -> bool {
        self.with_wholes()
            .any(|account| account.kept() >= account.0.limit)
    }

    /// How many bytes are kept.
    pub fn kept(&self) -> usize {
        self.0.kept.load(Ordering::Relaxed)
    }

    /// How many bytes are kept beyond the limit.
    pub fn excess(&self) -> usize {
        self.kept().saturating_sub(self.0.limit)
    }

    /// This account, its parent, and so on.
    fn with_wholes(&self) -> impl Iterator<Item = &Self> {
        iter::successors(Some(self), |account| account.0.whole.as_ref())
    }

    /// Adds this many bytes here and to all parents. If one has no room, adds none and returns false.
    fn add(&self, bytes: usize) -> bool {
        let AccountState { kept, limit, whole } = &*self.0;
        let added = kept.try_update(Ordering::Relaxed, Ordering::Relaxed, |kept| {
            kept.checked_add(bytes).filter(|kept| kept <= limit)
        });
        if added.is_ok() && whole.as_ref().is_some_and(|whole| !whole.add(bytes)) {
            kept.fetch_sub(bytes, Ordering::Relaxed);
            return false;
        }
        added.is_ok()
    }

    fn subtract(&self, bytes: usize) {
        for account in self.with_wholes() {
            account.0.kept.fetch_sub(bytes, Ordering::Relaxed);
        }
    }
}

/// The charge for something kept. Dropping it returns the bytes.
#[derive(Debug)]
#[must_use]
pub struct Charge {
    account: Account,
    bytes: usize,
}

impl Charge {
    /// How many bytes are charged.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Charges this many bytes more. Returns false, and changes nothing, if that would exceed a limit.
    pub fn grow(&mut self, bytes: usize) -> bool {
        let grown = self.account.add(bytes);
        if grown {
            self.bytes += bytes;
        }
        grown
    }

    /// Charges this many bytes instead of the current ones. Returns false, and changes nothing, if that would exceed a
    /// limit.
    pub fn resize(&mut self, bytes: usize) -> bool {
        match bytes.checked_sub(self.bytes) {
            Some(more) => self.grow(more),
            None => {
                self.account.subtract(self.bytes - bytes);
                self.bytes = bytes;
                true
            }
        }
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.account.subtract(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_charged_until_the_charge_is_dropped_and_never_past_the_limit() {
        let account = Account::new(100);
        let one = account.charge(60);
        assert!(one.is_some() && account.charge(41).is_none());
        let mut other = account.charge(30).expect("there is room");
        assert!(other.grow(10) && !other.grow(1));
        assert!(account.charge(usize::MAX).is_none());
        assert_eq!(account.kept(), 100);
        drop(one);
        assert!(other.grow(60) && account.is_full());
        assert!(other.resize(20) && !account.is_full());
        assert!(other.resize(100) && !other.resize(101));
        drop(other);
        assert_eq!(account.kept(), 0);
    }

    #[test]
    fn charges_to_a_part_count_on_the_whole() {
        let whole = Account::new(100);
        let (one, other) = (whole.part(80), whole.part(80));
        let charge = one.charge(70);
        assert!(other.charge(40).is_none(), "there is no room in the whole");
        assert_eq!((other.kept(), whole.kept()), (0, 70));
        let more = other.charge_anyway(40);
        assert!(other.is_full() && whole.kept() == 110);
        drop(charge);
        assert!(!other.is_full() && whole.kept() == 40);
        drop(more);
        assert_eq!((one.kept(), other.kept(), whole.kept()), (0, 0, 0));
    }
}
