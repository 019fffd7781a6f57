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
mod tests {
    use super::*;
    use crate::dialect;

    // Any files that every system has, in place of programs.
    const NODE: &str = "/";
    const SHELL: &str = "/dev";
    const CLIENT: &str = "/usr";
    const PYTHON: &str = "/etc";

    /// A process of this id and program.
    fn process(id: u32, program: &str) -> Ancestor {
        Ancestor {
            id,
            start: u64::from(id),
            program: Identity::of(Path::new(program)),
            is_shell: program == SHELL,
            takes_commands: program == SHELL,
            has_command: false,
        }
    }

    /// The shell that runs the hook's command.
    fn own(id: u32) -> Ancestor {
        Ancestor {
            has_command: true,
            ..process(id, SHELL)
        }
    }

    fn script(id: u32) -> Ancestor {
        Ancestor {
            takes_commands: false,
            ..process(id, SHELL)
        }
    }

    fn is_right(usual: &Usual, dialect_name: &str, line: &[Ancestor]) -> bool {
        let dialect = dialect(dialect_name).unwrap();
        let client = Identity::of(Path::new(CLIENT)).filter(|_| !dialect.is_plugin);
        usual.check(line, dialect, client.as_ref()).is_ok()
    }

    #[test]
    fn what_an_agent_starts_for_its_hooks_is_like_the_first_and_what_a_tool_starts_is_not() {
        let usual = Usual::default();
        // Even the first one is the hook's client.
        let stranger = [process(5, PYTHON), process(10, NODE)];
        assert!(!is_right(&usual, "claude", &stranger));
        let [agent, session, other_session] = [10, 11, 12].map(|id| process(id, NODE));
        // `npx` starts the agent by a shell.
        let above_agent = [process(1, SHELL), process(2, NODE)];
        let launched = |from: &[Ancestor]| {
            let above = [&agent].into_iter().chain(&above_agent);
            from.iter().chain(above).cloned().collect::<Vec<_>>()
        };
        let client = process(20, CLIENT);
        for (from, expected) in [
            // The first one.
            (vec![client.clone(), own(21), session.clone()], true),
            (vec![client.clone(), own(22), session.clone()], true),
            (vec![client.clone(), own(22), other_session], true),
            // Another program that has the token.
            (vec![process(23, PYTHON), own(24), session.clone()], false),
            // The client, but not by the hook's command.
            (vec![client.clone(), session.clone()], false),
            (
                vec![client.clone(), process(25, SHELL), session.clone()],
                false,
            ),
            // By this command, in a tool's shell, script or program.
            (
                vec![client.clone(), own(26), process(27, SHELL), session.clone()],
                false,
            ),
            (
                vec![
                    client.clone(),
                    own(26),
                    process(27, PYTHON),
                    session.clone(),
                ],
                false,
            ),
            (
                vec![
                    client.clone(),
                    own(26),
                    process(28, NODE),
                    process(27, SHELL),
                ],
                false,
            ),
            // What has taken the place of the hook's shell looks like it.
            (vec![client.clone(), own(29), session.clone()], true),
        ] {
            let line = launched(&from);
            assert_eq!(is_right(&usual, "claude", &line), expected, "{line:?}");
        }
    }

    #[test]
    fn a_shell_that_runs_a_script_starts_hooks_only_where_one_did_before() {
        let session = process(11, NODE);
        let tool = [process(20, CLIENT), own(21), script(30), session.clone()];
        let first = [process(20, CLIENT), own(21), session];
        let usual = Usual::default();
        assert!(is_right(&usual, "claude", &first));
        assert!(!is_right(&usual, "claude", &tool));
        let wrapped = [process(20, CLIENT), own(21), process(11, NODE), script(12)];
        let again = [process(20, CLIENT), own(21), process(13, NODE), script(14)];
        let usual = Usual::default();
        assert!(is_right(&usual, "claude", &wrapped));
        assert!(is_right(&usual, "claude", &again));
    }

    #[test]
    fn a_plugin_reports_from_the_program_of_the_agent() {
        let usual = Usual::default();
        let agent = process(10, NODE);
        for (line, expected) in [
            (vec![agent.clone()], true),
            (vec![agent.clone()], true),
            // The process of another session.
            (vec![process(11, NODE), agent.clone()], true),
            (vec![process(12, PYTHON), agent.clone()], false),
            (vec![process(13, NODE), process(14, SHELL), agent], false),
        ] {
            assert_eq!(is_right(&usual, "cline", &line), expected, "{line:?}");
        }
    }

    #[test]
    fn where_no_shell_starts_the_first_one_none_is_needed() {
        let usual = Usual::default();
        let session = process(11, NODE);
        let line = [process(20, CLIENT), session.clone()];
        assert!(is_right(&usual, "auggie", &line) && is_right(&usual, "auggie", &line));
        let by_command = [process(20, CLIENT), own(21), session.clone()];
        assert!(is_right(&usual, "auggie", &by_command));
        let by_tool = [process(20, CLIENT), process(21, SHELL), session];
        assert!(!is_right(&usual, "auggie", &by_tool));
    }
}
