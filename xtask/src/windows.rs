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
use xtask::fetch::debian;
use xtask::publish;
use xtask::workspace::Workspace;

use crate::make::{self, BuildScope};
use crate::systems::{self, Outcome, outcomes};

const TARGET: &str = "x86_64-pc-windows-gnu";

/// Debian's C compiler for Windows, which also links.
const COMPILER: &str = "x86_64-w64-mingw32-gcc";

/// The components of the tests.
const COMPONENTS: [&str; 3] = ["redact", "todo", "files"];

/// The mark before the results in the book.
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
    let failed = systems::failed(&tests);
    println!("\n{} tests, {failed} of them failed", tests.len());
    for probe in &probes {
        println!("{}: {}", probe.about, probe.says);
    }
    if options.publish {
        let results = table(&wine.version()?, &tests, &probes);
        publish::tables(workspace, systems::PAGE, BEGIN, &results)?;
    }
    Ok(xtask::verdict(failed == 0))
}

/// Builds the program and the tests.
fn build(workspace: &Workspace) -> Result<Built> {
    let more = "--package acp-chain-cli --bin acp-chain";
    let built = systems::build(workspace, "windows", TARGET, COMPILER.as_ref(), more)?;
    Ok(Built {
        tests: built.tests,
        program: built.program.context("cargo has not built the program")?,
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

/// The results, for the book.
fn table(wine: &str, tests: &[Outcome], probes: &[Outcome]) -> String {
    let mut text = systems::table(wine, tests);
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
    fn a_path_has_a_drive_on_windows() {
        assert_eq!(on_windows(Path::new("/work/a b")), r"Z:\work\a b");
    }
}
