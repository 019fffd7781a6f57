//! Every editor that is found, each of its configurations as `acp-chain setup EDITOR` changes it. One that cannot be
//! changed does not stop the others.

use std::path::PathBuf;
use std::process::ExitCode;

use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_setup::{EDITORS, Editor, Folders};
use console::style;

use super::outcome::Outcome;
use super::{Setup, backups, list, name_further, shown};
use crate::{Result, code_if};

/// A configuration of an editor.
struct Target {
    editor: &'static Editor,
    /// The file; `None` if the editor takes its agent on the command line.
    path: Option<PathBuf>,
    /// Which of its configurations it is, from 0, if there are several.
    number: Option<usize>,
}

/// Changes all configurations, or restores them, and prints a line for each.
pub fn main(setup: &Setup, places: &Folders) -> Result<ExitCode> {
    let targets = if setup.undo {
        changed(places)?
    } else {
        found(places)
    };
    if targets.is_empty() {
        if setup.undo {
            return Err("there is nothing to undo".into());
        }
        list::print(places);
        return Ok(ExitCode::FAILURE);
    }
    let has_chain = setup.undo || setup.check_chain()?;
    let mut done = Vec::new();
    for target in targets {
        say!("{}", style(target.name()).bold());
        let outcome = target.run(setup, places, has_chain);
        let outcome = outcome.unwrap_or_else(|error| {
            tell!("acp-chain: {error}");
            Outcome::Failed
        });
        say!("");
        done.push((target, outcome));
    }
    for (target, outcome) in &done {
        say!("{}: {}", target.name(), outcome.words());
    }
    let outcomes = || done.iter().map(|(_, outcome)| *outcome);
    if outcomes().any(|outcome| outcome == Outcome::Changed) {
        say!("`acp-chain setup --all --undo` restores the old content.");
    }
    Ok(code_if(outcomes().all(Outcome::is_wanted)))
}

impl Target {
    fn name(&self) -> String {
        let title = self.editor.title;
        self.path.as_ref().map_or_else(
            || title.to_owned(),
            |path| format!("{title}: {}", Untrusted::new(path.display())),
        )
    }

    fn run(&self, setup: &Setup, places: &Folders, has_chain: bool) -> Result<Outcome> {
        let one = Setup {
            editor: Some(self.editor.name.to_owned()),
            all: false,
            file: self.path.clone().filter(|_| self.number.is_some()),
            ..setup.clone()
        };
        if one.undo {
            return one.undo(self.editor, places);
        }
        // Where no file is named, that names them.
        if self.number == Some(0) {
            name_further(self.editor, places);
        }
        one.set_up(self.editor, places, has_chain)
    }
}

/// What `acp-chain setup EDITOR` would change without `--file`, or with one of several.
fn found(places: &Folders) -> Vec<Target> {
    let mut targets = Vec::new();
    for editor in &EDITORS {
        let files = editor.found(places);
        if files.is_empty() && editor.program().is_some() {
            targets.push(Target {
                editor,
                path: None,
                number: None,
            });
        }
        targets.extend(numbered(editor, files));
    }
    targets
}

/// What can be restored.
fn changed(places: &Folders) -> Result<Vec<Target>> {
    let backups = backups()?;
    let mut targets = Vec::new();
    for editor in &EDITORS {
        let files = backups.changed(editor, places).map_err(shown)?;
        targets.extend(numbered(editor, files));
    }
    Ok(targets)
}

/// The configurations of an editor.
fn numbered(editor: &'static Editor, files: Vec<PathBuf>) -> impl Iterator<Item = Target> {
    let is_only = files.len() == 1;
    let files = files.into_iter().enumerate();
    files.map(move |(at, path)| Target {
        editor,
        path: Some(path),
        number: (!is_only).then_some(at),
    })
}
