//! Work on separate threads, compiling above all.
//!
//! All of them are gone when it is done: a thread that lives on would keep the rights that the host gives up before
//! guests run.

use std::io;
use std::thread;

use tokio::sync::oneshot;

/// Does some work on other threads, as many as the machine has processors: its `rayon` jobs are distributed among them.
/// It begins now; dropping the returned value does not stop it.
pub fn apart<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = io::Result<T>> {
    let (done, result) = oneshot::channel();
    let thread = thread::Builder::new().spawn(move || {
        // The receiver may be gone.
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
    io::Error::other("a thread that compiles broke")
}
