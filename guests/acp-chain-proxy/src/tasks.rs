//! The executor: handlers and spawned futures, on the one thread that a component has.
//!
//! A handler that finishes within the host's call that started it answers that call. Otherwise its message is held:
//! the handler is polled when something that it waits for has arrived, and its message settled when it finishes.
//! Everything runs within calls of the host.

use std::cell::RefCell;
use std::collections::HashMap;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use crate::{Action, ChannelError, Level, MessageId, Result, channel};

type TaskId = u64;
/// The outcome of a task; ignored for a spawned one.
type Outcome = std::result::Result<Action, String>;

struct Task {
    future: Pin<Box<dyn Future<Output = Outcome>>>,
    waker: Waker,
    /// The message that is held until the task finishes.
    held: Option<MessageId>,
}

#[derive(Default)]
struct Tasks {
    last: TaskId,
    parked: HashMap<TaskId, Task>,
    ready: Arc<ReadyTasks>,
    /// An unused waker of a handler that finished at once, as most do.
    spare: Option<Arc<WakeTask>>,
}

impl Tasks {
    /// A waker for another task.
    fn wake(&mut self) -> Arc<WakeTask> {
        self.spare.take().unwrap_or_else(|| {
            self.last += 1;
            Arc::new(WakeTask {
                id: self.last,
                ready: Arc::clone(&self.ready),
            })
        })
    }

    /// Keeps a waker for the next task, if no other reference to it is left.
    fn take_back(&mut self, wake: Arc<WakeTask>) {
        self.spare = Some(wake).filter(|wake| Arc::strong_count(wake) == 1);
    }
}

/// Tasks to poll, in the order in which they were woken.
#[derive(Default)]
struct ReadyTasks(Mutex<Vec<TaskId>>);

impl ReadyTasks {
    fn push(&self, id: TaskId) {
        let mut ready = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !ready.contains(&id) {
            ready.push(id);
        }
    }

    fn take(&self) -> Vec<TaskId> {
        mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

struct WakeTask {
    id: TaskId,
    ready: Arc<ReadyTasks>,
}

impl Wake for WakeTask {
    fn wake(self: Arc<Self>) {
        self.ready.push(self.id);
    }
}

thread_local! {
    static TASKS: RefCell<Tasks> = RefCell::default();
}

/// Runs a future that is not tied to a message, from the end of the current call on; one that is
/// spawned while the proxy is made starts with the first message.
pub fn spawn(future: impl Future<Output = ()> + 'static) {
    let future = Box::pin(async {
        future.await;
        Ok(Action::Forward)
    });
    TASKS.with_borrow_mut(|tasks| {
        let wake = tasks.wake();
        let id = wake.id;
        let task = Task {
            future,
            waker: wake.into(),
            held: None,
        };
        tasks.parked.insert(id, task);
        tasks.ready.push(id);
    });
}

/// Runs a handler. Returns its decision, or that its message is held until there is one.
pub(crate) fn handle(held: MessageId, handler: impl Future<Output = Result> + 'static) -> Outcome {
    // Earlier tasks run first.
    run(None);
    let mut future: Pin<Box<dyn Future<Output = Outcome>>> =
        Box::pin(async { handler.await.map_err(|error| error.to_string()) });
    let wake = TASKS.with_borrow_mut(Tasks::wake);
    let waker = Waker::from(Arc::clone(&wake));
    // The host does not know yet that the message is held, so a handler that is done within this
    // same call answers the call instead of settling.
    let done = match future.as_mut().poll(&mut Context::from_waker(&waker)) {
        Poll::Ready(done) => {
            drop(waker);
            run(None);
            TASKS.with_borrow_mut(|tasks| tasks.take_back(wake));
            Some(done)
        }
        Poll::Pending => {
            let id = wake.id;
            let held = Some(held);
            let task = Task {
                future,
                waker,
                held,
            };
            TASKS.with_borrow_mut(|tasks| tasks.parked.insert(id, task));
            run(Some(id))
        }
    };
    done.unwrap_or(Ok(Action::Hold))
}

/// Polls woken tasks until nothing is left to do. Returns the outcome of the task whose message is being handled, if
/// it has one.
pub(crate) fn run(current: Option<TaskId>) -> Option<Outcome> {
    let mut outcome = None;
    loop {
        let ready = TASKS.with_borrow(|tasks| tasks.ready.take());
        if ready.is_empty() {
            return outcome;
        }
        for id in ready {
            // Not in the map while it runs, so that it may spawn tasks.
            let Some(mut task) = TASKS.with_borrow_mut(|tasks| tasks.parked.remove(&id)) else {
                continue;
            };
            match task
                .future
                .as_mut()
                .poll(&mut Context::from_waker(&task.waker))
            {
                Poll::Pending => {
                    TASKS.with_borrow_mut(|tasks| tasks.parked.insert(id, task));
                }
                Poll::Ready(done) if current == Some(id) => outcome = Some(done),
                Poll::Ready(done) => {
                    if let Some(held) = task.held {
                        settle(held, done);
                    }
                }
            }
        }
    }
}

/// Drops the task that holds a message, with the requests that it waits for.
pub(crate) fn cancel(message: MessageId) {
    let task = TASKS.with_borrow_mut(|tasks| {
        let holds = |_: &TaskId, task: &mut Task| task.held == Some(message);
        tasks.parked.extract_if(holds).next()
    });
    // Outside of the borrow: dropping the future may wake other tasks.
    drop(task);
}

fn settle(held: MessageId, outcome: Outcome) {
    let settled = match outcome {
        Ok(action) => channel::settle(held, action).or_else(|error| match error {
            ChannelError::UnknownMessage => Err(error),
            // The message would otherwise stay held.
            _ => channel::fail(held, &error.to_string()),
        }),
        Err(failure) => channel::fail(held, &failure),
    };
    if let Err(error) = settled {
        let text = format_args!("message {held} is not settled: {error}");
        channel::log(Level::Error, text);
    }
}

#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn clear() {
    drop(TASKS.take());
}
