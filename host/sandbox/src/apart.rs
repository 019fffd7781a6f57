//! Work on separate threads, mostly compiling.
//!
//! All threads have ended when the work is done: a remaining thread would keep the privileges that the host gives up
//! before guests run.

use std::io;
use std::thread;

use tokio::sync::oneshot;

/// Runs `work` on other threads, as many as the machine has processors: its `rayon` jobs are distributed among them.
/// The work begins now; dropping the returned future does not stop it.
pub fn apart<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = io::Result<T>> {
    let (done, result) = oneshot::channel();
    let thread = thread::Builder::new().spawn(move || {
        // The receiver may be closed.
        let _ = done.send(in_pool(work));
    });
    async {
        let thread = thread?;
        match (result.await, thread.join()) {
            (Ok(result), Ok(())) => result,
            _ => Err(broke()),
        }
    }
}

fn in_pool<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    let mut workers = Vec::new();
    let pool = rayon::ThreadPoolBuilder::new().spawn_handler(|worker| {
        workers.push(thread::Builder::new().spawn(|| worker.run())?);
        Ok(())
    });
    let worked = pool.build().map(|pool| pool.install(work));
    for worker in workers {
        worker.join().map_err(|_| broke())?;
    }
    worked.map_err(io::Error::other)
}

fn broke() -> io::Error {
    io::Error::other("a compiling thread panicked")
}
