//! A network between a client and a server, with the faults that a test chooses.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use proptest::prelude::*;
use socket2::SockRef;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::yield_now;

/// How long `Fault::Parts` lasts.
const PARTED: Duration = Duration::from_millis(20);

/// A fault of all open connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Both sides see the end.
    Cut,
    /// Only the client sees the end: to the server the connections are open, and silent.
    LosesClient,
    /// Only the server sees the end.
    LosesServer,
    /// Nothing passes for a while, and then everything.
    Parts,
    /// From now on at most this many bytes pass at once.
    Crumbles(usize),
}

/// Faults, each after a number of further bytes, perhaps in the middle of a message. None makes a client wait until the
/// silence is too long.
pub fn faults() -> impl Strategy<Value = Vec<(usize, Fault)>> {
    let fault = prop_oneof![
        4 => Just(Fault::Cut),
        2 => Just(Fault::LosesClient),
        1 => Just(Fault::Parts),
        1 => (1..200_usize).prop_map(Fault::Crumbles),
    ];
    prop::collection::vec((1..3000_usize, fault), 1..7)
}

/// The network.
#[derive(Clone)]
pub struct Network {
    pub address: SocketAddr,
    shared: Arc<SharedState>,
}

struct SharedState {
    state: Mutex<State>,
    conditions: watch::Sender<Conditions>,
}

#[derive(Default)]
struct State {
    faults: VecDeque<(usize, Fault)>,
    /// How many bytes have passed since the last fault.
    passed: usize,
    /// The maximum number of bytes that pass at once.
    crumb: Option<usize>,
    /// Sides of connections that have not seen the end.
    ghosts: Vec<TcpStream>,
}

#[derive(Clone, Copy, Default)]
struct Conditions {
    is_parted: bool,
    /// The fault of all connections up to this one.
    ended: Option<(u64, Fault)>,
    connections: u64,
}

impl Network {
    /// A network to this server, without faults.
    pub async fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(SharedState {
            state: Mutex::default(),
            conditions: watch::Sender::default(),
        });
        let network = Self {
            address,
            shared: shared.clone(),
        };
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let shared = shared.clone();
                shared
                    .conditions
                    .send_modify(|current| current.connections += 1);
                let number = shared.conditions.borrow().connections;
                tokio::spawn(async move {
                    shared.through().await;
                    if let Ok(server) = TcpStream::connect(server).await {
                        shared.carry(number, client, server).await;
                    }
                });
            }
        });
        network
    }

    /// Schedules faults.
    pub fn schedule(&self, faults: Vec<(usize, Fault)>) {
        let mut state = self.shared.state();
        state.passed = 0;
        state.faults = faults.into();
    }

    /// Causes a fault now.
    pub fn inject(&self, fault: Fault) {
        self.shared.inject(fault);
    }

    /// Stops all traffic.
    pub fn part(&self) {
        self.shared.part(true);
    }

    /// Resumes the traffic.
    pub fn heal(&self) {
        self.shared.part(false);
    }
}

impl SharedState {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn part(&self, is_parted: bool) {
        self.conditions
            .send_modify(|current| current.is_parted = is_parted);
    }

    fn inject(self: &Arc<Self>, fault: Fault) {
        match fault {
            Fault::Cut | Fault::LosesClient | Fault::LosesServer => {
                self.conditions
                    .send_modify(|current| current.ended = Some((current.connections, fault)));
            }
            Fault::Parts => {
                self.part(true);
                let shared = self.clone();
                tokio::spawn(async move {
                    tokio::time::sleep(PARTED).await;
                    shared.part(false);
                });
            }
            Fault::Crumbles(crumb) => self.state().crumb = Some(crumb),
        }
    }

    /// How many of these bytes pass at once, and the fault after them.
    fn pass(&self, count: usize) -> (usize, Option<Fault>) {
        let mut state = self.state();
        let count = count.min(state.crumb.unwrap_or(count));
        match state.faults.front() {
            Some((after, fault)) if state.passed + count >= *after => {
                let (count, fault) = (after.saturating_sub(state.passed), *fault);
                state.faults.pop_front();
                state.passed = 0;
                (count, Some(fault))
            }
            _ => {
                state.passed += count;
                (count, None)
            }
        }
    }

    /// Waits until traffic may pass.
    async fn through(&self) {
        let mut conditions = self.conditions.subscribe();
        let _ = conditions.wait_for(|current| !current.is_parted).await;
    }

    /// The fault that ends a connection.
    async fn ended(&self, number: u64) -> Fault {
        let mut conditions = self.conditions.subscribe();
        let is_of = |current: &Conditions| current.ended.is_some_and(|(last, _)| number <= last);
        let ended = conditions.wait_for(is_of).await.unwrap().ended;
        ended.map_or(Fault::Cut, |(_, fault)| fault)
    }

    async fn carry(self: Arc<Self>, number: u64, client: TcpStream, server: TcpStream) {
        for side in [&client, &server] {
            side.set_nodelay(true).unwrap();
        }
        let (mut from_client, mut to_client) = client.into_split();
        let (mut from_server, mut to_server) = server.into_split();
        let fault = {
            let there = self.pump(&mut from_client, &mut to_server);
            let back = self.pump(&mut from_server, &mut to_client);
            tokio::select! {
                fault = self.ended(number) => Some(fault),
                _ = async { tokio::join!(there, back) } => None,
            }
        };
        let Some(fault) = fault else { return };
        let client = from_client.reunite(to_client).unwrap();
        let server = from_server.reunite(to_server).unwrap();
        for (side, ghost) in [(client, Fault::LosesServer), (server, Fault::LosesClient)] {
            if fault == ghost {
                self.state().ghosts.push(side);
            } else {
                // The side sees a reset at once, whatever is in transit.
                SockRef::from(&side)
                    .set_linger(Some(Duration::ZERO))
                    .unwrap();
            }
        }
    }

    async fn pump(self: &Arc<Self>, from: &mut OwnedReadHalf, to: &mut OwnedWriteHalf) {
        let mut buffer = vec![0; 4096];
        loop {
            let count = match from.read(&mut buffer).await {
                Ok(0) | Err(_) => break,
                Ok(count) => count,
            };
            let mut rest = &buffer[..count];
            while !rest.is_empty() {
                self.through().await;
                let (now, fault) = self.pass(rest.len());
                if to.write_all(&rest[..now]).await.is_err() {
                    return;
                }
                rest = &rest[now..];
                if let Some(fault) = fault {
                    self.inject(fault);
                }
                // Lets a fault end this connection here.
                yield_now().await;
            }
        }
        let _ = to.shutdown().await;
    }
}
