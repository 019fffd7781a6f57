//! `cargo xtask arm64`: builds the program for Linux on arm64 here, and runs its promises in an emulator.
//!
//! The kernel can start only programs of its own machine. So a small library (`arm64/exec.c`) is preloaded into the
//! emulated program, which has the emulator start what that starts: itself, above all.
//!
//! An emulator has no confinement to offer, neither seccomp nor Landlock: `acp-chain self-test` says so in a line that
//! is no failure, and it is named here.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, ensure};
use xtask::fetch::debian;
use xtask::program::EXTENSIONS;
use xtask::workspace::Workspace;

use crate::dist;

const TARGET: &str = "aarch64-unknown-linux-gnu";

/// Where Debian's packages for other machines have the libraries of this one.
const ROOT: &str = "/usr/aarch64-linux-gnu";

/// The library that is preloaded.
const EXEC: &str = include_str!("arm64/exec.c");

/// The ending of the files of compiled code.
const COMPILED: &str = "compiled";

/// What an emulated program is run with.
struct Emulated {
    emulator: PathBuf,
    library: PathBuf,
    program: PathBuf,
    home: PathBuf,
}

/// Packs the program for arm64, unless one is given, and runs it.
pub fn run(workspace: &Workspace, program: Option<PathBuf>) -> Result<()> {
    let packages = "gcc-aarch64-linux-gnu libc6-dev-arm64-cross";
    let compiler = debian::installed(workspace, "aarch64-linux-gnu-gcc", packages)?;
    let emulator = debian::installed(workspace, "qemu-aarch64", "qemu-user")?;
    let program = program.map_or_else(|| pack(workspace), Ok)?;
    let folder = workspace.target("arm64");
    let emulated = Emulated::new(&folder, &compiler, emulator, program)?;
    let version = emulated.succeed(["--version"])?;
    println!("{}, in an emulator", version.trim());
    check(&emulated, &folder)?;
    demo(&emulated)?;
    self_test(&emulated)
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

/// Runs the promises, and tells what the emulator lacks from what fails.
fn self_test(emulated: &Emulated) -> Result<()> {
    let Output { status, stdout, .. } = emulated.run(["self-test"])?;
    let printed = String::from_utf8_lossy(&stdout);
    print!("{printed}");
    let lacks = printed.lines().filter_map(|line| line.strip_prefix("– "));
    for line in lacks {
        let (name, why) = line.split_once(' ').unwrap_or((line, ""));
        println!("The emulator cannot do `{name}`: {}", why.trim());
    }
    ensure!(status.success(), "what is marked with ✗ fails on {TARGET}");
    Ok(())
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

    /// Runs the program to its end.
    fn run<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Result<Output> {
        let mut command = Command::new(&self.emulator);
        command
            .args(["-L", ROOT, "-E"])
            .arg(format!("LD_PRELOAD={}", self.library.display()))
            .arg(&self.program)
            .args(args)
            .env("HOME", &self.home);
        for kind in ["CONFIG", "DATA", "STATE", "CACHE"] {
            command.env_remove(format!("XDG_{kind}_HOME"));
        }
        let output = command.output();
        output.with_context(|| format!("{} cannot be started", self.emulator.display()))
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
