//! A network between a client and a server, which breaks where a test says.

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

/// How long one that heals by itself is parted.
const PARTED: Duration = Duration::from_millis(20);

/// What happens to all connections that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Both sides see that they are gone.
    Cut,
    /// The client alone sees it: to the server they are open, and silent.
    LosesClient,
    /// The server alone sees it.
    LosesServer,
    /// Nothing passes for a while, and then everything.
    Parts,
    /// From now on what passes does so by so few bytes at once.
    Crumbles(usize),
}

/// Faults, each after so many bytes more, which may be in the middle of anything. None of these makes a client wait
/// until the silence is too long.
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
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    weather: watch::Sender<Weather>,
}

#[derive(Default)]
struct State {
    faults: VecDeque<(usize, Fault)>,
    /// How many bytes have passed since the last of them.
    passed: usize,
    /// At most so many pass at once.
    crumb: Option<usize>,
    /// Sides of connections that nobody told of their end.
    ghosts: Vec<TcpStream>,
}

#[derive(Clone, Copy, Default)]
struct Weather {
    is_parted: bool,
    /// What happened to all connections up to this one.
    ended: Option<(u64, Fault)>,
    connections: u64,
}

impl Network {
    /// One to this server, where all is well.
    pub async fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            weather: watch::Sender::default(),
        });
        let network = Self {
            address,
            shared: shared.clone(),
        };
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let shared = shared.clone();
                shared
                    .weather
                    .send_modify(|weather| weather.connections += 1);
                let number = shared.weather.borrow().connections;
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

    /// These are to come.
    pub fn breaks(&self, faults: Vec<(usize, Fault)>) {
        let mut state = self.shared.state();
        state.passed = 0;
        state.faults = faults.into();
    }

    /// This happens now.
    pub fn suffers(&self, fault: Fault) {
        self.shared.suffer(fault);
    }

    /// From now on nothing passes.
    pub fn parts(&self) {
        self.shared.part(true);
    }

    /// Everything passes again.
    pub fn heals(&self) {
        self.shared.part(false);
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn part(&self, is_parted: bool) {
        self.weather
            .send_modify(|weather| weather.is_parted = is_parted);
    }

    fn suffer(self: &Arc<Self>, fault: Fault) {
        match fault {
            Fault::Cut | Fault::LosesClient | Fault::LosesServer => {
                self.weather
                    .send_modify(|weather| weather.ended = Some((weather.connections, fault)));
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

    /// How many of these bytes pass at once, and what happens then.
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

    /// Done when something may pass.
    async fn through(&self) {
        let mut weather = self.weather.subscribe();
        let _ = weather.wait_for(|weather| !weather.is_parted).await;
    }

    /// What ends a connection.
    async fn ended(&self, number: u64) -> Fault {
        let mut weather = self.weather.subscribe();
        let is_of = |weather: &Weather| weather.ended.is_some_and(|(last, _)| number <= last);
        let ended = weather.wait_for(is_of).await.unwrap().ended;
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
                // It is told at once, whatever is on its way.
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
                    self.suffer(fault);
                }
                // Where it ends, that is seen here.
                yield_now().await;
            }
        }
        let _ = to.shutdown().await;
    }
}
