//! `cargo xtask arm64`: builds the program for Linux on arm64 here, and runs its promises, and those of the tests in
//! `tests/systems` that start nothing but our programs, in an emulator.
//!
//! The kernel can start only programs of its own machine. So a small library (`arm64/exec.c`) is preloaded into the
//! emulated program, which has the emulator start what that starts: itself, above all.
//!
//! An emulator has no confinement to offer, neither seccomp nor Landlock: `acp-chain self-test` says so in a line with a
//! dash, which is no failure.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

use anyhow::{Context, Result, ensure};
use xtask::fetch::debian;
use xtask::program::EXTENSIONS;
use xtask::publish;
use xtask::workspace::Workspace;

use crate::dist;
use crate::make::{self, BuildScope};
use crate::systems::{self, Outcome};

const TARGET: &str = "aarch64-unknown-linux-gnu";

/// Where Debian's packages for other machines have the libraries of this one.
const ROOT: &str = "/usr/aarch64-linux-gnu";

/// The library that is preloaded.
const EXEC: &str = include_str!("arm64/exec.c");

/// The ending of the files of compiled code.
const COMPILED: &str = "compiled";

/// The tests that are run. In others a program of this machine starts ours, such as a shell, into which the library is
/// not preloaded.
const TESTS: [&str; 4] = ["turns::", "kills::", "bridge::", "cache::"];

/// The components of these tests.
const COMPONENTS: [&str; 2] = ["redact", "todo"];

/// The mark before the results in the book.
const BEGIN: &str = "<!-- by cargo xtask arm64 -->\n";

#[derive(clap::Args)]
pub struct Options {
    /// A program for arm64 that carries the extensions, instead of a new build.
    #[arg(long)]
    program: Option<PathBuf>,
    /// Write the results into the book.
    #[arg(long)]
    publish: bool,
}

/// What an emulated program is run with.
struct Emulated {
    emulator: PathBuf,
    library: PathBuf,
    program: PathBuf,
    home: PathBuf,
}

/// Packs the program for arm64, unless one is given, and runs it. Returns whether all promises hold and all tests pass.
pub fn run(workspace: &Workspace, options: Options) -> Result<ExitCode> {
    // The package for C alone may be there without the headers of the library.
    let packages = "gcc-aarch64-linux-gnu g++-aarch64-linux-gnu";
    let compilers = debian::installed(workspace, "aarch64-linux-gnu-g++", packages)?;
    let compiler = compilers.with_file_name("aarch64-linux-gnu-gcc");
    let emulator = debian::installed(workspace, "qemu-aarch64", "qemu-user")?;
    let program = options.program.map_or_else(|| pack(workspace), Ok)?;
    let folder = workspace.target("arm64");
    let emulated = Emulated::new(&folder, &compiler, emulator, program)?;
    let version = emulated.succeed(["--version"])?;
    println!("{}, in an emulator", version.trim());
    check(&emulated, &folder)?;
    demo(&emulated)?;
    let self_test = emulated.run(["self-test"])?;
    let printed = String::from_utf8_lossy(&self_test.stdout).into_owned();
    print!("{printed}");
    let tests = test(workspace, &emulated, &compiler)?;
    let failed = systems::failed(&tests);
    println!("{} tests, {failed} of them failed", tests.len());
    if options.publish {
        let promises = printed.replace(&*emulated.home.to_string_lossy(), "~");
        let results = table(&emulated.version()?, &promises, &tests);
        publish::tables(workspace, systems::PAGE, BEGIN, &results)?;
    }
    Ok(xtask::verdict(self_test.status.success() && failed == 0))
}

/// Packs the program. Returns the one that is in the packages.
fn pack(workspace: &Workspace) -> Result<PathBuf> {
    let options = dist::Options {
        out: Some(workspace.target("arm64/packages")),
        target: Some(TARGET.to_owned()),
        ..dist::Options::default()
    };
    dist::run(workspace, options)
}

/// Checks a chain of all extensions.
fn check(emulated: &Emulated, folder: &Path) -> Result<()> {
    let entries = EXTENSIONS.map(|name| format!("[[proxy]]\nuse = \"{name}\"\n"));
    let manifest = folder.join("chain.toml");
    fs::write(&manifest, entries.concat())?;
    let args = [
        "check".as_ref(),
        "--manifest".as_ref(),
        manifest.as_os_str(),
    ];
    emulated.succeed(args)?;
    println!("✓ check         a chain of all extensions is valid");
    Ok(())
}

/// Takes turns through three extensions, whose code was compiled for the other machine.
fn demo(emulated: &Emulated) -> Result<()> {
    emulated.succeed(["demo"])?;
    let cache = emulated.home.join(".cache/acp-chain/compiled");
    let files = fs::read_dir(&cache).into_iter().flatten().flatten();
    let mut compiled = files.filter(|file| {
        let path = file.path();
        path.extension()
            .is_some_and(|extension| extension == COMPILED)
    });
    ensure!(
        compiled.next().is_none(),
        "the program compiled its extensions again: their code in it is not for {TARGET}"
    );
    println!(
        "✓ demo          two turns through three extensions, with the code that came with them"
    );
    Ok(())
}

/// Builds the tests for arm64, and runs them.
fn test(workspace: &Workspace, emulated: &Emulated, compiler: &Path) -> Result<Vec<Outcome>> {
    make::components(workspace, BuildScope::Tests, &COMPONENTS)?;
    let built = systems::build(workspace, "arm64", TARGET, compiler.as_os_str(), "")?;
    let mut command = emulated.command(&built.tests);
    command
        .args(TESTS)
        // Each compiles, which takes long in an emulator.
        .arg("--test-threads=1")
        .env("ACP_CHAIN_PROGRAM", &emulated.program)
        .env("ACP_CHAIN_COMPONENTS", workspace.target("components"));
    let Output { stdout, stderr, .. } = emulated.started(&mut command)?;
    let printed = String::from_utf8_lossy(&stdout).into_owned();
    print!("{printed}");
    let tests: Vec<_> = systems::outcomes(&printed).collect();
    ensure!(
        !tests.is_empty(),
        "{} has run no test:\n{printed}{}",
        built.tests.display(),
        String::from_utf8_lossy(&stderr)
    );
    Ok(tests)
}

/// The results, for the book. The lines of `promises` are those of `acp-chain self-test`, of which those with a dash
/// say what the emulator lacks.
fn table(emulator: &str, promises: &str, tests: &[Outcome]) -> String {
    let mut text = format!(
        "What `acp-chain self-test` says under {emulator}:\n\n| Promise | | |\n|---|---|---|\n"
    );
    for line in promises.lines() {
        let Some((mark, rest)) = line.split_once(' ') else {
            continue;
        };
        let (name, says) = rest.split_once(' ').unwrap_or((rest, ""));
        if ["✓", "✗", "–"].contains(&mark) {
            let _ = writeln!(text, "| {mark} | `{name}` | {} |", says.trim());
        }
    }
    text + "\n" + &systems::table(emulator, tests)
}

impl Emulated {
    /// Compiles the library that is preloaded, and makes an empty home.
    fn new(folder: &Path, compiler: &Path, emulator: PathBuf, program: PathBuf) -> Result<Self> {
        let home = folder.join("home");
        let _ = fs::remove_dir_all(&home);
        fs::create_dir_all(&home)
            .with_context(|| format!("{} cannot be created", home.display()))?;
        let source = folder.join("exec.c");
        fs::write(&source, EXEC)?;
        let library = folder.join("exec.so");
        let define = |name: &str, path: &Path| format!("-D{name}=\"{}\"", path.display());
        let outcome = Command::new(compiler)
            .args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror"])
            .arg(define("EMULATOR", &emulator))
            .arg(define("ROOT", ROOT.as_ref()))
            .arg(define("SELF", &library))
            .arg("-o")
            .arg(&library)
            .arg(&source)
            .status()
            .with_context(|| format!("{} cannot be started", compiler.display()))?;
        ensure!(outcome.success(), "{} cannot be compiled", source.display());
        Ok(Self {
            emulator,
            library,
            program: program
                .canonicalize()
                .with_context(|| format!("{} is missing", program.display()))?,
            home,
        })
    }

    /// A command that has the emulator run a program.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(&self.emulator);
        command
            .args(["-L", ROOT, "-E"])
            .arg(format!("LD_PRELOAD={}", self.library.display()))
            .arg(program)
            .env("HOME", &self.home);
        for kind in ["CONFIG", "DATA", "STATE", "CACHE"] {
            command.env_remove(format!("XDG_{kind}_HOME"));
        }
        command
    }

    /// Runs such a command to its end.
    fn started(&self, command: &mut Command) -> Result<Output> {
        let output = command.output();
        output.with_context(|| format!("{} cannot be started", self.emulator.display()))
    }

    /// Runs the program to its end.
    fn run<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Result<Output> {
        self.started(self.command(&self.program).args(args))
    }

    /// The version of the emulator, as it says it.
    fn version(&self) -> Result<String> {
        let printed = xtask::printed(Command::new(&self.emulator).arg("--version"))?;
        Ok(printed.lines().next().unwrap_or_default().to_owned())
    }

    /// The output of the program, which must succeed.
    fn succeed<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Result<String> {
        let output = self.run(args)?;
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        ensure!(
            output.status.success(),
            "the emulated program ended with {}:\n{printed}{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(printed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_results_have_each_promise_and_each_test() {
        let promises = "✓ chain        a turn passed\n– confinement  only here\n1 line more\n";
        let tests = [Outcome {
            about: "kills::a".to_owned(),
            says: "ok".to_owned(),
        }];
        let expected = "What `acp-chain self-test` says under qemu:\n\n| Promise | | |\n|---|---|---|\n\
                        | ✓ | `chain` | a turn passed |\n| – | `confinement` | only here |\n\n\
                        Under qemu, 1 of 1 tests pass:\n\n| Test | |\n|---|---|\n| `kills::a` | ok |\n";
        assert_eq!(table("qemu", promises, &tests), expected);
    }
}
