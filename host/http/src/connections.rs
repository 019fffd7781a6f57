//! The connections through one listener.
//!
//! A connection is a stranger's until something on it has passed the gate behind the listener. Strangers are bounded in
//! number, each address in its share of that, and each stranger in time and requests. Where there is no room for one
//! more, a stranger makes it: the oldest that has asked for nothing, else the oldest. So strangers keep no client out,
//! and a known one never has to leave.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::{AbortHandle, JoinSet};

/// How many requests a stranger may make. Each may leave an answer that the stranger does not take.
const REQUESTS: usize = 8;

/// Part of the strangers that may be of one address.
const OF_ADDRESS: usize = 2;

/// What is known of a connection.
#[derive(Debug, Default)]
pub struct Visitor {
    is_known: AtomicBool,
    told: Notify,
    requests: AtomicUsize,
    leaves: Notify,
}

impl Visitor {
    /// It has passed the gate.
    pub fn pass(&self) {
        self.is_known.store(true, Ordering::Relaxed);
        self.told.notify_one();
    }

    /// Whether it has passed the gate.
    pub fn is_known(&self) -> bool {
        self.is_known.load(Ordering::Relaxed)
    }

    /// It makes a request. Returns whether that is the last one that a stranger may make; with one more, a stranger
    /// has to leave.
    pub fn asks(&self) -> bool {
        let count = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        if count > REQUESTS && !self.is_known() {
            self.leave();
        }
        count == REQUESTS
    }

    /// Its connection ends.
    pub fn leave(&self) {
        self.leaves.notify_one();
    }

    /// Serves it, but a stranger not longer than this. `None` if it had to leave.
    pub async fn within<T>(
        &self,
        patience: Duration,
        served: impl Future<Output = T>,
    ) -> Option<T> {
        let leaves = async {
            tokio::select! {
                passed = tokio::time::timeout(patience, self.told.notified()) => {
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
    /// By age. Some may be none any more.
    strangers: VecDeque<Stranger>,
    most_strangers: usize,
}

impl Connections {
    /// None yet, and at most so many strangers.
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

    /// Ends a stranger's connection, and waits until it has ended. False if there are no strangers.
    async fn make_room(&mut self) -> bool {
        self.evict(None).await
    }

    /// Serves one more, from this address if there is one, with the room that it takes. `room` is called with the
    /// number of connections until there is some, or no stranger is left who could make it: then it returns false.
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

    /// Ends the connection of a stranger, of this address if there is one.
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

    /// Tells that a connection has ended.
    struct Ends(usize, Arc<Mutex<Vec<usize>>>);

    impl Drop for Ends {
        fn drop(&mut self) {
            self.1.lock().unwrap().push(self.0);
        }
    }

    struct Hall {
        connections: Connections,
        visitors: Vec<Arc<Visitor>>,
        ended: Arc<Mutex<Vec<usize>>>,
    }

    impl Hall {
        fn new(most_strangers: usize) -> Self {
            Self {
                connections: Connections::new(most_strangers),
                visitors: Vec::new(),
                ended: Arc::default(),
            }
        }

        async fn comes(&mut self, from: Option<u8>) {
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
            // Its task begins.
            tokio::task::yield_now().await;
        }

        fn ended(&self) -> Vec<usize> {
            self.ended.lock().unwrap().clone()
        }
    }

    #[tokio::test]
    async fn the_oldest_that_has_asked_for_nothing_leaves_and_nobody_who_is_known() {
        let mut hall = Hall::new(3);
        for _ in 0..3 {
            hall.comes(None).await;
        }
        hall.visitors[0].pass();
        hall.visitors[1].asks();
        hall.comes(None).await;
        assert_eq!(hall.ended(), []);
        hall.comes(None).await;
        assert_eq!(hall.ended(), [2]);
        for expected in [3, 4, 1] {
            assert!(hall.connections.make_room().await);
            assert_eq!(hall.ended().last(), Some(&expected));
        }
        assert!(!hall.connections.make_room().await);
        assert_eq!(hall.connections.len(), 1);
        drop(hall.connections);
    }

    #[tokio::test]
    async fn an_address_has_its_share_and_takes_no_others() {
        let mut hall = Hall::new(8);
        for from in [1, 2, 2, 2, 2, 2, 2] {
            hall.comes(Some(from)).await;
        }
        // The oldest of the second one, and not the oldest of all.
        assert_eq!(hall.ended(), [1, 2]);
        for visitor in &hall.visitors {
            visitor.pass();
        }
        for _ in 0..4 {
            hall.comes(Some(2)).await;
        }
        assert_eq!(hall.ended(), [1, 2]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stranger_has_few_requests_and_little_time() {
        let long = Duration::from_secs(30);
        let stranger = Visitor::default();
        assert_eq!(stranger.within(long, pending::<()>()).await, None);
        assert_eq!(stranger.within(long, async { 7 }).await, Some(7));
        let asks = async {
            for _ in 0..=REQUESTS {
                stranger.asks();
            }
            pending::<()>().await;
        };
        let begun = tokio::time::Instant::now();
        assert_eq!(stranger.within(long, asks).await, None);
        assert_eq!(begun.elapsed(), Duration::ZERO);
        let known = Visitor::default();
        known.pass();
        let asks = async {
            for _ in 0..2 * REQUESTS {
                known.asks();
            }
            tokio::time::sleep(2 * long).await;
        };
        assert_eq!(known.within(long, asks).await, Some(()));
    }
}
