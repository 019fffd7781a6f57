//! Attacks on memory.

use std::hint::black_box;

#[inline(never)]
pub(crate) fn grow() -> ! {
    let mut all = Vec::new();
    loop {
        all.push(black_box(vec![1_u8; 1 << 20]));
    }
}

#[inline(never)]
pub(crate) fn recurse() -> ! {
    loop {
        black_box(dive(black_box(0)));
    }
}

#[inline(never)]
fn dive(depth: u64) -> u64 {
    if black_box(depth) == u64::MAX {
        return depth;
    }
    // The addition after each call keeps it from becoming a loop.
    black_box(dive(depth + 1)) + depth
}
