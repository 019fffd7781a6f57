//! `acp-chain setup`: puts acp-chain in front of an editor's agents, after showing the diff.
//!
//! | file | what it is |
//! |---|---|
//! | `offer` | agents that an editor could get, if it has none that the chain can be put in front of |
//! | `diff` | a change, as it is shown |
//! | `list` | the editors found |
//! | `all` | every editor that is found |
//! | `outcome` | what became of a configuration |

mod all;
mod diff;
mod list;
mod offer;
mod outcome;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::Result;
use acp_chain_setup::{
    Agent, BY_EDITOR, Backups, Change, EDITORS, Editor, Error, Folders, Launch, Runs, agents,
};
use clap::builder::PossibleValuesParser;

use self::diff::show;
use self::offer::Offer;
use self::outcome::Outcome;
use super::extension::consent::agrees;
use acp_chain_app::{home, shell};
use acp_chain_disk as disk;
use acp_chain_doctor::{extensions, setup_command};
use acp_chain_manifest::{Manifest, ProxyEntry};
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};
use acp_chain_system::{UserFiles, files};

#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain setup
  acp-chain setup zed --with rules --with redact
  acp-chain setup zed --undo
  acp-chain setup --all --with redact --print

Exit codes:
  0  the configuration is as you want it, with `--all` each of them
  1  it was not changed: you said no, there is no agent, or because of an error
  2  the command line is wrong")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are the flags that users know"
)]
pub struct Setup {
    /// The editor; by default, list those that are found
    #[arg(group = "whose", value_parser = PossibleValuesParser::new(EDITORS.iter().map(|editor| editor.name)))]
    editor: Option<String>,
    /// Every editor that is found, and each of its configurations; at the end, a line for each says what became of it
    #[arg(long, group = "whose", conflicts_with_all = ["agents", "file"])]
    all: bool,
    /// Only this agent, by its name in the editor's configuration; for Neovim and Emacs, the name of its program. An
    /// agent that is installed by `acp-chain agent add`, or a known one in your PATH, is added if the editor does not
    /// have it, or launches it by itself
    #[arg(long = "agent", value_name = "NAME", requires = "editor")]
    agents: Vec<String>,
    /// Add this extension to the chain in your config.toml for these agents
    #[arg(long, value_name = "EXTENSION", requires = "whose")]
    with: Vec<String>,
    /// The editor's configuration, if it is not in the usual place, or there are several
    #[arg(long, value_name = "FILE", requires = "editor")]
    file: Option<PathBuf>,
    /// Restore the configuration
    #[arg(long, alias = "remove", requires = "whose", conflicts_with_all = ["agents", "with"])]
    undo: bool,
    /// Print what would change, and change nothing
    #[arg(long, alias = "dry-run", requires = "whose", conflicts_with = "yes")]
    print: bool,
    /// Do not ask
    #[arg(long, requires = "whose")]
    yes: bool,
}

impl Setup {
    pub fn main(self) -> Result<ExitCode> {
        let places = Folders::of_user()
            .ok_or("there is no home folder to look for editors in; let HOME name yours")?;
        if self.all {
            return all::main(&self, &places);
        }
        let Some(name) = &self.editor else {
            list::print(&places);
            return Ok(ExitCode::SUCCESS);
        };
        let editor = Editor::named(name).ok_or("there is no such editor")?;
        let outcome = if self.undo {
            self.undo(editor, &places)
        } else {
            self.set_up(editor, &places, self.check_chain()?)
        };
        outcome.map(Outcome::code)
    }

    /// Changes a configuration. `has_chain` says whether the chain has any proxies.
    fn set_up(&self, editor: &Editor, places: &Folders, has_chain: bool) -> Result<Outcome> {
        let program = std::env::current_exe()
            .map_err(|error| wrong!("this program cannot be found: {error}"))?;
        let program = Launch::program(program);
        let launch = Launch::new(&program, self.with.clone()).map_err(shown)?;
        // The editor may have another environment: it would look for the settings elsewhere, and silently run no chain.
        let begun = home::moved_config().filter(|path| !path.exists());
        let config = home::config_file().filter(|path| path.exists());
        let config = config.as_deref().or(begun.as_deref());
        let launch = launch.with_places(config, home::moved_data().as_deref());
        let offer = Offer::new(editor, self);
        if let Some(lines) = offer.lines(&launch) {
            say!(
                "{} has no configuration of agents. Launch one like this:",
                editor.title
            );
            for line in lines {
                say!("  {}", Untrusted::new(line));
            }
            return offer.check().map(|()| Outcome::Typed);
        }
        if self.file.is_none() {
            name_further(editor, places);
        }
        let planned = offer.plan(places, &launch)?;
        for (agent, why) in &planned.left {
            let next = match *why {
                BY_EDITOR => offer.beside(agent, &planned),
                _ => String::new(),
            };
            say!(
                "`{}` stays as it is: it {why}.{next}",
                quote(agent, MAX_QUOTE)
            );
        }
        if let Some(note) = &planned.note {
            say!("{}", Untrusted::new(note));
        }
        let path = Untrusted::new(planned.path.display());
        let Some(change) = &planned.change else {
            if planned.left.is_empty() {
                say!("{path} launches acp-chain like this already.");
            } else {
                say!("There is nothing else to change in {path}.");
            }
            return Ok(Outcome::Same);
        };
        show(change);
        self.warn_of_dropped(editor, &planned.path);
        offer.warn_of_missing(&planned.path);
        if !has_chain {
            say!(
                "There is no proxy of your own in the chain yet: say `--with EXTENSION`, or `acp-chain add EXTENSION`."
            );
        }
        if !self.is_agreed(change)? {
            return Ok(self.unchanged());
        }
        if let Some(config) = &begun {
            begin(config)?;
        }
        offer.install(&planned.added)?;
        backups()?.apply(editor, change).map_err(shown)?;
        let file = match &self.file {
            Some(_) => format!(" --file {}", shell::word(&planned.path)),
            None => String::new(),
        };
        say!(
            "{path} is changed. {} launches acp-chain from its next session on; `acp-chain setup {}{file} --undo` \
             restores the old content.",
            editor.title,
            editor.name
        );
        Ok(Outcome::Changed)
    }

    /// Warns of extensions that only the entries have now, and that this command line does not name.
    fn warn_of_dropped(&self, editor: &Editor, path: &Path) {
        let own = home::own_proxies().unwrap_or_default();
        let is_dropped = |name: &&String| !self.with.contains(name) && !own.contains(name);
        // What cannot be read is an error of the plan.
        let (there, _) = agents(editor, path).unwrap_or_default();
        let is_chosen = |agent: &&Agent| {
            let is_named = self.agents.is_empty() || self.agents.contains(&agent.name);
            is_named && matches!(agent.runs, Runs::Chain)
        };
        for agent in there.iter().filter(is_chosen) {
            for name in extensions(agent).into_iter().filter(is_dropped) {
                let (agent, name) = (quote(&agent.name, MAX_QUOTE), quote(name, MAX_QUOTE));
                say!("! `{agent}` loses `{name}`; `--with {name}` keeps it.");
            }
        }
    }

    fn undo(&self, editor: &Editor, places: &Folders) -> Result<Outcome> {
        let backups = backups()?;
        let undo = backups
            .undo(editor, places, self.file.as_deref())
            .map_err(shown)?;
        let path = Untrusted::new(undo.path.display());
        if let Some(change) = &undo.change {
            show(change);
            if !undo.is_exact {
                say!(
                    "It was edited since: only the entries for acp-chain are removed, and the rest stays."
                );
            }
        }
        if !undo.left.is_empty() {
            let left = undo.left.iter().map(|name| quote(name, MAX_QUOTE));
            let left: Vec<_> = left.map(|name| format!("`{name}`")).collect();
            say!(
                "! {path} still launches acp-chain for {}, where it is not as `acp-chain setup` wrote it: remove it \
                 there, and do this again. Until then, the backup stays.",
                left.join(", ")
            );
        }
        if let Some(change) = &undo.change
            && !self.is_agreed(change)?
        {
            return Ok(self.unchanged());
        }
        if !self.print {
            backups.revert(&undo).map_err(shown)?;
        }
        if !undo.left.is_empty() {
            return Ok(Outcome::Left);
        }
        match (
            undo.change.as_ref().map(|change| &change.after),
            undo.is_exact,
        ) {
            (Some(None), _) => say!("Removed {path}."),
            (_, true) => say!("{path} is as it was before."),
            (_, false) => say!("{path} no longer launches acp-chain."),
        }
        Ok(Outcome::Restored)
    }

    /// Whether the chain has any proxies, besides those of projects. Fails if it cannot run.
    fn check_chain(&self) -> Result<bool> {
        let user = home::user()?;
        if self.with.is_empty() {
            return Ok(user.has_chain());
        }
        let installed = home::installed(&user)?;
        let mut manifest = Manifest::of_user(&user, &installed)?;
        for name in manifest.add(&self.with, &user, &installed)? {
            say!(
                "`{name}` is in your config.toml, so every editor has it: `--with {name}` adds nothing."
            );
        }
        if manifest.proxies.iter().any(ProxyEntry::lacks_rules) {
            say!(
                "`permissions` has no rules, so it decides nothing. They are in your config.toml (`acp-chain add \
                 permissions`); `acp-chain permissions import` and `suggest` make some."
            );
        }
        Ok(true)
    }

    /// The options of this command line that apply to any agent.
    fn options(&self) -> String {
        let option = |name: &str, value: &Path| format!(" --{name} {}", shell::word(value));
        let with = self.with.iter().map(|name| option("with", Path::new(name)));
        let file = self.file.iter().map(|file| option("file", file));
        with.chain(file).collect()
    }

    /// Whether the user agrees to what was just shown.
    fn is_agreed(&self, change: &Change) -> Result<bool> {
        if self.print {
            return Ok(false);
        }
        // Obstacles are reported before the user is asked.
        backup_folder()?;
        change.check().map_err(shown)?;
        agrees(self.yes, "Change it like this?")
    }

    fn unchanged(&self) -> Outcome {
        if self.print {
            Outcome::Printed
        } else {
            Outcome::Declined
        }
    }
}

fn shown(error: Error) -> String {
    Untrusted::new(error).to_string()
}

/// The folder of backups, which can be written.
fn backup_folder() -> Result<PathBuf> {
    home::check_owners()?;
    let folder = home::setups().ok_or_else(|| {
        let step = UserFiles::Data.step(UserFiles::YOURS);
        wrong!("there is no folder to keep a backup in; {step}")
    })?;
    home::check_writable(&folder)?;
    Ok(folder)
}

fn backups() -> Result<Backups> {
    let folder = backup_folder()?;
    files::make_private(&folder)
        .map_err(|error| wrong!("{}: {error}", Untrusted::new(folder.display())))?;
    Ok(Backups::new(folder, disk::write))
}

/// Creates an empty `config.toml`, whose path goes into the configuration of the editor.
fn begin(config: &Path) -> Result<()> {
    let path = Untrusted::new(config.display());
    let folder = config.parent().unwrap_or(config);
    files::make_private(folder)
        .and_then(|()| disk::write(config, b""))
        .map_err(|error| wrong!("{path}: {error}"))?;
    say!("{path} is new and empty: what you put into it applies in every editor.");
    Ok(())
}

/// Names the files with agents that are not changed without `--file`.
fn name_further(editor: &Editor, places: &Folders) {
    for path in editor.further(places) {
        let is_open = |agent: &Agent| matches!(agent.runs, Runs::Other(_));
        if agents(editor, &path).is_ok_and(|(found, _)| found.iter().any(is_open)) {
            say!(
                "{} has agents too, and stays as it is: `{}` puts acp-chain in front of them.",
                Untrusted::new(path.display()),
                setup_command(editor, &path, &[])
            );
        }
    }
}
