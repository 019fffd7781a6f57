//! `acp-chain completions`: shell completions of the command line.

use std::process::ExitCode;

use clap::{Command, CommandFactory};
use clap_complete::{Shell, generate};

use super::Cli;
use super::out::print_all;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain completions bash > ~/.local/share/bash-completion/completions/acp-chain
  acp-chain completions zsh > ~/.zfunc/_acp-chain
  acp-chain completions fish > ~/.config/fish/completions/acp-chain.fish
  acp-chain completions powershell >> $PROFILE")]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub fn main(self) -> ExitCode {
        let mut script = Vec::new();
        generate(self.shell, &mut visible(), "acp-chain", &mut script);
        let mut script = String::from_utf8_lossy(&script).into_owned();
        if self.shell == Shell::Bash {
            // clap_complete gives a program with a hyphen two names, and then finds no options of commands:
            // https://github.com/clap-rs/clap/issues/6421
            script = script.replace("acp__subcmd__chain", "acp__chain");
        }
        print_all(script.as_bytes());
        ExitCode::SUCCESS
    }
}

/// The command line without hidden commands, which clap would complete.
fn visible() -> Command {
    let whole = Cli::command();
    let commands = whole
        .get_subcommands()
        .filter(|command| !command.is_hide_set());
    Command::new("acp-chain")
        .version(env!("CARGO_PKG_VERSION"))
        .args(whole.get_arguments())
        .subcommands(commands)
}
