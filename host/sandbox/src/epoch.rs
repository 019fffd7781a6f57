//! The clock that interrupts busy guests.
//!
//! It ticks only during calls of guests: an idle host wakes no thread. The clock's thread starts with the first call,
//! and so has no more privileges than the callers of guests.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, Thread};
use std::time::Duration;

use wasmtime::{Engine, EngineWeak};

/// How long a guest runs before it yields to other traffic.
const TICK: Duration = Duration::from_millis(10);

/// After how many ticks without a call the clock sleeps.
const IDLE: u32 = 100;

/// The clock of one engine.
#[derive(Clone)]
pub struct Epoch {
    engine: EngineWeak,
    shared: Arc<ClockState>,
    /// The clock stops with the last handle to it.
    stop: Arc<OnceLock<Stop>>,
}

struct ClockState {
    calls: AtomicUsize,
    asleep: AtomicBool,
    stopped: AtomicBool,
}

struct Stop {
    shared: Arc<ClockState>,
    thread: Thread,
}

impl Drop for Stop {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        self.thread.unpark();
    }
}

/// Keeps the clock ticking until it is dropped.
pub struct RunningClock(Arc<ClockState>);

impl Drop for RunningClock {
    fn drop(&mut self) {
        self.0.calls.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Epoch {
    pub fn new(engine: &Engine) -> Self {
        let shared = Arc::new(ClockState {
            calls: AtomicUsize::new(0),
            asleep: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
        });
        Self {
            engine: engine.weak(),
            shared,
            stop: Arc::default(),
        }
    }

    /// Keeps the clock ticking for the length of a call.
    pub fn run(&self) -> RunningClock {
        self.shared.calls.fetch_add(1, Ordering::SeqCst);
        let stop = self.stop.get_or_init(|| self.begin());
        if self.shared.asleep.load(Ordering::SeqCst) {
            stop.thread.unpark();
        }
        RunningClock(self.shared.clone())
    }

    fn begin(&self) -> Stop {
        let clock = thread::spawn({
            let (shared, engine) = (self.shared.clone(), self.engine.clone());
            move || tick(&shared, &engine)
        });
        Stop {
            shared: self.shared.clone(),
            thread: clock.thread().clone(),
        }
    }
}

fn tick(shared: &ClockState, engine: &EngineWeak) {
    let mut idle = 0;
    while !shared.stopped.load(Ordering::SeqCst) {
        if idle < IDLE {
            thread::sleep(TICK);
        } else {
            // First set, then checked: a call that begins meanwhile sees it and wakes us.
            shared.asleep.store(true, Ordering::SeqCst);
            if shared.calls.load(Ordering::SeqCst) == 0 {
                thread::park();
            }
            shared.asleep.store(false, Ordering::SeqCst);
            idle = 0;
        }
        let Some(engine) = engine.upgrade() else {
            return;
        };
        engine.increment_epoch();
        idle = match shared.calls.load(Ordering::SeqCst) {
            0 => idle + 1,
            _ => 0,
        };
    }
}
