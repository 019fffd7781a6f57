//! The connections through one listener.
//!
//! A connection is a *stranger* until a request on it has passed the gate behind the listener. Strangers are bounded in
//! number, in all and per address, and each in time and requests. Where there is no room for another connection, a
//! stranger is evicted: the oldest one without a request, else the oldest. So strangers keep no client out, and a
//! connection that has passed the gate is never evicted.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::{AbortHandle, JoinSet};

/// How many requests a stranger may make. Each may leave an answer that the stranger does not read.
const REQUESTS: usize = 8;

/// One in this many strangers may be of the same address.
const OF_ADDRESS: usize = 2;

/// The state of a connection before its gate.
#[derive(Debug, Default)]
pub struct Visitor {
    is_known: AtomicBool,
    passed_gate: Notify,
    requests: AtomicUsize,
    leaves: Notify,
}

impl Visitor {
    /// Notes that the connection has passed the gate.
    pub fn pass(&self) {
        self.is_known.store(true, Ordering::Relaxed);
        self.passed_gate.notify_one();
    }

    /// Whether the connection has passed the gate.
    pub fn is_known(&self) -> bool {
        self.is_known.load(Ordering::Relaxed)
    }

    /// Counts a request. Returns whether it is the last that a stranger may make; with one more, a stranger is evicted.
    pub fn count_request(&self) -> bool {
        let count = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        if count > REQUESTS && !self.is_known() {
            self.leave();
        }
        count == REQUESTS
    }

    /// Ends the connection.
    pub fn leave(&self) {
        self.leaves.notify_one();
    }

    /// Serves the connection, but that of a stranger no longer than `patience`. `None` if it was evicted.
    pub async fn within<T>(
        &self,
        patience: Duration,
        served: impl Future<Output = T>,
    ) -> Option<T> {
        let leaves = async {
            tokio::select! {
                passed = tokio::time::timeout(patience, self.passed_gate.notified()) => {
                    if passed.is_ok() {
                        std::future::pending::<()>().await;
                    }
                }
                () = self.leaves.notified() => {}
            }
        };
        let (served, leaves) = (pin!(served), pin!(leaves));
        tokio::select! {
            served = served => Some(served),
            () = leaves => None,
        }
    }
}

/// A connection that has not passed the gate.
#[derive(Debug)]
struct Stranger {
    visitor: Arc<Visitor>,
    task: AbortHandle,
    from: Option<IpAddr>,
}

impl Stranger {
    fn is_one(&self) -> bool {
        !self.visitor.is_known() && !self.task.is_finished()
    }

    fn is_silent(&self) -> bool {
        self.visitor.requests.load(Ordering::Relaxed) == 0
    }
}

/// All connections through one listener. They end when it is dropped.
#[derive(Debug)]
pub struct Connections {
    open: JoinSet<()>,
    /// By age. Some may have passed the gate or ended.
    strangers: VecDeque<Stranger>,
    most_strangers: usize,
}

impl Connections {
    /// No connections yet, and at most this many strangers.
    #[must_use]
    pub fn new(most_strangers: usize) -> Self {
        Self {
            open: JoinSet::new(),
            strangers: VecDeque::new(),
            most_strangers: most_strangers.max(1),
        }
    }

    fn len(&mut self) -> usize {
        self.forget_ended();
        self.open.len()
    }

    /// Evicts a stranger, and waits until its connection has ended. False if there are no strangers.
    async fn make_room(&mut self) -> bool {
        self.evict(None).await
    }

    /// Serves another connection, from this address if it is given, with the room that it takes. `room` is called with
    /// the number of connections, and strangers are evicted until there is some. False if no stranger is left to evict.
    pub async fn welcome<R, F>(
        &mut self,
        from: Option<IpAddr>,
        mut room: impl FnMut(usize) -> Option<R>,
        serve: impl FnOnce(Arc<Visitor>, R) -> F,
    ) -> bool
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let room = loop {
            match room(self.len()) {
                Some(room) => break room,
                None if self.make_room().await => {}
                None => return false,
            }
        };
        self.serve(from, |visitor| serve(visitor, room)).await;
        true
    }

    async fn serve<F>(&mut self, from: Option<IpAddr>, serve: impl FnOnce(Arc<Visitor>) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.strangers.retain(Stranger::is_one);
        if from.is_some() {
            let of_address = self.strangers.iter().filter(|one| one.from == from);
            if of_address.count() >= self.most_strangers.div_ceil(OF_ADDRESS) {
                self.evict(from).await;
            }
        }
        if self.strangers.len() >= self.most_strangers {
            self.evict(None).await;
        }
        let visitor = Arc::<Visitor>::default();
        let task = self.open.spawn(serve(Arc::clone(&visitor)));
        self.strangers.push_back(Stranger {
            visitor,
            task,
            from,
        });
    }

    fn forget_ended(&mut self) {
        while self.open.try_join_next().is_some() {}
    }

    /// Evicts a stranger, of this address if it is given. False if there is none.
    async fn evict(&mut self, from: Option<IpAddr>) -> bool {
        let fits = |one: &Stranger| one.is_one() && (from.is_none() || one.from == from);
        let silent = |one: &Stranger| fits(one) && one.is_silent();
        let strangers = &self.strangers;
        let place = strangers.iter().position(silent);
        let place = place.or_else(|| strangers.iter().position(fits));
        let Some(stranger) = place.and_then(|place| self.strangers.remove(place)) else {
            return false;
        };
        stranger.task.abort();
        while !stranger.task.is_finished() && self.open.join_next().await.is_some() {}
        true
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::sync::Mutex;

    use super::*;

    /// Records that a connection has ended.
    struct Ends(usize, Arc<Mutex<Vec<usize>>>);

    impl Drop for Ends {
        fn drop(&mut self) {
            self.1.lock().unwrap().push(self.0);
        }
    }

    struct Fixture {
        connections: Connections,
        visitors: Vec<Arc<Visitor>>,
        ended: Arc<Mutex<Vec<usize>>>,
    }

    impl Fixture {
        fn new(most_strangers: usize) -> Self {
            Self {
                connections: Connections::new(most_strangers),
                visitors: Vec::new(),
                ended: Arc::default(),
            }
        }

        async fn connect(&mut self, from: Option<u8>) {
            let ends = Ends(self.visitors.len(), self.ended.clone());
            let from = from.map(|last| IpAddr::from([10, 0, 0, last]));
            let visitors = &mut self.visitors;
            let serve = |visitor: Arc<Visitor>| {
                visitors.push(visitor);
                async move {
                    let _ends = ends;
                    pending::<()>().await;
                }
            };
            self.connections.serve(from, serve).await;
            // Lets its task begin.
            tokio::task::yield_now().await;
        }

        fn ended(&self) -> Vec<usize> {
            self.ended.lock().unwrap().clone()
        }
    }

    #[tokio::test]
    async fn the_oldest_stranger_without_a_request_is_evicted_first() {
        let mut fixture = Fixture::new(3);
        for _ in 0..3 {
            fixture.connect(None).await;
        }
        fixture.visitors[0].pass();
        fixture.visitors[1].count_request();
        fixture.connect(None).await;
        assert_eq!(fixture.ended(), []);
        fixture.connect(None).await;
        assert_eq!(fixture.ended(), [2]);
        for expected in [3, 4, 1] {
            assert!(fixture.connections.make_room().await);
            assert_eq!(fixture.ended().last(), Some(&expected));
        }
        assert!(!fixture.connections.make_room().await);
        assert_eq!(fixture.connections.len(), 1);
        drop(fixture.connections);
    }

    #[tokio::test]
    async fn an_address_evicts_only_its_own_strangers() {
        let mut fixture = Fixture::new(8);
        for from in [1, 2, 2, 2, 2, 2, 2] {
            fixture.connect(Some(from)).await;
        }
        // The oldest of the second address, and not the oldest of all.
        assert_eq!(fixture.ended(), [1, 2]);
        for visitor in &fixture.visitors {
            visitor.pass();
        }
        for _ in 0..4 {
            fixture.connect(Some(2)).await;
        }
        assert_eq!(fixture.ended(), [1, 2]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stranger_has_few_requests_and_little_time() {
        let long = Duration::from_secs(30);
        let stranger = Visitor::default();
        assert_eq!(stranger.within(long, pending::<()>()).await, None);
        assert_eq!(stranger.within(long, async { 7 }).await, Some(7));
        let requests = async {
            for _ in 0..=REQUESTS {
                stranger.count_request();
            }
            pending::<()>().await;
        };
        let begun = tokio::time::Instant::now();
        assert_eq!(stranger.within(long, requests).await, None);
        assert_eq!(begun.elapsed(), Duration::ZERO);
        let known = Visitor::default();
        known.pass();
        let requests = async {
            for _ in 0..2 * REQUESTS {
                known.count_request();
            }
            tokio::time::sleep(2 * long).await;
        };
        assert_eq!(known.within(long, requests).await, Some(()));
    }
}
