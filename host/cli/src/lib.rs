//! The command line: one file per subcommand.

#[macro_use]
mod out;

mod agent;
mod author;
mod check;
mod colours;
mod completions;
mod conformance;
mod connect;
mod demo;
mod dev;
mod doctor;
mod extension;
mod groups;
mod inspect;
mod launched;
mod limits;
mod log;
mod man;
mod mcp_shim;
mod misread;
mod path;
mod permissions;
mod powers;
mod progress;
mod project;
mod receipts;
mod recordings;
mod replay;
mod run;
mod scan;
mod self_test;
mod self_update;
mod serve;
mod setup;
mod state;
mod test;
#[cfg(test)]
mod tests;
mod top;
mod trace;
mod trust;
mod r#try;
mod welcome;

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::{ExitCode, Termination};

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use acp_chain_app::receipts as keep_receipts;
use acp_chain_app::serve::{keys, store};
use acp_chain_app::{ChainError, compile, home, otel, values};
use acp_chain_hooks::hook;
use acp_chain_interactive::typed::edit_lines;
use acp_chain_system::{Supervisor, blocking, supervisor};

/// An error, as text for the user: those of our crates are typed, and end here.
type Error = Box<dyn std::error::Error + Send + Sync>;

type Result<T, E = Error> = std::result::Result<T, E>;

/// Puts sandboxed proxies between an editor and its coding agent (Agent Client Protocol).
#[derive(Debug, Parser)]
#[command(
    name = "acp-chain",
    version,
    after_help = "\
Examples:
  acp-chain demo
  acp-chain try --with redact -- claude-agent-acp
  acp-chain setup zed --with rules --with redact
  acp-chain run --with rules --with redact -- claude-agent-acp

Exit codes, unless the help of a command lists its own:
  0  success
  1  failure, with a reason
  2  the command line is wrong, or the output cannot be written

Environment:
  ACP_CHAIN_LOG             what to log, unless the command line says it
  ACP_CHAIN_TRACE           the trace of `run`, `serve`, `try` and `dev`, unless the command line names one
  ACP_CHAIN_TRACE_BODIES    1: secrets stay in that trace
  ACP_CHAIN_CONNECT_TOKEN   the token for the agent of `--connect`, unless `--connect-token-file` is given
  ACP_CHAIN_LIVE            0: running chains cannot be watched
  ACP_CHAIN_NODE            the prefix of connection ids, unless `serve` has `--node`
  ACP_CHAIN_STORE_PASSWORD  the password for the `store` of `serve`, unless `store-password` names a file
  ACP_CHAIN_OTEL_HOPS       1: also export a span for each decision of a proxy
  ACP_CHAIN_OTEL_PROPAGATE  1: agents receive the exported span of their turn
  OTEL_*                    what chains export with OpenTelemetry, and where to; nothing without them
  NO_COLOR                  no colours, unless empty
  CLICOLOR_FORCE            colours even without a terminal, unless 0
  CLICOLOR                  0: no colours"
)]
struct Cli {
    /// What to log, e.g. `debug` or `acp_chain=trace`; by default `info`
    #[arg(
        long,
        global = true,
        value_name = "FILTER",
        env = "ACP_CHAIN_LOG",
        display_order = 100
    )]
    log: Option<String>,
    /// Append the log to this file; by default, it goes to standard error with `--log`, and otherwise
    /// to the user's own log
    #[arg(long, global = true, value_name = "FILE", value_parser = path::path(), display_order = 101)]
    log_file: Option<PathBuf>,
    /// Your settings and your chain, which must be there; by default, `config.toml` in your folder of settings, if it
    /// is there
    #[arg(long, global = true, value_name = "FILE", value_parser = path::path(), display_order = 102)]
    settings: Option<PathBuf>,
    /// What you have installed, and decided about projects; by default, it is in your folder of data
    #[arg(long, global = true, value_name = "FOLDER", value_parser = path::path(), display_order = 103)]
    data: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// See two turns pass a chain, with what its proxies redact and refuse; needs no agent and no editor
    Demo(demo::Demo),
    /// Serve an editor on standard input and output
    Run(run::Run),
    /// Take turns with an agent in the terminal, without an editor, and see what each proxy does with the
    /// messages
    Try(r#try::Try),
    /// Validate a manifest and its components, and print the chain; only guards are started, unless with `--start`
    Check(check::Check),
    /// Check the installation and the chain here, and say what does not work and how to fix it
    Doctor(doctor::Doctor),
    /// Run what acp-chain promises on this machine, and say of each promise whether it holds; needs no agent and no
    /// editor
    #[command(after_help = self_test::HELP)]
    SelfTest,
    /// Create a project for an extension, in a new folder
    New(author::new::New),
    /// Build the extension of a project
    Build(author::build::Build),
    /// Update a project to the SDK and the interface of this version
    Sdk(author::sdk::Sdk),
    /// Build a project whenever its sources change, and swap the result into the running chain
    Dev(dev::Dev),
    /// Play transcripts against proxies, and show the differences
    Test(test::Test),
    /// Check that a component withstands what every proxy must
    Conformance(conformance::Conformance),
    /// Print what an extension is and what it asks for
    Info(extension::info::Info),
    /// Make an extension from a component: embed its project's metadata
    Package(extension::package::Package),
    /// Make a copy of this program with built-in extensions, ready to run
    Bundle(extension::bundle::Bundle),
    /// Install an extension, and add it to the manifest
    Add(extension::add::Add),
    /// Remove an extension from the manifest
    Remove(extension::remove::Remove),
    /// Print the extensions of a manifest
    List(extension::list::List),
    /// Check extensions for newer versions; those that ask for more than before wait for your approval
    Update(extension::update::Update),
    /// Fetch exactly what is locked
    Install(extension::install::Install),
    /// Upload an extension to a registry
    Publish(extension::publish::Publish),
    /// Remove components that no lock names any longer
    #[command(after_help = "Examples:\n  acp-chain gc")]
    Gc,
    /// Install agents by name, for `acp-chain run NAME`: `add`, `list`, `update`, `remove`
    #[command(
        subcommand,
        after_help = "\
Examples:
  acp-chain agent list --available
  acp-chain agent add gemini
  acp-chain agent add mine -- my-agent --acp
  acp-chain agent update"
    )]
    Agent(agent::Agent),
    /// Examine a recording of `--trace`: `show`, `check`, `diff`, `export`
    #[command(
        subcommand,
        after_help = "\
Examples:
  acp-chain trace show trace.jsonl --session 1f3a
  acp-chain trace check trace.jsonl
  acp-chain trace diff before.jsonl after.jsonl
  acp-chain trace export --to otlp trace.jsonl

Exit codes:
  0  nothing is wrong, or nothing differs
  1  something is wrong, or differs
  2  the command line is wrong, or a trace cannot be read"
    )]
    Trace(trace::Trace),
    /// Examine the receipts of `--receipts`: `verify`, `show`, `export`
    #[command(
        subcommand,
        after_help = "\
Examples:
  acp-chain receipts verify receipts
  acp-chain receipts verify receipts --witness kept.txt
  acp-chain receipts show receipts --session 1f3a
  acp-chain receipts export receipts --to csv

Exit codes:
  0  the log is as it was written
  1  it is not
  2  the command line is wrong, or a file cannot be read"
    )]
    Receipts(receipts::ReceiptsCommand),
    /// Watch running chains: what their proxies do, how long they take, and whether they fail
    Top(top::Top),
    /// Serve the chain over HTTP and WebSocket, a chain and an agent for each client
    Serve(serve::Serve),
    /// Make a token that admits a client to `acp-chain serve`
    ServeToken(serve::token::ServeToken),
    /// Play one side of a recording of `--trace`, and say where the other side differs
    Replay(replay::Replay),
    /// Show in your browser what a chain does, live or from a trace
    Inspect(inspect::Inspect),
    /// Play what agents have recorded on this machine through a chain, and say what would have happened
    Scan(scan::Scan),
    /// Decide whether the proxies of a project may run
    Trust(trust::Trust),
    /// Show or remove what proxies have stored: `list`, `wipe`
    #[command(
        subcommand,
        after_help = "\
Examples:
  acp-chain state list
  acp-chain state wipe brake --project .
  acp-chain state wipe --all"
    )]
    State(state::State),
    /// Explain what rules decide, and make rules of those that agents have, or of what they ran: `explain`, `import`,
    /// `suggest`
    #[command(
        subcommand,
        after_help = "\
Examples:
  acp-chain permissions import claude
  acp-chain permissions suggest
  acp-chain permissions explain trace.jsonl:42
  acp-chain permissions explain request.json --manifest acp-chain.toml"
    )]
    Permissions(permissions::Permissions),
    /// Put acp-chain in front of an editor's agents, in its configuration, or list the editors that are found
    Setup(setup::Setup),
    /// Print every limit of a proxy: its key, its default, and how far a manifest may raise it
    Limits(limits::LimitsCommand),
    /// Print every power that a proxy can have: what it allows, and how dangerous that is
    Powers(powers::Powers),
    /// Replace this program by a newer release, if it is signed
    SelfUpdate(self_update::SelfUpdate),
    /// Print the completions of the command line for a shell
    Completions(completions::Completions),
    /// Print the manual page, or write one for each command
    Man(man::Man),
    /// Print names for the completions of a shell, which start this; not for people
    #[command(hide = true)]
    CompleteNames(completions::CompleteNames),
    /// Play the agent of `acp-chain demo`, which starts this; not for people
    #[command(hide = true)]
    DemoAgent(demo::agent::DemoAgent),
    /// Play a part of `acp-chain self-test`, which starts this; not for people
    #[command(hide = true)]
    SelfTestPart { words: Vec<OsString> },
    /// Connect an agent's MCP client to a server in the chain; started by agents, not by people
    #[command(hide = true)]
    McpShim,
    /// Report an event of an agent's hooks to `acp-chain run`; started by agents, not by people
    #[command(hide = true)]
    Hook { words: Vec<OsString> },
    /// Reach a remote agent for `acp-chain run --connect`, which starts this; not for people
    #[command(hide = true)]
    Connect(connect::Connect),
    /// Export the trace of `acp-chain run`, which starts this, with OpenTelemetry; not for people
    #[command(hide = true)]
    ExportOtel,
    /// Write the receipts of a running chain, which starts this; not for people
    #[command(hide = true)]
    KeepReceipts,
    /// Load and store the values of proxies for a running chain, which starts this; not for people
    #[command(hide = true)]
    KeepValues,
    /// Have the store of replicas for `acp-chain serve`, which starts this; not for people
    #[command(hide = true)]
    KeepStore,
    /// Let a user edit lines for `acp-chain try`, which starts this; not for people
    #[command(hide = true)]
    EditLines,
    /// Watch files of tokens and keys of issuers for `acp-chain serve`, which starts this; not for
    /// people
    #[command(hide = true)]
    WatchKeys,
    /// Compile a component for other commands, which start this; not for people
    #[command(hide = true)]
    Compile,
    /// Start and end programs for `acp-chain run`, which starts this; not for people
    #[command(hide = true)]
    Supervise,
    /// Find projects for `acp-chain run`, which starts this; not for people
    #[command(hide = true)]
    FindProjects(project::FindProjects),
    /// Run the proxies of a project for `acp-chain run`, which starts this; not for people
    #[command(hide = true)]
    ProjectChain(project::ProjectChain),
}

impl Command {
    /// Whether it runs unattended, so that the log is the only place for its messages.
    fn is_unattended(&self) -> bool {
        matches!(
            self,
            Self::Run(_)
                | Self::Try(_)
                | Self::Dev(_)
                | Self::Serve(_)
                | Self::ExportOtel
                | Self::KeepReceipts
                | Self::KeepValues
                | Self::KeepStore
                | Self::EditLines
                | Self::WatchKeys
                | Self::FindProjects(_)
                | Self::ProjectChain(_)
        )
    }
}

/// The exit code if standard output cannot be written.
const UNPRINTED: u8 = 2;

/// Runs the command line.
pub fn main() -> ExitCode {
    let code = dispatch();
    let Some(error) = out::unwritten() else {
        return code;
    };
    tell!("acp-chain: standard output cannot be written: {error}");
    ExitCode::from(UNPRINTED)
}

/// Parses a command line.
fn parse(args: &[OsString]) -> Result<Cli, clap::Error> {
    let matches = groups::grouped(Cli::command()).try_get_matches_from(args)?;
    Cli::from_arg_matches(&matches)
}

fn dispatch() -> ExitCode {
    let args: Vec<_> = std::env::args_os().collect();
    let command = args.get(1).and_then(|command| command.to_str());
    // An editor waits for these, and an agent for the second, so they start first.
    if command == Some("supervise") {
        return supervisor::main();
    }
    if command == Some("hook") {
        return hook::main(args.iter().skip(2).cloned(), blocking::connect);
    }
    if args.len() == 1 && has_terminal() {
        colours::decide();
        return welcome::main();
    }
    let serves_editor = command == Some("run") && !has_terminal();
    let early = serves_editor.then(|| Supervisor::fork().ok()).flatten();
    let cli = match parse(&args) {
        Ok(cli) => cli,
        Err(error) => {
            // A request for help is not an error, and is not meant for the agent.
            let may_be_appended = error.use_stderr() && has_terminal();
            let Some(appended) = may_be_appended.then(|| with_appended(&args)).flatten() else {
                return misread::report(error, command);
            };
            appended
        }
    };
    let (log, failed) = match begin(&cli, serves_editor) {
        Ok(begun) => begun,
        Err(error) => return report_as(2, Err::<(), _>(error)),
    };
    let logging = logging(&cli);
    match cli.command {
        Command::Run(mut run) => {
            (run.logging, run.failed) = (logging, failed);
            run.main(log, early)
        }
        Command::Demo(demo) => report(demo.main()),
        Command::DemoAgent(agent) => report(agent.main()),
        Command::Doctor(doctor) => doctor.main(cli.log_file),
        Command::SelfTest => report(self_test::main()),
        Command::SelfTestPart { words } => acp_chain_self_test::part(&words),
        Command::Try(mut tried) => {
            tried.run.logging = logging;
            tried.main(log)
        }
        Command::New(new) => report(new.main()),
        Command::Build(build) => report(build.main()),
        Command::Sdk(sdk) => report(sdk.main()),
        Command::Dev(dev) => dev.main(log),
        Command::Test(test) => test.main(),
        Command::Conformance(conformance) => report_as(2, conformance.main().map(code_if)),
        Command::Info(info) => report(info.main()),
        Command::Package(package) => report(package.main()),
        Command::Bundle(bundle) => report(bundle.main()),
        Command::Limits(limits) => report(limits.main()),
        Command::Powers(powers) => {
            powers.main();
            ExitCode::SUCCESS
        }
        Command::Completions(completions) => completions.main(),
        Command::CompleteNames(names) => {
            names.main();
            ExitCode::SUCCESS
        }
        Command::Man(man) => report(man.main()),
        Command::Check(check) => report(check.main(cli.log_file).map(code_if)),
        Command::Add(add) => report(add.main()),
        Command::Remove(remove) => report(remove.main()),
        Command::List(list) => report(list.main()),
        Command::Update(update) => report(update.main()),
        Command::Install(install) => report(install.main()),
        Command::Publish(publish) => report(publish.main()),
        Command::Gc => report(extension::gc::main()),
        Command::McpShim => report(mcp_shim::main()),
        Command::Hook { words } => hook::main(words, blocking::connect),
        Command::Connect(connect) => report(connect.main()),
        Command::ExportOtel => code_if(otel::serve()),
        Command::KeepReceipts => code_if(keep_receipts::serve()),
        Command::KeepValues => code_if(values::serve()),
        Command::KeepStore => code_if(store::serve()),
        Command::EditLines => code_if(edit_lines::main()),
        Command::Supervise => supervisor::main(),
        Command::Compile => code_if(compile::serve().is_ok()),
        Command::Agent(agent) => agent.main(),
        Command::Trace(trace) => trace.main(),
        Command::Receipts(receipts) => receipts.main(),
        Command::Permissions(permissions) => report(permissions.main()),
        Command::Top(top) => report(top.main()),
        Command::Serve(serve) => report_chain(serve.main(log)),
        Command::ServeToken(token) => report(token.main()),
        Command::WatchKeys => report_as(2, keys::serve().map_err(Error::from)),
        Command::Replay(replay) => replay.main(),
        Command::Inspect(inspect) => inspect.main(),
        Command::Scan(scan) => report(scan.main()),
        Command::Trust(trust) => report(trust.main()),
        Command::State(state) => state.main(),
        Command::Setup(setup) => report(setup.main()),
        Command::SelfUpdate(update) => report(update.main()),
        Command::FindProjects(find) => report(find.main()),
        Command::ProjectChain(chain) => chain.main(log),
    }
}

/// As [`prepare`]. To an editor, an error is returned for the chain, which does not start: editors show the answer to
/// `initialize`, and few of them standard error.
fn begin(cli: &Cli, serves_editor: bool) -> Result<(Option<PathBuf>, Option<ChainError>)> {
    match prepare(cli) {
        Err(error) if serves_editor => Ok((None, Some(ChainError::misuse(error)))),
        done => Ok((done?, None)),
    }
}

/// Applies the options of all commands. Returns the file of the log, if there is one.
fn prepare(cli: &Cli) -> Result<Option<PathBuf>> {
    if let Some(settings) = &cli.settings {
        home::name_config(settings).map_err(|error| wrong!("--settings: {error}"))?;
    }
    if let Some(data) = &cli.data {
        home::name_data(data).map_err(|error| wrong!("--data: {error}"))?;
    }
    colours::decide();
    // `doctor` reads the log, and must not start one.
    let is_logged = !matches!(cli.command, Command::Doctor(_))
        && (cli.command.is_unattended() || cli.log.is_some() || cli.log_file.is_some());
    if !is_logged {
        return Ok(None);
    }
    log::start(cli.log.as_deref(), cli.log_file.clone())
}

/// Reports the error of a command, if it failed. Returns the exit code: on success, the one that the command chose.
fn report(done: Result<impl Termination>) -> ExitCode {
    report_as(1, done)
}

/// Reports why a chain does not run, if so. Returns the exit code.
fn report_chain(done: Result<impl Termination, ChainError>) -> ExitCode {
    let code = done.as_ref().map_or_else(|error| error.exit_code, |_| 0);
    report_as(code, done.map_err(Error::from))
}

/// As [`report`], with this exit code for a failure.
fn report_as(failure: u8, done: Result<impl Termination>) -> ExitCode {
    match done {
        Ok(done) => done.report(),
        Err(error) => {
            tell!("acp-chain: {error}");
            ExitCode::from(failure)
        }
    }
}

/// Reports the failure of one of several, which does not stop the others. Returns whether there was none.
fn report_one(name: &str, done: Result<()>) -> bool {
    let done = done.inspect_err(|error| tell!("acp-chain: `{name}`: {error}"));
    done.is_ok()
}

/// The exit code of a command that has reported its failures.
fn code_if(succeeded: bool) -> ExitCode {
    ExitCode::from(u8::from(!succeeded))
}

/// The log settings of this command line, and the files that it names, for another process of ours, which inherits the
/// environment.
fn logging(cli: &Cli) -> Vec<OsString> {
    let filter = cli
        .log
        .iter()
        .flat_map(|filter| ["--log".into(), filter.into()]);
    let file = cli.log_file.as_ref();
    let file = file
        .into_iter()
        .flat_map(|file| ["--log-file".into(), file.into()]);
    filter.chain(file).chain(home::named()).collect()
}

/// Whether this runs in a terminal: then a user has started it, not an editor.
fn has_terminal() -> bool {
    io::stdin().is_terminal() && out::is_terminal()
}

/// A command line to which an editor has appended arguments for the agent.
fn with_appended(args: &[OsString]) -> Option<Cli> {
    let mut beginnings = (1..args.len()).rev().map(|end| args.split_at(end));
    beginnings.find_map(|(ours, appended)| {
        let mut cli = parse(ours).ok()?;
        let Command::Run(run) = &mut cli.command else {
            return None;
        };
        run.appended = appended.to_vec();
        Some(cli)
    })
}
