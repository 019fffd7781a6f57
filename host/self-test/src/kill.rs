//! Editors kill: whatever the host has started ends with it, and so does what these have started.
//!
//! The agent and a program of the agent's each lock a file. The system lets go of the lock of a process that ends, so
//! that a lock on both files says that both have ended, without a look at other processes.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use crate::editor::Editor;
use crate::stage::Stage;
use crate::verdict::Verdict;
use crate::{PATIENCE, PartError, agent, write_line};

/// The part that the agent's program is: `acp-chain self-test-part hold FILE`.
pub const HOLD: &str = "hold";

/// The files that are locked.
const BY_AGENT: &str = "agent.lock";
const BY_PROGRAM: &str = "program.lock";

/// After this time the program ends by itself: a broken promise leaves nothing, either.
const LONGEST: Duration = Duration::from_mins(2);

/// What the agent keeps until it ends.
pub struct Held {
    _lock: File,
    /// It is not waited for: its end is that of the whole group.
    _program: Child,
}

impl Held {
    /// Locks the agent's file, and starts a program that locks another one. Returns once both are locked.
    pub fn take(folder: &Path) -> Result<Self, PartError> {
        let lock = File::create(folder.join(BY_AGENT))?;
        lock.lock()?;
        let mut program = Command::new(std::env::current_exe()?)
            .args(["self-test-part", HOLD])
            .arg(folder.join(BY_PROGRAM))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = program.stdout.take().ok_or("it has no output")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        if line.is_empty() {
            return Err("the program of the agent has ended at once".into());
        }
        Ok(Self {
            _lock: lock,
            _program: program,
        })
    }
}

/// Locks a file, says so, and waits to be ended.
pub fn hold(file: &Path) -> Result<(), PartError> {
    let lock = File::create(file)?;
    lock.lock()?;
    write_line("locked")?;
    thread::sleep(LONGEST);
    Ok(())
}

pub fn look(stage: &Stage) -> Verdict {
    let mut editor = Editor::launch(stage, false)?;
    editor.turn(agent::HOLD)?;
    editor.kill()?;
    for (file, whose) in [
        (BY_AGENT, "the agent"),
        (BY_PROGRAM, "a program that the agent started"),
    ] {
        let path = stage.path(file);
        if !is_let_go(&path) {
            let seconds = PATIENCE.as_secs();
            let why = format!("{whose} still runs {seconds} s after its host was killed");
            return Err(why.into());
        }
    }
    Ok("a killed host left no process: its agent ended, and so did the agent's program".to_owned())
}

/// Whether the lock of a file is let go in time.
fn is_let_go(path: &Path) -> bool {
    let path = path.to_owned();
    let (sender, locked) = channel();
    thread::spawn(move || {
        let lock = File::open(path).and_then(|file| file.lock());
        // Nothing waits for what is too late.
        let _ = sender.send(lock.is_ok());
    });
    locked.recv_timeout(PATIENCE).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_let_go_with_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let file = File::create(&path).unwrap();
        file.lock().unwrap();
        let waiting = thread::spawn({
            let path = path.clone();
            move || is_let_go(&path)
        });
        drop(file);
        assert!(waiting.join().unwrap());
        assert!(!is_let_go(&folder.path().join("none")));
    }
}
