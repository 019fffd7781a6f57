//! Kills a process group when this process is gone, even by SIGKILL.
//!
//! `PR_SET_PDEATHSIG` would reach the direct child only, which for agents from npm is a launcher
//! whose child lives on. The guard is a shell that waits for the end of a pipe that only we hold.
//! It has a process group of its own, since editors kill ours as a whole.

use std::process::{Child, Command, Stdio};

use rustix::process::Pid;

/// Waits until we are gone. Dropping it calls it off.
#[derive(Debug)]
pub struct Guard(Child);

impl Guard {
    /// Guards the group that a process leads.
    pub fn new(group: Pid) -> std::io::Result<Self> {
        use std::os::unix::process::CommandExt;
        // Not every shell's `kill` takes a `--`.
        let script = format!("read -r _; kill -KILL -{}", group.as_raw_nonzero());
        Command::new("/bin/sh")
            .args(["-c", &script])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map(Self)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // Before its pipe closes, or it would kill a group whose number may be in use again.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
