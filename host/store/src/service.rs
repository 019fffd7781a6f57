//! The process that has the store: it reads calls, and answers each.

use std::cell::RefCell;
use std::io::{self, BufRead, Write};
use std::rc::Rc;
use std::thread;
use std::time::Instant;

use acp_chain_rpc::json_lines::{receive, send};
use acp_chain_rpc::worker::{Reply, Request};
use tokio::runtime::Builder;
use tokio::sync::{Mutex, mpsc};
use tokio::task::LocalSet;

use crate::call::{Answer, Call};
use crate::client::PATIENCE;
use crate::engine::embedded::Embedded;
use crate::engine::postgres::Postgres;
use crate::engine::{Store, Unusable};
use crate::limits::check;
use crate::place::Place;
use crate::protocol::{LINE, Outcome};

/// How many calls may wait for a connection.
const WAITING: usize = 1024;

/// A call that waits for a connection, and since when.
type WaitingCall = (Instant, Request<Call>);

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
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let tasks = LocalSet::new();
    let (calls, waiting) = mpsc::channel(WAITING);
    let waiting = Rc::new(Mutex::new(waiting));
    let replies = Rc::new(RefCell::new(replies));
    let reading = thread::Builder::new().spawn(move || read(requests, &calls))?;
    let served = tasks.block_on(&runtime, async {
        let mut workers = Vec::new();
        match place {
            Place::Embedded(path) => {
                let path = path.clone();
                let open = move || Embedded::open(&path);
                workers.push(tokio::task::spawn_local(work(waiting, replies, open)));
            }
            Place::Postgres(place) => {
                for _ in 0..place.connections.max(1) {
                    let store = Postgres::new(place).map_err(io::Error::other)?;
                    let mut store = Some(store);
                    let open = move || {
                        let gone = || Unusable("the connection was opened twice".to_owned());
                        store.take().ok_or_else(gone)
                    };
                    let (waiting, replies) = (Rc::clone(&waiting), Rc::clone(&replies));
                    workers.push(tokio::task::spawn_local(work(waiting, replies, open)));
                }
            }
        }
        for worker in workers {
            worker.await.map_err(io::Error::other)??;
        }
        Ok(())
    });
    if served.is_ok() {
        // It ended before the workers did.
        return reading
            .join()
            .unwrap_or_else(|_| Err(io::ErrorKind::Other.into()));
    }
    served
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
fn read(mut requests: impl BufRead, calls: &mpsc::Sender<WaitingCall>) -> io::Result<()> {
    while let Some(request) = receive(&mut requests, LINE)? {
        if calls.blocking_send((Instant::now(), request)).is_err() {
            break;
        }
    }
    Ok(())
}

/// Takes calls until there are no more, and answers them. One that has waited for so long that its caller has given up is
/// not carried out.
async fn work<S: Store>(
    calls: Rc<Mutex<mpsc::Receiver<WaitingCall>>>,
    replies: Rc<RefCell<impl Write>>,
    mut open: impl FnMut() -> Result<S, Unusable>,
) -> io::Result<()> {
    let mut store = None;
    loop {
        let next = calls.lock().await.recv().await;
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
    use super::*;

    /// A store that carries out every call.
    struct Willing;

    impl Store for Willing {
        async fn carry_out(&mut self, _: &Call) -> Result<Answer, Unusable> {
            Ok(Answer::Done)
        }
    }

    #[tokio::test]
    async fn a_call_whose_caller_has_given_up_is_not_carried_out() {
        let (calls, waiting) = mpsc::channel(WAITING);
        let now = Instant::now();
        for (id, since) in [(1, now.checked_sub(PATIENCE).unwrap()), (2, now)] {
            let call = Call::Replicas;
            calls.send((since, Request { id, call })).await.unwrap();
        }
        drop(calls);
        let replies = Rc::new(RefCell::new(Vec::<u8>::new()));
        let waiting = Rc::new(Mutex::new(waiting));
        work(waiting, Rc::clone(&replies), || Ok(Willing))
            .await
            .unwrap();
        let text = String::from_utf8(replies.take()).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert!(lines[0].contains("too long"), "{text}");
        assert!(lines[1].contains("done"), "{text}");
    }
}
