//! The contents of packages: the program, and the texts about it.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use xtask::platform::Platform;
use xtask::printed;
use xtask::workspace::Workspace;

use super::glibc;
use super::tree::{File, gz};

pub const DESCRIPTION: &str =
    "Sandboxed WebAssembly proxies between an ACP client and any ACP agent";

pub const LICENCE: &str = "Apache-2.0 OR MIT";

/// Shells, with the name under which each looks for the file with completions.
const SHELLS: [(&str, &str); 4] = [
    ("bash", "acp-chain"),
    ("zsh", "_acp-chain"),
    ("fish", "acp-chain.fish"),
    ("powershell", "acp-chain.ps1"),
];

pub struct Product {
    pub version: &'static str,
    pub platform: Platform,
    /// The oldest glibc that it runs with.
    pub glibc: (u32, u32),
    program: Arc<[u8]>,
    /// The licences, and last the README.
    pub texts: Vec<File>,
    pub completions: Vec<File>,
    /// The manual pages.
    pub pages: Vec<File>,
}

impl Product {
    /// The files that a program generates, and those of the checkout that belong to it. `native` generates them, a
    /// program of the same version that runs here, as the packed one may not.
    pub fn of(
        workspace: &Workspace,
        platform: Platform,
        program: &Path,
        native: &Path,
    ) -> Result<Self> {
        let shown = program.display();
        let bytes = fs::read(program).with_context(|| format!("{shown} cannot be read"))?;
        let glibc = glibc::oldest(&bytes).with_context(|| format!("{shown} cannot be packed"))?;
        let version = env!("CARGO_PKG_VERSION");
        let said = printed(Command::new(native).arg("--version"))?;
        ensure!(
            said == format!("acp-chain {version}\n"),
            "{} reports {}, but the checkout is {version}; rebuild it",
            native.display(),
            said.trim()
        );
        let text =
            |name: &str| -> Result<File> { Ok(File::new(name, fs::read(workspace.path(name))?)) };
        let texts = ["LICENSE-APACHE", "LICENSE-MIT", "README.md"].map(text);
        let completions = SHELLS.map(|(shell, file)| {
            let script = printed(Command::new(native).args(["completions", shell]))?;
            Ok(File::new(file, script))
        });
        Ok(Self {
            version,
            platform,
            glibc,
            program: bytes.into(),
            texts: texts.into_iter().collect::<Result<_>>()?,
            completions: completions.into_iter().collect::<Result<_>>()?,
            pages: pages(native)?,
        })
    }

    /// The program as a file with this path.
    pub fn program(&self, path: &str) -> File {
        File {
            path: path.to_owned(),
            content: self.program.clone(),
            is_program: true,
        }
    }

    /// The files of a package for a distribution of Linux: the program, its manual pages, what has installed it, and
    /// the completions, those of zsh in this folder.
    pub fn installed(&self, by: &str, zsh: &str) -> Result<Vec<File>> {
        let folders = [
            ("acp-chain", "usr/share/bash-completion/completions"),
            ("_acp-chain", zsh),
            ("acp-chain.fish", "usr/share/fish/vendor_completions.d"),
        ];
        let mut files = vec![
            self.program("usr/bin/acp-chain"),
            installed_by(by, "usr/lib/acp-chain/"),
        ];
        for script in &self.completions {
            let name = &script.path;
            let folder = folders.iter().find(|(known, _)| known == name);
            files.extend(folder.map(|(_, folder)| script.at(&format!("{folder}/{name}"))));
        }
        for page in &self.pages {
            let path = format!("usr/share/man/man1/{}.gz", page.path);
            files.push(File::new(path, gz(&page.content)?));
        }
        Ok(files)
    }

    pub fn licences(&self) -> impl Iterator<Item = &File> {
        self.texts
            .iter()
            .filter(|file| file.path.starts_with("LICENSE"))
    }
}

/// The file by which `acp-chain self-update` sees that a package manager has installed the program, in the program's
/// folder or in `lib/acp-chain` beside that folder.
pub fn installed_by(kind: &str, folder: &str) -> File {
    File::new(format!("{folder}installed-by"), format!("{kind}\n"))
}

/// The manual pages, in the order of their names.
fn pages(program: &Path) -> Result<Vec<File>> {
    let folder = tempfile::tempdir()?;
    printed(Command::new(program).arg("man").arg(folder.path()))?;
    let mut pages = Vec::new();
    for entry in fs::read_dir(folder.path())? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        pages.push(File::new(name, fs::read(entry.path())?));
    }
    pages.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(pages)
}
