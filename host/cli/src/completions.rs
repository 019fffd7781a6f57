//! `acp-chain completions`: shell completions of the command line. Names of extensions, agents and proxies change, so
//! the scripts ask the program for them (`acp-chain complete-names`): the generator gets a placeholder for them, which
//! is replaced in the script by a command substitution of the shell.

use std::fmt::Write as _;
use std::process::ExitCode;

use acp_chain_app::{agent, home};
use acp_chain_extension::{Lock, is_name};
use clap::{Arg, Command, CommandFactory, ValueEnum};
use clap_complete::{Shell, generate};

use super::Cli;
use super::out::print_all;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain completions bash > ~/.local/share/bash-completion/completions/acp-chain
  acp-chain completions zsh > ~/.zfunc/_acp-chain
  acp-chain completions fish > ~/.config/fish/completions/acp-chain.fish
  acp-chain completions powershell | Out-String | Invoke-Expression")]
pub struct Completions {
    /// The shell
    shell: Shell,
}

#[derive(Debug, clap::Args)]
pub struct CompleteNames {
    /// Whose names
    whose: Whose,
}

/// What has names that are completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Whose {
    /// Extensions that are built in or installed.
    Extensions,
    /// Installed agents.
    Agents,
    /// Agents that an editor could get.
    Candidates,
    /// The proxies of the user's own chain.
    Proxies,
}

impl Completions {
    pub fn main(self) -> ExitCode {
        let mut script = Vec::new();
        generate(self.shell, &mut visible(), "acp-chain", &mut script);
        let script = String::from_utf8_lossy(&script).into_owned();
        print_all(with_names(self.shell, script).as_bytes());
        ExitCode::SUCCESS
    }
}

impl CompleteNames {
    /// Prints the names, one a line. What cannot be read has none.
    pub fn main(self) {
        let names = match self.whose {
            Whose::Extensions => extensions().unwrap_or_default(),
            Whose::Agents => agent::names().unwrap_or_default(),
            Whose::Candidates => {
                let candidates = agent::candidates().into_iter();
                candidates.map(|candidate| candidate.name).collect()
            }
            Whose::Proxies => home::own_proxies().unwrap_or_default(),
        };
        // Of other words, bash would run the commands: `compgen` expands what it is given.
        for name in names.iter().filter(|name| is_name(name)) {
            say!("{name}");
        }
    }
}

impl Whose {
    /// What stands for the names in a generated script.
    fn placeholder(self) -> &'static str {
        match self {
            Self::Extensions => "NAMES_OF_EXTENSIONS",
            Self::Agents => "NAMES_OF_AGENTS",
            Self::Candidates => "NAMES_OF_CANDIDATES",
            Self::Proxies => "NAMES_OF_PROXIES",
        }
    }

    /// Its word on the command line.
    fn word(self) -> String {
        let whose = self.to_possible_value().unwrap_or_default();
        whose.get_name().to_owned()
    }

    /// The command that prints the names.
    fn command(self) -> String {
        format!("acp-chain complete-names {} 2>/dev/null", self.word())
    }

    /// Whose name an argument takes.
    fn of(parent: &str, command: &str, arg: &Arg) -> Option<Self> {
        match (parent, command, arg.get_id().as_str()) {
            (_, _, "with")
            | ("acp-chain", "info", "extension")
            | ("acp-chain", "add", "source")
            | ("state", "list" | "wipe", "extension") => Some(Self::Extensions),
            ("acp-chain", "run" | "try" | "dev" | "serve" | "doctor", "name")
            | ("agent", "update", "names")
            | ("agent", "remove", "name") => Some(Self::Agents),
            ("acp-chain", "setup", "agents") => Some(Self::Candidates),
            ("acp-chain", "remove", "name")
            | ("acp-chain", "update", "names")
            | ("trace" | "receipts", "show", "proxy") => Some(Self::Proxies),
            _ => None,
        }
    }
}

/// The command line without hidden commands, which clap would complete, and with placeholders for names.
fn visible() -> Command {
    let whole = Cli::command();
    let commands = whole
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
        .map(|command| named("acp-chain", command.clone()));
    Command::new("acp-chain")
        .version(env!("CARGO_PKG_VERSION"))
        .args(whole.get_arguments())
        .subcommands(commands)
}

/// A command with placeholders for the names that its arguments take.
fn named(parent: &str, command: Command) -> Command {
    let name = command.get_name().to_owned();
    command
        .mut_args(|arg| match Whose::of(parent, &name, &arg) {
            Some(whose) => arg.value_parser([whose.placeholder()]),
            None => arg,
        })
        .mut_subcommands(|inner| named(&name, inner))
}

/// A script with the names in place of the placeholders.
fn with_names(shell: Shell, generated: String) -> String {
    let mut script = generated;
    for whose in Whose::value_variants() {
        let (placeholder, command) = (whose.placeholder(), whose.command());
        script = match shell {
            Shell::Fish => script.replace(&format!("{placeholder}\\t''"), &format!("({command})")),
            // In a text in quotes for bash; evaluated by zsh when it completes.
            _ => script.replace(placeholder, &format!("$({command})")),
        };
    }
    match shell {
        // clap_complete gives a program with a hyphen two names, and then finds no options of commands:
        // https://github.com/clap-rs/clap/issues/6421
        Shell::Bash => script.replace("acp__subcmd__chain", "acp__chain"),
        Shell::Fish => script + &fish_positionals(),
        Shell::PowerShell => with_names_in_powershell(&script),
        _ => script,
    }
}

/// The names that fish completes without an option, for which clap generates nothing.
fn fish_positionals() -> String {
    let mut lines = String::new();
    let whole = visible();
    for command in whole.get_subcommands() {
        add_positionals(&mut lines, "acp-chain", command, command.get_name());
        for inner in command.get_subcommands() {
            let path = format!(
                "{}; and __fish_seen_subcommand_from {}",
                command.get_name(),
                inner.get_name()
            );
            add_positionals(&mut lines, command.get_name(), inner, &path);
        }
    }
    lines
}

fn add_positionals(lines: &mut String, parent: &str, command: &Command, path: &str) {
    for arg in command.get_positionals() {
        if let Some(whose) = Whose::of(parent, command.get_name(), arg) {
            let names = whose.command();
            let _ = writeln!(
                lines,
                "complete -c acp-chain -n \"__fish_acp_chain_using_subcommand {path}\" -a \"({names})\""
            );
        }
    }
}

/// Where a script for PowerShell has all completions, and chooses from them.
const CHOOSES: &str = "    $completions.Where{";

/// A script for PowerShell that adds names to the completions, by the command and the word before the one that is typed.
fn with_names_in_powershell(script: &str) -> String {
    let mut cases = String::new();
    for command in visible().get_subcommands() {
        add_cases(&mut cases, "acp-chain", "acp-chain", command);
    }
    let names = format!(
        "    $before = @($commandElements | Where-Object {{ $_.Extent.EndOffset -lt $cursorPosition }})
    $whose = switch (\"$command $($before[-1])\") {{
{cases}    }}
    foreach ($name in @(if ($whose) {{ acp-chain complete-names $whose 2>$null }})) {{
        $completions += [CompletionResult]::new($name, $name, [CompletionResultType]::ParameterValue, $name)
    }}

"
    );
    script.replacen(CHOOSES, &(names + CHOOSES), 1)
}

/// Adds whose names a command takes behind its own word and its options, and its subcommands. `path` has the words up to
/// its parent.
fn add_cases(cases: &mut String, parent: &str, path: &str, command: &Command) {
    let own = command.get_name();
    let path = format!("{path};{own}");
    for arg in command.get_arguments() {
        let Some(whose) = Whose::of(parent, own, arg) else {
            continue;
        };
        let before = arg
            .get_long()
            .map_or_else(|| own.to_owned(), |long| format!("--{long}"));
        let _ = writeln!(cases, "        '{path} {before}' {{ '{}' }}", whose.word());
    }
    for inner in command.get_subcommands() {
        add_cases(cases, own, &path, inner);
    }
}

/// The built-in extensions, and those that the lock beside the user's settings names.
fn extensions() -> crate::Result<Vec<String>> {
    let carried = home::carried()?;
    let mut names: Vec<_> = carried.iter().map(|carried| carried.name.clone()).collect();
    if let Some(config) = home::config_file() {
        let lock = Lock::read(&Lock::beside(&config))?;
        names.extend(lock.extensions().map(|locked| locked.name.clone()));
    }
    Ok(names)
}
