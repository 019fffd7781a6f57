//! The tutorial works in each of its languages: its commands are run, its files are saved, and the output is the one
//! that it shows.
//!
//! With `ACP_CHAIN_BARE` set, as `cargo xtask tutorial` does, toolchains and packages are fetched by the page's own
//! commands, as on a machine without them.

use std::env;
use std::fs;
use std::iter;
use std::path::{Path, PathBuf};
use std::time::Instant;

use acp_chain_tests::host;
use tokio::process::Command;

use crate::author::project::{Project, share};

/// Separates the commands' output from their last working directory.
const END: &str = "-- the end --";

/// The purpose of a block, from the comment above it.
enum Role {
    Run,
    /// The output of the commands before it.
    Shown,
    Save(PathBuf),
    Add(PathBuf),
    Replace(PathBuf),
}

/// The blocks of the page for one language.
fn blocks(page: &str, language: &str) -> Vec<(Role, String)> {
    let mut blocks = vec![];
    let mut lines = page.lines();
    let mut comment = "";
    while let Some(line) = lines.next() {
        if let Some(text) = line.strip_prefix("<!-- ") {
            comment = text.strip_suffix(" -->").expect("a comment of one line");
        }
        let Some(kind) = line.strip_prefix("```") else {
            continue;
        };
        let text = lines.by_ref().take_while(|line| *line != "```");
        let text: String = text.flat_map(|line| [line, "\n"]).collect();
        let (only, what) = match std::mem::take(&mut comment) {
            only @ ("rust" | "js" | "python") => (only, ""),
            comment => comment.split_once(": ").unwrap_or(("", comment)),
        };
        if !only.is_empty() && only != language {
            continue;
        }
        let role = match what.rsplit_once(' ') {
            Some(("save as", file)) => Role::Save(file.into()),
            Some(("add to", file)) => Role::Add(file.into()),
            Some(("replace in", file)) => Role::Replace(file.into()),
            Some(_) => panic!("unknown comment `{what}`"),
            None if kind == "sh" => Role::Run,
            None => Role::Shown,
        };
        blocks.push((role, text));
    }
    blocks
}

/// A file with a part replaced: from the part's first line to its last line, or to the next empty line.
fn replaced(file: &str, part: &str) -> String {
    let lines: Vec<&str> = file.split_inclusive('\n').collect();
    let mut ends = part.split_inclusive('\n');
    let (first, last) = (ends.next(), ends.next_back());
    let find = |line: Option<&str>| lines.iter().position(|known| Some(*known) == line);
    let from = find(first).unwrap_or_else(|| panic!("{file} has no {first:?}"));
    let is_end = |line: &&str| *line == "\n" || Some(*line) == last;
    let end = lines[from..].iter().position(is_end);
    let to = end.map_or(lines.len(), |end| from + end);
    let to = to + usize::from(lines.get(to).is_some_and(|line| Some(*line) == last));
    lines[..from].concat() + part + &lines[to..].concat()
}

/// Whether lines match those shown: `…` matches any text in a line, and any lines if it is alone.
fn is_shown(shown: &[&str], lines: &[&str]) -> bool {
    let (line, shown) = match shown {
        [] => return lines.is_empty(),
        ["…", rest @ ..] => return (0..=lines.len()).any(|at| is_shown(rest, &lines[at..])),
        [line, rest @ ..] => (line, rest),
    };
    let Some((came, lines)) = lines.split_first() else {
        return false;
    };
    let is_alike = match line.split_once('…') {
        Some((start, end)) => came.starts_with(start) && came.ends_with(end),
        None => came == line,
    };
    is_alike && is_shown(shown, lines)
}

fn is_bare() -> bool {
    env::var_os("ACP_CHAIN_BARE").is_some()
}

/// An author and their working directory.
struct Author {
    project: Project,
    folder: PathBuf,
}

impl Author {
    /// Runs commands. Returns their output.
    async fn run(&mut self, commands: &str) -> String {
        let (mut shell, path) = if is_bare() {
            (Command::new("bash"), env::var_os("PATH").unwrap())
        } else {
            let path = self.project.search_path().to_owned();
            (self.project.command("bash", "."), path)
        };
        let ours = host::program().parent().unwrap().to_owned();
        let path = iter::once(ours).chain(env::split_paths(&path));
        let script = format!("set -e\n{commands}echo '{END}'\npwd\n");
        shell
            .args(["-c", &script])
            .current_dir(&self.folder)
            .env("PATH", env::join_paths(path).unwrap())
            .env("HOME", self.project.home());
        // Rust is installed in the real home.
        let home = PathBuf::from(env::var_os("HOME").unwrap());
        for (variable, folder) in [("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo")] {
            let here = || home.join(folder).into_os_string();
            shell.env(variable, env::var_os(variable).unwrap_or_else(here));
        }
        for variable in ["XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"] {
            shell.env_remove(variable);
        }
        let output = shell.output().await.unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{commands}{printed}{errors}");
        let (printed, folder) = printed.split_once(&format!("{END}\n")).unwrap();
        self.folder = folder.trim_end().into();
        printed.to_owned()
    }

    fn file(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.join(name)
    }
}

async fn is_walked(language: &str) {
    let began = Instant::now();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/tutorial.md");
    let page = fs::read_to_string(page).unwrap();
    let project = Project::none();
    let folder = project.home();
    fs::create_dir(&folder).unwrap();
    let mut author = Author { project, folder };
    let mut printed = String::new();
    for (role, text) in blocks(&page, language) {
        match role {
            Role::Run => {
                printed = author.run(&text).await;
                if !is_bare() && author.file("house-rules/Cargo.toml").exists() {
                    share(&author.file("house-rules"));
                }
            }
            Role::Shown => {
                let all: [Vec<&str>; 2] = [&text, &printed].map(|text| text.lines().collect());
                assert!(
                    is_shown(&all[0], &all[1]),
                    "{text}\nis shown, but {printed}"
                );
            }
            Role::Save(file) => fs::write(author.file(&file), text).unwrap(),
            Role::Add(file) => {
                let now = fs::read_to_string(author.file(&file)).unwrap();
                fs::write(author.file(&file), now + "\n" + &text).unwrap();
            }
            Role::Replace(file) => {
                let now = fs::read_to_string(author.file(&file)).unwrap();
                fs::write(author.file(&file), replaced(&now, &text)).unwrap();
            }
        }
    }
    println!("{language}: {:.0?}", began.elapsed());
}

#[tokio::test]
async fn in_rust_it_is_as_it_says() {
    is_walked("rust").await;
}

#[tokio::test]
async fn in_javascript_it_is_as_it_says() {
    is_walked("js").await;
}

#[tokio::test]
async fn in_python_it_is_as_it_says() {
    is_walked("python").await;
}
