//! What has installed the program, and updates it. A package brings a file that names its kind, and what brings none is
//! recognized by its path.

use std::fmt;
use std::path::{Component, Path};

use acp_chain_disk as disk;
use acp_chain_rpc::untrusted::{Untrusted, quote};

/// The name of the file that names the kind of a package: beside the program, or in `lib/acp-chain` beside its folder.
const MARKER: &str = "installed-by";

/// The maximum length of that file, in bytes.
const WORD: usize = 64;

/// The maximum length of cargo's list of installed programs, in bytes.
const CARGO_LIST: usize = 1 << 20;

/// The kinds of packages, with the command that installs a newer one.
const KINDS: [(&str, &str); 10] = [
    ("brew", "brew upgrade acp-chain"),
    ("deb", "apt-get install ./acp-chain_VERSION_ARCH.deb"),
    ("nix", "nix profile upgrade acp-chain"),
    ("npm", "npm install --global ./acp-chain-*.tgz"),
    ("pip", "pip install --upgrade ./acp_chain-*.whl"),
    ("pipx", "pipx install --force ./acp_chain-*.whl"),
    ("rpm", "dnf install ./acp-chain-VERSION-1.ARCH.rpm"),
    ("scoop", "scoop update acp-chain"),
    ("uv", "uv tool install --force ./acp_chain-*.whl"),
    ("cargo", "cargo install --force acp-chain-cli"),
];

/// A package manager, by its name, with the command that updates the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manager {
    name: String,
    command: Option<String>,
}

impl Manager {
    /// What has installed the program at this path.
    #[must_use]
    pub fn of(program: &Path) -> Option<Self> {
        let folder = program.parent()?;
        let library = folder.parent().map(|root| root.join("lib/acp-chain"));
        let places = [Some(folder.to_owned()), library].into_iter().flatten();
        let mut marked = places.filter_map(|place| marker(&place.join(MARKER)));
        let word = marked.next();
        // Wheels are installed by several programs, each of which has its own folder.
        match (word.as_deref(), by_path(program)) {
            (Some("pip"), Some(kind @ ("pipx" | "uv"))) | (None, Some(kind)) => {
                Some(Self::named(kind))
            }
            (Some(word), _) => Some(Self::named(word)),
            (None, None) => cargo(folder),
        }
    }

    fn named(kind: &str) -> Self {
        let known = KINDS.iter().find(|(name, _)| *name == kind);
        Self {
            name: kind.to_owned(),
            command: known.map(|(_, command)| (*command).to_owned()),
        }
    }
}

impl fmt::Display for Manager {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let name = quote(&self.name, WORD);
        match &self.command {
            Some(command) => write!(f, "{name}, which updates it: {}", Untrusted::new(command)),
            None => write!(f, "{name}, which updates it"),
        }
    }
}

/// The word in a package's file.
fn marker(path: &Path) -> Option<String> {
    let text = disk::read(path, WORD).ok()?;
    let text = String::from_utf8(text).ok()?;
    let word = text.trim();
    (!word.is_empty()).then(|| word.to_owned())
}

/// The kind of package that has its programs in such a folder.
fn by_path(program: &Path) -> Option<&'static str> {
    let names: Vec<_> = program
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => name.to_str(),
            _ => None,
        })
        .collect();
    let has = |words: &[&str]| {
        let mut windows = names.windows(words.len());
        windows.any(|window| {
            let mut pairs = window.iter().zip(words);
            pairs.all(|(name, word)| name.eq_ignore_ascii_case(word))
        })
    };
    let kinds: [(&[&str], _); 7] = [
        (&["Cellar", "acp-chain"], "brew"),
        (&["nix", "store"], "nix"),
        (&["node_modules"], "npm"),
        (&["pipx", "venvs"], "pipx"),
        (&["scoop", "apps"], "scoop"),
        (&["uv", "tools"], "uv"),
        (&["uv", "archive-v0"], "uv"),
    ];
    let found = kinds.iter().find(|(words, _)| has(words));
    if let Some((_, kind)) = found {
        return Some(*kind);
    }
    // These folders belong to the packages of the system.
    let systems = ["/usr/bin", "/bin"].map(Path::new).map(Some);
    systems
        .contains(&program.parent())
        .then_some("the system's package manager")
}

/// cargo, if it lists the program among those that it has installed into this folder.
fn cargo(folder: &Path) -> Option<Manager> {
    let list = disk::read(&folder.parent()?.join(".crates.toml"), CARGO_LIST).ok()?;
    let list = String::from_utf8(list).ok()?;
    let (_, entry) = list.split_once("\"acp-chain-cli ")?;
    let (_, source) = entry.split_once('(')?;
    let (source, _) = source.split_once(')')?;
    let mut manager = Manager::named("cargo");
    if let Some(path) = source.strip_prefix("path+file://") {
        manager.command = Some(format!("cargo install --force --path {path}"));
    } else if let Some(repository) = source.strip_prefix("git+") {
        // In a registry, the name may be somebody else's.
        let url = repository.split(['?', '#']).next().unwrap_or_default();
        manager.command = Some(format!("cargo install --force --git {url} acp-chain-cli"));
    }
    Some(manager)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn shown(path: &Path) -> String {
        Manager::of(path).map_or_else(String::new, |manager| manager.to_string())
    }

    #[test]
    fn a_program_is_recognized_by_its_path() {
        for (path, begins) in [
            (
                "/opt/homebrew/Cellar/acp-chain/0.2.0/bin/acp-chain",
                "brew, ",
            ),
            ("/nix/store/abc-acp-chain-0.2.0/bin/acp-chain", "nix, "),
            ("/a/node_modules/@acp-chain/linux-x64/acp-chain", "npm, "),
            (
                "/home/me/.local/share/uv/tools/acp-chain/bin/acp-chain",
                "uv, ",
            ),
            ("/home/me/scoop/apps/acp-chain/0.2.0/acp-chain", "scoop, "),
            ("/usr/bin/acp-chain", "the system's package manager, "),
        ] {
            assert!(shown(Path::new(path)).starts_with(begins), "{path}");
        }
        for path in ["/usr/local/bin/acp-chain", "/home/me/bin/acp-chain"] {
            assert_eq!(shown(Path::new(path)), "", "{path}");
        }
    }

    #[test]
    fn a_program_is_recognized_by_the_file_that_its_package_brings() {
        let root = tempfile::tempdir().unwrap();
        let program = root.path().join("bin/acp-chain");
        fs::create_dir_all(root.path().join("bin")).unwrap();
        fs::create_dir_all(root.path().join("lib/acp-chain")).unwrap();
        assert_eq!(shown(&program), "");
        let marker = root.path().join("lib/acp-chain").join(MARKER);
        for (word, expected) in [
            ("rpm\n", "rpm, which updates it: dnf install "),
            ("deb", "deb, which updates it: apt-get install "),
            ("pacman\n", "pacman, which updates it"),
        ] {
            fs::write(&marker, word).unwrap();
            assert!(shown(&program).starts_with(expected), "{word}");
        }
        // One that is empty or too long says nothing.
        for word in [String::new(), "x".repeat(WORD + 1)] {
            fs::write(&marker, word).unwrap();
            assert_eq!(shown(&program), "");
        }
        fs::write(root.path().join("bin").join(MARKER), "npm\n").unwrap();
        assert!(shown(&program).starts_with("npm, "));
    }

    #[test]
    fn a_wheel_belongs_to_what_has_its_environment() {
        let root = tempfile::tempdir().unwrap();
        for (folder, expected) in [
            ("venv", "pip, which updates it: pip install "),
            (
                "pipx/venvs/acp-chain",
                "pipx, which updates it: pipx install ",
            ),
            (
                "uv/tools/acp-chain",
                "uv, which updates it: uv tool install ",
            ),
        ] {
            let environment = root.path().join(folder);
            fs::create_dir_all(environment.join("lib/acp-chain")).unwrap();
            fs::write(environment.join("lib/acp-chain").join(MARKER), "pip\n").unwrap();
            let shown = shown(&environment.join("bin/acp-chain"));
            assert!(shown.starts_with(expected), "{shown}");
        }
    }

    #[test]
    fn a_program_of_cargo_is_in_the_list_of_cargo() {
        let root = tempfile::tempdir().unwrap();
        let program = root.path().join("bin/acp-chain");
        fs::create_dir(root.path().join("bin")).unwrap();
        let list = root.path().join(".crates.toml");
        fs::write(&list, "[v1]\n\"ripgrep 14.0.0 (registry+x)\" = [\"rg\"]\n").unwrap();
        assert_eq!(shown(&program), "");
        let entry = "[v1]\n\"acp-chain-cli 0.1.0 (path+file:///src/host/cli)\" = [\"acp-chain\"]\n";
        fs::write(&list, entry).unwrap();
        assert_eq!(
            shown(&program),
            "cargo, which updates it: cargo install --force --path /src/host/cli"
        );
        fs::write(&list, entry.replace("path+file", "registry+https")).unwrap();
        assert!(shown(&program).ends_with("cargo install --force acp-chain-cli"));
        let from_git = "git+https://host/acp-chain?branch=main#0123abcd";
        fs::write(&list, entry.replace("path+file:///src/host/cli", from_git)).unwrap();
        assert!(
            shown(&program)
                .ends_with(": cargo install --force --git https://host/acp-chain acp-chain-cli")
        );
    }
}
