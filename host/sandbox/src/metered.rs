//! Calls a component within its limits.

use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_util::future::poll_immediate;
use tokio::time::{Instant, Sleep, sleep_until};
use wasmtime::Store;

use super::meter::{Meter, SLICE, Work};
use super::state::State;

/// Calls a component within its limits.
pub async fn within<T>(
    store: &mut Store<State>,
    meter: &Meter,
    work: Work,
    call: impl AsyncFnOnce(&mut Store<State>) -> wasmtime::Result<T>,
) -> wasmtime::Result<T> {
    store.set_epoch_deadline(1);
    meter.begin(work);
    let mut call = pin!(call(store));
    // Most calls finish at once: they read no clock and need no timer.
    match poll_immediate(&mut call).await {
        Some(done) => done,
        // Boxed separately: the future of every call then has at most 1032 bytes, the limit of glibc's fast lists.
        None => Box::new(MeteredCall::new(call, meter)).await,
    }
}

/// A call that did not finish at once.
struct MeteredCall<'a, F> {
    call: Pin<&'a mut F>,
    meter: &'a Meter,
    waited: Duration,
    /// When the current slice of waiting began.
    since: Option<Instant>,
    /// Ends the slice. `None` until the call waits for the first time.
    timer: Option<Pin<Box<Sleep>>>,
}

impl<'a, F> MeteredCall<'a, F> {
    fn new(call: Pin<&'a mut F>, meter: &'a Meter) -> Self {
        Self {
            call,
            meter,
            waited: Duration::ZERO,
            since: None,
            timer: None,
        }
    }

    /// Waits for one slice at most; ready with an error when the limit is exhausted.
    fn wait<T>(&mut self, context: &mut Context) -> Poll<wasmtime::Result<T>> {
        let left = match self.meter.wait_left(self.waited) {
            Ok(left) => left,
            Err(exceeded) => return Poll::Ready(Err(exceeded.into())),
        };
        let now = Instant::now();
        let end = now + left.min(SLICE);
        self.since = Some(now);
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(end)));
        timer.as_mut().reset(end);
        ready!(timer.as_mut().poll(context));
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<F, T> Future for MeteredCall<'_, F>
where
    F: Future<Output = wasmtime::Result<T>>,
{
    type Output = wasmtime::Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<Self::Output> {
        if let Some(since) = self.since.take() {
            self.waited += since.elapsed().min(SLICE);
        }
        self.meter.resume();
        // The call is polled before the limit is checked: it may be ready, however late.
        let polled = self.call.as_mut().poll(context);
        if polled.is_ready() || !self.meter.pause() {
            return polled;
        }
        self.wait(context)
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, poll_fn};

    use acp_chain_channel::limits::Limits;
    use tokio::time::{advance, sleep};

    use super::*;
    use crate::meter::ExceededLimit;

    const WAIT: Duration = Duration::from_secs(30);

    /// Runs a future as a call.
    async fn metered<T>(
        call: impl Future<Output = wasmtime::Result<T>>,
    ) -> Result<T, ExceededLimit> {
        let limits = Limits {
            wait: WAIT,
            ..Limits::default()
        };
        let meter = Meter::new(limits.into());
        meter.begin(Work::Message);
        let done = MeteredCall::new(pin!(call), &meter).await;
        done.map_err(|error| error.downcast().expect("a limit"))
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_waits_forever_breaks() {
        let begun = Instant::now();
        let exceeded = metered(pending::<wasmtime::Result<()>>()).await;
        let exceeded = exceeded.unwrap_err();
        let expected = "it waited longer than 30s, its limit `wait`";
        assert_eq!(exceeded.to_string(), expected);
        assert_eq!(begun.elapsed(), WAIT);
    }

    #[tokio::test(start_paused = true)]
    async fn waits_of_one_call_count_together() {
        let waits = async |count: u32| {
            for _ in 0..count {
                sleep(Duration::from_millis(70)).await;
            }
            Ok(count)
        };
        assert_eq!(metered(waits(428)).await, Ok(428));
        assert_eq!(metered(waits(429)).await, Err(ExceededLimit::Wait(WAIT)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_late_processor_does_not_count_as_waiting() {
        let call = async {
            for _ in 0..100 {
                let mut is_ready = false;
                poll_fn(|context| {
                    if is_ready {
                        return Poll::Ready(());
                    }
                    is_ready = true;
                    context.waker().wake_by_ref();
                    Poll::Pending
                })
                .await;
            }
            Ok(())
        };
        let mut call = pin!(metered(call));
        loop {
            // The machine is busy for an hour whenever the call could continue.
            advance(Duration::from_hours(1)).await;
            if let Some(done) = poll_immediate(&mut call).await {
                break assert_eq!(done, Ok(()));
            }
        }
    }
}
