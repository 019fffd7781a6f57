//! The limit of open files per process: sockets, and the pipes of agents.

use acp_chain_tests::host;
use acp_chain_tests::wire::in_time;
use reqwest::Method;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::process::Command;

use super::served::{AGENT, Connection, ServerProcess, Stream, initialize, posted};

/// The server's limit of open files.
const FILES: &str = "160";

/// A connection that has turns.
struct Client<'s> {
    connection: Connection<'s>,
    all: Stream,
    stream: Stream,
    session: String,
    turns: u64,
}

impl Client<'_> {
    async fn has_a_turn(&mut self) {
        self.turns += 1;
        let turn = self.turns;
        self.connection
            .prompts(&self.session, turn, "echo here")
            .await;
        assert_eq!(self.stream.turn(turn).await, ["here"]);
    }
}

/// A connection with two streams; `None` if the server has no room.
async fn client(served: &ServerProcess) -> Option<Client<'_>> {
    let answer = posted(served.asks(Method::POST), &initialize()).await;
    if answer.status() == 503 {
        assert!(answer.headers().contains_key("retry-after"));
        return None;
    }
    assert_eq!(answer.status(), 200);
    let id = answer.headers()["acp-connection-id"].to_str().unwrap();
    let connection = Connection {
        served,
        id: id.to_owned(),
    };
    let mut all = connection.hears(None).await;
    let session = connection.session(&mut all, 1).await;
    Some(Client {
        stream: connection.hears(Some(&session)).await,
        connection,
        all,
        session,
        turns: 1,
    })
}

#[tokio::test]
async fn when_files_run_out_nobody_else_comes_in_and_those_who_are_there_go_on() {
    let serve = host::acp_chain("serve");
    let mut command = Command::new("sh");
    command.args(["-c", r#"ulimit -n "$0" && exec "$@""#, FILES]);
    command.envs(host::environment(&serve));
    let serve = serve.as_std();
    command.arg(serve.get_program()).args(serve.get_args());
    command.args(["--listen", "127.0.0.1:0", "--", AGENT]);
    let served = ServerProcess::by(&mut command).await;
    let mut clients = Vec::new();
    while let Some(client) = client(&served).await {
        clients.push(client);
    }
    // Each has two streams and an agent.
    assert!((20..=32).contains(&clients.len()), "{}", clients.len());
    for client in &mut clients {
        client.has_a_turn().await;
    }
    // Idle sockets are closed for other clients before the limit is reached.
    let address = served.url.strip_prefix("http://").unwrap();
    let address = address.strip_suffix("/acp").unwrap();
    let mut sockets = Vec::new();
    let takes = async {
        for _ in 0..2 * FILES.parse::<usize>().unwrap() {
            let mut socket = TcpStream::connect(address).await.unwrap();
            let asks = format!("GET /healthz HTTP/1.1\r\nHost: {address}\r\n\r\n");
            socket.write_all(asks.as_bytes()).await.unwrap();
            assert!(socket.read(&mut [0; 1024]).await.unwrap() > 0);
            sockets.push(socket);
        }
    };
    in_time("all answers", takes).await;
    for client in &mut clients {
        client.has_a_turn().await;
    }
    drop(sockets);
    // After one client disconnects, another connects.
    let left = clients.pop().unwrap();
    let ends = left.connection.asks(Method::DELETE).send();
    assert_eq!(in_time("an answer", ends).await.unwrap().status(), 202);
    drop((left.all, left.stream));
    let comes = async {
        loop {
            if let Some(client) = client(&served).await {
                return client;
            }
        }
    };
    in_time("another client", comes).await.has_a_turn().await;
}
