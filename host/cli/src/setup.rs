//! `acp-chain setup`: puts acp-chain in front of an editor's agents, after showing the diff.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::Result;
use acp_chain_setup::{
    Agent, Change, EDITORS, Editor, Error, Folders, Launch, Runs, Store, Wanted, agents, plan,
    typed,
};
use clap::builder::PossibleValuesParser;
use similar::{ChangeTag, TextDiff};

use super::extension::consent::agrees;
use acp_chain_app::{agent, home, shell};
use acp_chain_disk as disk;
use acp_chain_doctor::setup_command;
use acp_chain_manifest::Manifest;
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};
use acp_chain_system::files;

/// How many lines of context a diff shows.
const CONTEXT: usize = 2;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain setup
  acp-chain setup zed --with rules --with redact
  acp-chain setup zed --undo

Exit codes:
  0  the configuration is as you want it
  1  it was not changed, because you said no or because of an error
  2  the command line is wrong")]
pub struct Setup {
    /// The editor; by default, list those that are found
    #[arg(value_parser = PossibleValuesParser::new(EDITORS.iter().map(|editor| editor.name)))]
    editor: Option<String>,
    /// Only this agent, by its name in the editor's configuration; for Neovim and Emacs, the name of its program. An
    /// agent installed by `acp-chain agent add` that the editor does not have is added
    #[arg(long = "agent", value_name = "NAME", requires = "editor")]
    agents: Vec<String>,
    /// Add this extension to the chain in your config.toml for these agents
    #[arg(long, value_name = "EXTENSION", requires = "editor")]
    with: Vec<String>,
    /// The editor's configuration, if it is not in the usual place, or there are several
    #[arg(long, value_name = "FILE", requires = "editor")]
    file: Option<PathBuf>,
    /// Restore the configuration
    #[arg(long, requires = "editor", conflicts_with_all = ["agents", "with"])]
    undo: bool,
    /// Print what would change, and change nothing
    #[arg(long, requires = "editor", conflicts_with = "yes")]
    print: bool,
    /// Do not ask
    #[arg(long, requires = "editor")]
    yes: bool,
}

impl Setup {
    pub fn main(self) -> Result<ExitCode> {
        let places = Folders::of_user().ok_or("there is no home folder to look for editors in")?;
        let Some(name) = &self.editor else {
            list(&places);
            return Ok(ExitCode::SUCCESS);
        };
        let editor = Editor::named(name).ok_or("there is no such editor")?;
        if self.undo {
            self.undo(editor, &places)
        } else {
            self.set_up(editor, &places)
        }
    }

    fn set_up(&self, editor: &Editor, places: &Folders) -> Result<ExitCode> {
        let has_chain = self.check_chain()?;
        let program = std::env::current_exe()
            .map_err(|error| wrong!("this program cannot be found: {error}"))?;
        let program = Launch::program(program);
        let launch = Launch::new(&program, self.with.clone()).map_err(shown)?;
        // The editor may have another environment: it would look for the settings elsewhere, and silently run no chain.
        let begun = home::moved_config().filter(|path| !path.exists());
        let config = home::config_file().filter(|path| path.exists());
        let config = config.as_deref().or(begun.as_deref());
        let launch = launch.with_places(config, home::moved_data().as_deref());
        let wanted = Wanted {
            file: self.file.clone(),
            agents: self.agents.clone(),
            // Errors in the folder of agents are reported when an installed agent is needed.
            installed: agent::names().unwrap_or_default(),
        };
        if let Some(lines) = typed(editor, &wanted, &launch) {
            say!(
                "{} has no configuration of agents. Launch one like this:",
                editor.title
            );
            for line in lines {
                say!("  {}", Untrusted::new(line));
            }
            return Ok(ExitCode::SUCCESS);
        }
        if self.file.is_none() {
            name_further(editor, places);
        }
        let planned = plan(editor, places, &wanted, &launch);
        let planned = planned.map_err(|error| {
            let next = self.with_installed(editor, places, &wanted, &launch, &error);
            shown(error) + &next
        })?;
        for name in &planned.added {
            agent::installed(name)?;
        }
        for (agent, why) in &planned.left {
            say!("`{}` stays as it is: it {why}.", quote(agent, MAX_QUOTE));
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
            return Ok(ExitCode::SUCCESS);
        };
        show(change);
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
        store()?.apply(editor, change).map_err(shown)?;
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
        Ok(ExitCode::SUCCESS)
    }

    fn undo(&self, editor: &Editor, places: &Folders) -> Result<ExitCode> {
        let store = store()?;
        let undo = store
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
            store.revert(&undo).map_err(shown)?;
        }
        if !undo.left.is_empty() {
            return Ok(ExitCode::FAILURE);
        }
        match (
            undo.change.as_ref().map(|change| &change.after),
            undo.is_exact,
        ) {
            (Some(None), _) => say!("Removed {path}."),
            (_, true) => say!("{path} is as it was before."),
            (_, false) => say!("{path} no longer launches acp-chain."),
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Suggests to add the only installed agent, if the configuration has no agents, and this would work.
    fn with_installed(
        &self,
        editor: &Editor,
        places: &Folders,
        wanted: &Wanted,
        launch: &Launch,
        error: &Error,
    ) -> String {
        let has_none = matches!(error, Error::NoAgents { .. } | Error::NotFound { .. });
        let [only] = &wanted.installed[..] else {
            return String::new();
        };
        let with_it = Wanted {
            agents: vec![only.clone()],
            ..wanted.clone()
        };
        if !has_none || editor.is_code() || plan(editor, places, &with_it, launch).is_err() {
            return String::new();
        }
        let option = |name: &str, value: &Path| format!(" --{name} {}", shell::word(value));
        let with = self.with.iter().map(|name| option("with", Path::new(name)));
        let file = self.file.iter().map(|file| option("file", file));
        let options: String = with.chain(file).collect();
        format!(
            ". `{only}` is installed, and `acp-chain setup {} --agent {only}{options}` adds it",
            editor.name
        )
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
        Ok(true)
    }

    /// Whether the user agrees to what was just shown.
    fn is_agreed(&self, change: &Change) -> Result<bool> {
        if self.print {
            return Ok(false);
        }
        change.check().map_err(shown)?;
        agrees(self.yes, "Change it like this?")
    }

    fn unchanged(&self) -> ExitCode {
        if self.print {
            return ExitCode::SUCCESS;
        }
        say!("Nothing was changed.");
        ExitCode::FAILURE
    }
}

fn shown(error: Error) -> String {
    Untrusted::new(error).to_string()
}

/// The store of backups.
fn store() -> Result<Store> {
    home::check_owners()?;
    let folder = home::setups().ok_or(
        "there is no folder to keep a backup in; let XDG_DATA_HOME name a folder of yours",
    )?;
    files::make_private(&folder)
        .map_err(|error| wrong!("{}: {error}", Untrusted::new(folder.display())))?;
    Ok(Store::new(folder, disk::write))
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

/// Prints a change as a diff.
fn show(change: &Change) {
    let path = Untrusted::new(change.path.display());
    say!("--- {path}{}", missing(change.before.as_ref()));
    say!("+++ {path}{}", missing(change.after.as_ref()));
    let before = change.before.as_deref().unwrap_or_default();
    let after = change.after.as_deref().unwrap_or_default();
    let diff = TextDiff::from_lines(before, after);
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        say!("{}", hunk.header());
        for change in hunk.iter_changes() {
            let mark = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            let line = change.value().trim_end_matches(['\n', '\r']);
            say!("{mark}{}", quote(&line.replace('\t', "    "), MAX_QUOTE));
        }
    }
}

fn missing(text: Option<&String>) -> &'static str {
    match text {
        Some(_) => "",
        None => " (is not there)",
    }
}

/// Prints the editors found, and what each launches.
fn list(places: &Folders) {
    let mut is_any = false;
    for editor in &EDITORS {
        let found = editor.found(places);
        for path in &editor.everywhere(places) {
            is_any = true;
            say!("{}: {}", editor.title, Untrusted::new(path.display()));
            one(editor, path, &setup_command(editor, path, &found));
        }
        if let Some(program) = editor.program() {
            is_any = true;
            say!("{}: {}", editor.title, Untrusted::new(program.display()));
            say!(
                "  takes the agent to launch on its command line: `acp-chain setup {}`",
                editor.name
            );
        }
    }
    if !is_any {
        let names: Vec<_> = EDITORS.iter().map(|editor| editor.title).collect();
        say!(
            "No configuration of an editor was found; these are known: {}.",
            names.join(", ")
        );
        say!("`acp-chain setup EDITOR --file FILE` takes one that is elsewhere.");
    }
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

/// What one configuration launches, and the command that changes it.
fn one(editor: &Editor, path: &Path, setup: &str) {
    let (found, is_chained) = match agents(editor, path) {
        Ok(found) => found,
        Err(error) => {
            say!("  {}", Untrusted::new(error));
            return;
        }
    };
    for agent in &found {
        let name = quote(&agent.name, MAX_QUOTE);
        match &agent.runs {
            Runs::Chain | Runs::ByHand => say!("  `{name}` launches acp-chain"),
            Runs::Other(command) => say!("  `{name}` launches {}", quote(command, MAX_QUOTE)),
            Runs::Unfit(why) => say!("  `{name}` {why}"),
        }
    }
    let is_open = found
        .iter()
        .any(|agent| matches!(agent.runs, Runs::Other(_)));
    let by_code = found.is_empty() && editor.is_code();
    match (is_open || by_code && !is_chained, by_code && is_chained) {
        (true, _) => say!("  `{setup}` puts acp-chain in front"),
        (_, true) => say!("  launches acp-chain"),
        _ if found.is_empty() => say!("  has no agents"),
        _ => {}
    }
}
