//! Ways to break. Each is a separate function, whose name tests can find in the host's report.

use serde::Deserialize;

/// A way to break.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Break {
    Panic,
    /// Loops for ever.
    Spin,
    /// Allocates without end.
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
    panic!("as configured");
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
