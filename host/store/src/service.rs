//! The process that has the store: it reads calls, and answers each.

use std::cell::RefCell;
use std::io::{self, BufRead, Write};
use std::rc::Rc;
use std::time::Instant;

use acp_chain_rpc::json_lines::{receive, send};
use acp_chain_rpc::worker::{self, Reply, Request};
use tokio::runtime::Builder;
use tokio::sync::{Mutex, mpsc};

use crate::call::{Answer, Call};
use crate::client::{self, PATIENCE};
use crate::engine::embedded::Embedded;
use crate::engine::postgres::Postgres;
use crate::engine::{Store, Unusable};
use crate::limits::check;
use crate::place::Place;
use crate::protocol::{LINE, Outcome};

/// How many calls may wait for a connection: more than a client sends before it gives up the first, so that a heartbeat
/// behind them is read.
const WAITING: usize = 4 * client::WAITING;

/// A call that waits for a connection, and since when.
type WaitingCall = (Instant, Request<Call>);

/// What is read, and waits for a connection: heartbeats go first.
struct Calls {
    beats: mpsc::Sender<WaitingCall>,
    others: mpsc::Sender<WaitingCall>,
}

/// The other end.
struct Queue {
    beats: mpsc::Receiver<WaitingCall>,
    others: mpsc::Receiver<WaitingCall>,
}

fn queue() -> (Calls, Queue) {
    let (beats, waiting_beats) = mpsc::channel(client::BEATS);
    let (others, waiting_others) = mpsc::channel(WAITING);
    let queue = Queue {
        beats: waiting_beats,
        others: waiting_others,
    };
    (Calls { beats, others }, queue)
}

impl Queue {
    /// The next call; `None` once there are no more.
    async fn next(&mut self) -> Option<WaitingCall> {
        tokio::select! {
            biased;
            Some(beat) = self.beats.recv() => Some(beat),
            Some(other) = self.others.recv() => Some(other),
            else => None,
        }
    }
}

/// Serves calls until their stream ends. An embedded store is opened for the first call, and again after that has
/// failed.
///
/// # Errors
/// If the streams cannot be used, have anything but calls, or the settings of the store are wrong.
pub fn serve(
    requests: impl BufRead + Send + 'static,
    replies: impl Write + 'static,
    place: &Place,
) -> io::Result<()> {
    let (calls, waiting) = queue();
    let waiting = Rc::new(Mutex::new(waiting));
    let replies = Rc::new(RefCell::new(replies));
    let reading = move || read(requests, &calls);
    match place {
        Place::Embedded(path) => {
            let path = path.clone();
            let open = move || Embedded::open(&path);
            worker::serve([work(waiting, replies, open)], reading)
        }
        Place::Postgres(place) => {
            let stores = (0..place.connections.max(1)).map(|_| Postgres::new(place));
            let stores: Result<Vec<_>, _> = stores.collect();
            let stores = stores.map_err(io::Error::other)?.into_iter();
            let workers = stores.map(|store| {
                let mut store = Some(store);
                let open = move || {
                    let gone = || Unusable("the connection was opened twice".to_owned());
                    store.take().ok_or_else(gone)
                };
                work(Rc::clone(&waiting), Rc::clone(&replies), open)
            });
            worker::serve(workers, reading)
        }
    }
}

/// Brings the tables of a store up to date. Returns how many migrations that took; an embedded store counts none.
///
/// # Errors
/// If the store cannot be used.
pub fn migrate(place: &Place) -> Result<u64, Unusable> {
    match place {
        Place::Embedded(path) => Embedded::open(path).map(|_| 0),
        Place::Postgres(place) => {
            let store = Postgres::new(place)?;
            let runtime = Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(|error| Unusable(error.to_string()))?;
            runtime.block_on(store.migrate())
        }
    }
}

/// Carries out some calls, one after the other, without a process of their own.
///
/// # Errors
/// If the store cannot be used, or a call cannot be carried out.
pub fn ask(place: &Place, calls: &[Call]) -> Result<Vec<Answer>, Unusable> {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Unusable(error.to_string()))?;
    runtime.block_on(async {
        match place {
            Place::Embedded(path) => carry_out_all(Embedded::open(path)?, calls).await,
            Place::Postgres(place) => carry_out_all(Postgres::new(place)?, calls).await,
        }
    })
}

async fn carry_out_all(mut store: impl Store, calls: &[Call]) -> Result<Vec<Answer>, Unusable> {
    let mut answers = Vec::new();
    for call in calls {
        check(call).map_err(|limit| Unusable(limit.to_string()))?;
        answers.push(store.carry_out(call).await?);
    }
    Ok(answers)
}

/// Reads calls until their stream ends, or nobody takes them.
fn read(mut requests: impl BufRead, calls: &Calls) -> io::Result<()> {
    while let Some(request) = receive::<Request<Call>>(&mut requests, LINE)? {
        let waiting = if request.call.is_beat() {
            &calls.beats
        } else {
            &calls.others
        };
        if waiting.blocking_send((Instant::now(), request)).is_err() {
            break;
        }
    }
    Ok(())
}

/// Takes calls until there are no more, and answers them. One that has waited for so long that its caller has given up
/// is not carried out.
async fn work<S: Store>(
    calls: Rc<Mutex<Queue>>,
    replies: Rc<RefCell<impl Write>>,
    mut open: impl FnMut() -> Result<S, Unusable>,
) -> io::Result<()> {
    let mut store = None;
    loop {
        let next = calls.lock().await.next().await;
        let Some((since, Request { id, call })) = next else {
            return Ok(());
        };
        let answer = if since.elapsed() < PATIENCE {
            answer(&mut store, &mut open, &call).await
        } else {
            Outcome::Unavailable("a call has waited too long for a connection".to_owned())
        };
        send(&mut *replies.borrow_mut(), &Reply { id, answer })?;
    }
}

async fn answer<S: Store>(
    store: &mut Option<S>,
    mut open: impl FnMut() -> Result<S, Unusable>,
    call: &Call,
) -> Outcome {
    if let Err(limit) = check(call) {
        return Outcome::Limit(limit);
    }
    match carry_out(store, &mut open, call).await {
        Ok(answer) => Outcome::Answer(answer),
        Err(unusable) => Outcome::Unavailable(unusable.0),
    }
}

async fn carry_out<S: Store>(
    store: &mut Option<S>,
    mut open: impl FnMut() -> Result<S, Unusable>,
    call: &Call,
) -> Result<Answer, Unusable> {
    let opened = match store {
        Some(opened) => opened,
        None => store.insert(open()?),
    };
    opened.carry_out(call).await
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::call::Holder;

    /// A store that carries out every call.
    struct Willing;

    impl Store for Willing {
        async fn carry_out(&mut self, _: &Call) -> Result<Answer, Unusable> {
            Ok(Answer::Done)
        }
    }

    #[tokio::test]
    async fn a_call_whose_caller_has_given_up_is_not_carried_out() {
        let (calls, waiting) = queue();
        let now = Instant::now();
        for (id, since) in [(1, now.checked_sub(PATIENCE).unwrap()), (2, now)] {
            let call = Call::Replicas;
            let call = (since, Request { id, call });
            calls.others.send(call).await.unwrap();
        }
        drop(calls);
        let text = answers(waiting).await;
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert!(lines[0].contains("too long"), "{text}");
        assert!(lines[1].contains("done"), "{text}");
    }

    #[tokio::test]
    async fn a_heartbeat_goes_before_all_calls_that_wait() {
        let (calls, waiting) = queue();
        let beat = Call::Beat {
            holder: Holder {
                replica: "a".to_owned(),
                generation: 1,
            },
            lease: 1,
            seen: 0,
        };
        let mut requests = Vec::new();
        for (id, call) in [(1, Call::Replicas), (2, Call::Replicas), (3, beat)] {
            send(&mut requests, &Request { id, call }).unwrap();
        }
        let reading = thread::spawn(move || read(&*requests, &calls));
        reading.join().unwrap().unwrap();
        let text = answers(waiting).await;
        let ids: Vec<_> = text.lines().map(|line| &line[..7]).collect();
        assert_eq!(ids, [r#"{"id":3"#, r#"{"id":1"#, r#"{"id":2"#]);
    }

    /// What one connection answers to all calls.
    async fn answers(waiting: Queue) -> String {
        let replies = Rc::new(RefCell::new(Vec::<u8>::new()));
        let waiting = Rc::new(Mutex::new(waiting));
        work(waiting, Rc::clone(&replies), || Ok(Willing))
            .await
            .unwrap();
        String::from_utf8(replies.take()).unwrap()
    }
}
