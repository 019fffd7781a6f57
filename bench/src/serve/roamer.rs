//! A client that goes on at another replica when its own does not answer, as one behind a balancer does.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use hyper::StatusCode;
use tokio::time::{sleep, timeout};

use super::client::{Events, Posts, in_time, prompt};

/// How long an answer may take before the client tries another replica.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long a client asks one replica for a session that another one serves: longer than leases go on by themselves.
const HELD: Duration = Duration::from_secs(20);

/// How often a client asks for what is not possible yet.
const POLL: Duration = Duration::from_millis(100);

/// How long the end of a connection may take whose server perhaps does not answer.
const LEAVING: Duration = Duration::from_secs(1);

/// How much longer than its turns a client may take until it is served again.
const GRACE: Duration = Duration::from_mins(1);

/// A client of a user with some sessions, of which one has turns.
pub struct Roamer {
    /// The number of the user.
    pub user: usize,
    token: String,
    /// The names of its sessions.
    pub sessions: Vec<String>,
    /// The replica at which it is, or tries next. Their number is to be divided out.
    pub at: usize,
    served: Option<Served>,
    prompts: u64,
    deadline: Instant,
    /// What it has seen since this was last taken.
    pub seen: Seen,
}

/// What a client has seen.
#[derive(Default)]
pub struct Seen {
    /// The times of turns, in milliseconds.
    pub turns: Vec<f64>,
    /// The longest time without an answer to a prompt, in seconds.
    pub pause: f64,
    /// How many prompts were refused since they were sent before, or may have been.
    pub refused: usize,
    /// When its sessions were loaded at another replica.
    pub loaded: Vec<Instant>,
}

/// A connection to a replica that serves the sessions.
struct Served {
    posts: Posts,
    /// Of the first session.
    events: Events,
}

/// What became of a prompt.
enum Said {
    Answered,
    /// It was sent before, or may have been.
    Known,
    /// It may be sent later.
    Later,
    /// The connection has ended.
    Gone,
}

impl Roamer {
    /// A client with new sessions.
    pub async fn begin(
        user: usize,
        token: String,
        at: usize,
        address: &str,
        sessions: usize,
    ) -> Result<Self> {
        in_time(async {
            let mut posts = Posts::begin_as(address, &token).await?;
            let mut all = posts.events(None).await?;
            let mut names = Vec::new();
            for _ in 0..sessions {
                names.push(posts.begin_session(&mut all).await?);
            }
            let events = posts.events(names.first().map(String::as_str)).await?;
            Ok(Self {
                user,
                token,
                sessions: names,
                at,
                served: Some(Served { posts, events }),
                prompts: 0,
                deadline: Instant::now(),
                seen: Seen::default(),
            })
        })
        .await
    }

    /// Has one turn after the other until this time.
    pub async fn run(&mut self, addresses: &[String], end: Instant) -> Result<()> {
        self.deadline = end + GRACE;
        let mut last = Instant::now();
        while Instant::now() < end {
            let begun = Instant::now();
            if self.turn(addresses).await? {
                let took = begun.elapsed().as_secs_f64() * 1000.0;
                self.seen.turns.push(took);
                self.seen.pause = self.seen.pause.max(last.elapsed().as_secs_f64());
                last = Instant::now();
            } else {
                self.seen.refused += 1;
                sleep(POLL).await;
            }
        }
        self.seen.pause = self.seen.pause.max(last.elapsed().as_secs_f64());
        Ok(())
    }

    /// Goes to another replica.
    pub async fn go_to(&mut self, addresses: &[String], at: usize) -> Result<()> {
        self.deadline = Instant::now() + GRACE;
        self.leave();
        self.at = at;
        self.attach(addresses).await
    }

    /// A turn. Returns whether it was answered: if it may have been before, it is not repeated.
    async fn turn(&mut self, addresses: &[String]) -> Result<bool> {
        self.prompts += 1;
        // The same at all replicas.
        let key = format!("user-{:05}-prompt-{:07}", self.user, self.prompts);
        loop {
            if self.served.is_none() {
                self.attach(addresses).await?;
            }
            let served = self.served.as_mut().context("it is served nowhere")?;
            let session = self.sessions.first().context("it has no session")?;
            let said = served.say(self.prompts, session, &key);
            match timeout(PATIENCE, said).await {
                Ok(Ok(Said::Answered)) => return Ok(true),
                Ok(Ok(Said::Known)) => return Ok(false),
                Ok(Ok(Said::Later)) => sleep(POLL).await,
                Ok(Ok(Said::Gone) | Err(_)) | Err(_) => self.leave(),
            }
            let (user, is_late) = (self.user, Instant::now() >= self.deadline);
            ensure!(!is_late, "user {user} gets no answer any longer");
        }
    }

    /// Leaves a connection, and goes to the next replica.
    fn leave(&mut self) {
        self.at += 1;
        if let Some(served) = self.served.take() {
            end(served.posts);
        }
    }

    /// Loads the sessions at a replica that can.
    async fn attach(&mut self, addresses: &[String]) -> Result<()> {
        loop {
            let address = &addresses[self.at % addresses.len()];
            match Served::load(address, &self.token, &self.sessions).await {
                Ok((served, loaded)) => {
                    self.served = Some(served);
                    self.seen.loaded.extend(loaded);
                    return Ok(());
                }
                Err(error) if Instant::now() >= self.deadline => {
                    let user = self.user;
                    return Err(error.context(format!("user {user} is not served any longer")));
                }
                Err(_) => {
                    self.at += 1;
                    sleep(POLL).await;
                }
            }
        }
    }
}

impl Served {
    /// Loads sessions at a replica. Returns when each was loaded.
    async fn load(address: &str, token: &str, sessions: &[String]) -> Result<(Self, Vec<Instant>)> {
        let mut posts = timeout(PATIENCE, Posts::begin_as(address, token)).await??;
        match load_all(&mut posts, sessions).await {
            Ok((events, loaded)) => Ok((Self { posts, events }, loaded)),
            Err(error) => {
                end(posts);
                Err(error)
            }
        }
    }

    /// Sends a prompt, and reads its turn.
    async fn say(&mut self, id: u64, session: &str, key: &str) -> Result<Said> {
        let status = self.posts.keyed(prompt(id, session, key)?, key).await?;
        Ok(match status {
            StatusCode::ACCEPTED => {
                self.events.turn().await?;
                Said::Answered
            }
            StatusCode::CONFLICT => Said::Known,
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => Said::Later,
            _ => Said::Gone,
        })
    }
}

async fn load_all(posts: &mut Posts, sessions: &[String]) -> Result<(Events, Vec<Instant>)> {
    let mut loaded = Vec::new();
    for (id, session) in sessions.iter().enumerate() {
        let since = Instant::now();
        loop {
            match timeout(PATIENCE, posts.status(load(id, session))).await?? {
                StatusCode::ACCEPTED => break,
                StatusCode::SERVICE_UNAVAILABLE if since.elapsed() < HELD => {
                    sleep(POLL).await;
                }
                status => bail!("a session is not loaded: {status}"),
            }
        }
        loaded.push(Instant::now());
    }
    let events = posts.events(sessions.first().map(String::as_str));
    Ok((timeout(PATIENCE, events).await??, loaded))
}

/// Asks for sessions of others until this time.
///
/// # Errors
/// If it gets one.
pub async fn intrude(
    addresses: &[String],
    token: &str,
    sessions: &[String],
    end: Instant,
) -> Result<()> {
    let mut posts = None;
    for (which, session) in sessions.iter().cycle().enumerate() {
        if Instant::now() >= end {
            break;
        }
        if posts.is_none() {
            let address = &addresses[which % addresses.len()];
            let begun = timeout(PATIENCE, Posts::begin_as(address, token)).await;
            posts = begun.ok().and_then(Result::ok);
        }
        if let Some(open) = &mut posts {
            match timeout(PATIENCE, open.status(load(which, session))).await {
                Ok(Ok(StatusCode::ACCEPTED)) => bail!("a session was given to another user"),
                Ok(Ok(_)) => {}
                Ok(Err(_)) | Err(_) => posts = None,
            }
        }
        sleep(POLL).await;
    }
    Ok(())
}

fn load(id: usize, session: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"session/load","params":{{"sessionId":"{session}","cwd":"/","mcpServers":[]}}}}"#
    )
}

/// Ends a connection, if its server answers.
fn end(posts: Posts) {
    tokio::spawn(async move {
        // Otherwise it ends with its lease.
        let _ = timeout(LEAVING, posts.end()).await;
    });
}
