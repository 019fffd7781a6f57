//! Whether a process still runs, by a connection that the system closes when it ends.

use std::io::{ErrorKind, Read};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// Longer than anything takes on a busy machine.
pub const PATIENCE: Duration = Duration::from_mins(2);

/// Where the child of the agent connects to.
pub struct Witness(TcpListener);

/// A child that has connected.
pub struct Witnessed(TcpStream);

/// The outcome of work that must end.
pub fn within<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, outcome) = channel();
    thread::spawn(move || {
        // The test may have failed meanwhile.
        let _ = done.send(work());
    });
    let outcome = outcome.recv_timeout(PATIENCE);
    outcome.unwrap_or_else(|_| panic!("{what} takes too long"))
}

impl Witness {
    pub fn new() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").unwrap())
    }

    pub fn address(&self) -> String {
        self.0.local_addr().unwrap().to_string()
    }

    /// Waits for the child.
    pub fn child(self) -> Witnessed {
        let (stream, _) = within("the start of the child", move || self.0.accept().unwrap());
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Witnessed(stream)
    }
}

impl Witnessed {
    /// Waits for the end of the child.
    pub fn ends(mut self) {
        match self.0.read(&mut [0]) {
            Ok(0) => {}
            Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
            other => panic!("the child of the agent still runs: {other:?}"),
        }
    }
}
