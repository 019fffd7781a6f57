//! Wraps a proxy: reports its restarts, and can make it fail in a call, as a trap would. The chain sees no difference.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use acp_chain_channel::{
    Call, Event, Failure, MessageId, Outcome, Part, Reply, Source, Started, Starting, Tally,
};

/// The state of a proxy, and the failure to cause. Clones share it.
#[derive(Clone, Default)]
pub struct Watch(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    started: Notify,
}

#[derive(Default)]
struct State {
    fails: bool,
    /// The number of starts and calls in progress.
    busy: usize,
    /// The saved states of the restarts that [`Watch::restarted`] has not returned yet.
    starts: Vec<Option<String>>,
}

impl Watch {
    /// Makes the proxy fail in its next call.
    pub fn fail(&self) {
        self.lock().fails = true;
    }

    /// Waits until the proxy is restarted, and returns its saved state. Cancel safe.
    pub async fn restarted(&self) -> Option<String> {
        loop {
            let mut started = std::pin::pin!(self.0.started.notified());
            started.as_mut().enable();
            let next = {
                let mut state = self.lock();
                (!state.starts.is_empty()).then(|| state.starts.remove(0))
            };
            match next {
                Some(saved) => return saved,
                None => started.await,
            }
        }
    }

    /// Whether the proxy is starting, or in a call.
    pub fn is_busy(&self) -> bool {
        self.lock().busy > 0
    }

    /// Marks the proxy as busy until the result is dropped.
    fn work(&self) -> Busy {
        self.lock().busy += 1;
        Busy(self.clone())
    }

    fn takes_failure(&self) -> bool {
        std::mem::take(&mut self.lock().fails)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Marks the proxy as busy until dropped.
struct Busy(Watch);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.lock().busy -= 1;
    }
}

/// The source of a watched proxy.
pub struct Watched {
    source: Box<dyn Source>,
    watch: Watch,
    is_first: AtomicBool,
}

impl Watched {
    /// Watches the proxies of this source.
    pub fn new(source: Box<dyn Source>, watch: Watch) -> Self {
        Self {
            source,
            watch,
            is_first: true.into(),
        }
    }
}

impl Source for Watched {
    fn start(&self, first: MessageId, saved: Option<String>) -> Starting {
        let is_again = !self.is_first.swap(false, Ordering::Relaxed);
        let starting = self.source.start(first, saved.clone());
        let (watch, busy) = (self.watch.clone(), self.watch.work());
        Box::pin(async move {
            let _busy = busy;
            let Started { part, registration } = starting.await?;
            if is_again {
                watch.lock().starts.push(saved);
                watch.0.started.notify_waiters();
            }
            let part = Box::new(WatchedPart { part, watch });
            Ok(Started { part, registration })
        })
    }
}

struct WatchedPart {
    part: Box<dyn Part>,
    watch: Watch,
}

impl Part for WatchedPart {
    fn allot(&mut self) -> MessageId {
        self.part.allot()
    }

    fn take_away(&mut self, id: MessageId) {
        self.part.take_away(id);
    }

    fn call(self: Box<Self>, event: Event) -> Call {
        let Self { part, watch } = *self;
        let busy = watch.work();
        Box::pin(async move {
            let _busy = busy;
            if watch.takes_failure() {
                let failure = Failure::new("its test let it fail");
                let reply = Reply {
                    effects: Vec::new(),
                    saved: None,
                    outcome: Outcome::Broke(failure),
                };
                return (Box::new(Self { part, watch }) as Box<dyn Part>, reply);
            }
            let (part, reply) = part.call(event).await;
            (Box::new(Self { part, watch }) as Box<dyn Part>, reply)
        })
    }

    fn tally(&self) -> Tally {
        self.part.tally()
    }

    fn untold(&mut self) -> Tally {
        self.part.untold()
    }
}
