//! How many files, pipes and sockets may be open: as many as there is memory for.

/// There is nothing to raise.
#[must_use]
pub fn raise() -> usize {
    usize::MAX
}
