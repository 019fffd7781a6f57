//! The agents: whether each starts, and answers `initialize` in time.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use tokio::task::JoinSet;

use super::answer::{Answer, Response, initialize};
use super::finding::Finding;
use super::runtime::{self, Runtime};
use super::{Doctor, Findings};
use acp_chain_acp::protocol_version;
use acp_chain_app::agent::{self, command_line};
use acp_chain_app::hooks::{NoHooks, identify, unchecked_reports};
use acp_chain_app::plan::supervise;
use acp_chain_app::sign_in::{Login, logins};
use acp_chain_app::{ChainError, home, shell};
use acp_chain_manifest::Manifest;
use acp_chain_process::{CommandLine, SpawnError, Startable};
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_setup::all_agents;
use serde_json::Value;

/// The shortest timeout of the known editors: avante's.
const SLOW: Duration = Duration::from_secs(10);

/// How many lines of an agent's standard error are shown.
const LINES: usize = 8;

/// The version of the protocol that acp-chain speaks.
const PROTOCOL: u64 = 1;

/// An agent to start, and its interpreter.
struct Target {
    command: CommandLine,
    runtime: Option<Runtime>,
}

/// The answer of an agent, and the version of its interpreter.
struct Reply {
    response: Response,
    version: Option<semver::Version>,
}

pub fn look(doctor: &Doctor) -> Findings {
    // Nothing else starts then, either.
    if home::check_owners().is_err() {
        let none = "no agent was started: see the problem about your files above";
        return Ok(vec![Finding::note(none).run("acp-chain doctor")]);
    }
    let (commands, mut findings) = match doctor.agent.command() {
        Ok(Some(command)) => (vec![command], Vec::new()),
        Ok(None) => known(doctor),
        Err(error) => return Err(Finding::problem(error).run("acp-chain agent list")),
    };
    if commands.is_empty() && findings.is_empty() {
        let none = "there is no agent to check: none is installed, and no editor launches one through acp-chain";
        return Ok(vec![Finding::note(none).run("acp-chain doctor -- AGENT")]);
    }
    let targets = commands.into_iter().map(|command| Target {
        runtime: runtime::of(&command),
        command,
    });
    let targets: Vec<_> = targets.collect();
    let wrong = |error: ChainError| {
        Finding::problem(error).step("install acp-chain again: `cargo xtask install`")
    };
    let runtime = acp_chain_app::runtime().map_err(|error| wrong(error.into()))?;
    let replies = runtime.block_on(check_all(&targets, doctor.patience));
    let replies = targets.iter().zip(replies.map_err(wrong)?);
    let is_alone = targets.len() == 1;
    findings.extend(
        replies.flat_map(|(target, reply)| target.findings(reply, doctor.patience, is_alone)),
    );
    Ok(findings)
}

/// The commands of the agents to check by default, each once: the manifest's, the installed ones, and those that
/// editors launch through acp-chain. Also findings about those that cannot be started.
fn known(doctor: &Doctor) -> (Vec<CommandLine>, Vec<Finding>) {
    let mut all: Vec<CommandLine> = of_manifest(doctor).into_iter().collect();
    let mut wrong = Vec::new();
    for agent in agent::all() {
        match agent {
            Ok(command) => all.push(command),
            Err(agent) => wrong.push(Finding::problem(agent.why).run(agent.remedy)),
        }
    }
    // `editors` reports errors in configurations.
    let launched = all_agents().into_iter();
    let launched = launched.filter_map(|launched| (doctor.options)(&launched.agent));
    all.extend(launched.filter_map(|options| options.agent.command().ok().flatten()));
    let mut seen: Vec<(OsString, Vec<OsString>)> = Vec::new();
    all.retain(|command| {
        let words = (command.program.clone(), command.args.clone());
        let is_new = !seen.contains(&words);
        seen.push(words);
        is_new
    });
    (all, wrong)
}

/// The agent of the named manifest. `chain` reports errors in that.
fn of_manifest(doctor: &Doctor) -> Option<CommandLine> {
    let path = doctor.manifest.as_ref()?;
    let (user, installed) = home::settings().ok()?;
    Manifest::read(path, &user, &installed).ok()?.agent
}

/// Starts all agents concurrently, and sends each `initialize`.
async fn check_all(targets: &[Target], patience: Duration) -> Result<Vec<Reply>, ChainError> {
    let program = std::env::current_exe()
        .map_err(|error| ChainError::new(format_args!("this program cannot be found: {error}")))?;
    let supervisor = supervise(&program)?;
    let commands = targets.iter().map(|target| target.command.clone());
    let versions = targets.iter().filter_map(Target::version_command).cloned();
    let allowed = supervisor.allow(commands.chain(versions).collect(), 0);
    let mut programs = allowed.map_err(ChainError::new)?;
    let mut versions = programs.split_off(targets.len()).into_iter();
    let mut running = JoinSet::new();
    for (at, (target, program)) in targets.iter().zip(programs).enumerate() {
        let version = target.version_command().and_then(|_| versions.next());
        running.spawn(async move { (at, reply(program, version, patience).await) });
    }
    let mut replies = running.join_all().await;
    replies.sort_by_key(|(at, _)| *at);
    Ok(replies.into_iter().map(|(_, reply)| reply).collect())
}

async fn reply(program: Startable, version: Option<Startable>, patience: Duration) -> Reply {
    let version = async {
        match version {
            Some(version) => runtime::version(version, patience).await,
            None => None,
        }
    };
    let (response, version) = tokio::join!(initialize(program, patience), version);
    Reply { response, version }
}

impl Target {
    /// The command that prints the version of the interpreter, if the agent requires one.
    fn version_command(&self) -> Option<&CommandLine> {
        let runtime = self.runtime.as_ref()?;
        runtime
            .command
            .as_ref()
            .filter(|_| runtime.wanted.is_some())
    }

    /// The findings about its reply; `is_alone` says whether no other agent was started at the same time.
    fn findings(&self, reply: Reply, patience: Duration, is_alone: bool) -> Vec<Finding> {
        let mut findings = vec![self.finding(&reply.response, patience, is_alone)];
        let is_answered = matches!(reply.response.answer, Answer::Result(..));
        findings.extend(self.of_runtime(reply.version.as_ref(), is_answered));
        let shown = command_line(&self.command);
        if reply.response.is_noisy {
            findings.push(
                Finding::note(format!(
                    "`{shown}` writes something other than messages to standard output; acp-chain drops it, but editors may not"
                ))
                .step("report it to its authors; logs belong on standard error"),
            );
        }
        if let Answer::Result(result, _) = &reply.response.answer {
            let ways = logins(result, &self.command);
            findings.extend((!ways.is_empty()).then(|| self.logins(&ways)));
            findings.push(self.hooks());
        }
        findings
    }

    /// Its command line, for a shell.
    fn by_hand(&self) -> String {
        let words = std::iter::once(&self.command.program).chain(&self.command.args);
        let words: Vec<_> = words.map(|word| shell::word(Path::new(word))).collect();
        words.join(" ")
    }

    /// The finding about an agent that answered late.
    fn slow(&self, says: &str, is_alone: bool) -> Finding {
        if !is_alone {
            let others = "other agents were starting at the same time, so ask it alone";
            return Finding::note(format!("{says}; {others}"))
                .run(format!("acp-chain doctor -- {}", self.by_hand()));
        }
        let program = Path::new(&self.command.program).file_stem();
        let is_fetched = program.is_some_and(|name| name == "npx" || name == "uvx");
        let instead = if is_fetched {
            "; install the agent (`acp-chain agent add`) rather than have it fetched"
        } else {
            ""
        };
        let patience = SLOW.as_secs();
        Finding::note(says).step(format!("some editors wait {patience} s only{instead}"))
    }

    fn finding(&self, response: &Response, patience: Duration, is_alone: bool) -> Finding {
        let shown = command_line(&self.command);
        match &response.answer {
            Answer::Result(result, took) => {
                let about = &result["agentInfo"];
                let name = about["name"].as_str();
                let name = name.unwrap_or("an agent that gives no name");
                let version = about["version"].as_str();
                let version = version.map_or(String::new(), |version| format!(" {version}"));
                let protocol = protocol_version(&result["protocolVersion"].to_string());
                let says = format!(
                    "`{shown}` is {}{}, speaks version {} of the protocol, and answered in {:.1} s",
                    quote(name, MAX_QUOTE),
                    quote(&version, MAX_QUOTE),
                    protocol.map_or("?".to_owned(), |version| version.to_string()),
                    took.as_secs_f64()
                );
                match (protocol, *took > SLOW) {
                    (Some(PROTOCOL), false) => Finding::fine(says),
                    (Some(PROTOCOL), true) => self.slow(&says, is_alone),
                    _ => Finding::problem(says).step(format!(
                        "use a version of the agent that speaks version {PROTOCOL}"
                    )),
                }
            }
            Answer::Error(error) => self.refusal(error, &response.stderr),
            Answer::Ended(how) => Finding::problem(format!(
                "`{shown}` {how} before it answered `initialize`"
            ))
            .with_lines(last_lines(&response.stderr))
            .step(format!(
                "run it by hand, and fix what it reports: {}. {}",
                self.by_hand(),
                agent::correction(&self.command).unwrap_or_else(|| {
                    "Some agents need an argument, such as `--acp`, to speak the protocol".to_owned()
                })
            )),
            Answer::Echo => Finding::problem(format!(
                "`{shown}` sends back what it gets: it is no ACP agent"
            ))
            .step(agent::correction(&self.command).unwrap_or_else(|| {
                "name the command of an agent; `acp-chain agent list --available` shows some".to_owned()
            })),
            Answer::Silent => Finding::problem(format!(
                "`{shown}` did not answer `initialize` within {} s, and was ended",
                patience.as_secs()
            ))
            .with_lines(last_lines(&response.stderr))
            .step(agent::correction(&self.command).unwrap_or_else(|| {
                "check whether it waits for a login, the network or an argument such as `--acp`; `--timeout SECONDS` \
                 waits longer"
                    .to_owned()
            })),
            Answer::NotStarted(error) => {
                let finding = Finding::problem(error);
                match error {
                    SpawnError::NotFound { .. } => finding.step(
                        "install it, or give its full path; editors that are started from a desktop have a shorter PATH \
                         than your shell",
                    ),
                    SpawnError::NotRunnable { .. } => finding.step(
                        "make it executable (`chmod +x`), or name the program that runs it before it",
                    ),
                }
            }
        }
    }

    /// The finding about an agent that answers with an error.
    fn refusal(&self, error: &Value, stderr: &str) -> Finding {
        let shown = command_line(&self.command);
        // An acp-chain, such as that for a remote agent, says what to do.
        let ours = error["message"].as_str().unwrap_or_default();
        if let Some(why) = ours.strip_prefix("acp-chain: ") {
            let why = quote(why, MAX_QUOTE);
            return Finding::problem(format!("`{shown}`: {why}"))
                .step("do what this says, then look again");
        }
        Finding::problem(format!(
            "`{shown}` answers `initialize` with an error: {}",
            quote(&error.to_string(), MAX_QUOTE)
        ))
        .with_lines(last_lines(stderr))
        .step("use a version of the agent that speaks the Agent Client Protocol")
    }

    /// The problem with the interpreter, if there is one.
    fn of_runtime(&self, version: Option<&semver::Version>, is_answered: bool) -> Option<Finding> {
        let runtime = self.runtime.as_ref()?;
        let (name, script) = (quote(&runtime.name, MAX_QUOTE), runtime.script.display());
        if runtime.command.is_none() {
            return Some(
                Finding::problem(format!("{script} is run by `{name}`, which was not found")).step(
                    format!(
                        "install `{name}`, or let PATH name its folder where the editor is started"
                    ),
                ),
            );
        }
        let wanted = runtime.wanted.as_deref()?;
        let version = version?;
        if runtime::fits(version, wanted)? {
            return None;
        }
        let says = format!(
            "{script} is run by `{name}` {version}, and its package asks for Node {wanted}"
        );
        let finding = if is_answered {
            Finding::note(says)
        } else {
            Finding::problem(says)
        };
        Some(finding.step(format!("install Node {wanted}, and put it first in PATH")))
    }

    /// Whether the agent's hooks can be attached, and what proxies can do by them.
    fn hooks(&self) -> Finding {
        let identified = match identify(&self.command) {
            Ok(identified) => identified,
            Err(why) => {
                return Finding::fine(format!(
                    "`{}` has no hooks that can be attached, so tools that run without a question pass no proxy: {why}",
                    command_line(&self.command)
                ));
            }
        };
        let reports = identified.check_reports();
        if let Err(why @ NoHooks::OnlyAsks { .. }) = &reports {
            return Finding::fine(why.to_string());
        }
        let agent = identified.agent;
        let does = agent.dialect().map_or(String::new(), |dialect| {
            let (calls, results) = (dialect.calls(), dialect.results());
            let failures = dialect.failures();
            format!("; by them, calls are {calls}; results {results}; results of failed calls {failures}")
        });
        let limit = unchecked_reports().map_or(String::new(), |limit| format!("; {limit}"));
        let says = format!("the hooks of {identified} can be attached{does}{limit}");
        match reports {
            Ok(()) => Finding::fine(says),
            Err(NoHooks::Untried { tried, .. }) => {
                Finding::note(format!("{says}; they are tried with {tried} only"))
                    .step(format!("use one of these versions: {tried}"))
            }
            Err(why) => Finding::note(format!("{says}; but {why}"))
                .step("have the agent start the program that its hooks are tried with"),
        }
    }

    fn logins(&self, ways: &[Login]) -> Finding {
        let says = format!(
            "`{}` may want you to sign in, in one of these ways:",
            command_line(&self.command)
        );
        let names = ways.iter().map(|login| &*login.name);
        let finding = Finding::note(says).with_lines(names);
        match ways.iter().find_map(|login| login.command.as_ref()) {
            Some(command) => finding.run(command),
            None => finding.step(
                "sign in with the agent's own program, as its authors say; `acp-chain try` shows whether that is enough",
            ),
        }
    }
}

/// The end of an agent's output.
fn last_lines(words: &str) -> impl Iterator<Item = &str> {
    let lines: Vec<_> = words
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let first = lines.len().saturating_sub(LINES);
    lines.into_iter().skip(first)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::finding::{Remedy, State};

    /// The finding about an agent that answered after so many seconds.
    fn answered(program: &str, seconds: u64, is_alone: bool) -> Finding {
        let target = Target {
            command: CommandLine {
                program: program.into(),
                args: vec!["--acp".into()],
                env: Vec::new(),
            },
            runtime: None,
        };
        let result = json!({ "protocolVersion": 1 });
        let response = Response {
            answer: Answer::Result(result, Duration::from_secs(seconds)),
            stderr: String::new(),
            is_noisy: false,
        };
        target.finding(&response, Duration::from_secs(20), is_alone)
    }

    #[test]
    fn an_agent_is_not_called_slow_because_others_started_with_it() {
        assert_eq!(answered("gemini", 2, false).state, State::Fine);
        let together = answered("gemini", 15, false);
        assert_eq!(together.state, State::Note);
        let Some(Remedy::Command(command)) = together.remedy else {
            panic!("{together:?}");
        };
        assert_eq!(command, "acp-chain doctor -- gemini --acp");
    }

    #[test]
    fn the_error_of_an_acp_chain_is_told_in_its_own_words() {
        let target = Target {
            command: CommandLine {
                program: "acp-chain".into(),
                args: vec!["connect".into()],
                env: Vec::new(),
            },
            runtime: None,
        };
        let told = |message: &str| target.refusal(&json!({ "message": message }), "");
        let ours = told("acp-chain: http://h/: nothing listens there; check that the server runs");
        assert!(
            ours.says
                .ends_with("`: http://h/: nothing listens there; check that the server runs"),
            "{ours:?}"
        );
        let theirs = told("no");
        assert!(
            theirs.says.ends_with("with an error: {\"message\":\"no\"}"),
            "{theirs:?}"
        );
    }

    #[test]
    fn only_an_agent_that_is_fetched_is_to_be_installed() {
        for (program, is_fetched) in [("/usr/bin/npx", true), ("uvx", true), ("gemini", false)] {
            let alone = answered(program, 15, true);
            let Some(Remedy::Step(step)) = alone.remedy else {
                panic!("{alone:?}");
            };
            assert!(step.starts_with("some editors wait 10 s only"), "{step}");
            assert_eq!(step.contains("install the agent"), is_fetched, "{step}");
        }
    }
}
