//! Replicas with one store in `PostgreSQL`, beside one server without: `cargo xtask bench --serve --replicas`.
//!
//! Everything runs on one machine, so more replicas are not faster here. What is measured is what the store costs, and
//! what clients see while something [fails](Failure).

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use acp_chain_postgres::Postgres;
use anyhow::{Context, Result, ensure};
use hyper::StatusCode;
use rustix::process::{Pid, Signal, kill_process};
use serde::Serialize;
use tokio::process::{Child, Command};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::client::{Posts, in_time};
use super::failures::{self, AWAY, BEFORE, Failure, FailureFigures};
use super::link::Link;
use super::roamer::{Roamer, Seen, intrude};
use super::servers::{LIMITS, printed_address};
use crate::agent::PROMPTS;
use crate::measures::stats::{number, quantile};
use crate::report::{Machine, section, show};
use crate::subjects::{acp_chain, log};

/// How many clients begin at once.
const AT_ONCE: usize = 16;

/// How many look-ups are measured.
const LOOKUPS: usize = 500;

/// How long processes that were killed take to end, at most.
const ENDING: Duration = Duration::from_millis(500);

/// The settings of the database: the archive of a recovery has nothing more.
const DATABASE: [&str; 2] = ["max_connections=200", "restore_command=false"];

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
    /// The number of users: each has a connection.
    pub users: usize,
    /// The number of sessions of each. One of them has turns.
    pub sessions: usize,
    /// How long they have turns.
    pub time: Duration,
    /// How long a lease goes on without a heartbeat, in seconds: at least 10.
    pub lease: u64,
    /// How many replicas are measured with a store.
    pub replicas: Vec<usize>,
    /// What fails, where there is more than one.
    pub failures: Vec<Failure>,
}

/// The report of a run.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The commit that was measured, and its day, if they are known.
    pub commit: Option<String>,
    /// Where it ran.
    pub machine: Machine,
    /// The kind of the file system of the database, if it is known.
    pub file_system: Option<String>,
    /// The number of users, and of the sessions of each.
    pub users: usize,
    pub sessions: usize,
    /// How long a lease went on without a heartbeat, in seconds.
    pub lease: u64,
    /// The results.
    pub figures: Vec<ReplicaFigures>,
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
    /// How many prompts reached agents, each once.
    pub prompts: usize,
    /// By what failed.
    pub failures: Vec<FailureFigures>,
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
    /// The users' tokens, and that of a stranger, who is the last.
    tokens: Vec<String>,
    roamers: Vec<Roamer>,
    replicas: Vec<Replica>,
    /// Between the first replica and the database, once that is asked for.
    link: Option<Link>,
    /// Dropped after the servers.
    store: Option<Postgres>,
}

/// Measures one server without a store, and replicas with one.
///
/// # Errors
/// If one misbehaves.
pub async fn run(plan: &Plan, commit: Option<String>) -> Result<Report> {
    let mut figures = vec![measure(plan, 1, false).await?];
    for replicas in &plan.replicas {
        figures.push(measure(plan, *replicas, true).await?);
    }
    Ok(Report {
        commit,
        machine: Machine::this(),
        // That of temporary files, where the database is.
        file_system: file_system(&env::temp_dir()),
        users: plan.users,
        sessions: plan.sessions,
        lease: plan.lease,
        figures,
    })
}

/// The kind of a folder's file system, from `/proc`, which only Linux has.
fn file_system(folder: &Path) -> Option<String> {
    let folder = fs::canonicalize(folder).ok()?;
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    let around = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let (place, kind) = (words.nth(1)?, words.next()?);
        folder.starts_with(place).then_some((place.len(), kind))
    });
    // Of several at one place, the last covers the others.
    let innermost = around.max_by_key(|(length, _)| *length);
    innermost.map(|(_, kind)| kind.to_owned())
}

impl Report {
    /// As Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = self.machine.measured(self.commit.as_deref());
        if let Some(kind) = &self.file_system {
            // Writing to a string does not fail.
            let _ = write!(text, ", with the database on {kind}");
        }
        let _ = writeln!(
            text,
            ": {} users with {} sessions each, and leases of {} s.\n",
            self.users, self.sessions, self.lease
        );
        text.push_str(&tables(&self.figures));
        text
    }
}

/// The results as tables: also as ratios to the server without a store.
fn tables(all: &[ReplicaFigures]) -> String {
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
        ]
    };
    let head = "|sessions begun (ratio)|turns (ratio)|p50 of a turn (ratio)|p99 (ratio)|look-up p50 (ms)|p99|remembered p50 (ms)|p99";
    let mut text = String::new();
    let title = "Replicas with a store in PostgreSQL, on one machine";
    section(&mut text, title, head, all.iter().map(row).collect());
    for figures in all.iter().filter(|figures| !figures.failures.is_empty()) {
        failures::markdown(&mut text, figures.replicas, &figures.failures);
    }
    text
}

async fn measure(plan: &Plan, replicas: usize, has_store: bool) -> Result<ReplicaFigures> {
    eprintln!("{replicas} replicas, with a store: {has_store}");
    let mut arrangement = Arrangement::start(plan, replicas, has_store).await?;
    let since = Instant::now();
    arrangement.begin_all().await?;
    let begun = number(plan.users * plan.sessions);
    let begun_per_second = begun / since.elapsed().as_secs_f64();
    let mut took = arrangement.turns().await?;
    let turns_per_second = number(took.len()) / plan.time.as_secs_f64();
    let mut posts = arrangement.posts(0, 0).await?;
    let unknown = |which: usize| format!("unknown-{which}");
    let lookup_ms = if has_store {
        Some(lookups(&mut posts, unknown).await?)
    } else {
        None
    };
    let own = arrangement.roamers[0].sessions[0].clone();
    let remembered_ms = lookups(&mut posts, |_| own.clone()).await?;
    let has_failures = has_store && replicas > 1;
    if has_failures && plan.failures.contains(&Failure::DatabaseRestored) {
        // Only now: the replicas lose their connections to the database by that.
        arrangement.back_up().await?;
    }
    let mut failures = Vec::new();
    for failure in plan.failures.iter().filter(|_| has_failures) {
        failures.push(arrangement.fail(*failure).await?);
    }
    Ok(ReplicaFigures {
        replicas,
        has_store,
        begun_per_second,
        turns_per_second,
        turn_ms: middle_and_tail(&mut took)?,
        lookup_ms,
        remembered_ms,
        prompts: failures::check(&arrangement.prompts())?,
        failures,
    })
}

/// The median, and what 99 % do not exceed.
fn middle_and_tail(samples: &mut [f64]) -> Result<[f64; 2]> {
    let mut found = |part| quantile(samples, part).context("nothing was measured");
    Ok([found(0.5)?, found(0.99)?])
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
    middle_and_tail(&mut took)
}

impl Arrangement {
    async fn start(plan: &Plan, count: usize, has_store: bool) -> Result<Self> {
        let folder = plan.scratch.join(format!("replicas-{count}-{has_store}"));
        let settings = folder.join("config/acp-chain");
        fs::create_dir_all(&settings)?;
        let start = || Postgres::start(&plan.postgres, &DATABASE);
        let store = has_store.then(start).transpose()?;
        let text = match &store {
            Some(store) => with_store(&store.url(), plan.lease),
            None => LIMITS.to_owned(),
        };
        fs::write(settings.join("config.toml"), text)?;
        let mut here = Self {
            plan: plan.clone(),
            folder,
            tokens: Vec::new(),
            roamers: Vec::new(),
            replicas: Vec::new(),
            link: None,
            store,
        };
        if here.store.is_some() {
            let migrated = here.command()?.arg("--migrate").status().await?;
            ensure!(migrated.success(), "the tables cannot be made");
        }
        here.make_tokens().await?;
        for which in 0..count {
            let replica = here.replica(which, "config").await?;
            here.replicas.push(replica);
        }
        Ok(here)
    }

    fn command(&self) -> Result<Command> {
        let mut command = Command::from(acp_chain(&self.plan.program, &self.folder));
        command.arg("serve").stdin(Stdio::null());
        command.stderr(log(&self.plan.scratch)?);
        Ok(command)
    }

    fn tokens_file(&self) -> PathBuf {
        self.folder.join("tokens")
    }

    async fn make_tokens(&mut self) -> Result<()> {
        for which in 0..=self.plan.users {
            let made = Command::from(acp_chain(&self.plan.program, &self.folder))
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

    /// What agents note of prompts.
    fn prompts(&self) -> PathBuf {
        self.folder.join("prompts")
    }

    /// Starts a replica, with the settings in this folder.
    async fn replica(&self, which: usize, settings: &str) -> Result<Replica> {
        let mut command = self.command()?;
        command
            .env("XDG_CONFIG_HOME", self.folder.join(settings))
            .env(PROMPTS, self.prompts())
            .args(["--listen", "127.0.0.1:0", "--node"])
            .arg(format!("replica-{which}"))
            .arg("--tokens")
            .arg(self.tokens_file())
            .arg("--")
            .arg(&self.plan.agent)
            .stdout(Stdio::piped())
            .kill_on_drop(true);
        let mut process = command.spawn()?;
        let address = in_time(printed_address(&mut process))
            .await
            .context("a replica does not start")?;
        Ok(Replica { process, address })
    }

    /// A connection of a user to a replica.
    async fn posts(&self, replica: usize, user: usize) -> Result<Posts> {
        let replica = &self.replicas[replica];
        Posts::begin_as(&replica.address, &self.tokens[user]).await
    }

    fn addresses(&self) -> Arc<[String]> {
        let addresses = self.replicas.iter().map(|replica| replica.address.clone());
        addresses.collect()
    }

    fn store(&mut self) -> Result<&mut Postgres> {
        self.store.as_mut().context("there is no store")
    }

    /// A client of each user with its sessions, at the replicas in turn.
    async fn begin_all(&mut self) -> Result<()> {
        let (addresses, users) = (self.addresses(), self.plan.users);
        let mut tasks = JoinSet::new();
        for first in 0..AT_ONCE {
            let share = (first..users).step_by(AT_ONCE);
            let share: Vec<_> = share
                .map(|user| (user, self.tokens[user].clone()))
                .collect();
            let (addresses, sessions) = (Arc::clone(&addresses), self.plan.sessions);
            tasks.spawn(async move {
                let mut roamers = Vec::new();
                for (user, token) in share {
                    let at = user % addresses.len();
                    let begun = Roamer::begin(user, token, at, &addresses[at], sessions);
                    roamers.push(begun.await?);
                }
                anyhow::Ok(roamers)
            });
        }
        while let Some(some) = tasks.join_next().await {
            self.roamers.extend(some??);
        }
        self.roamers.sort_by_key(|roamer| roamer.user);
        Ok(())
    }

    /// Lets all clients have one turn after the other until this time, and waits for them.
    fn run_until(&mut self, end: Instant) -> JoinSet<Result<Roamer>> {
        let addresses = self.addresses();
        let mut tasks = JoinSet::new();
        for mut roamer in self.roamers.drain(..) {
            let addresses = Arc::clone(&addresses);
            tasks.spawn(async move {
                roamer.run(&addresses, end).await?;
                anyhow::Ok(roamer)
            });
        }
        tasks
    }

    async fn take_back(&mut self, mut tasks: JoinSet<Result<Roamer>>) -> Result<()> {
        while let Some(done) = tasks.join_next().await {
            self.roamers.push(done??);
        }
        self.roamers.sort_by_key(|roamer| roamer.user);
        Ok(())
    }

    /// Lets all clients have turns while nothing fails. Returns their times in milliseconds.
    async fn turns(&mut self) -> Result<Vec<f64>> {
        let running = self.run_until(Instant::now() + self.plan.time);
        self.take_back(running).await?;
        let mut took = Vec::new();
        for roamer in &mut self.roamers {
            let seen = std::mem::take(&mut roamer.seen);
            let is_calm = seen.loaded.is_empty() && seen.refused == 0;
            ensure!(is_calm, "a connection has ended, though nothing has failed");
            took.extend(seen.turns);
        }
        Ok(took)
    }

    /// Keeps a backup of the database, which is away meanwhile.
    async fn back_up(&mut self) -> Result<()> {
        let store = self.store()?;
        store.end();
        sleep(ENDING).await;
        store.back_up();
        store.start_again();
        Ok(())
    }

    /// Lets something fail while all clients have turns, and a stranger asks for their sessions.
    async fn fail(&mut self, failure: Failure) -> Result<FailureFigures> {
        eprintln!("  {failure:?}");
        if failure == Failure::ReplicaParted {
            self.begin_again_over_a_link().await?;
        }
        if failure.is_of_replica() {
            self.spread().await?;
        }
        let end = Instant::now() + BEFORE + failure.lasts(self.plan.lease);
        let sessions = self
            .roamers
            .iter()
            .filter_map(|roamer| roamer.sessions.first());
        let sessions: Vec<_> = sessions.cloned().collect();
        let token = self.tokens.last().context("there are no users")?.clone();
        let addresses = self.addresses();
        let stranger =
            tokio::spawn(async move { intrude(&addresses, &token, &sessions, end).await });
        let running = self.run_until(end);
        sleep(BEFORE).await;
        let since = Instant::now();
        self.strike(failure).await?;
        self.take_back(running).await?;
        stranger.await??;
        self.recover(failure).await?;
        FailureFigures::take(failure, since, &mut self.roamers)
    }

    /// Has the clients of the first replica there again.
    async fn spread(&mut self) -> Result<()> {
        let (addresses, count) = (self.addresses(), self.replicas.len());
        let mut tasks = JoinSet::new();
        for mut roamer in self.roamers.drain(..) {
            let addresses = Arc::clone(&addresses);
            tasks.spawn(async move {
                if roamer.user.is_multiple_of(count) && !roamer.at.is_multiple_of(count) {
                    roamer.go_to(&addresses, 0).await?;
                    roamer.seen = Seen::default();
                }
                anyhow::Ok(roamer)
            });
        }
        self.take_back(tasks).await
    }

    /// Starts the first replica again, with a network to the database that can stall.
    async fn begin_again_over_a_link(&mut self) -> Result<()> {
        let link = Link::to(self.store()?.socket()).await;
        let settings = self.folder.join("config-link/acp-chain");
        fs::create_dir_all(&settings)?;
        let url = format!("postgres://chain@{}/postgres", link.address());
        let text = with_store(&url, self.plan.lease);
        fs::write(settings.join("config.toml"), text)?;
        self.link = Some(link);
        let first = &mut self.replicas[0].process;
        signal(first, Signal::TERM)?;
        in_time(async { Ok(first.wait().await?) })
            .await
            .context("a replica does not end")?;
        self.replicas[0] = self.replica(0, "config-link").await?;
        Ok(())
    }

    async fn strike(&mut self, failure: Failure) -> Result<()> {
        match failure {
            Failure::ReplicaKilled => self.replicas[0].process.kill().await?,
            Failure::ReplicaStopped => signal(&self.replicas[0].process, Signal::STOP)?,
            Failure::ReplicaParted => self.link.as_ref().context("there is no link")?.stall(),
            Failure::DatabaseKilled => {
                let store = self.store()?;
                store.end();
                sleep(AWAY).await;
                store.start_again();
            }
            Failure::DatabaseStopped => {
                let store = self.store()?;
                store.freeze(true);
                sleep(AWAY).await;
                store.freeze(false);
            }
            Failure::DatabaseRestored => {
                let store = self.store()?;
                store.end();
                sleep(ENDING).await;
                store.restore();
                store.start_again();
            }
        }
        Ok(())
    }

    /// Has what failed go on.
    async fn recover(&mut self, failure: Failure) -> Result<()> {
        match failure {
            Failure::ReplicaKilled => self.replicas[0] = self.replica(0, "config").await?,
            Failure::ReplicaStopped => signal(&self.replicas[0].process, Signal::CONT)?,
            Failure::ReplicaParted => self.link.as_ref().context("there is no link")?.mend(),
            Failure::DatabaseKilled | Failure::DatabaseStopped | Failure::DatabaseRestored => {}
        }
        Ok(())
    }
}

/// The settings of a replica with this store.
fn with_store(url: &str, lease: u64) -> String {
    format!("[serve]\nstore = {url:?}\n{LIMITS}lease-seconds = {lease}\n")
}

/// Sends a signal to a process that was not waited for.
fn signal(process: &Child, signal: Signal) -> Result<()> {
    let id = process.id().and_then(|id| i32::try_from(id).ok());
    let id = id.and_then(Pid::from_raw).context("it has ended")?;
    Ok(kill_process(id, signal)?)
}
