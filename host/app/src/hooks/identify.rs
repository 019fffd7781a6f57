//! The agent that a command starts, by the package that the program is a part of.

use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use acp_chain_conductor::native::CommandLine;
use acp_chain_hooks::{CannotAttach, KnownAgent, UnattachedAgent, known, unattached};
use acp_chain_manifest::Remote;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_system::local::Address;
use semver::Version;
use serde::Deserialize;

use super::{NoHooks, variable};
use crate::agent::find;

/// The longest description of a package that is read, in bytes.
const LONGEST: u64 = 1 << 20;

/// Programs that run a script, which is their first argument that is no option.
const RUNTIMES: &[&str] = &["node", "nodejs", "bun", "deno"];

/// Options of these whose value is the next argument.
const WITH_VALUE: &str = "-r --require --import --loader --experimental-loader -C --conditions";

/// Programs that fetch a package, and run it.
const FETCHERS: &[&str] = &["npx", "bunx", "pnpx"];

/// Programs that start another one, of Python, which one of their arguments names.
const PYTHONS: &[&str] = &["uvx", "uv", "pipx", "python", "python3"];

/// An agent whose hooks are known.
#[derive(Clone, Debug)]
pub struct IdentifiedAgent {
    pub agent: &'static KnownAgent,
    /// `None` if it is decided only when the agent starts.
    pub version: Option<Version>,
    /// Why another program runs its hooks than those with which they were tried, if that is so.
    other_program: Option<String>,
}

impl IdentifiedAgent {
    /// Whether its hooks have been tried with this version.
    pub fn is_tried(&self) -> bool {
        self.is_of_tried_version() && self.other_program.is_none()
    }

    fn is_of_tried_version(&self) -> bool {
        self.version
            .as_ref()
            .is_some_and(|version| self.agent.is_for(version))
    }

    /// An error if its hooks may not report all that it runs.
    pub fn check_reports(&self) -> Result<(), NoHooks> {
        let (agent, tried) = (self.to_string(), self.agent.versions());
        if self.agent.only_asks() {
            return Err(NoHooks::OnlyAsks { agent, tried });
        }
        if !self.is_of_tried_version() {
            return Err(NoHooks::Untried { agent, tried });
        }
        match self.other_program.clone() {
            Some(why) => Err(NoHooks::OtherProgram { agent, why }),
            None => Ok(()),
        }
    }
}

/// The package, and its version.
impl fmt::Display for IdentifiedAgent {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match &self.version {
            Some(version) => write!(f, "{} {version}", self.agent.package),
            None => write!(f, "{} (the newest version)", self.agent.package),
        }
    }
}

/// The name of a package, and its version if that is known.
struct Package(String, Option<Version>);

#[derive(Deserialize)]
struct Description {
    name: String,
    version: Version,
}

/// The agent that a command starts.
///
/// # Errors
/// If it is remote, is no part of a package of an agent whose hooks are known, is one whose hooks cannot be attached or
/// are switched off, or if no hooks can be attached on this system.
pub fn identify(command: &CommandLine) -> Result<IdentifiedAgent, NoHooks> {
    if Remote::is_behind(command) {
        return Err(NoHooks::Remote);
    }
    if !Address::HAS_FOLDER {
        return Err(NoHooks::NoFolder);
    }
    if let Some(agent) = by_program(command) {
        return Err(NoHooks::NotForOneRun(agent.name, agent.why));
    }
    let unknown = || NoHooks::Unknown(quote(&command.program.to_string_lossy(), MAX_QUOTE));
    let Package(name, version) = package(command).ok_or_else(unknown)?;
    // What is fetched without a version is the newest.
    let newest = Version::new(u64::MAX, 0, 0);
    let agent = known(&name, version.as_ref().unwrap_or(&newest));
    let agent = agent.ok_or_else(unknown)?;
    let value = |name: &str| variable(command, name);
    let dialect = agent.dialect();
    let off = dialect.and_then(|dialect| dialect.switched_off_by(&command.args, &value));
    if let Some(name) = off {
        return Err(CannotAttach::SwitchedOff(name).into());
    }
    Ok(IdentifiedAgent {
        agent,
        version,
        other_program: other_program(agent, command),
    })
}

/// Why another program runs the hooks of an agent than those with which they were tried, if that is so: its user has
/// named one, or the one that is installed apart is of another package or version.
fn other_program(agent: &KnownAgent, command: &CommandLine) -> Option<String> {
    for name in agent.replaced_by.iter().copied() {
        let set = command.variable(name).filter(|value| !value.is_empty());
        if set.is_some() || overrides(command, name) {
            return Some(format!("{name} has it start another program than its own"));
        }
    }
    let runs = agent.runs?;
    let named = variable(command, runs.variable).filter(|named| !named.is_empty());
    let program = named.unwrap_or_else(|| runs.name.to_owned());
    let file = find(command, OsStr::new(&program)).and_then(|path| path.canonicalize().ok());
    let package = file.and_then(|file| around(&file));
    let is_tried = package.is_some_and(|Package(name, version)| {
        name == runs.package && version.is_some_and(|version| runs.is_for(&version))
    });
    let (tried, versions) = (runs.package, runs.versions());
    let program = quote(&program, MAX_QUOTE);
    (!is_tried).then(|| format!("`{program}`, which it starts, is not {tried} {versions}"))
}

fn package(command: &CommandLine) -> Option<Package> {
    let mut words = words(command);
    let program = words.next()?;
    if is(program, FETCHERS) {
        let spec = words.find(|word| !word.to_string_lossy().starts_with('-'))?;
        return Some(fetched(&spec.to_string_lossy()));
    }
    let is_runtime = is(program, RUNTIMES);
    let file = if is_runtime { script(words)? } else { program };
    let path = Path::new(file);
    let path = if is_runtime || path.components().nth(1).is_some() {
        path.to_owned()
    } else {
        find(command, file)?
    };
    around(&path.canonicalize().ok()?)
}

/// The program that a command starts, and its arguments, without an `env` in front of them.
fn words(command: &CommandLine) -> impl Iterator<Item = &OsStr> {
    let words = [&command.program].into_iter().chain(&command.args);
    let mut words = words.map(|word| &**word).peekable();
    if words.next_if(|word| is_env(word)).is_some() {
        let is_setting = |word: &&OsStr| is_setting(&word.to_string_lossy());
        while words.next_if(is_setting).is_some() {}
    }
    words
}

/// The agent whose hooks cannot be attached, by the name of its program, or of the package of Python that is fetched.
fn by_program(command: &CommandLine) -> Option<&'static UnattachedAgent> {
    let mut words = words(command);
    let program = words.next()?;
    let arguments = words.filter(|_| is(program, PYTHONS));
    let mut named = [program].into_iter().chain(arguments);
    named.find_map(|word| {
        let file = Path::new(word).file_name()?.to_string_lossy();
        let name = file.strip_suffix(".exe").unwrap_or(&file);
        // A package may have a version: `NAME==VERSION`, `NAME@VERSION`, `NAME[EXTRA]>VERSION`.
        unattached(name.split(['=', '@', '[', '>', '<', '~']).next()?)
    })
}

/// Whether a program is `env`, which starts another one in a changed environment.
fn is_env(program: &OsStr) -> bool {
    is(program, &["env"])
}

/// Whether `env` sets or removes a variable by this word. Other options do more, such as removing all.
fn is_setting(word: &str) -> bool {
    word.starts_with("--unset=") || !word.starts_with('-') && word.contains('=')
}

/// Whether the command itself sets or removes a variable of the agent's, whatever we set.
pub(super) fn overrides(command: &CommandLine, name: &str) -> bool {
    let mut words = command.args.iter().map(|word| word.to_string_lossy());
    is_env(&command.program)
        && words.any(|word| {
            let word = word.strip_prefix("--unset=").unwrap_or(&word);
            word.split('=').next() == Some(name)
        })
}

fn is(program: &OsStr, names: &[&str]) -> bool {
    let stem = Path::new(program).file_stem();
    stem.is_some_and(|stem| names.iter().any(|name| stem == *name))
}

/// The script that a runtime runs.
fn script<'w>(mut words: impl Iterator<Item = &'w OsStr>) -> Option<&'w OsStr> {
    loop {
        let word = words.next()?;
        let text = word.to_string_lossy();
        if WITH_VALUE.split(' ').any(|option| option == text) {
            words.next();
        } else if !text.starts_with('-') && text != "run" {
            return Some(word);
        }
    }
}

/// The package in `NAME@VERSION`, whose name may begin with `@`, too. A tag, or a range, is no version.
fn fetched(spec: &str) -> Package {
    match spec.rsplit_once('@') {
        Some((name, version)) if !name.is_empty() => {
            Package(name.to_owned(), Version::parse(version).ok())
        }
        _ => Package(spec.to_owned(), None),
    }
}

/// The package of which this file is a part. A description without a name or a version is of a part of a package.
fn around(file: &Path) -> Option<Package> {
    let mut folders = file.ancestors().skip(1);
    let described = folders.find_map(|folder| {
        let mut text = String::new();
        let file = File::open(folder.join("package.json")).ok()?;
        file.take(LONGEST).read_to_string(&mut text).ok()?;
        serde_json::from_str::<Description>(&text).ok()
    });
    described.map(|Description { name, version }| Package(name, Some(version)))
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::*;

    fn command(words: &[&str]) -> CommandLine {
        let mut words = words.iter().map(Into::into);
        CommandLine {
            program: words.next().unwrap(),
            args: words.collect(),
            env: Vec::new(),
        }
    }

    fn identified(words: &[&str]) -> Option<String> {
        identify(&command(words))
            .ok()
            .map(|agent| agent.to_string())
    }

    #[test]
    fn an_agent_is_known_by_the_package_of_its_program() {
        let folder = tempfile::Builder::new().prefix("a b").tempdir().unwrap();
        let package = folder.path().join("lib/node_modules/opencode-ai");
        fs::create_dir_all(package.join("dist")).unwrap();
        fs::write(
            package.join("package.json"),
            r#"{"name":"opencode-ai","version":"1.18.33"}"#,
        )
        .unwrap();
        fs::write(package.join("dist/package.json"), r#"{"type":"module"}"#).unwrap();
        let program = package.join("dist/opencode");
        files(&program);
        let link = folder.path().join("opencode");
        std::os::unix::fs::symlink(&program, &link).unwrap();
        let [program, link] = [&program, &link].map(|path| path.to_str().unwrap());
        let expected = Some("opencode-ai 1.18.33".to_owned());
        for words in [
            &[program, "acp"][..],
            &[link],
            &["node", program],
            &[
                "/usr/bin/node",
                "--import",
                "x",
                "--no-warnings",
                link,
                "acp",
            ],
            &["env", "--unset=C", "A=b", "node", program],
        ] {
            assert_eq!(identified(words), expected, "{words:?}");
        }
        let mut named = command(&["opencode"]);
        assert!(identify(&named).is_err());
        named.env.push(("PATH".into(), folder.path().into()));
        assert_eq!(identify(&named).unwrap().to_string(), "opencode-ai 1.18.33");
        for words in [
            &["sh"][..],
            &["node"],
            &["node", "-e", "1"],
            &["env", "-i", program],
            &["/nowhere/opencode"],
        ] {
            assert_eq!(identified(words), None, "{words:?}");
        }
    }

    #[test]
    fn an_agent_whose_hooks_are_switched_off_is_named_with_the_reason() {
        let pure = command(&["npx", "opencode-ai@1.18.33", "acp", "--pure"]);
        let why = identify(&pure).unwrap_err().to_string();
        assert!(why.contains("with --pure"), "{why}");
        let mut simple = command(&["npx", "@qwen-code/qwen-code@0.24.4"]);
        let variable = ("QWEN_CODE_SIMPLE".into(), "1".into());
        simple.env.push(variable);
        let why = identify(&simple).unwrap_err().to_string();
        assert!(why.contains("with QWEN_CODE_SIMPLE"), "{why}");
    }

    #[test]
    fn a_program_in_place_of_the_agents_own_is_not_tried() {
        let mut named = command(&["npx", "@agentclientprotocol/codex-acp@2.6.0"]);
        let own = identify(&named).unwrap();
        assert!(own.is_tried() && own.check_reports().is_ok());
        named
            .env
            .push(("CODEX_PATH".into(), "/opt/codex/codex".into()));
        let by_words = command(&[
            "env",
            "CODEX_PATH=codex",
            "npx",
            "@agentclientprotocol/codex-acp@2.6.0",
        ]);
        for replaced in [named, by_words] {
            let other = identify(&replaced).unwrap();
            assert!(!other.is_tried());
            let why = other.check_reports().unwrap_err().to_string();
            assert!(why.contains("CODEX_PATH has it start another"), "{why}");
        }
    }

    #[test]
    fn the_program_that_runs_the_hooks_of_an_adapter_has_to_be_one_that_was_tried() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("pi");
        files(&program);
        let tried = |name: &str, version: &str| {
            let about = format!(r#"{{"name":"{name}","version":"{version}"}}"#);
            fs::write(folder.path().join("package.json"), about).unwrap();
            let mut adapter = command(&["npx", "pi-acp@0.0.34"]);
            let variable = "PI_ACP_PI_COMMAND".into();
            adapter.env.push((variable, program.clone().into()));
            identify(&adapter).unwrap().check_reports()
        };
        let package = "@earendil-works/pi-coding-agent";
        assert!(tried(package, "1.5.2").is_ok());
        for (name, version) in [(package, "1.5.3"), ("pi", "1.5.2")] {
            let why = tried(name, version).unwrap_err().to_string();
            assert!(
                why.contains("is not @earendil-works/pi-coding-agent 1.5.2"),
                "{why}"
            );
        }
    }

    #[test]
    fn what_is_fetched_is_known_by_its_name() {
        for (spec, expected, is_tried) in [
            ("opencode-ai@1.18.33", "opencode-ai 1.18.33", true),
            ("opencode-ai@1.18.34", "opencode-ai 1.18.34", false),
            ("@cline/cli-linux-x64@3.0.65", "cline 3.0.65", true),
            (
                "opencode-ai@latest",
                "opencode-ai (the newest version)",
                false,
            ),
            (
                "@agentclientprotocol/claude-agent-acp",
                "@agentclientprotocol/claude-agent-acp (the newest version)",
                false,
            ),
        ] {
            let agent = identify(&command(&["npx", "-y", spec, "--acp"])).unwrap();
            assert_eq!(
                (&*agent.to_string(), agent.is_tried()),
                (expected, is_tried)
            );
        }
    }

    #[test]
    fn an_agent_that_only_asks_does_not_report_all() {
        let of = |version: &str| {
            let spec = format!("@google/gemini-cli@{version}");
            identify(&command(&["npx", "-y", &spec, "--acp"]))
        };
        let reports = of("0.61.0").unwrap().check_reports();
        assert!(matches!(reports, Err(NoHooks::OnlyAsks { .. })));
        // It may not know the argument.
        assert!(of("0.60.0").is_err());
    }

    #[test]
    fn an_agent_whose_hooks_are_not_for_one_run_is_named_with_the_reason() {
        for words in [
            &["/home/me/venv/bin/fast-agent-acp", "-x"][..],
            &["fast-agent-acp.exe"],
            &["env", "A=b", "fast-agent", "acp"],
            &["uvx", "fast-agent-acp==0.10.48", "-x"],
            &["uvx", "--from", "fast-agent-mcp@latest", "fast-agent-acp"],
            &["python3", "/opt/bin/fast-agent-acp"],
        ] {
            let why = identify(&command(words)).unwrap_err().to_string();
            assert!(
                why.contains("fast-agent") && why.contains("agent cards"),
                "{words:?}: {why}"
            );
        }
        let other = identify(&command(&["/nowhere/agent", "fast-agent"])).unwrap_err();
        assert!(matches!(other, NoHooks::Unknown(_)), "{other}");
    }

    fn files(program: &Path) {
        use std::os::unix::fs::PermissionsExt as _;
        fs::write(program, "").unwrap();
        fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
    }
}
