//! Ways to break. Each is a function of its own, to be found by its name in what the host writes
//! down.

use serde::Deserialize;

/// How it breaks.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Break {
    /// It panics.
    Panic,
    /// It is busy for ever.
    Spin,
    /// It takes all memory.
    Grow,
}

impl Break {
    pub(crate) fn now(self) {
        match self {
            Self::Panic => panic_as_told(),
            Self::Spin => spin_for_ever(),
            Self::Grow => grow_without_end(),
        }
    }
}

#[inline(never)]
fn panic_as_told() {
    panic!("it was told to");
}

#[inline(never)]
fn spin_for_ever() {
    loop {
        std::hint::spin_loop();
    }
}

#[inline(never)]
fn grow_without_end() {
    let mut all = Vec::new();
    loop {
        all.push(std::hint::black_box(vec![1_u8; 1 << 20]));
    }
}
