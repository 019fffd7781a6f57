//! Which process reports: one that the agent has started for its hook, or the agent itself, by a plugin.
//!
//! A command that a tool runs has the agent's environment, and so the socket and the token. So a process counts if the
//! agent has started it, and in the way in which the first report of the run was made: no tool had run by then. This
//! keeps off what is not below the agent, and most of what a tool has started. It does not keep off a command that
//! takes the place of a hook's: with the agent's rights, it can look the same.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use acp_chain_rpc::Mutex;
use acp_chain_system::files::Identity;
use acp_chain_system::local::Peer;
use acp_chain_system::{Ancestor, Descent, Supervisor};

use crate::Dialect;
use crate::attach::command;
use crate::wire::Header;

/// What the processes that report to a socket have to be.
#[derive(Debug)]
pub(crate) struct Reporters {
    supervisor: Supervisor,
    /// The hook's client: a program, and its first arguments.
    client: Vec<String>,
    /// The file of this program.
    program: Option<Identity>,
    /// Whether those count about which the system tells nothing.
    are_strict: bool,
    is_warned: AtomicBool,
}

/// How the reports of a run are made, since the first one.
#[derive(Debug, Default)]
pub(crate) struct Usual(Mutex<Option<First>>);

/// What the first report has shown.
#[derive(Debug)]
struct First {
    /// The process that reported.
    reporter: Ancestor,
    /// Whether a shell had started it that ran exactly the hook's command.
    is_by_command: bool,
    /// How many shells were between it and what had started the hook.
    shells: usize,
    /// The processes above these, up to the agent, and that of a plugin.
    above: Vec<Ancestor>,
}

impl Reporters {
    /// Those that the agent starts `client` for, or those of its plugin. If they are `strict`, a process about which
    /// the system tells nothing is none of them.
    pub fn new(supervisor: Supervisor, client: Vec<String>, are_strict: bool) -> Self {
        let program = client.first().map(Path::new);
        Self {
            supervisor,
            program: program.and_then(Identity::of),
            client,
            are_strict,
            is_warned: AtomicBool::new(false),
        }
    }

    /// An error if the process that reports is none that may.
    pub fn check(
        &self,
        peer: &Peer,
        header: &Header,
        dialect: &Dialect,
        usual: &Usual,
    ) -> Result<(), &'static str> {
        let command = command(&self.client, dialect, &header.event);
        let descent = match peer.id() {
            Some(id) => self.supervisor.descent(&header.token, id, &command),
            None => Ok(Descent::Unknown),
        };
        let descent = descent.unwrap_or_else(|error| {
            tracing::warn!("the processes of hooks cannot be looked at: {error}");
            Descent::Unknown
        });
        match descent {
            // Whatever has its id now is another one.
            Descent::Below(_) if peer.has_ended() => Err("its process has ended"),
            Descent::Below(line) => {
                let client = self.program.as_ref().filter(|_| !dialect.is_plugin);
                usual.check(&line, dialect, client)
            }
            Descent::Apart => Err("its process is none that the agent has started"),
            Descent::Unknown if self.are_strict => {
                Err("the system does not tell whether the agent has started its process")
            }
            Descent::Unknown => {
                if !self.is_warned.swap(true, Ordering::Relaxed) {
                    tracing::warn!(
                        "the system does not tell which processes report as the agent's hooks: all count that have \
                         the token"
                    );
                }
                Ok(())
            }
        }
    }
}

impl Usual {
    /// An error if a process is not like the first one, or runs another program than `client`. `line` has the process,
    /// its parent and so on, the agent last.
    fn check(
        &self,
        line: &[Ancestor],
        dialect: &Dialect,
        client: Option<&Identity>,
    ) -> Result<(), &'static str> {
        let Some((reporter, above)) = line.split_first() else {
            return Err("its process is unknown");
        };
        let programs = client.zip(reporter.program.as_ref());
        if programs.is_some_and(|(client, program)| client != program) {
            return Err("its program is not the hook's client");
        }
        let mut seen = self.0.lock();
        match &*seen {
            Some(first) => first.check(reporter, above),
            None => {
                *seen = Some(First::new(reporter, above, dialect));
                Ok(())
            }
        }
    }
}

impl First {
    fn new(reporter: &Ancestor, above: &[Ancestor], dialect: &Dialect) -> Self {
        let shells = if dialect.is_plugin { 0 } else { shells(above) };
        // That of a plugin may start others, for other sessions.
        let own = dialect.is_plugin.then_some(reporter);
        Self {
            reporter: reporter.clone(),
            is_by_command: shells > 0 && above[0].has_command,
            shells,
            above: own.into_iter().chain(&above[shells..]).cloned().collect(),
        }
    }

    fn check(&self, reporter: &Ancestor, above: &[Ancestor]) -> Result<(), &'static str> {
        let program = &self.reporter.program;
        if program.is_some() && reporter.program != *program {
            return Err("its program is another one than that of the first report");
        }
        let by = above.first();
        let is_by_command = by.is_some_and(|by| by.is_shell && by.has_command);
        if self.is_by_command && !is_by_command {
            return Err("its process was not started by the hook's command");
        }
        let own = shells(above).min(self.shells.max(usize::from(is_by_command)));
        let mut others = above[own..].iter();
        if others.any(|process| !self.may_start_hooks(process)) {
            return Err("its process is below a command that the agent has started");
        }
        Ok(())
    }

    /// Whether a process may be above a hook: it was above the first one, or is of the same program as one of these, as
    /// in another session, and runs no commands that it was given.
    fn may_start_hooks(&self, process: &Ancestor) -> bool {
        let mut known = self.above.iter();
        known.any(|known| {
            let is_same = (known.id, known.start) == (process.id, process.start);
            is_same || known.program == process.program && !process.takes_commands
        })
    }
}

/// How many of these processes, from the first on, are shells.
fn shells(processes: &[Ancestor]) -> usize {
    let shells = processes.iter().take_while(|process| process.is_shell);
    shells.count()
}

#[cfg(all(test, unix))]
mod tests;
