//! Memory: not implemented.

/// Unknown.
pub fn all() -> Option<u64> {
    None
}

/// Does nothing: the allocator returns free memory to the system.
pub fn give_back() {}

/// Unknown.
pub fn areas() -> Option<u64> {
    None
}
