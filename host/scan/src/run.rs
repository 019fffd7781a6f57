//! Plays recordings, several side by side: each worker has a thread, a runtime and a chain of its own, which it keeps
//! from recording to recording. The largest begin first: no worker is left with one when the others have ended.

use std::cmp::Reverse;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ScopedJoinHandle};

use acp_chain_kit::stage::{StageError, Tested, runtime};
use acp_chain_kit::transcript::log::Log;

use crate::event::Event;
use crate::find::Recording;
use crate::findings::{Findings, Problem};
use crate::lines::{LONGEST, Line};
use crate::player::Player;
use crate::readers::opencode::{Database, Opencode};
use crate::readers::{self, Reader};
use crate::report::Report;

/// How much of a file is read at once, in bytes.
pub(crate) const CHUNK: usize = 1 << 20;

/// The stack of a worker, in bytes: as of a main thread.
const STACK: usize = 8 << 20;

/// What is played, and against what.
pub struct Plan {
    /// The recordings, in the order of the report.
    pub recordings: Vec<Recording>,
    /// A chain for each worker, the client's neighbour first: the same ones.
    pub chains: Vec<Vec<Tested>>,
    /// Whether guards stay where they are written, even in front of other proxies.
    pub is_as_written: bool,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    /// The chain does not start.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// A worker does not start.
    #[error("a worker cannot be started: {0}")]
    Worker(#[from] io::Error),
    /// A worker has ended early.
    #[error("a worker has panicked")]
    Panicked,
}

/// Plays all recordings. `progress` is told how many bytes more have been read.
///
/// # Errors
/// If the chain does not start. What is wrong with a recording is in the report.
pub fn scan(plan: Plan, progress: &(dyn Fn(u64) + Sync)) -> Result<Report, ScanError> {
    let Plan {
        recordings,
        chains,
        is_as_written,
    } = plan;
    let proxies = chains.first().into_iter().flatten();
    let proxies: Vec<_> = proxies.map(|proxy| proxy.guest.name.to_string()).collect();
    let mut largest_first: Vec<_> = (0..recordings.len()).collect();
    largest_first.sort_by_key(|number| Reverse(recordings[*number].size));
    let next = AtomicUsize::new(0);
    let found = thread::scope(|scope| {
        let _last = Last(&next);
        let mut workers = Vec::new();
        for chain in chains {
            let (recordings, order, next) = (&recordings, &largest_first, &next);
            let work = move || work(chain, is_as_written, recordings, order, next, progress);
            let worker = thread::Builder::new().stack_size(STACK);
            workers.push(worker.spawn_scoped(scope, work)?);
        }
        let ended: Vec<_> = workers.into_iter().map(ScopedJoinHandle::join).collect();
        let mut all = Findings::default();
        for found in ended {
            all.merge(found.map_err(|_| ScanError::Panicked)??);
        }
        Ok::<_, ScanError>(all)
    })?;
    Ok(Report::of(proxies, &recordings, found))
}

fn work(
    chain: Vec<Tested>,
    is_as_written: bool,
    recordings: &[Recording],
    order: &[usize],
    next: &AtomicUsize,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Findings, ScanError> {
    let _last = Last(next);
    let runtime = runtime()?;
    let (log, _guard) = Log::start();
    let played = runtime.block_on(async {
        let mut player = Player::start(chain, is_as_written, log).await?;
        loop {
            let Some(number) = order.get(next.fetch_add(1, Ordering::Relaxed)).copied() else {
                return Ok::<_, StageError>(player.findings);
            };
            player.begin(number, &recordings[number]);
            let ended = play(&mut player, &recordings[number], progress).await;
            if ended.is_err() {
                player.problem(Problem::Stuck);
                player.restart().await?;
            }
        }
    });
    runtime.shutdown_background();
    played.map_err(ScanError::from)
}

/// When it is dropped, no further recording begins: a worker that ends early, also by a panic, ends the others.
struct Last<'n>(&'n AtomicUsize);

impl Drop for Last<'_> {
    fn drop(&mut self) {
        self.0.store(usize::MAX / 2, Ordering::Relaxed);
    }
}

/// Plays one recording.
async fn play(
    player: &mut Player,
    recording: &Recording,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<(), StageError> {
    match readers::reader(recording.format, &recording.path) {
        Some(reader) => lines(player, recording, reader, progress).await?,
        None => rows(player, recording, progress).await?,
    }
    player.end().await?;
    player.count_unrecognized(recording);
    Ok(())
}

/// Plays a recording of lines.
async fn lines(
    player: &mut Player,
    recording: &Recording,
    mut reader: Box<dyn Reader>,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<(), StageError> {
    if recording.is_compressed() {
        player.problem(Problem::Compressed);
        return Ok(());
    }
    let Ok(file) = open(&recording.path) else {
        player.problem(Problem::Unreadable);
        return Ok(());
    };
    // What is written from now on is not read.
    let file = BufReader::with_capacity(CHUNK, file.take(recording.size));
    let mut lines = readers::lines(recording.format, &recording.path, file, LONGEST);
    let mut events = Vec::new();
    loop {
        let problem = match lines.advance() {
            Ok(None) => return Ok(()),
            Err(_) => {
                player.problem(Problem::Unreadable);
                return Ok(());
            }
            Ok(Some(Line::TooLong)) => Some(Problem::TooLong),
            Ok(Some(Line::Whole)) if lines.text().trim_ascii().is_empty() => None,
            Ok(Some(Line::Whole)) => {
                let read = readers::read(&mut *reader, lines.text(), &mut events);
                read.err().map(|error| flaw(&error))
            }
        };
        player.at(lines.number);
        if let Some(problem) = problem {
            player.problem(problem);
        }
        progress(lines.size);
        for event in events.drain(..) {
            player.play(lines.number, event).await?;
        }
    }
}

/// Plays a database.
async fn rows(
    player: &mut Player,
    recording: &Recording,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<(), StageError> {
    let opened = Database::open(&recording.path).and_then(|database| {
        let sessions = database.as_ref().map(Database::sessions).transpose()?;
        Ok(database.zip(sessions))
    });
    let found = opened.map_err(|_| Problem::Unreadable);
    let (database, sessions) = match found.and_then(|found| found.ok_or(Problem::NoDatabase)) {
        Ok(found) => found,
        Err(problem) => {
            player.problem(problem);
            return Ok(());
        }
    };
    let mut reader = Opencode::default();
    let mut line = 0;
    // The parts of a session in files are not in the file that was found.
    let mut left = recording.size;
    for session in sessions {
        let Ok(parts) = database.parts(&session) else {
            player.problem(Problem::Unreadable);
            continue;
        };
        let begins = Event::Session {
            id: session.id.clone(),
            cwd: Some(session.directory.clone()),
        };
        player.play(line, begins).await?;
        for part in parts {
            line += 1;
            player.at(line);
            let mut events = Vec::new();
            match database.part(part) {
                Err(_) => player.problem(Problem::Damaged),
                Ok(None) => player.problem(Problem::TooLong),
                Ok(Some(row)) => {
                    let read = row.size().min(left);
                    left -= read;
                    progress(read);
                    if let Err(error) = reader.read(&session, &row, &mut events) {
                        player.problem(flaw(&error));
                    }
                }
            }
            for event in events {
                player.play(line, event).await?;
            }
        }
        player.end().await?;
    }
    Ok(())
}

/// Opens a file. Opening a pipe would wait for a writer.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let about = fs::metadata(path)?;
    if about.is_file() {
        return File::open(path);
    }
    if about.is_dir() {
        // Why it cannot be read says more.
        drop(fs::read_dir(path)?);
    }
    Err(io::Error::other("it is not a file"))
}

fn flaw(error: &serde_json::Error) -> Problem {
    if error.is_eof() {
        Problem::Cut
    } else {
        Problem::Damaged
    }
}
