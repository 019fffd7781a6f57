//! Commands about what proxies have stored: one file each, and their common parts.

mod list;
mod wipe;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub use self::list::{facts, line, text};
use crate::out::counted;
use crate::{Result, report};
use acp_chain_app::home;
use acp_chain_app::serve::ServeSettings;
use acp_chain_app::serve::kept::Amounts;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_state::{Filter, Namespace};
use acp_chain_system::files::real;

#[derive(Debug, clap::Subcommand)]
pub enum State {
    /// List the proxies that have stored values: for whom, how many, and since when
    List(list::List),
    /// Remove stored values
    Wipe(wipe::Wipe),
}

impl State {
    pub fn main(self) -> ExitCode {
        match self {
            Self::List(list) => report(list.main()),
            Self::Wipe(wipe) => report(wipe.main()),
        }
    }
}

/// Names an owner of values; by default, all are meant.
#[derive(Debug, clap::Args)]
struct OwnerArgs {
    /// The extension whose values they are
    #[arg(value_name = "EXTENSION")]
    extension: Option<String>,
    /// The user of a server whose they are
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// The folder of the project to which they belong
    #[arg(long, value_name = "FOLDER")]
    project: Option<PathBuf>,
}

impl OwnerArgs {
    fn filter(&self) -> Filter {
        Filter {
            extension: self.extension.clone(),
            user: self.user.clone(),
            project: self.project.as_deref().map(root),
        }
    }
}

/// The settings of a server, which name its store.
fn server() -> Result<ServeSettings> {
    Ok(ServeSettings::of(&home::user()?)?)
}

/// The folder of a project as it is stored. One that no longer exists has no other name.
fn root(folder: &Path) -> PathBuf {
    let root = real(folder);
    root.or_else(|_| std::path::absolute(folder))
        .unwrap_or_else(|_| folder.to_owned())
}

/// Whose values they are, in words.
pub fn owner(namespace: &Namespace) -> String {
    let user = match &namespace.user {
        Some(user) => format!("the user {} of a server", quote(user, MAX_QUOTE)),
        None => "you".to_owned(),
    };
    match &namespace.project {
        Some(project) => {
            let project = project.display().to_string();
            format!("{user}, in {}", quote(&project, MAX_QUOTE))
        }
        None => format!("{user}, in every project"),
    }
}

/// A number of values, in words.
fn values(count: u64) -> String {
    counted(count, "value")
}

/// What was spent, in words.
pub fn amounts(spent: &Amounts) -> String {
    let (whole, rest) = (
        spent.cost_millionths / 1_000_000,
        spent.cost_millionths % 1_000_000,
    );
    let minutes = spent.seconds.div_ceil(60);
    let parts = [
        (spent.tokens, counted(spent.tokens, "token")),
        (
            spent.cost_millionths,
            format!("a cost of {whole}.{:02}", rest / 10_000),
        ),
        (spent.tool_calls, counted(spent.tool_calls, "tool call")),
        (minutes, counted(minutes, "minute")),
    ];
    let some = parts.into_iter().filter(|(amount, _)| *amount > 0);
    let words: Vec<_> = some.map(|(_, words)| words).collect();
    if words.is_empty() {
        return "nothing".to_owned();
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_in_words() {
        let spent = |tokens, cost_millionths, tool_calls, seconds| {
            amounts(&Amounts {
                cost_millionths,
                tokens,
                tool_calls,
                seconds,
            })
        };
        assert_eq!(spent(0, 0, 0, 0), "nothing");
        assert_eq!(spent(1, 0, 1, 0), "1 token, 1 tool call");
        assert_eq!(
            spent(7, 1_239_999, 0, 61),
            "7 tokens, a cost of 1.23, 2 minutes"
        );
    }
}
