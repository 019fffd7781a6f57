//! Where agents have their rules, and how the files are read: bounded, and whatever they are.

use std::env::consts::OS;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use acp_chain_disk as disk;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use directories::BaseDirs;

use crate::node::{Malformed, Node};
use crate::rule::{Import, Source};

/// The longest file that is read, in bytes.
const LONGEST: usize = 4 << 20;
/// How many files of a folder are read.
const MOST_FILES: usize = 256;
/// How many bytes of a rule are shown.
const LONGEST_RULE: usize = 200;

/// The folders in which agents have their rules.
#[derive(Clone, Debug)]
pub struct Folders {
    /// The user's home folder.
    pub home: PathBuf,
    /// Claude's: `~/.claude`.
    pub claude: PathBuf,
    /// Codex': `~/.codex`.
    pub codex: PathBuf,
    /// Gemini's: `~/.gemini`.
    pub gemini: PathBuf,
    /// opencode's: `~/.config/opencode`.
    pub opencode: PathBuf,
    /// Those of administrators.
    pub system: Administrators,
    /// A project, whose rules are wanted. Then what the other folders allow is not taken, as it is not the project's.
    pub project: Option<PathBuf>,
}

/// The folders in which administrators have rules for agents.
#[derive(Clone, Debug)]
pub struct Administrators {
    /// For Claude: `/etc/claude-code`.
    pub claude: PathBuf,
    /// For Codex: `/etc/codex`.
    pub codex: PathBuf,
    /// For Gemini: `/etc/gemini-cli`.
    pub gemini: PathBuf,
    /// For opencode: `/etc/opencode`.
    pub opencode: PathBuf,
}

/// Whose a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// An administrator's.
    System,
    User,
    Project,
}

/// A file that may have rules.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) path: PathBuf,
    pub(crate) scope: Scope,
}

impl Folders {
    /// The folders of the current user, without a project; `None` without a home, or if it would depend on the working
    /// directory.
    pub fn of_user() -> Option<Self> {
        let folders = BaseDirs::new().filter(|folders| folders.home_dir().is_absolute())?;
        let home = folders.home_dir().to_owned();
        let named = |name: &str| {
            let folder = std::env::var_os(name).map(PathBuf::from);
            folder.filter(|folder| folder.is_absolute())
        };
        let beside = |name: &str, own: &str| named(name).unwrap_or_else(|| home.join(own));
        Some(Self {
            claude: beside("CLAUDE_CONFIG_DIR", ".claude"),
            codex: beside("CODEX_HOME", ".codex"),
            gemini: named("GEMINI_CLI_HOME")
                .unwrap_or_else(|| home.clone())
                .join(".gemini"),
            opencode: beside("XDG_CONFIG_HOME", ".config").join("opencode"),
            system: Administrators::on(OS, std::env::var_os("ProgramData")),
            project: None,
            home,
        })
    }

    /// Whether rules that allow are taken from files of this scope. What denies and asks is taken from all.
    pub(crate) fn allows(&self, scope: Scope) -> bool {
        (scope == Scope::Project) == self.project.is_some()
    }

    /// The project, and the folders above it up to the one with its repository, the nearest first; without a repository
    /// the project alone, and none without a project.
    pub(crate) fn projects(&self) -> Vec<PathBuf> {
        let project = self.project.as_deref().into_iter();
        let folders: Vec<_> = project
            .flat_map(Path::ancestors)
            .map(Path::to_owned)
            .collect();
        let repository = folders
            .iter()
            .position(|folder| folder.join(".git").exists());
        let count = repository.map_or(1, |at| at + 1);
        folders.into_iter().take(count).collect()
    }

    /// The files of a folder whose names end with this, by name; none if there is no such folder.
    pub(crate) fn listed(folder: &Path, ending: &str, import: &mut Import) -> Vec<PathBuf> {
        let entries = match folder.read_dir() {
            Ok(entries) => entries,
            Err(error) if disk::is_absent(&error) => return Vec::new(),
            Err(error) => {
                let from = source(folder, 0, "");
                import.miss(from, format!("the folder cannot be read: {error}"));
                return Vec::new();
            }
        };
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let has_ending = |path: &PathBuf| path.extension().is_some_and(|own| own == ending);
        let mut paths: Vec<_> = paths.filter(has_ending).take(MOST_FILES + 1).collect();
        if paths.len() > MOST_FILES {
            let why = format!("it has more than {MOST_FILES} files");
            import.miss(source(folder, 0, ""), why);
        }
        paths.sort();
        paths
    }
}

impl Administrators {
    /// Those of Linux, with this folder in place of `/etc`.
    pub fn below(folder: &Path) -> Self {
        Self {
            claude: folder.join("claude-code"),
            codex: folder.join("codex"),
            gemini: folder.join("gemini-cli"),
            opencode: folder.join("opencode"),
        }
    }

    /// Those of an operating system. `data` is the variable by which Windows names the data of all users.
    fn on(system: &str, data: Option<OsString>) -> Self {
        match system {
            "macos" => {
                let folder = Path::new("/Library/Application Support");
                Self {
                    claude: folder.join("ClaudeCode"),
                    codex: PathBuf::from("/etc/codex"),
                    gemini: folder.join("GeminiCli"),
                    opencode: folder.join("opencode"),
                }
            }
            "windows" => {
                let usual = PathBuf::from(r"C:\ProgramData");
                let data = data.map_or(usual, PathBuf::from);
                Self {
                    claude: PathBuf::from(r"C:\Program Files\ClaudeCode"),
                    codex: data.join("OpenAI").join("Codex"),
                    gemini: PathBuf::from(r"C:\ProgramData\gemini-cli"),
                    opencode: data.join("opencode"),
                }
            }
            _ => Self::below(Path::new("/etc")),
        }
    }
}

impl File {
    /// A line of the file.
    pub(crate) fn source(&self, line: usize, rule: impl AsRef<str>) -> Source {
        source(&self.path, line, rule.as_ref())
    }

    /// Its text; `None` if there is no such file, or if it cannot be read, which is recorded.
    pub(crate) fn text(&self, import: &mut Import) -> Option<String> {
        let read = disk::read(&self.path, LONGEST).map_err(|error| {
            let is_absent = disk::is_absent(&error);
            (!is_absent).then(|| error.to_string())
        });
        let text = read.and_then(|bytes| {
            String::from_utf8(bytes).map_err(|_| Some("it is not UTF-8".to_owned()))
        });
        match text {
            Ok(text) => return Some(text),
            // A link that leads nowhere is no absent file.
            Err(None) if self.path.symlink_metadata().is_err() => {}
            Err(why) => {
                let why = why.unwrap_or_else(|| "it is a link that leads nowhere".to_owned());
                import.miss(self.source(0, ""), format!("it cannot be read: {why}"));
            }
        }
        None
    }

    /// Its content, as JSON with comments.
    pub(crate) fn json(&self, import: &mut Import) -> Option<Node> {
        self.tree(Node::of_json, import)
    }

    /// Its content, as TOML.
    pub(crate) fn toml(&self, import: &mut Import) -> Option<Node> {
        self.tree(Node::of_toml, import)
    }

    fn tree(
        &self,
        parse: fn(&str) -> Result<Node, Malformed>,
        import: &mut Import,
    ) -> Option<Node> {
        let text = self.text(import)?;
        match parse(&text) {
            Ok(tree) => Some(tree),
            Err(Malformed { line, wrong }) => {
                import.miss(self.source(line, ""), format!("it is malformed: {wrong}"));
                None
            }
        }
    }
}

fn source(path: &Path, line: usize, rule: &str) -> Source {
    Source {
        file: path.to_owned(),
        line,
        rule: quote(rule, LONGEST_RULE.min(MAX_QUOTE)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_system_has_its_folders_of_administrators() {
        let claude = |system| Administrators::on(system, None).claude;
        assert_eq!(claude("linux"), Path::new("/etc/claude-code"));
        let mac = Path::new("/Library/Application Support/ClaudeCode");
        assert_eq!(claude("macos"), mac);
        assert_eq!(claude("windows"), Path::new(r"C:\Program Files\ClaudeCode"));
        let named = Administrators::on("windows", Some("data".into()));
        assert_eq!(named.opencode, Path::new("data").join("opencode"));
    }
}
