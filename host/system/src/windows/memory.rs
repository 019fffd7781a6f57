//! Memory: not implemented.

/// Unknown.
#[must_use]
pub fn all() -> Option<u64> {
    None
}

/// Does nothing: the allocator returns free memory to the system.
pub fn give_back() {}

/// Unknown.
#[must_use]
pub fn areas() -> Option<u64> {
    None
}
