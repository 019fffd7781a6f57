//! Replicas with one store.
//!
//! | file | what is shown |
//! |---|---|
//! | `failover` | which replica serves a session, and what becomes of it when one ends, or the database does |
//! | `disk` | a store whose disk is full |
//! | `limits` | what users and groups have at all replicas |
//! | `lines` | who waits for a turn |
//! | `tickets` | tickets of browsers |
//! | `operation` | starting, naming and watching replicas |
//! | `budgets` | what `brake` counts at all replicas |

mod budgets;
mod disk;
mod failover;
mod limits;
mod lines;
mod operation;
mod tickets;

use std::fs;
use std::path::{Path, PathBuf};

use acp_chain_store::{
    Answer, Call, Embedded, Holder, Postgres as PostgresStore, PostgresPlace, Store,
};
use acp_chain_tests::host;
use acp_chain_tests::wire::in_time;
use reqwest::header::HeaderValue;
use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::served::{AGENT, ServerProcess, Stream, initialize, posted, prompt};

/// A key of a prompt that counts at all replicas.
const KEY: &str = "a-key-of-sixteen-bytes";

/// Replicas of one store, and the tokens of two users.
struct World {
    folder: TempDir,
    /// The folder of all data folders: a store in a file is in there.
    data: PathBuf,
    ann: String,
    bob: String,
}

/// A connection of a user.
struct Client<'s> {
    served: &'s ServerProcess,
    token: String,
    id: HeaderValue,
}

impl World {
    async fn new(settings: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        configure(&folder.path().join("config"), settings);
        let tokens = folder.path().join("tokens");
        Self {
            ann: host::token(&tokens, "ann", &[]).await,
            bob: host::token(&tokens, "bob", &[]).await,
            data: folder.path().join("data"),
            folder,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self) -> tokio::process::Command {
        let mut command = host::acp_chain("serve");
        command
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("XDG_DATA_HOME", &self.data);
        command
    }

    /// Makes the tables of the store.
    async fn migrate(&self) {
        let mut command = self.command();
        let output = in_time("its end", command.arg("--migrate").output())
            .await
            .unwrap();
        assert!(output.status.success(), "{output:?}");
    }

    /// A replica of this name.
    async fn replica(&self, name: &str) -> ServerProcess {
        self.replica_with(name, &[AGENT]).await
    }

    /// A replica with this agent.
    async fn replica_with(&self, name: &str, agent: &[&str]) -> ServerProcess {
        ServerProcess::by(&mut self.serving(name, agent)).await
    }

    /// The command of a replica.
    fn serving(&self, name: &str, agent: &[&str]) -> tokio::process::Command {
        let mut command = self.command();
        command
            .args(["--listen", "127.0.0.1:0", "--node", name, "--tokens"])
            .arg(self.path("tokens"))
            .arg("--")
            .args(agent);
        command
    }

    /// The command of a replica that has settings of its own.
    fn serving_by(&self, settings: &str, name: &str, agent: &[&str]) -> tokio::process::Command {
        let config = self.path(&format!("config-{name}"));
        configure(&config, settings);
        let mut command = self.serving(name, agent);
        command.env("XDG_CONFIG_HOME", config);
        command
    }

    /// Ends a replica's generation in the store, as the time of its lease does.
    async fn end_lease(&self, place: &str, replica: &str) {
        if place == "embedded" {
            let path = self.data.join("acp-chain/state/serve.db");
            return end_lease(Embedded::open(&path).unwrap(), replica).await;
        }
        let place = PostgresPlace {
            url: place.to_owned(),
            password: None,
            authorities: None,
            connections: 1,
        };
        end_lease(PostgresStore::new(&place).unwrap(), replica).await;
    }
}

/// Writes the settings of a program into its folder for them.
fn configure(folder: &Path, settings: &str) {
    let config = folder.join("acp-chain");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("config.toml"), settings).unwrap();
}

async fn end_lease(mut store: impl Store, replica: &str) {
    let Answer::Replicas(replicas) = store.carry_out(&Call::Replicas).await.unwrap() else {
        panic!("they are listed")
    };
    let found = replicas.iter().find(|found| found.name == replica);
    let holder = Holder {
        replica: replica.to_owned(),
        generation: found.unwrap().generation,
    };
    store.carry_out(&Call::Leave { holder }).await.unwrap();
}

impl<'s> Client<'s> {
    async fn of(served: &'s ServerProcess, token: &str) -> Self {
        loop {
            let begun = begin(served, token).await;
            // A replica that has just lost its leases is about to begin again.
            if begun.status() == 503 {
                continue;
            }
            assert_eq!(begun.status(), 200);
            break Self {
                id: begun.headers()["acp-connection-id"].clone(),
                token: token.to_owned(),
                served,
            };
        }
    }

    fn asks(&self, method: Method) -> RequestBuilder {
        let asks = self.served.asks(method).bearer_auth(&self.token);
        asks.header("acp-connection-id", &self.id)
    }

    async fn says(&self, message: &Value) -> Response {
        posted(self.asks(Method::POST), message).await
    }

    async fn hears(&self) -> Stream {
        let asks = self.asks(Method::GET).header("accept", "text/event-stream");
        Stream::of(in_time("a stream", asks.send()).await.unwrap())
    }

    /// A new session, whose name arrives on this stream. While another connection has one of its name, the agent begins
    /// another one.
    async fn session(&self, stream: &mut Stream) -> String {
        for id in 100.. {
            let params = json!({"cwd": "/", "mcpServers": []});
            let asked =
                json!({"jsonrpc": "2.0", "id": id, "method": "session/new", "params": params});
            let said = self.says(&asked).await;
            // A replica that has just lost its leases is about to begin again.
            if said.status() == 503 {
                continue;
            }
            assert_eq!(said.status(), 202);
            let answer = stream.next().await.unwrap();
            if let Some(session) = answer["result"]["sessionId"].as_str() {
                return session.to_owned();
            }
            let told = answer["error"]["message"].as_str().unwrap();
            assert!(told.contains("a name of its own"), "{answer}");
        }
        unreachable!("ids do not end")
    }

    async fn load(&self, session: &str) -> Response {
        let params = json!({"sessionId": session, "cwd": "/", "mcpServers": []});
        self.says(&json!({"jsonrpc": "2.0", "id": 2, "method": "session/load", "params": params}))
            .await
    }

    /// Loads a session as soon as another connection has ended.
    async fn load_in_time(&self, session: &str) {
        loop {
            let loaded = self.load(session).await;
            if loaded.status() == 202 {
                break;
            }
            assert_eq!(loaded.status(), 503);
            assert!(seconds(&loaded) > 0);
        }
    }

    async fn delete(&self) {
        let deleted = in_time("an answer", self.asks(Method::DELETE).send());
        assert_eq!(deleted.await.unwrap().status(), 202);
    }

    async fn prompt(&self, session: &str, id: u64, words: &str, key: &str) -> Response {
        let asks = self.asks(Method::POST).header("idempotency-key", key);
        posted(asks, &prompt(session, id, words)).await
    }
}

/// The answer to the first message of a connection.
async fn begin(served: &ServerProcess, token: &str) -> Response {
    let asks = served.asks(Method::POST).bearer_auth(token);
    posted(asks, &initialize()).await
}

fn seconds(response: &Response) -> u64 {
    let again = response.headers()["retry-after"].to_str().unwrap();
    again.parse().unwrap()
}
