//! A client and an agent with a network between, both in the hands of a test.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use acp_chain_remote::client::{Target, connect};
use acp_chain_remote::gate::Gate;
use acp_chain_remote::server::{BODIES, Behind, Files, Limits, Opened, Server, Serving, Settings};
use acp_chain_rpc::transport::{Frame, Outbox, Transport};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::weather::{Fault, Network};

/// How long a test waits for anything before it fails, on a clock that nobody advances.
const WATCHDOG: Duration = Duration::from_mins(2);

/// The longest message, in bytes.
const LINE: usize = 1 << 20;

/// How long the server keeps what is lost.
pub const WINDOW: Duration = Duration::from_mins(2);

/// A client or an agent.
pub struct End {
    name: &'static str,
    say: mpsc::UnboundedSender<Value>,
    heard: mpsc::UnboundedReceiver<io::Result<Value>>,
}

/// Both of a connection that has begun, and what is between.
pub struct Ends {
    pub client: End,
    pub agent: End,
    pub network: Network,
}

/// What is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Http,
    WebSocket,
}

impl End {
    /// One, and what lets it speak and hear until the connection ends.
    fn of(name: &'static str, transport: Transport) -> (Self, impl Future<Output = ()> + Send) {
        let (say, said) = mpsc::unbounded_channel();
        let (tell, heard) = mpsc::unbounded_channel();
        (Self { name, say, heard }, run(transport, said, tell))
    }

    pub fn says(&self, message: Value) {
        // What ended is seen by who hears.
        let _ = self.say.send(message);
    }

    /// Whether there is a message already.
    pub fn has_heard(&self) -> bool {
        !self.heard.is_empty()
    }

    /// The next message; none at the end.
    pub async fn heard(&mut self) -> io::Result<Option<Value>> {
        let heard = in_time(self.name, self.heard.recv()).await;
        heard.transpose()
    }

    pub async fn hears(&mut self) -> Value {
        let heard = self.heard().await;
        let heard = heard.unwrap_or_else(|error| panic!("{} ends: {error}", self.name));
        heard.unwrap_or_else(|| panic!("{} hears no more", self.name))
    }
}

async fn run(
    mut transport: Transport,
    mut said: mpsc::UnboundedReceiver<Value>,
    tell: mpsc::UnboundedSender<io::Result<Value>>,
) {
    let mut outbox = Outbox::default();
    let mut has_more = true;
    loop {
        tokio::select! {
            more = said.recv(), if has_more => match more {
                Some(message) => outbox.push_str(&format!("{message}\n")),
                None => {
                    // It ends what it says when it is dropped.
                    has_more = false;
                    let _ = transport.outgoing.write_all(&mut outbox).await;
                    transport.outgoing.close();
                }
            },
            written = transport.outgoing.write(&mut outbox) => if let Err(error) = written {
                let _ = tell.send(Err(error));
                return;
            },
            read = transport.incoming.read() => {
                match read {
                    Ok(true) => {}
                    Ok(false) => return,
                    Err(error) => {
                        let _ = tell.send(Err(error));
                        return;
                    }
                }
                while let Some(frame) = transport.incoming.next_frame() {
                    let line = match frame {
                        Frame::Message(message) => message.line().to_owned(),
                        Frame::Line(line) => String::from_utf8(line.to_vec()).unwrap(),
                        frame => panic!("{frame:?}"),
                    };
                    let _ = tell.send(Ok(serde_json::from_str(&line).unwrap()));
                }
            }
        }
    }
}

impl Ends {
    /// A connection with these sessions, whose network breaks then.
    pub async fn begin(way: Way, sessions: &[&str], faults: Vec<(usize, Fault)>) -> Self {
        let (server, mut agents) = server();
        let network = Network::to(server).await;
        let scheme = match way {
            Way::Http => "http",
            Way::WebSocket => "ws",
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
        client.says(asks(0, "initialize", json!({"protocolVersion": 1})));
        let mut agent = in_time("an agent", agents.recv()).await.unwrap();
        assert_eq!(agent.hears().await["method"], "initialize");
        agent.says(answers(0, json!({"protocolVersion": 1})));
        assert_eq!(client.hears().await["id"], 0);
        for (id, session) in (1..).zip(sessions) {
            client.says(asks(
                id,
                "session/new",
                json!({"cwd": "/", "mcpServers": []}),
            ));
            assert_eq!(agent.hears().await["id"], id);
            agent.says(answers(id, json!({"sessionId": session})));
            assert_eq!(client.hears().await["id"], id);
        }
        network.breaks(faults);
        Self {
            client,
            agent,
            network,
        }
    }
}

/// A server, whose agents are given to the test.
fn server() -> (SocketAddr, mpsc::UnboundedReceiver<End>) {
    let (tell, agents) = mpsc::unbounded_channel();
    let settings = Settings {
        endpoint: "/acp".parse().unwrap(),
        node: "a".parse().unwrap(),
        line: LINE,
        resume: WINDOW,
        limits: Limits {
            connections: 10,
            connections_per_user: 10,
            sessions_per_user: usize::MAX,
            bodies_per_user: BODIES,
            pace: None,
            files: Files {
                all: usize::MAX,
                of_chain: 1,
            },
        },
        access: None,
    };
    let server = Server::open("127.0.0.1:0".parse().unwrap(), settings, None).unwrap();
    let address = server.address();
    let serve = Box::new(move |opened: Opened| {
        let tell = tell.clone();
        Box::pin(async move {
            let (agent, running) = End::of("the agent", opened.transport);
            let _ = tell.send(agent);
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
    tokio::spawn(server.serve(Arc::new(Gate::open()), behind));
    (address, agents)
}

pub fn asks(id: usize, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

pub fn answers(id: usize, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

pub async fn in_time<F: Future>(what: &str, wait: F) -> F::Output {
    let done = tokio::time::timeout(WATCHDOG, wait).await;
    done.unwrap_or_else(|elapsed| panic!("{what}: {elapsed}"))
}
