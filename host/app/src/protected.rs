//! Protected files: they determine the proxies, their permissions, and the programs that are started, now and at the
//! next start. No proxy may write to any of them, since it could widen its own rights.

use std::ffi::OsString;
use std::fmt::Display;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::variables::LOADERS;
use crate::{Error, home, proxies, trail};
use acp_chain::host::ProxyPlan;
use acp_chain_conductor::native::CommandLine;
use acp_chain_extension::Lock;
use acp_chain_manifest::{Manifest, ProxyEntry, ProxyKind};
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};
use acp_chain_sandbox::Opened;
use acp_chain_system::files::{Identity, TooMany, another_name};

/// How many names are checked when searching a directory, which takes about a second.
pub const NAMES: usize = 1_000_000;

/// How many bytes of a script's first line are read, as by the system.
const FIRST_LINE: u64 = 256;

/// The files that the command line and manifests name, each with its description.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct NamedFiles {
    programs: Vec<(String, CommandLine)>,
    files: Vec<(String, OsString)>,
}

impl NamedFiles {
    /// The agent, if known, and the log and trace files.
    pub fn new(agent: Option<CommandLine>, written: &[PathBuf]) -> Self {
        let agent = agent.map(|command| ("the agent".to_owned(), command));
        let named = Self {
            programs: agent.into_iter().collect(),
            files: Vec::new(),
        };
        named.written(written)
    }

    /// Adds a manifest, its lock, and the files of its proxies.
    #[must_use]
    pub fn and(mut self, manifest: &Manifest) -> Self {
        let owner = |entry: &ProxyEntry| format!("the proxy `{}`", entry.id);
        let mut file = |what: &str, path: &Path| self.files.push((what.to_owned(), path.into()));
        file("the manifest", &manifest.path);
        file("its lock", &Lock::beside(&manifest.path));
        for entry in &manifest.proxies {
            match &entry.kind {
                ProxyKind::Component(component) => {
                    let path = component.location.path();
                    self.files
                        .extend(path.map(|path| (owner(entry), path.into())));
                }
                ProxyKind::Native(native) => {
                    self.programs.push((owner(entry), native.command.clone()));
                }
            }
        }
        self
    }

    /// Adds these files, each with its description.
    #[must_use]
    pub fn with(mut self, files: &[(&str, PathBuf)]) -> Self {
        let files = files.iter();
        let files = files.map(|(what, path)| ((*what).to_owned(), path.into()));
        self.files.extend(files);
        self
    }

    /// Adds these log and trace files.
    #[must_use]
    pub fn written(mut self, paths: &[PathBuf]) -> Self {
        let named = |path: &PathBuf| ("the log or the trace".to_owned(), path.into());
        self.files.extend(paths.iter().map(named));
        self
    }
}

/// A file or directory that must not change.
struct ProtectedFile {
    what: String,
    path: PathBuf,
    /// All names that resolving the path looks up.
    names: Vec<PathBuf>,
}

/// A directory that a proxy may write to.
struct Writable<'a> {
    entry: &'a ProxyEntry,
    opened: &'a Opened,
    /// The directory itself.
    top: Option<Identity>,
    /// The mount points in it: they may show another file system a second time.
    mounts: Vec<Option<Identity>>,
}

/// Fails if a chain cannot run as written, whatever is named beside it: its guards, the directories of its proxies, or
/// the files that they may write to.
pub fn check_chain(manifest: &Manifest) -> Result<(), Error> {
    manifest.check_guards().map_err(Error::Proxy)?;
    let proxies = proxies::open(manifest)?;
    check(manifest, &proxies, &NamedFiles::default())
}

/// Fails if a proxy of a manifest may write to a protected file.
pub fn check(manifest: &Manifest, proxies: &[ProxyPlan], named: &NamedFiles) -> Result<(), Error> {
    let given = proxies::directories(proxies);
    let writable: Vec<_> = given
        .filter(|(_, opened)| opened.directory.write)
        .map(|(entry, opened)| Writable::new(entry, opened))
        .collect();
    if writable.is_empty() {
        return Ok(());
    }
    let named = named.clone().and(manifest);
    let mut all = own();
    for (what, path) in &named.files {
        all.push(ProtectedFile::new(what, Path::new(path)));
    }
    for (owner, command) in &named.programs {
        all.extend(program(owner, command));
    }
    for (entry, opened) in proxies::directories(proxies) {
        let what = format!("what the proxy `{}` is given", entry.id);
        all.push(ProtectedFile::new(what, &opened.by));
    }
    for writable in &writable {
        let given = Untrusted::new(writable.opened.directory.path.display());
        let wrong = |wrong: String| Err(Error::Proxy(manifest.about(writable.entry, &wrong)));
        for protected in &all {
            if let Some(how) = writable.reaches(protected) {
                let what = &protected.what;
                return wrong(format!(
                    "it may write to {given}, and so to {what} ({how}), by which it could give itself \
                     more; leave out `write`, or give it another directory"
                ));
            }
        }
        for (owner, command) in &named.programs {
            if let Some(word) = writable.is_named_in(command) {
                return wrong(format!(
                    "it may write to {given}, which is named in what starts {owner} ({}), so that it could \
                     change what runs; leave out `write`, or give it another directory",
                    quote(&word, MAX_QUOTE)
                ));
            }
        }
    }
    Ok(())
}

/// The files of this program.
fn own() -> Vec<ProtectedFile> {
    let files = [
        ("your config.toml", home::config_file()),
        (
            "the lock beside it",
            home::config_file().map(|file| Lock::beside(&file)),
        ),
        ("the log", home::log_file()),
        ("the history of prompts", home::history()),
        ("this program", std::env::current_exe().ok()),
    ];
    let files = files.into_iter();
    let files = files.filter_map(|(what, path)| Some(ProtectedFile::new(what, &path?)));
    let sockets = home::sockets().into_iter();
    let folders = [
        ("installed extensions", home::extensions()),
        ("installed agents", home::agents()),
        ("your decisions about projects", home::trust()),
        ("what proxies have stored", home::state()),
        ("the toolchains of extensions", home::toolchains()),
        ("compiled code", home::code_cache()),
    ]
    .into_iter()
    .chain(sockets.map(|place| ("the sockets for MCP clients", Some(place))));
    let folders = folders.filter_map(|(what, folder)| Some(ProtectedFile::within(what, &folder?)));
    files.chain(folders).collect()
}

/// The protected files of a program: among its arguments and environment, a file may be its code, and a directory may
/// contain its code.
fn program(owner: &str, command: &CommandLine) -> Vec<ProtectedFile> {
    let folders = search(command);
    // An empty name is the current directory.
    let within = |folder: &PathBuf| {
        ProtectedFile::within(
            "where programs are looked for",
            &Path::new(".").join(folder),
        )
    };
    let mut all: Vec<_> = folders.iter().map(within).collect();
    if let Some(file) = file_of(command) {
        all.push(ProtectedFile::new(format!("the program of {owner}"), &file));
        let interpreter = interpreter(&file);
        all.extend(interpreter.map(|file| ProtectedFile::new(format!("what runs {owner}"), &file)));
    }
    for word in words(command) {
        let text = word.to_string_lossy();
        let value = text.split_once('=').map(|(_, value)| Path::new(value));
        for path in [Some(Path::new(word)), value].into_iter().flatten() {
            let what = format!("an argument of {owner}");
            if path.is_dir() {
                all.push(ProtectedFile::within(what, path));
            } else if path.exists() {
                all.push(ProtectedFile::new(what, path));
            }
        }
    }
    all
}

/// The search path of a program named without a path.
fn search(command: &CommandLine) -> Vec<PathBuf> {
    let search = command.variable("PATH").unwrap_or_default();
    std::env::split_paths(&search).collect()
}

/// The file of a program.
pub fn file_of(command: &CommandLine) -> Option<PathBuf> {
    let word = Path::new(&command.program);
    if word.components().nth(1).is_some() || word.is_absolute() {
        return Some(word.to_owned());
    }
    let files = search(command).into_iter().map(|folder| folder.join(word));
    files.into_iter().find(|file| file.is_file())
}

/// The arguments of a program, and the values of its environment variables.
fn words(command: &CommandLine) -> impl Iterator<Item = &OsString> {
    let values = command.env.iter().map(|(_, value)| value);
    command.args.iter().chain(values)
}

/// The interpreter in the first line of a script.
fn interpreter(file: &Path) -> Option<PathBuf> {
    let line = first_line(file)?;
    line.split_whitespace().next().map(PathBuf::from)
}

/// The first line of a script, after `#!`.
pub fn first_line(file: &Path) -> Option<String> {
    // Not a pipe, whose reading would block.
    let file = file.is_file().then(|| File::open(file).ok())??;
    let mut start = Vec::new();
    file.take(FIRST_LINE).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?;
    let line = line.split(|byte| *byte == b'\n').next()?;
    Some(String::from_utf8_lossy(line).into_owned())
}

impl ProtectedFile {
    /// A file or a directory that must not change.
    fn new(what: impl Into<String>, path: &Path) -> Self {
        Self {
            what: what.into(),
            path: path.to_owned(),
            names: trail::names(path),
        }
    }

    /// A directory whose whole content must not change.
    fn within(what: impl Into<String>, directory: &Path) -> Self {
        let mut file = Self::new(what, directory);
        let inside = file.names.last().map(|name| name.join("any"));
        file.names.extend(inside);
        file
    }
}

impl<'a> Writable<'a> {
    fn new(entry: &'a ProxyEntry, opened: &'a Opened) -> Self {
        let mounts = opened.mounts.iter();
        Self {
            entry,
            opened,
            top: opened.identity(),
            mounts: mounts.map(|(path, _)| Identity::of(path)).collect(),
        }
    }

    /// A word of a command line, of its environment, or of the first line of its script, that contains this directory's
    /// path: in a shell command, for instance, or after an option.
    fn is_named_in(&self, command: &CommandLine) -> Option<String> {
        let loaders = LOADERS.split(' ').filter_map(std::env::var_os);
        let words = words(command).cloned().chain(loaders);
        let words = words.map(|word| word.to_string_lossy().into_owned());
        let script = file_of(command).and_then(|file| first_line(&file));
        let mut words = words.chain(script);
        let names = [&self.opened.directory.path, &self.opened.by];
        let names = names.map(|name| name.to_string_lossy().into_owned());
        words.find(|word| names.iter().any(|name| word.contains(name)))
    }

    /// Describes how a protected file could be written to or replaced in this directory; `None` if it cannot.
    fn reaches(&self, protected: &ProtectedFile) -> Option<String> {
        let show = |path: &dyn Display| quote(&path.to_string(), MAX_QUOTE);
        let path = show(&protected.path.display());
        if let Some(name) = protected.names.iter().find(|name| self.contains(name)) {
            let name = show(&name.display());
            return Some(if name == path {
                path
            } else {
                format!("{path}, by way of {name}")
            });
        }
        if self.mounts.contains(&Identity::of(&protected.path)) && protected.path.is_file() {
            return Some(path);
        }
        match another_name(&protected.path, &self.opened.directory.path, NAMES) {
            Ok(None) => None,
            Ok(Some(other)) => Some(format!("{path}, which is {} too", show(&other.display()))),
            Err(TooMany) => Some(format!(
                "{path}, perhaps: it has other names, and there are too many here to check"
            )),
        }
    }

    /// Whether a name is in this directory, or below it.
    fn contains(&self, name: &Path) -> bool {
        name.ancestors().skip(1).any(|above| {
            let above = Identity::of(above);
            above.is_some() && (above == self.top || self.mounts.contains(&above))
        })
    }
}
