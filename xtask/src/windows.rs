//! `cargo xtask windows`: builds the program for Windows, and runs the tests of `tests/systems` under Wine, and probes
//! of what Wine does.
//!
//! Everything is in `target/windows`: Wine's folder (`wine`), which has the profile of the user of the tests, their
//! `home`, and the programs (`bin`) with the library that Wine lacks beside them.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use xtask::fetch::{debian, target};
use xtask::publish;
use xtask::workspace::Workspace;

use crate::make::{self, BuildScope};

const TARGET: &str = "x86_64-pc-windows-gnu";

/// Debian's C compiler for Windows, which also links.
const COMPILER: &str = "x86_64-w64-mingw32-gcc";

/// The components of the tests.
const COMPONENTS: [&str; 3] = ["redact", "todo", "files"];

/// The program of the tests, in `tests/systems`.
const TESTS: &str = "systems";

/// The page with the results, and the mark before them.
const PAGE: &str = "docs/systems.md";
const BEGIN: &str = "<!-- by cargo xtask windows -->\n";

#[derive(clap::Args)]
pub struct Options {
    /// Write the results into the book.
    #[arg(long)]
    publish: bool,
    /// Arguments for the test programs, such as the name of a test.
    #[arg(last = true, value_name = "ARGS")]
    args: Vec<String>,
}

/// What was built for Windows.
struct Built {
    tests: PathBuf,
    program: PathBuf,
}

/// Wine, with a folder of its own.
struct Wine {
    program: PathBuf,
    folder: PathBuf,
    home: PathBuf,
}

/// A line of the results: what it is about, and whether it is as on Windows.
struct Outcome {
    about: String,
    says: String,
}

impl Outcome {
    /// What a line says after this mark.
    fn read(line: &str, mark: &str) -> Option<Self> {
        let (about, says) = line.trim().rsplit_once(mark)?;
        Some(Self {
            about: about.to_owned(),
            says: says.to_owned(),
        })
    }
}

/// Builds everything, runs the probes and the tests, and returns whether all tests pass.
pub fn run(workspace: &Workspace, options: &Options) -> Result<ExitCode> {
    ensure!(
        !options.publish || options.args.is_empty(),
        "only the results of all tests are published"
    );
    debian::installed(workspace, COMPILER, "gcc-mingw-w64-x86-64-win32")?;
    let wine = Wine::find(workspace)?;
    make::components(workspace, BuildScope::Tests, &COMPONENTS)?;
    let built = build(workspace)?;
    let folder = beside(workspace, &built)?;
    wine.begin(workspace)?;
    let probes = wine.probe(&folder)?;
    let tests = wine.test(workspace, &built, &options.args)?;
    let failed = tests.iter().filter(|test| test.says != "ok").count();
    println!("\n{} tests, {failed} of them failed", tests.len());
    for probe in &probes {
        println!("{}: {}", probe.about, probe.says);
    }
    if options.publish {
        let results = table(&wine.version()?, &tests, &probes);
        publish::tables(workspace, PAGE, BEGIN, &results)?;
    }
    Ok(xtask::verdict(failed == 0))
}

/// Builds the program and the tests.
fn build(workspace: &Workspace) -> Result<Built> {
    let log = workspace.target("windows/build.json");
    fs::create_dir_all(log.with_file_name(""))?;
    workspace.step("program and tests for Windows", |step| {
        target::add(workspace, step, TARGET)?;
        let mut build = workspace.cargo(
            "build --locked --package acp-chain-cli --package acp-chain-systems \
             --bin acp-chain --bin systems-agent",
        );
        // The output is read below.
        build.args(["--test", TESTS, "--message-format=json-render-diagnostics"]);
        target::compile_for(&mut build, TARGET, COMPILER);
        step.run_into(&mut build, &log)
    })?;
    let messages = fs::read_to_string(&log)?;
    let messages = messages.lines().filter_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        let file = PathBuf::from(message["executable"].as_str()?);
        Some((message, file))
    });
    let (mut tests, mut program) = (None, None);
    for (message, file) in messages {
        let is_test = message["profile"]["test"] == true;
        match (message["target"]["name"].as_str(), is_test) {
            (Some(TESTS), true) => tests = Some(file),
            (Some("acp-chain"), false) => program = Some(file),
            _ => {}
        }
    }
    let missing = |what: &str| format!("cargo has not built {what}: see {}", log.display());
    Ok(Built {
        tests: tests.with_context(|| missing("the tests"))?,
        program: program.with_context(|| missing("the program"))?,
    })
}

/// Builds the probes, and the library that Wine lacks, beside all programs that need that. Returns the folder of the
/// probes.
fn beside(workspace: &Workspace, built: &Built) -> Result<PathBuf> {
    let folder = workspace.target("windows/bin");
    fs::create_dir_all(&folder)?;
    let source = |name: &str| workspace.path("tests/systems/wine").join(name);
    let library = folder.join("bcryptprimitives.dll");
    workspace.step("probes of Wine", |step| {
        let mut compile = Command::new(COMPILER);
        compile.args(["-Wall", "-O1", "-o"]);
        compile.arg(folder.join("probes.exe"));
        step.run(compile.arg(source("probes.c")))?;
        let mut compile = Command::new(COMPILER);
        compile.args(["-Wall", "-shared", "-o"]).arg(&library);
        step.run(compile.arg(source("bcryptprimitives.c")).arg("-ladvapi32"))
    })?;
    for program in [&built.tests, &built.program] {
        fs::copy(&library, program.with_file_name("bcryptprimitives.dll"))?;
    }
    Ok(folder)
}

/// A path as programs of Windows name it: Wine has all files below `Z:`.
fn on_windows(path: &Path) -> String {
    format!("Z:{}", path.display()).replace('/', "\\")
}

impl Wine {
    /// Finds Wine, or installs it, which needs root.
    fn find(workspace: &Workspace) -> Result<Self> {
        // The first is the program, which starts that of the second.
        let program = debian::installed(workspace, "wine", "wine wine64")?;
        let wine = Self {
            program,
            folder: workspace.target("windows/wine"),
            home: workspace.target("windows/home"),
        };
        fs::create_dir_all(&wine.home)?;
        Ok(wine)
    }

    /// A program of Windows, by its path here, or by a name of one that Wine has.
    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(&self.program);
        command
            .arg(program)
            .env("WINEPREFIX", &self.folder)
            .env("WINEARCH", "win64")
            // Wine links folders of the profile to those of the home.
            .env("HOME", &self.home)
            .env("WINEDEBUG", "-all")
            // Neither asks for a browser or .NET, nor puts anything into menus.
            .env("WINEDLLOVERRIDES", "mscoree,mshtml,winemenubuilder.exe=")
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .stdin(Stdio::null());
        command
    }

    fn version(&self) -> Result<String> {
        let version = xtask::printed(Command::new(&self.program).arg("--version"))?;
        Ok(version.trim().to_owned())
    }

    /// Makes the folder of a new machine, with an empty profile.
    fn begin(&self, workspace: &Workspace) -> Result<()> {
        workspace.step("Wine's folder", |step| {
            let _ = fs::remove_dir_all(&self.folder);
            step.run(self.command("wineboot.exe").arg("--init"))
        })
    }

    /// What the probes find.
    fn probe(&self, folder: &Path) -> Result<Vec<Outcome>> {
        let output = self.command(folder.join("probes.exe")).output()?;
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let lines = printed.lines();
        let outcomes: Vec<_> = lines.filter_map(|line| Outcome::read(line, ": ")).collect();
        ensure!(
            output.status.success() && !outcomes.is_empty(),
            "the probes ended with {}: {printed}{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(outcomes)
    }

    /// Runs the tests, and prints their output. Returns their outcomes.
    fn test(&self, workspace: &Workspace, built: &Built, args: &[String]) -> Result<Vec<Outcome>> {
        let log = workspace.target("windows/tests.log");
        let printed = File::create(&log)?;
        let mut command = self.command(&built.tests);
        command
            .args(args)
            .env("ACP_CHAIN_PROGRAM", on_windows(&built.program))
            .env(
                "ACP_CHAIN_COMPONENTS",
                on_windows(&workspace.target("components")),
            )
            .env("ACP_CHAIN_TEST_PROFILE", "1")
            .env("RUST_BACKTRACE", "0")
            // In `PATH` beside Wine's own folders: copies of the program find the library there that Wine lacks.
            .env("WINEPATH", on_windows(&workspace.target("windows/bin")))
            .stderr(printed.try_clone()?)
            .stdout(printed);
        let status = command
            .status()
            .with_context(|| format!("{} cannot be started", self.program.display()))?;
        let printed = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
        println!("{printed}");
        let tests: Vec<_> = outcomes(&printed).collect();
        let is_told = status.success() || tests.iter().any(|test| test.says != "ok");
        ensure!(
            is_told && !(tests.is_empty() && args.is_empty()),
            "{} ended with {status}; its output is in {}",
            built.tests.display(),
            log.display()
        );
        Ok(tests)
    }
}

/// The outcomes in the output of a program of tests.
fn outcomes(printed: &str) -> impl Iterator<Item = Outcome> {
    let lines = printed.lines();
    let tests = lines.filter_map(|line| line.trim().strip_prefix("test "));
    tests.filter_map(|test| Outcome::read(test, " ... "))
}

/// The results, for the book.
fn table(wine: &str, tests: &[Outcome], probes: &[Outcome]) -> String {
    let passed = tests.iter().filter(|test| test.says == "ok").count();
    let mut text = format!(
        "Under {wine}, {passed} of {} tests pass:\n\n| Test | |\n|---|---|\n",
        tests.len()
    );
    for Outcome { about, says } in tests {
        let _ = writeln!(text, "| `{about}` | {says} |");
    }
    text += "\nWhat Windows promises, and what Wine does:\n\n| Call | Wine |\n|---|---|\n";
    for Outcome { about, says } in probes {
        let _ = writeln!(text, "| {about} | {says} |");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_read_from_what_tests_print() {
        let printed = "running 2 tests\r\ntest kills::leaves_nothing ... ok\r\n\
                       test cache::is_used ... FAILED\r\n\r\ntest result: FAILED. 1 passed; 1 failed\r\n";
        let read: Vec<_> = outcomes(printed)
            .map(|test| (test.about, test.says))
            .collect();
        let expected = [
            ("kills::leaves_nothing", "ok"),
            ("cache::is_used", "FAILED"),
        ];
        assert_eq!(
            read,
            expected.map(|(about, says)| (about.to_owned(), says.to_owned()))
        );
    }

    #[test]
    fn a_path_has_a_drive_on_windows() {
        assert_eq!(on_windows(Path::new("/work/a b")), r"Z:\work\a b");
    }
}
