//! What fails while clients have turns, and what they see of it.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde::Serialize;

use super::roamer::Roamer;
use crate::measures::stats::{number, quantile};
use crate::report::{section, show};

/// How long there are turns before anything fails.
pub const BEFORE: Duration = Duration::from_secs(2);

/// For how long the database is away: shorter than leases go on without it.
pub const AWAY: Duration = Duration::from_secs(2);

/// What fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Failure {
    /// A replica is killed.
    ReplicaKilled,
    /// A replica is stopped, and goes on later.
    ReplicaStopped,
    /// The network between a replica and the database stalls, and goes on later.
    ReplicaParted,
    /// The database is killed, and starts again.
    DatabaseKilled,
    /// The database is stopped, and goes on.
    DatabaseStopped,
    /// The database is killed, and an earlier backup is restored.
    DatabaseRestored,
}

impl Failure {
    /// All, in an order in which one leaves what the next one needs: no client is at the replica that was stopped, and
    /// after a backup was restored, prompts in the sessions of before are refused.
    pub const ALL: [Self; 6] = [
        Self::ReplicaKilled,
        Self::ReplicaStopped,
        Self::ReplicaParted,
        Self::DatabaseKilled,
        Self::DatabaseStopped,
        Self::DatabaseRestored,
    ];

    /// Those that show whether it works.
    pub const FEW: [Self; 2] = [Self::ReplicaKilled, Self::DatabaseStopped];

    /// Whether a single replica fails.
    pub fn is_of_replica(self) -> bool {
        matches!(
            self,
            Self::ReplicaKilled | Self::ReplicaStopped | Self::ReplicaParted
        )
    }

    /// For how long there are turns from then on: until leases of so many seconds are over, and others are taken.
    pub fn lasts(self, lease: u64) -> Duration {
        Duration::from_secs(match self {
            Self::ReplicaKilled | Self::ReplicaStopped | Self::ReplicaParted => lease + 4,
            Self::DatabaseKilled | Self::DatabaseStopped => 6,
            // It is noticed with a heartbeat, and then nothing is leased for a whole lease.
            Self::DatabaseRestored => lease + 6,
        })
    }

    fn title(self) -> &'static str {
        match self {
            Self::ReplicaKilled => "a replica is killed",
            Self::ReplicaStopped => "a replica is stopped",
            Self::ReplicaParted => "a replica is parted from the database",
            Self::DatabaseKilled => "the database is killed, for 2 s",
            Self::DatabaseStopped => "the database is stopped, for 2 s",
            Self::DatabaseRestored => "the database is restored from a backup",
        }
    }
}

/// What clients saw of a failure.
#[derive(Debug, Serialize)]
pub struct FailureFigures {
    /// The failure.
    pub failure: Failure,
    /// How many sessions were loaded at another replica, or anew.
    pub loaded: usize,
    /// The times until they were, in seconds: the median, and the longest.
    pub loaded_s: Option<[f64; 2]>,
    /// The longest time without an answer that a client had, in seconds: the median of clients, and the longest.
    pub pause_s: [f64; 2],
    /// How many turns were answered.
    pub turns: usize,
    /// How many prompts were refused since they were sent before, or may have been.
    pub refused: usize,
}

impl FailureFigures {
    /// Takes what clients have seen of a failure at this time.
    pub fn take(failure: Failure, since: Instant, roamers: &mut [Roamer]) -> Result<Self> {
        let (mut loaded, mut pauses, mut turns, mut refused) = (Vec::new(), Vec::new(), 0, 0);
        for roamer in roamers {
            let seen = std::mem::take(&mut roamer.seen);
            let times = seen.loaded.iter();
            loaded.extend(times.map(|time| time.saturating_duration_since(since).as_secs_f64()));
            pauses.push(seen.pause);
            turns += seen.turns.len();
            refused += seen.refused;
        }
        let of = |samples: &mut [f64]| {
            quantile(samples, 0.5)
                .zip(quantile(samples, 1.0))
                .map(<[f64; 2]>::from)
        };
        Ok(Self {
            failure,
            loaded: loaded.len(),
            loaded_s: of(&mut loaded),
            pause_s: of(&mut pauses).context("there are no clients")?,
            turns,
            refused,
        })
    }
}

/// The results as Markdown.
pub fn markdown(text: &mut String, replicas: usize, all: &[FailureFigures]) {
    let row = |figures: &FailureFigures| {
        vec![
            figures.failure.title().to_owned(),
            show(Some(number(figures.loaded))),
            show(figures.loaded_s.map(|[half, _]| half)),
            show(figures.loaded_s.map(|[_, most]| most)),
            show(Some(figures.pause_s[0])),
            show(Some(figures.pause_s[1])),
            show(Some(number(figures.turns))),
            show(Some(number(figures.refused))),
        ]
    };
    let head = "|sessions loaded again|p50 (s)|longest (s)|longest pause of a client, p50 (s)|longest (s)|turns|prompts not repeated";
    let title = format!("{replicas} replicas, under load");
    section(text, &title, head, all.iter().map(row).collect());
}

/// Checks what the agents have noted of all prompts, and returns how many there were.
///
/// # Errors
/// If one was sent twice, or a session had two agents at a time.
pub fn check(path: &Path) -> Result<usize> {
    let noted = fs::read_to_string(path).context("no agent has noted a prompt")?;
    let mut prompts = HashSet::new();
    let mut agents: HashMap<&str, Vec<&str>> = HashMap::new();
    for line in noted.lines() {
        let mut words = line.split(' ');
        let (Some(agent), Some(session), Some(prompt)) = (words.next(), words.next(), words.next())
        else {
            continue;
        };
        ensure!(
            prompts.insert(prompt),
            "the prompt {prompt} was sent to agents twice"
        );
        let of_session = agents.entry(session).or_default();
        if of_session.last() != Some(&agent) {
            ensure!(
                !of_session.contains(&agent),
                "the session {session} had two agents at a time: {of_session:?}"
            );
            of_session.push(agent);
        }
    }
    Ok(prompts.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_prompts_and_agents_in_turns_are_errors() {
        let folder = std::env::temp_dir();
        let path = folder.join(format!("acp-chain-bench-{}-noted", std::process::id()));
        for (noted, told) in [
            ("1 s a\n1 s b\n2 s c\n3 t d\n", None),
            ("1 s a\n2 s a\n", Some("twice")),
            ("1 s a\n2 s b\n1 s c\n", Some("two agents")),
        ] {
            fs::write(&path, noted).unwrap();
            let checked = check(&path).map_err(|error| error.to_string());
            match told {
                None => assert_eq!(checked, Ok(4)),
                Some(told) => assert!(checked.unwrap_err().contains(told)),
            }
        }
        fs::remove_file(&path).unwrap();
    }
}
