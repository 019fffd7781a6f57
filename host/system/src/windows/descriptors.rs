//! How many files, pipes and sockets may be open: limited only by memory.

/// There is nothing to raise.
pub fn raise() -> usize {
    usize::MAX
}
