//! A client and an agent, both played by a test, with a network between.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use acp_chain_remote::client::{Target, connect};
use acp_chain_remote::gate::{Gate, GateSettings};
use acp_chain_remote::server::{
    BODIES, Behind, Files, Limits, Opened, Server, Serving, Settings, TurnLimits,
};
use acp_chain_rpc::transport::{Frame, Outbox, Transport};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::network::{Fault, Network};

/// How long a test waits for anything before it fails, on a clock that is not advanced.
const WATCHDOG: Duration = Duration::from_mins(2);

/// The longest message, in bytes.
const LINE: usize = 1 << 20;

/// How long the server keeps lost connections and messages.
pub const WINDOW: Duration = Duration::from_mins(2);

/// A client or an agent.
pub struct End {
    name: &'static str,
    outbox: mpsc::UnboundedSender<Value>,
    inbox: mpsc::UnboundedReceiver<io::Result<Value>>,
}

/// Both ends of a connection that has begun, and the network between.
pub struct Ends {
    pub client: End,
    pub agent: End,
    pub network: Network,
}

/// The transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportKind {
    Http,
    WebSocket,
}

impl End {
    /// An end, and the task that sends and receives for it until the connection ends.
    fn of(name: &'static str, transport: Transport) -> (Self, impl Future<Output = ()> + Send) {
        let (outbox, sent) = mpsc::unbounded_channel();
        let (events, received) = mpsc::unbounded_channel();
        (
            Self {
                name,
                outbox,
                inbox: received,
            },
            run(transport, sent, events),
        )
    }

    pub fn send(&self, message: Value) {
        // A connection that has ended is noticed by the receiver.
        let _ = self.outbox.send(message);
    }

    /// Whether a message has arrived.
    pub fn has_message(&self) -> bool {
        !self.inbox.is_empty()
    }

    /// The next message; `None` at the end.
    pub async fn next(&mut self) -> io::Result<Option<Value>> {
        let received = in_time(self.name, self.inbox.recv()).await;
        received.transpose()
    }

    pub async fn receive(&mut self) -> Value {
        let received = self.next().await;
        let received = received.unwrap_or_else(|error| panic!("{} ends: {error}", self.name));
        received.unwrap_or_else(|| panic!("{} receives no more", self.name))
    }
}

async fn run(
    mut transport: Transport,
    mut sent: mpsc::UnboundedReceiver<Value>,
    events: mpsc::UnboundedSender<io::Result<Value>>,
) {
    let mut outbox = Outbox::default();
    let mut has_more = true;
    loop {
        tokio::select! {
            more = sent.recv(), if has_more => match more {
                Some(message) => outbox.push_str(&format!("{message}\n")),
                None => {
                    // The sender closes its side when it is dropped.
                    has_more = false;
                    let _ = transport.outgoing.write_all(&mut outbox).await;
                    transport.outgoing.close();
                }
            },
            written = transport.outgoing.write(&mut outbox) => if let Err(error) = written {
                let _ = events.send(Err(error));
                return;
            },
            read = transport.incoming.read() => {
                match read {
                    Ok(true) => {}
                    Ok(false) => return,
                    Err(error) => {
                        let _ = events.send(Err(error));
                        return;
                    }
                }
                while let Some(frame) = transport.incoming.next_frame() {
                    let line = match frame {
                        Frame::Message(message) => message.line().to_owned(),
                        Frame::Line(line) => String::from_utf8(line.to_vec()).unwrap(),
                        frame => panic!("{frame:?}"),
                    };
                    let _ = events.send(Ok(serde_json::from_str(&line).unwrap()));
                }
            }
        }
    }
}

impl Ends {
    /// A connection with these sessions; then the network has these faults.
    pub async fn begin(way: TransportKind, sessions: &[&str], faults: Vec<(usize, Fault)>) -> Self {
        let (server, mut agents) = server();
        let network = Network::to(server).await;
        let scheme = match way {
            TransportKind::Http => "http",
            TransportKind::WebSocket => "ws",
        };
        let target = Target {
            address: format!("{scheme}://{}/acp", network.address)
                .parse()
                .unwrap(),
            token: None,
            ca: None,
        };
        let (mut client, running) = End::of("the client", connect(&target, LINE).unwrap());
        tokio::spawn(running);
        client.send(request(0, "initialize", json!({"protocolVersion": 1})));
        let mut agent = in_time("an agent", agents.recv()).await.unwrap();
        assert_eq!(agent.receive().await["method"], "initialize");
        agent.send(answer(0, json!({"protocolVersion": 1})));
        assert_eq!(client.receive().await["id"], 0);
        for (id, session) in (1..).zip(sessions) {
            client.send(request(
                id,
                "session/new",
                json!({"cwd": "/", "mcpServers": []}),
            ));
            assert_eq!(agent.receive().await["id"], id);
            agent.send(answer(id, json!({"sessionId": session})));
            assert_eq!(client.receive().await["id"], id);
        }
        network.schedule(faults);
        Self {
            client,
            agent,
            network,
        }
    }
}

/// A server, and its agents for the test.
fn server() -> (SocketAddr, mpsc::UnboundedReceiver<End>) {
    let (opened_agents, agents) = mpsc::unbounded_channel();
    let settings = Settings {
        endpoint: "/acp".parse().unwrap(),
        node: "a".parse().unwrap(),
        line: LINE,
        resume: WINDOW,
        limits: Limits {
            connections: 10,
            connections_per_user: 10,
            sessions_per_user: usize::MAX,
            turns: usize::MAX,
            bodies_per_user: BODIES,
            pace: None,
            files: Files {
                all: usize::MAX,
                of_chain: 1,
            },
        },
        turn_limits: TurnLimits::default(),
        access: None,
    };
    let server = Server::open("127.0.0.1:0".parse().unwrap(), settings, None).unwrap();
    let address = server.address();
    let serve = Box::new(move |opened: Opened| {
        let opened_agents = opened_agents.clone();
        Box::pin(async move {
            let (agent, running) = End::of("the agent", opened.transport);
            let _ = opened_agents.send(agent);
            tokio::select! {
                () = running => {}
                () = opened.stop => {}
            }
        }) as Serving
    });
    let behind = Behind {
        serve,
        has_room: Box::new(|| true),
    };
    let gate = Gate::new(GateSettings::default(), address);
    tokio::spawn(server.serve(Arc::new(gate), behind));
    (address, agents)
}

pub fn request(id: usize, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

pub fn answer(id: usize, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

pub async fn in_time<F: Future>(what: &str, wait: F) -> F::Output {
    let done = tokio::time::timeout(WATCHDOG, wait).await;
    done.unwrap_or_else(|elapsed| panic!("{what}: {elapsed}"))
}
