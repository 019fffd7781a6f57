//! A user with the configuration of an editor.

use std::fs;
use std::path::{Path, PathBuf};

use acp_chain_setup::{Backups, Editor, Error, Folders, Launch, Plan, Wanted, plan};
use tempfile::TempDir;

/// A user with a home.
pub struct User {
    _home: TempDir,
    pub places: Folders,
    pub backups: Backups,
}

impl User {
    pub fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().canonicalize().unwrap();
        fs::create_dir(path.join("remembered")).unwrap();
        let places = Folders {
            settings: path.join(".config"),
            local_settings: path.join(".config"),
            nvim: "nvim".to_owned(),
            home: path.clone(),
        };
        let backups = Backups::new(path.join("remembered"), |path, bytes| {
            fs::write(path, bytes)
        });
        Self {
            _home: home,
            places,
            backups,
        }
    }

    pub fn file(&self, path: &str, text: &str) -> PathBuf {
        let path = self.places.home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub fn plan(&self, editor: &Editor, agents: &[&str]) -> Result<Plan, Error> {
        plan(
            editor,
            &self.places,
            &wanted(agents, &[]),
            &launch(&["redact"]),
        )
    }

    /// Plans a setup with these installed agents.
    pub fn plan_installed(
        &self,
        editor: &Editor,
        agents: &[&str],
        installed: &[&str],
    ) -> Result<Plan, Error> {
        plan(
            editor,
            &self.places,
            &wanted(agents, installed),
            &launch(&["redact"]),
        )
    }

    /// Sets up all agents.
    pub fn set_up(&self, editor: &Editor) {
        let change = self.plan(editor, &[]).unwrap().change.unwrap();
        self.backups.apply(editor, &change).unwrap();
    }

    /// Undoes the setup. Returns whether the exact bytes were restored.
    pub fn undo(&self, editor: &Editor) -> bool {
        let undo = self.backups.undo(editor, &self.places, None).unwrap();
        self.backups.revert(&undo).unwrap();
        undo.is_exact
    }
}

pub fn wanted(agents: &[&str], installed: &[&str]) -> Wanted {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    Wanted {
        file: None,
        agents: owned(agents),
        installed: owned(installed),
    }
}

pub fn launch(with: &[&str]) -> Launch {
    let with = with.iter().map(|&name| name.to_owned()).collect();
    Launch::new(Path::new("/usr/local/bin/acp-chain"), with).unwrap()
}
