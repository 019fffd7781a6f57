//! An OpenTelemetry collector for chains that export their turns. Its behaviour can change during the export, and so be
//! compared within one process of the chain. It runs as long as this process.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

/// How long a slow collector takes to answer: longer than the exporter waits.
const SLOW: Duration = Duration::from_secs(15);

/// How long to wait before listening again, if the port is not free yet.
const AGAIN: Duration = Duration::from_millis(10);

/// How a collector behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Behaviour {
    /// It answers at once.
    There,
    /// It answers too late.
    Slow,
    /// It does not listen.
    Dead,
}

/// A collector, shared by all clones.
#[derive(Clone, Debug)]
pub struct Collector {
    address: SocketAddr,
    shared: Arc<SharedState>,
}

#[derive(Debug)]
struct SharedState {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    behaviour: Behaviour,
    is_listening: bool,
    /// Requests and answers since the behaviour last changed.
    asked: u64,
    answered: u64,
    connections: Vec<TcpStream>,
}

impl Collector {
    /// Starts a collector that answers at once.
    ///
    /// # Errors
    /// If there is no port.
    pub fn start() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let state = State {
            behaviour: Behaviour::There,
            is_listening: true,
            asked: 0,
            answered: 0,
            connections: Vec::new(),
        };
        let shared = Arc::new(SharedState {
            state: Mutex::new(state),
            changed: Condvar::new(),
        });
        let listening = shared.clone();
        thread::spawn(move || listen(listener, address, &listening));
        Ok(Self { address, shared })
    }

    pub(super) fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Changes the behaviour.
    pub fn behave(&self, behaviour: Behaviour) {
        let mut state = self.shared.lock();
        state.behaviour = behaviour;
        (state.asked, state.answered) = (0, 0);
        let is_dead = behaviour == Behaviour::Dead;
        if is_dead {
            for connection in state.connections.drain(..) {
                // It may be closed already.
                let _ = connection.shutdown(Shutdown::Both);
            }
            if state.is_listening {
                // Only a connection ends the wait for one.
                let _ = TcpStream::connect(self.address);
            }
        }
        self.shared.changed.notify_all();
        while state.is_listening == is_dead {
            state = self.shared.wait(state);
        }
    }

    /// Whether an exporter has noticed the behaviour; assumed for a dead collector.
    #[must_use]
    pub fn is_noticed(&self) -> bool {
        let state = self.shared.lock();
        match state.behaviour {
            Behaviour::There => state.answered > 0,
            Behaviour::Slow => state.asked > 0,
            Behaviour::Dead => true,
        }
    }
}

impl SharedState {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        let state = self.changed.wait(state);
        state.unwrap_or_else(PoisonError::into_inner)
    }

    fn listens(&self, does: bool) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        state.is_listening = does;
        self.changed.notify_all();
        state
    }
}

/// Accepts connections, unless the collector is dead.
fn listen(mut listener: TcpListener, address: SocketAddr, shared: &Arc<SharedState>) {
    loop {
        for stream in listener.incoming().flatten() {
            let mut state = shared.lock();
            if state.behaviour == Behaviour::Dead {
                break;
            }
            state.connections.extend(stream.try_clone());
            let shared = shared.clone();
            // A client that has disconnected meanwhile does not matter.
            thread::spawn(move || serve(stream, &shared));
        }
        // A child process that is being started has a copy of the listener, until its program runs.
        let _ = rustix::net::shutdown(&listener, rustix::net::Shutdown::Both);
        drop(listener);
        let mut state = shared.listens(false);
        while state.behaviour == Behaviour::Dead {
            state = shared.wait(state);
        }
        drop(state);
        listener = loop {
            match TcpListener::bind(address) {
                Ok(listener) => break listener,
                Err(_) => thread::sleep(AGAIN),
            }
        };
        drop(shared.listens(true));
    }
}

/// Answers requests on a connection.
fn serve(stream: TcpStream, shared: &SharedState) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let line = line.trim().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or_default();
            }
            if line.is_empty() {
                break;
            }
        }
        io::copy(&mut stream.by_ref().take(length), &mut io::sink())?;
        let mut state = shared.lock();
        state.asked += 1;
        let end = Instant::now() + SLOW;
        while state.behaviour == Behaviour::Slow {
            let rest = end.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                break;
            }
            let waited = shared.changed.wait_timeout(state, rest);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.answered += 1;
        drop(state);
        stream
            .get_mut()
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: &[u8] = b"POST /v1/traces HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}";

    fn ask(collector: &Collector) -> io::Result<TcpStream> {
        let mut stream = TcpStream::connect(collector.address)?;
        stream.write_all(REQUEST)?;
        Ok(stream)
    }

    fn is_answered(stream: TcpStream) -> bool {
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).is_ok() && line.starts_with("HTTP/1.1 200")
    }

    #[test]
    fn its_behaviour_changes_while_it_runs() {
        let collector = Collector::start().unwrap();
        assert!(is_answered(ask(&collector).unwrap()) && collector.is_noticed());

        collector.behave(Behaviour::Slow);
        let slow = ask(&collector).unwrap();
        while !collector.is_noticed() {
            thread::yield_now();
        }
        // A waiting request is answered as soon as the collector is not slow any more.
        collector.behave(Behaviour::There);
        assert!(is_answered(slow));

        let open = TcpStream::connect(collector.address).unwrap();
        collector.behave(Behaviour::Dead);
        assert!(!is_answered(open));
        let refused = ask(&collector).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);

        collector.behave(Behaviour::There);
        assert!(!collector.is_noticed());
        assert!(is_answered(ask(&collector).unwrap()) && collector.is_noticed());
    }
}
