//! Replicas with one store in `PostgreSQL`, beside one server without: `cargo xtask bench --serve --replicas`.
//!
//! Everything runs on one machine, so more replicas are not faster here. What is measured is what the store costs, and
//! how long a failover takes.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use hyper::StatusCode;
use serde::Serialize;
use tokio::process::{Child, Command};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::client::{Client, Posts};
use super::postgres::Postgres;
use super::servers::printed_address;
use crate::measures::stats::{number, quantile};
use crate::report::{section, show};
use crate::subjects::command;

/// How many replicas are measured with a store.
const REPLICAS: [usize; 3] = [1, 2, 4];

/// How many sessions begin at once.
const AT_ONCE: usize = 16;

/// How many look-ups are measured.
const LOOKUPS: usize = 500;

/// How often a client asks for a session whose replica has died.
const POLL: Duration = Duration::from_millis(100);

/// How long a lease goes on without a heartbeat, in seconds.
const LEASE: u64 = 10;

/// What is measured, and how much of it.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The program `acp-chain`.
    pub program: PathBuf,
    /// The tiny agent.
    pub agent: PathBuf,
    /// The folder of `initdb` and `postgres`.
    pub postgres: PathBuf,
    /// The folder for files of the run.
    pub scratch: PathBuf,
    /// The number of users: each has a connection, with one session.
    pub users: usize,
    /// How long they have turns.
    pub time: Duration,
}

/// The results of an arrangement.
#[derive(Debug, Serialize)]
pub struct ReplicaFigures {
    /// The number of servers.
    pub replicas: usize,
    /// Whether they have a store.
    pub has_store: bool,
    /// How many sessions began per second.
    pub begun_per_second: f64,
    /// Turns per second, of all clients.
    pub turns_per_second: f64,
    /// The times of turns, in milliseconds: the median, and the 99th percentile.
    pub turn_ms: [f64; 2],
    /// The times of a notification that names a session: one that was not looked up before, and one that was.
    pub lookup_ms: Option<[f64; 2]>,
    pub remembered_ms: [f64; 2],
    /// The times from the death of a replica until its sessions were loaded at another one, in seconds: the median, and
    /// the longest.
    pub failover_s: Option<[f64; 2]>,
}

/// A server, which ends when this is dropped.
struct Replica {
    process: Child,
    address: String,
}

/// The servers of an arrangement, and what they share.
struct Arrangement {
    plan: Plan,
    folder: PathBuf,
    /// The users' tokens.
    tokens: Vec<String>,
    replicas: Vec<Replica>,
    /// Dropped after the servers.
    store: Option<Postgres>,
}

/// Measures one server without a store, and replicas with one.
///
/// # Errors
/// If one misbehaves.
pub async fn run(plan: &Plan) -> Result<Vec<ReplicaFigures>> {
    let mut all = vec![measure(plan, 1, false).await?];
    for replicas in REPLICAS {
        all.push(measure(plan, replicas, true).await?);
    }
    Ok(all)
}

/// The results as Markdown: also as ratios to the server without a store.
#[must_use]
pub fn markdown(all: &[ReplicaFigures]) -> String {
    let Some(alone) = all.first() else {
        return String::new();
    };
    let row = |figures: &ReplicaFigures| {
        let what = match (figures.replicas, figures.has_store) {
            (1, false) => "one server, no store".to_owned(),
            (replicas, _) => format!("{replicas} with a store"),
        };
        let [half, most] = figures.turn_ms;
        vec![
            what,
            show(Some(figures.begun_per_second / alone.begun_per_second)),
            show(Some(figures.turns_per_second / alone.turns_per_second)),
            show(Some(half / alone.turn_ms[0])),
            show(Some(most / alone.turn_ms[1])),
            show(figures.lookup_ms.map(|[half, _]| half)),
            show(figures.lookup_ms.map(|[_, most]| most)),
            show(Some(figures.remembered_ms[0])),
            show(Some(figures.remembered_ms[1])),
            show(figures.failover_s.map(|[half, _]| half)),
            show(figures.failover_s.map(|[_, most]| most)),
        ]
    };
    let head = [
        "",
        "sessions begun (ratio)",
        "turns (ratio)",
        "p50 of a turn (ratio)",
        "p99 (ratio)",
        "look-up p50 (ms)",
        "p99",
        "remembered p50 (ms)",
        "p99",
        "failover p50 (s)",
        "longest",
    ];
    let mut text = String::new();
    let title = "Replicas with a store in PostgreSQL, on one machine";
    section(&mut text, title, &head, all.iter().map(row).collect());
    text
}

async fn measure(plan: &Plan, replicas: usize, has_store: bool) -> Result<ReplicaFigures> {
    eprintln!("{replicas} replicas, with a store: {has_store}");
    let mut arrangement = Arrangement::start(plan, replicas, has_store).await?;
    let since = Instant::now();
    let clients = arrangement.begin_all().await?;
    let begun_per_second = number(plan.users) / since.elapsed().as_secs_f64();
    let (clients, mut took) = turns(clients, plan.time).await?;
    let turns_per_second = number(took.len()) / plan.time.as_secs_f64();
    let mut posts = arrangement.posts(0, 0).await?;
    let unknown = |which: usize| format!("unknown-{which}");
    let lookup_ms = if has_store {
        Some(lookups(&mut posts, unknown).await?)
    } else {
        None
    };
    let remembered_ms = lookups(&mut posts, |_| clients[0].session().to_owned()).await?;
    let failover_s = match arrangement.replicas.len() {
        2.. => Some(arrangement.failover(&clients).await?),
        _ => None,
    };
    Ok(ReplicaFigures {
        replicas,
        has_store,
        begun_per_second,
        turns_per_second,
        turn_ms: both(&mut took, 0.99)?,
        lookup_ms,
        remembered_ms,
        failover_s,
    })
}

/// The median and another part.
fn both(samples: &mut [f64], part: f64) -> Result<[f64; 2]> {
    let mut found = |part| quantile(samples, part).context("nothing was measured");
    Ok([found(0.5)?, found(part)?])
}

/// Lets all clients have one turn after the other. Returns their times in milliseconds.
async fn turns(clients: Vec<Client>, time: Duration) -> Result<(Vec<Client>, Vec<f64>)> {
    let end = Instant::now() + time;
    let mut tasks = JoinSet::new();
    for (which, mut client) in clients.into_iter().enumerate() {
        tasks.spawn(async move {
            let mut took = Vec::new();
            while Instant::now() < end {
                took.push(client.turn().await?.as_secs_f64() * 1000.0);
            }
            anyhow::Ok((which, client, took))
        });
    }
    let (mut clients, mut all) = (Vec::new(), Vec::new());
    while let Some(done) = tasks.join_next().await {
        let (which, client, took) = done??;
        clients.push((which, client));
        all.extend(took);
    }
    clients.sort_by_key(|(which, _)| *which);
    let clients = clients.into_iter().map(|(_, client)| client);
    Ok((clients.collect(), all))
}

/// The times of notifications that name these sessions, in milliseconds.
async fn lookups(posts: &mut Posts, session: impl Fn(usize) -> String) -> Result<[f64; 2]> {
    let mut took = Vec::new();
    for which in 0..LOOKUPS {
        let session = session(which);
        let text = format!(
            r#"{{"jsonrpc":"2.0","method":"_bench","params":{{"sessionId":"{session}"}}}}"#
        );
        let since = Instant::now();
        let status = posts.status(text).await?;
        ensure!(status == StatusCode::ACCEPTED, "{status}");
        took.push(since.elapsed().as_secs_f64() * 1000.0);
    }
    both(&mut took, 0.99)
}

impl Arrangement {
    async fn start(plan: &Plan, count: usize, has_store: bool) -> Result<Self> {
        let folder = plan.scratch.join(format!("replicas-{count}-{has_store}"));
        let settings = folder.join("config/acp-chain");
        fs::create_dir_all(&settings)?;
        let store = if has_store {
            Some(Postgres::start(&plan.postgres).await?)
        } else {
            None
        };
        let limits = "[serve.limits]\nconnections = 100000\n";
        let text = match &store {
            Some(store) => {
                let url = store.url();
                format!("[serve]\nstore = {url:?}\n{limits}lease-seconds = {LEASE}\n")
            }
            None => limits.to_owned(),
        };
        fs::write(settings.join("config.toml"), text)?;
        let mut here = Self {
            plan: plan.clone(),
            folder,
            tokens: Vec::new(),
            replicas: Vec::new(),
            store,
        };
        if here.store.is_some() {
            let migrated = here.command()?.arg("--migrate").status().await?;
            ensure!(migrated.success(), "the tables cannot be made");
        }
        here.make_tokens().await?;
        for which in 0..count {
            let replica = here.replica(which).await?;
            here.replicas.push(replica);
        }
        Ok(here)
    }

    fn command(&self) -> Result<Command> {
        let mut command = Command::from(command(&self.plan.program));
        for (variable, name) in [
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_DATA_HOME", "data"),
            ("XDG_STATE_HOME", "state"),
            ("XDG_CACHE_HOME", "cache"),
        ] {
            command.env(variable, self.folder.join(name));
        }
        let log = self.plan.scratch.join("stderr.log");
        let log = File::options().create(true).append(true).open(log)?;
        command.arg("serve").stdin(Stdio::null()).stderr(log);
        Ok(command)
    }

    fn tokens_file(&self) -> PathBuf {
        self.folder.join("tokens")
    }

    async fn make_tokens(&mut self) -> Result<()> {
        for which in 0..self.plan.users {
            let made = Command::from(command(&self.plan.program))
                .args(["serve-token", &format!("user-{which}"), "--file"])
                .arg(self.tokens_file())
                .output()
                .await?;
            ensure!(made.status.success(), "a token cannot be made");
            let token = String::from_utf8(made.stdout)?;
            self.tokens.push(token.trim().to_owned());
        }
        Ok(())
    }

    async fn replica(&self, which: usize) -> Result<Replica> {
        let mut command = self.command()?;
        command
            .args(["--listen", "127.0.0.1:0", "--node"])
            .arg(format!("replica-{which}"))
            .arg("--tokens")
            .arg(self.tokens_file())
            .arg("--")
            .arg(&self.plan.agent)
            .stdout(Stdio::piped())
            .kill_on_drop(true);
        let mut process = command.spawn()?;
        let address = printed_address(&mut process)
            .await
            .context("a replica does not start")?;
        Ok(Replica { process, address })
    }

    /// A connection of a user to a replica.
    async fn posts(&self, replica: usize, user: usize) -> Result<Posts> {
        let replica = &self.replicas[replica];
        Posts::begin_as(&replica.address, &self.tokens[user]).await
    }

    /// A session of each user, at the replicas in turn.
    async fn begin_all(&self) -> Result<Vec<Client>> {
        let mut tasks = JoinSet::new();
        for first in 0..AT_ONCE {
            let share = (first..self.tokens.len()).step_by(AT_ONCE);
            let share: Vec<_> = share
                .map(|user| {
                    let replica = &self.replicas[user % self.replicas.len()];
                    (user, replica.address.clone(), self.tokens[user].clone())
                })
                .collect();
            tasks.spawn(async move {
                let mut clients = Vec::new();
                for (user, address, token) in share {
                    clients.push((user, Client::begin_as(&address, &token).await?));
                }
                anyhow::Ok(clients)
            });
        }
        let mut clients = Vec::new();
        while let Some(some) = tasks.join_next().await {
            clients.extend(some??);
        }
        clients.sort_by_key(|(user, _)| *user);
        Ok(clients.into_iter().map(|(_, client)| client).collect())
    }

    /// Kills the first replica. Returns how long it takes until its sessions are loaded at the second one, in seconds.
    async fn failover(&mut self, clients: &[Client]) -> Result<[f64; 2]> {
        let count = self.replicas.len();
        let users = (0..self.tokens.len()).filter(|user| user % count == 0);
        let users: Vec<_> = users.collect();
        self.replicas[0].process.kill().await?;
        let since = Instant::now();
        let mut tasks = JoinSet::new();
        for user in users {
            let mut posts = self.posts(1, user).await?;
            let session = clients[user].session().to_owned();
            tasks.spawn(async move {
                loop {
                    let load = format!(
                        r#"{{"jsonrpc":"2.0","id":1,"method":"session/load","params":{{"sessionId":"{session}","cwd":"/","mcpServers":[]}}}}"#
                    );
                    match posts.status(load).await? {
                        StatusCode::ACCEPTED => break,
                        StatusCode::SERVICE_UNAVAILABLE => sleep(POLL).await,
                        status => bail!("a session is not loaded: {status}"),
                    }
                }
                anyhow::Ok(since.elapsed().as_secs_f64())
            });
        }
        let mut took = Vec::new();
        while let Some(one) = tasks.join_next().await {
            took.push(one??);
        }
        both(&mut took, 1.0)
    }
}
