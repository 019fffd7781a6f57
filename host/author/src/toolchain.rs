//! The programs that languages need. Each is searched for in the project, in `PATH` and in our own folder, in this
//! order, and the first one that is new enough is used.
//!
//! Programs are installed only on request, into our own folder. Each version has a subfolder, so versions do not affect
//! each other.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use semver::Version;
use serde_json::Value;

use crate::Error;

/// A program that a language needs.
#[derive(Debug)]
pub struct Tool {
    /// Its possible names. The first one that is found is used.
    pub names: &'static [&'static str],
    /// How to determine its version.
    pub version: VersionSource,
    /// The oldest version known to work, which is also the one installed.
    pub lowest: Version,
    pub origin: Origin,
}

/// How to determine the version of a program.
#[derive(Clone, Copy, Debug)]
pub enum VersionSource {
    /// The program prints the version for this argument.
    Given(&'static str),
    /// The `package.json` of the package with the program has the version.
    InPackage,
}

/// The origin of a program.
#[derive(Clone, Copy, Debug)]
pub enum Origin {
    /// An npm package.
    Npm(&'static str),
    /// A Python package.
    Pip(&'static str),
    /// Its own installer, to be run by the user.
    Own(&'static str),
}

/// Where to find programs.
pub struct Toolchains<'a> {
    /// The folders with the user's programs, as in `PATH`.
    pub path: OsString,
    /// Our own folder for installed programs; `None` without a home folder.
    pub folder: Option<PathBuf>,
    /// Whether to install missing programs.
    pub install: bool,
    /// Called with each command that installs something.
    pub told: &'a dyn Fn(&str),
}

/// Installs npm packages. On Windows it is a script, which is only found by its full name.
const NPM: &str = if cfg!(windows) { "npm.cmd" } else { "npm" };

/// npm's folder of programs.
const NPM_PROGRAMS: &str = "node_modules/.bin";

/// Makes Python's virtual environments.
const PYTHON: &str = if cfg!(windows) { "python" } else { "python3" };

/// The folder of programs in a Python virtual environment.
const VENV: &str = if cfg!(windows) { "Scripts" } else { "bin" };

impl Toolchains<'_> {
    /// Finds a program. If it is missing, it is installed if `install` is set.
    pub fn find(
        &self,
        language: &'static str,
        tool: &Tool,
        project: &Path,
    ) -> Result<PathBuf, Error> {
        let found = match self.look(tool, project) {
            Ok(program) => return Ok(program),
            Err(found) => found,
        };
        let steps = self.folder(tool).and_then(|folder| tool.steps(&folder));
        let next = match (steps, tool.origin) {
            (Some(steps), _) if self.install => {
                for mut step in steps {
                    self.install(language, &mut step)?;
                }
                let next = "it was installed but does not run".to_owned();
                let found = self.look(tool, project);
                return found.map_err(|found| tool.missing(language, found, next));
            }
            (Some(steps), _) => {
                let steps: Vec<_> = steps.iter().map(shown).collect();
                let steps = steps.join(" && ");
                format!("`acp-chain build --install` installs it with `{steps}`")
            }
            (None, Origin::Own(how)) => how.to_owned(),
            (None, Origin::Npm(package) | Origin::Pip(package)) => {
                format!("install {package}; acp-chain cannot, without a home folder")
            }
        };
        Err(tool.missing(language, found, next))
    }

    /// Runs a command that installs something, as the user could do.
    pub(crate) fn install(
        &self,
        language: &'static str,
        command: &mut Command,
    ) -> Result<(), Error> {
        (self.told)(&shown(command));
        let program = Path::new(command.get_program());
        // A program in our own folder has been installed by an earlier step.
        if program.is_relative() && which::which(program).is_err() {
            let next = match program.to_str() {
                Some(NPM) => "install Node from https://nodejs.org",
                Some("rustup") => "install Rust from https://rustup.rs",
                _ => "install Python from https://www.python.org",
            };
            let missing = program.display().to_string();
            let found = "which is not in PATH";
            return Err(Error::toolchain(language, &missing, found, next));
        }
        run(command)
    }

    /// The first one that is new enough, or a description of what was found.
    fn look(&self, tool: &Tool, project: &Path) -> Result<PathBuf, String> {
        let mut instead = None;
        for name in tool.names {
            let all = which::which_in_all(name, Some(self.places(tool, project)), project);
            for program in all.into_iter().flatten() {
                let version = tool.version_of(&program, project);
                if version
                    .as_ref()
                    .is_some_and(|version| *version >= tool.lowest)
                {
                    return Ok(program);
                }
                let program = program.display();
                instead.get_or_insert_with(|| match version {
                    Some(version) => format!("and {program} is version {version}"),
                    None => format!("and the version of {program} is unknown"),
                });
            }
        }
        Err(instead.unwrap_or_else(|| match &self.folder {
            Some(folder) => format!(
                "which is not in the project, not in PATH, and not in {}",
                folder.display()
            ),
            None => "which is not in the project, and not in PATH".to_owned(),
        }))
    }

    fn places(&self, tool: &Tool, project: &Path) -> OsString {
        let own = [project.join(NPM_PROGRAMS), project.join(".venv").join(VENV)];
        let ours = self.folder(tool).into_iter();
        let ours = ours.flat_map(|folder| [folder.join(NPM_PROGRAMS), folder.join(VENV)]);
        let all: Vec<_> = own
            .into_iter()
            .chain(env::split_paths(&self.path))
            .chain(ours)
            .collect();
        // Paths with a colon, for example, cannot be included.
        let all = all.iter().filter(|path| env::join_paths([path]).is_ok());
        env::join_paths(all).unwrap_or_else(|_| self.path.clone())
    }

    fn folder(&self, tool: &Tool) -> Option<PathBuf> {
        let (Origin::Npm(package) | Origin::Pip(package)) = tool.origin else {
            return None;
        };
        let name = format!("{package}-{}", tool.lowest);
        Some(self.folder.as_ref()?.join(name))
    }
}

impl Tool {
    /// The commands that install it there.
    fn steps(&self, folder: &Path) -> Option<Vec<Command>> {
        let version = &self.lowest;
        Some(match self.origin {
            Origin::Npm(package) => {
                let mut npm = Command::new(NPM);
                npm.args(["install", "--no-audit", "--no-fund", "--prefix"])
                    .arg(folder)
                    .arg(format!("{package}@{version}"));
                vec![npm]
            }
            Origin::Pip(package) => {
                // Isolated: otherwise `-m` first searches the current folder, which may be an untrusted project.
                let mut venv = Command::new(PYTHON);
                venv.args(["-I", "-m", "venv"]).arg(folder);
                let mut pip = Command::new(folder.join(VENV).join("python"));
                pip.args(["-I", "-m", "pip", "install"])
                    .arg("--disable-pip-version-check")
                    .arg(format!("{package}=={version}"));
                vec![venv, pip]
            }
            Origin::Own(_) => return None,
        })
    }

    fn version_of(&self, program: &Path, project: &Path) -> Option<Version> {
        match self.version {
            VersionSource::Given(argument) => {
                // A project may select the version to use.
                let mut command = without_installing(program);
                command.arg(argument).current_dir(project);
                let output = command.stdin(Stdio::null()).output().ok()?;
                let text = String::from_utf8_lossy(&output.stdout).into_owned();
                let mut words = text.split_whitespace();
                // Go says `go1.27.3`.
                words.find_map(|word| Version::parse(word.trim_start_matches("go")).ok())
            }
            // The program is a link into the package, or, on Windows, a file beside it.
            VersionSource::InPackage => {
                let name = self.names[0];
                let program = program.canonicalize().ok()?;
                let folders = program.ancestors().skip(1);
                let mut files = folders.flat_map(|folder| {
                    [
                        folder.join("package.json"),
                        folder.join(name).join("package.json"),
                    ]
                });
                let package = files.find_map(|file| {
                    let package: Value = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
                    (package["name"] == name).then_some(package)
                });
                Version::parse(package?["version"].as_str()?).ok()
            }
        }
    }

    fn missing(&self, language: &'static str, found: String, next: String) -> Error {
        let name = match self.origin {
            Origin::Npm(package) | Origin::Pip(package) => package,
            Origin::Own(_) => self.names[0],
        };
        let program = format!("{name} {} or newer", self.lowest);
        Error::toolchain(language, &program, &found, &next)
    }
}

/// The command of a program, configured not to install anything, as rustup would.
pub(crate) fn without_installing(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env("RUSTUP_AUTO_INSTALL", "0");
    command
}

/// How many characters of a command are shown after it has failed: those of a compiler have a thousand, and its errors
/// are above.
const SHOWN: usize = 200;

/// Runs a program to its end. All its output goes to our standard error immediately.
#[expect(clippy::disallowed_methods, reason = "toolchains print for the user")]
pub fn run(command: &mut Command) -> Result<(), Error> {
    let program = command.get_program().to_owned();
    let status = command
        .stdin(Stdio::null())
        .stdout(Stdio::from(io::stderr()))
        .status()
        .map_err(Error::disk(Path::new(&program)))?;
    if status.success() {
        Ok(())
    } else {
        Err(Error::failed(&begin(shown(command)), status))
    }
}

/// The beginning of a command, whose end may be far from it.
fn begin(command: String) -> String {
    let end = command.char_indices().nth(SHOWN).map(|(end, _)| end);
    match end {
        Some(end) => format!("{} …", &command[..end]),
        None => command,
    }
}

/// A command as typed, but without quotes.
pub(crate) fn shown(command: &Command) -> String {
    let program = [command.get_program()].into_iter();
    let words = program.chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}
