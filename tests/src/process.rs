//! A program under test that speaks JSON-RPC on its standard input and output.
//!
//! The program's standard error is kept, for tests that expect it to be empty or to name a cause.
//! The program is killed when a test drops it.

use std::io;
use std::process::{ExitStatus, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};
use tokio::task::{JoinHandle, spawn_blocking};

use crate::envelope::Message;
use crate::transcript::Transcript;
use crate::wire::{WATCHDOG, Wire, watched};

/// A running program.
pub struct Process {
    /// The test's end of the program's standard input and output.
    pub wire: Wire,
    child: Child,
    stderr: JoinHandle<String>,
    transcript: Transcript,
}

/// How a program ended.
#[derive(Debug)]
pub struct Exit {
    /// The exit code or signal.
    pub status: ExitStatus,
    /// The standard error.
    pub stderr: String,
    /// Messages that the test had not read before.
    pub rest: Vec<Message>,
}

impl Process {
    /// Starts a program. `end` names the test's side of the connection: `"client"` if the program
    /// is an agent. Call it within a tokio runtime.
    ///
    /// # Errors
    /// If the program cannot be started.
    pub fn start(
        end: &'static str,
        transcript: &Transcript,
        mut command: Command,
    ) -> io::Result<Self> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let mut child = command.spawn()?;
        let (Some(stdin), Some(stdout), Some(mut stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(io::Error::other("the program has no pipes"));
        };
        let stderr = tokio::spawn(async move {
            let mut bytes = Vec::new();
            // After an error, the bytes read so far are kept.
            let _ = stderr.read_to_end(&mut bytes).await;
            String::from_utf8_lossy(&bytes).into_owned()
        });
        Ok(Self {
            wire: Wire::new(end, transcript, stdout, stdin),
            child,
            stderr,
            transcript: transcript.clone(),
        })
    }

    /// The process id; none once the exit was awaited.
    #[must_use]
    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// The supervisor of the processes that the program starts: its only child.
    ///
    /// # Panics
    /// If the program has no child, or several.
    #[must_use]
    pub fn supervisor(&self) -> Pid {
        let id = self.id().expect("the program runs");
        let children = format!("/proc/{id}/task/{id}/children");
        let children = std::fs::read_to_string(children).expect("the children");
        let child = children.trim().parse().ok().and_then(Pid::from_raw);
        child.expect("one child")
    }

    /// The program's peak private memory, in bytes; none once the exit was awaited.
    #[must_use]
    pub fn peak_memory(&self) -> Option<u64> {
        peak_memory(self.id()?)
    }

    /// Sends a signal to this process alone.
    ///
    /// # Errors
    /// If the process has ended.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        let id = self.id().and_then(|id| i32::try_from(id).ok());
        let pid = id.and_then(Pid::from_raw);
        let pid = pid.ok_or_else(|| io::Error::other("the program ended"))?;
        Ok(kill_process(pid, signal)?)
    }

    /// Closes the program's input, reads its output and standard error to their ends, and waits for
    /// its exit. Processes that inherited its pipes have to end too.
    ///
    /// # Errors
    /// If the program cannot be waited for.
    pub async fn finish(mut self) -> io::Result<Exit> {
        let rest = self.wire.finish().await;
        let status = watched(&self.transcript, "the program's exit", self.child.wait()).await?;
        let end = "the end of the program's standard error";
        let stderr = watched(&self.transcript, end, self.stderr).await?;
        Ok(Exit {
            status,
            stderr,
            rest,
        })
    }

    /// Waits for the program to exit while its input is open.
    ///
    /// # Errors
    /// If the program cannot be waited for.
    pub async fn exited(&mut self) -> io::Result<ExitStatus> {
        watched(&self.transcript, "the program's exit", self.child.wait()).await
    }

    /// Kills this process alone, as an editor in a hurry does.
    ///
    /// # Errors
    /// If the process cannot be killed or waited for.
    pub async fn kill(&mut self) -> io::Result<()> {
        self.child.kill().await
    }
}

/// A process's peak private memory, in bytes; none if the process has ended. Pages of files, such as those of the
/// program, do not count: how many are mapped at once depends on whether the program was just linked.
#[must_use]
pub fn peak_memory(id: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let kib = |name| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    };
    // Mapped pages of files stay mapped.
    let of_files = kib("RssFile:")? + kib("RssShmem:")?;
    Some(kib("VmHWM:")?.saturating_sub(of_files) << 10)
}

/// Waits until no process with that id runs, child of this process or not.
///
/// # Errors
/// If `id` is not a process id, or the system cannot watch it.
///
/// # Panics
/// If the process still runs after [`WATCHDOG`].
pub async fn gone(transcript: &Transcript, id: u32) -> io::Result<()> {
    let pid = i32::try_from(id).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| io::Error::other(format!("{id} is not a process id")))?;
    let process = match pidfd_open(pid, PidfdFlags::empty()) {
        Err(Errno::SRCH) => return Ok(()),
        opened => opened?,
    };
    let timeout = Timespec::try_from(WATCHDOG).map_err(io::Error::other)?;
    let exited =
        spawn_blocking(move || poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&timeout)));
    let exited = exited.await??;
    assert!(
        exited > 0,
        "process {id} still runs; the transcript:\n{transcript}"
    );
    Ok(())
}
