//! The process that has the values of a server whose replicas share them: some connections to the store, which take
//! requests in turn. And the same, asked once by an operator.

use std::cell::RefCell;
use std::io::{self, BufRead, Write};
use std::rc::Rc;
use std::time::{Duration, Instant};

use acp_chain_rpc::json_lines::{receive, send};
use acp_chain_rpc::worker::{self, Reply, Request};
use acp_chain_store::{Postgres, PostgresPlace};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Mutex, mpsc};

use crate::error::StateError;
use crate::inventory::{Filter, Removed, Summary};
use crate::namespace::Namespace;
use crate::protocol::{Answer, Call, LINE};
use crate::service::resolved;
use crate::shared::{Seen, Shared};
use crate::shelf::Shelf;

/// How long a request waits for a connection. The store answers in four seconds, or fails: a prompt that waits for a
/// value waits for ten at most.
const PATIENCE: Duration = Duration::from_secs(6);

/// How many requests may wait for a connection: as many as a keeper sends.
const WAITING: usize = acp_chain_channel::limits::STORED_WAITING;

/// What a server's users are told; the reason names the host of the database.
const UNUSABLE: &str = "the store of this server cannot be used now; its log says why";

/// A request that waits for a connection: since when, its id, and its call or why it is refused.
type WaitingRequest = (Instant, u64, Result<Call, String>);

/// Serves requests until their stream ends, by values in the store. `resolve` returns the namespace whose values are
/// meant, or why there are none. `report` gets each kind of failure once.
///
/// # Errors
/// If the streams cannot be used, have anything but requests, or the settings of the store are wrong.
pub fn serve_shared(
    requests: impl BufRead + Send + 'static,
    replies: impl Write + 'static,
    place: &PostgresPlace,
    resolve: impl Fn(Namespace) -> Result<Namespace, String> + Send + 'static,
    report: impl Fn(&StateError) + 'static,
) -> io::Result<()> {
    let seen = Seen::default();
    let opened = (0..place.connections.max(1)).map(|_| Shared::open(place, seen.clone()));
    let shelves: Result<Vec<_>, _> = opened.collect();
    serve_by(
        shelves.map_err(io::Error::other)?,
        requests,
        replies,
        resolve,
        report,
    )
}

fn serve_by(
    shelves: Vec<impl Shelf + 'static>,
    requests: impl BufRead + Send + 'static,
    replies: impl Write + 'static,
    resolve: impl Fn(Namespace) -> Result<Namespace, String> + Send + 'static,
    report: impl Fn(&StateError) + 'static,
) -> io::Result<()> {
    let (queue, queued) = mpsc::channel(WAITING);
    let waiting = Rc::new(Mutex::new(queued));
    let output = Rc::new(RefCell::new(replies));
    let reporter = Rc::new(report);
    let workers = shelves.into_iter().map(|shelf| {
        let (waiting, output) = (Rc::clone(&waiting), Rc::clone(&output));
        work(shelf, waiting, output, Rc::clone(&reporter))
    });
    worker::serve(workers, move || read(requests, &queue, resolve))
}

/// The values in the store, over one connection, which is made for the first call.
///
/// # Errors
/// If the settings of the store are wrong.
pub fn open_shared(place: &PostgresPlace) -> Result<Shared<Postgres>, StateError> {
    Shared::open(place, Seen::default())
}

/// Lists the namespaces in the store that have all of these properties, sorted.
///
/// # Errors
/// If the store cannot be used.
pub fn list_shared(place: &PostgresPlace, filter: &Filter) -> Result<Vec<Summary>, StateError> {
    let runtime = runtime().map_err(|error| StateError::Store(error.to_string()))?;
    runtime.block_on(async { open_shared(place)?.list(filter).await })
}

/// Removes namespaces with their values from the store.
///
/// # Errors
/// If the store cannot be used.
pub fn wipe_shared(place: &PostgresPlace, filter: &Filter) -> Result<Removed, StateError> {
    let runtime = runtime().map_err(|error| StateError::Store(error.to_string()))?;
    runtime.block_on(async { open_shared(place)?.remove(filter).await })
}

fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// Reads requests until their stream ends, or nobody takes them.
fn read(
    mut requests: impl BufRead,
    queue: &mpsc::Sender<WaitingRequest>,
    resolve: impl Fn(Namespace) -> Result<Namespace, String>,
) -> io::Result<()> {
    while let Some(Request { id, call }) = receive(&mut requests, LINE)? {
        let waiting = (Instant::now(), id, resolved(call, &resolve));
        if queue.blocking_send(waiting).is_err() {
            break;
        }
    }
    Ok(())
}

/// Takes requests until there are no more, and answers them. One that has waited for too long is not carried out.
async fn work(
    mut shelf: impl Shelf,
    waiting: Rc<Mutex<mpsc::Receiver<WaitingRequest>>>,
    replies: Rc<RefCell<impl Write>>,
    report: Rc<impl Fn(&StateError)>,
) -> io::Result<()> {
    // The failure that was reported last, until the store is used again.
    let mut reported = String::new();
    loop {
        let next = waiting.lock().await.recv().await;
        let Some((since, id, call)) = next else {
            return Ok(());
        };
        let answer = match call {
            Err(why) => Answer::Unavailable(why),
            Ok(_) if since.elapsed() >= PATIENCE => Answer::Unavailable(UNUSABLE.to_owned()),
            Ok(call) => match carry_out(&mut shelf, call).await {
                Ok(answer) => {
                    reported.clear();
                    answer
                }
                Err(StateError::Limit(limit)) => Answer::Limit(limit),
                Err(error) => {
                    let why = error.to_string();
                    if why != reported {
                        report(&error);
                        reported = why;
                    }
                    Answer::Unavailable(UNUSABLE.to_owned())
                }
            },
        };
        send(&mut *replies.borrow_mut(), &Reply { id, answer })?;
    }
}

async fn carry_out(shelf: &mut impl Shelf, call: Call) -> Result<Answer, StateError> {
    Ok(match call {
        Call::Load { namespace, key } => Answer::Load(shelf.load_value(&namespace, &key).await?),
        Call::Store {
            namespace,
            key,
            version,
            value,
        } => {
            let stored = shelf.store_value(&namespace, &key, version, value.as_deref());
            Answer::Store(stored.await?)
        }
    })
}

#[cfg(all(test, unix))]
mod tests;
