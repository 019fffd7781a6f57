//! Disk failures, for the tests of this thread.

use std::cell::Cell;
use std::io;

/// The kind of failure.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    /// One step fails, as with a full disk. Later ones succeed.
    Full,
    /// From one step on, all fail, as if the process were killed. There is no cleanup.
    Killed,
}

thread_local! {
    static NEXT: Cell<Option<(Fault, usize)>> = const { Cell::new(None) };
}

pub(super) fn step() -> io::Result<()> {
    match NEXT.get() {
        None => Ok(()),
        Some((fault, 0)) => {
            if let Fault::Full = fault {
                NEXT.set(None);
            }
            Err(io::ErrorKind::StorageFull.into())
        }
        Some((fault, left)) => {
            NEXT.set(Some((fault, left - 1)));
            Ok(())
        }
    }
}

/// Runs `work` with a failure at the first step, then again with one at the second, and so on until it succeeds.
/// `look` inspects each result.
pub fn at_each_step<W>(prepare: impl Fn() -> W, work: impl Fn(&W), look: impl Fn(&W, &str)) {
    for fault in [Fault::Full, Fault::Killed] {
        let mut broken = 0;
        loop {
            let world = prepare();
            NEXT.set(Some((fault, broken)));
            work(&world);
            let met = !matches!(NEXT.replace(None), Some((_, left)) if left > 0);
            look(&world, &format!("{fault:?} at step {broken}"));
            if !met {
                break;
            }
            broken += 1;
        }
        assert!(broken > 1, "there was nothing to break");
    }
}
