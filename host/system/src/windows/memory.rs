//! How much memory this process may have: not implemented.

/// It is not known.
#[must_use]
pub fn all() -> Option<u64> {
    None
}

/// The allocator does so by itself.
pub fn give_back() {}

/// It is not known.
#[must_use]
pub fn areas() -> Option<u64> {
    None
}
