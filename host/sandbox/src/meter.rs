//! How much one call of a component uses of its limits `time` (for a start, `init-time`), `wait` and `calls`.
//!
//! A call computes or waits. Other work of the machine counts as neither, so a busy machine breaks no component:
//!
//! - Computing is the processor time of the thread that polls the call. The clock is read when the epoch ticks, and
//!   around each poll except the first, so a call that finishes within a tick reads no clock. Computing before the
//!   first reading, about a tick, is never charged.
//! - Waiting is the time during which the call is pending, except by the epoch's yield. It is charged in slices, since
//!   a slice that ends late shows only that the machine is busy.
//! - Blocking the thread, as on the disk of the log, counts as neither, so calls to the host are counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use acp_chain_channel::limits::{Amount, Limits, Quantity};
use acp_chain_rpc::Mutex;
use acp_chain_system::thread;

/// The maximum charge for one slice of waiting.
pub const SLICE: Duration = Duration::from_millis(100);

/// The limit that a call exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExceededLimit {
    #[error("it computed longer than {}, its limit `{}`", show(.0), .1.key())]
    Time(Duration, Work),
    #[error("it waited longer than {}, its limit `wait`", show(.0))]
    Wait(Duration),
    #[error("it called the host more than {0} times, its limit `calls`")]
    Calls(usize),
}

fn show(time: &Duration) -> String {
    Quantity::Time.show(time.to_plain())
}

/// The purpose of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// A start.
    Start,
    /// A message, or any other event.
    Message,
}

impl Work {
    fn key(self) -> &'static str {
        match self {
            Self::Start => "init-time",
            Self::Message => "time",
        }
    }

    fn time(self, limits: &Limits) -> Duration {
        match self {
            Self::Start => limits.init_time,
            Self::Message => limits.time,
        }
    }
}

/// The meter of one component, which is called by one caller at a time.
#[derive(Debug)]
pub struct Meter {
    limits: Arc<Limits>,
    /// Returns the processor time of the current thread.
    clock: fn() -> Duration,
    calls: AtomicUsize,
    call: Mutex<Call>,
}

/// The call in progress.
#[derive(Debug)]
struct Call {
    work: Work,
    computed: Duration,
    /// The last reading of the clock in the current poll. Other polls may be on other threads.
    last: Option<Duration>,
    /// Whether the current poll ends with the epoch's yield.
    yields: bool,
}

impl Call {
    fn new(work: Work) -> Self {
        Self {
            work,
            computed: Duration::ZERO,
            last: None,
            yields: false,
        }
    }

    /// Charges what was computed since the last reading.
    fn charge(&mut self, now: Duration) {
        if let Some(last) = self.last.replace(now) {
            self.computed += now.saturating_sub(last);
        }
    }
}

impl Meter {
    /// A meter with these limits.
    pub fn new(limits: Arc<Limits>) -> Self {
        Self::with_clock(limits, thread::processor_time)
    }

    fn with_clock(limits: Arc<Limits>, clock: fn() -> Duration) -> Self {
        Self {
            limits,
            clock,
            calls: AtomicUsize::new(0),
            call: Mutex::new(Call::new(Work::Start)),
        }
    }

    /// Notes that a call begins, with its first poll.
    pub fn begin(&self, work: Work) {
        self.calls.store(0, Ordering::Relaxed);
        *self.call.lock() = Call::new(work);
    }

    /// Handles a tick of the epoch during a poll, which then ends with a yield, unless the call has exceeded its time.
    pub fn tick(&self) -> Result<(), ExceededLimit> {
        let mut call = self.call.lock();
        call.charge((self.clock)());
        let time = call.work.time(&self.limits);
        if call.computed > time {
            return Err(ExceededLimit::Time(time, call.work));
        }
        call.yields = true;
        Ok(())
    }

    /// Notes that the call is polled again.
    pub fn resume(&self) {
        let mut call = self.call.lock();
        call.last = Some((self.clock)());
        call.yields = false;
    }

    /// Notes that a poll has left the call pending. Returns whether the call waits, and did not just yield.
    pub fn pause(&self) -> bool {
        let mut call = self.call.lock();
        if call.yields {
            return false;
        }
        // Whether that exceeds the limit is checked at the next tick, which also has the place in the code.
        call.charge((self.clock)());
        true
    }

    /// What remains of the limit `wait` after this much waiting.
    pub fn wait_left(&self, waited: Duration) -> Result<Duration, ExceededLimit> {
        match self.limits.wait.saturating_sub(waited) {
            Duration::ZERO => Err(ExceededLimit::Wait(self.limits.wait)),
            left => Ok(left),
        }
    }

    /// Counts a call to the host.
    pub fn count_call(&self) -> Result<(), ExceededLimit> {
        let earlier = self.calls.fetch_add(1, Ordering::Relaxed);
        if earlier < self.limits.calls {
            return Ok(());
        }
        Err(ExceededLimit::Calls(self.limits.calls))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;

    use super::*;

    thread_local! {
        /// The current time of the test clock.
        static NOW: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    }

    const TIME: Duration = Duration::from_millis(100);

    fn meter() -> Meter {
        let limits = Limits {
            time: TIME,
            init_time: 2 * TIME,
            calls: 3,
            ..Limits::default()
        };
        Meter::with_clock(limits.into(), || NOW.get())
    }

    /// Advances the test clock.
    fn compute(millis: u64) {
        NOW.set(NOW.get() + Duration::from_millis(millis));
    }

    /// A poll, in milliseconds.
    #[derive(Clone, Debug)]
    struct Poll {
        /// The thread's clock when the poll begins: other tasks compute on the thread, too.
        begins: u64,
        computes: u64,
        end: End,
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum End {
        Yield,
        Wait,
    }

    fn polls() -> impl Strategy<Value = Vec<Poll>> {
        let end = prop_oneof![Just(End::Yield), Just(End::Wait)];
        let poll = (0..1_000_000_u64, 0..40_u64, end);
        let poll = poll.prop_map(|(begins, computes, end)| Poll {
            begins,
            computes,
            end,
        });
        prop::collection::vec(poll, 1..30)
    }

    /// Plays polls until one is an error; returns what was computed by then, and the error.
    fn play(meter: &Meter, polls: &[Poll]) -> (u64, Result<(), ExceededLimit>) {
        let mut computed = 0;
        meter.begin(Work::Message);
        for (number, poll) in polls.iter().enumerate() {
            NOW.set(Duration::from_millis(poll.begins));
            if number > 0 {
                meter.resume();
            }
            compute(poll.computes);
            computed += poll.computes;
            if poll.end == End::Yield
                && let Err(error) = meter.tick()
            {
                return (computed, Err(error));
            }
            assert_eq!(meter.pause(), poll.end == End::Wait);
        }
        (computed, Ok(()))
    }

    proptest! {
        #[test]
        fn a_call_that_computes_within_its_limit_never_breaks(polls in polls()) {
            let (computed, played) = play(&meter(), &polls);
            if computed <= 100 {
                prop_assert_eq!(played, Ok(()));
            }
        }

        #[test]
        fn a_call_that_computes_longer_breaks_at_the_next_tick(polls in polls()) {
            let mut polls = polls;
            // Only the computing of the first poll is not charged.
            let charged: u64 = polls[1..].iter().map(|poll| poll.computes).sum();
            polls.push(Poll { begins: 0, computes: 0, end: End::Yield });
            let (_, played) = play(&meter(), &polls);
            let broke = played == Err(ExceededLimit::Time(TIME, Work::Message));
            prop_assert_eq!(broke, charged > 100);
        }
    }

    #[test]
    fn computing_of_other_threads_is_not_charged() {
        let limits = Limits {
            time: TIME,
            ..Limits::default()
        };
        let meter = Meter::new(limits.into());
        meter.begin(Work::Message);
        meter.resume();
        let others = [(); 4].map(|()| {
            std::thread::spawn(|| {
                let end = thread::processor_time() + TIME;
                while thread::processor_time() < end {}
            })
        });
        for other in others {
            other.join().expect("a thread");
        }
        assert_eq!(meter.tick(), Ok(()));
    }

    #[test]
    fn a_start_has_its_own_limit() {
        let meter = meter();
        meter.begin(Work::Start);
        meter.resume();
        compute(200);
        assert_eq!(meter.tick(), Ok(()));
        meter.resume();
        compute(1);
        let exceeded = meter.tick().unwrap_err();
        let expected = "it computed longer than 200ms, its limit `init-time`";
        assert_eq!(exceeded.to_string(), expected);
    }

    #[test]
    fn each_call_begins_with_nothing_charged() {
        let meter = meter();
        for _ in 0..3 {
            meter.begin(Work::Message);
            meter.resume();
            compute(100);
            assert_eq!(meter.tick(), Ok(()));
            for _ in 0..3 {
                assert_eq!(meter.count_call(), Ok(()));
            }
        }
        let exceeded = meter.count_call().unwrap_err();
        let expected = "it called the host more than 3 times, its limit `calls`";
        assert_eq!(exceeded.to_string(), expected);
    }

    #[test]
    fn a_call_that_finishes_within_a_tick_reads_no_clock() {
        let meter = Meter::with_clock(Arc::default(), || panic!("it was read"));
        meter.begin(Work::Message);
        assert_eq!(meter.count_call(), Ok(()));
    }
}
