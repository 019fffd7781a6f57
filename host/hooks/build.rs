//! Compiles the client that agents start for each event, for this crate to embed.
//!
//! It is a program of its own, without dependencies, and static where the system allows: agents wait for one or two of
//! its processes at each tool call, so that one has to be over within a millisecond or two.

#![expect(clippy::disallowed_macros, reason = "cargo reads it")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// What the client is made of.
const SOURCES: [&str; 5] = [
    "client/main.rs",
    "src/hook.rs",
    "src/wire.rs",
    "../system/src/unix/blocking.rs",
    "../system/src/windows/blocking.rs",
];

/// Small, and without warnings: half of what it shares is for the host.
const OPTIONS: [&str; 16] = [
    "--edition=2024",
    "--crate-name=hook",
    "--crate-type=bin",
    "--cap-lints=allow",
    "-C",
    "codegen-units=1",
    "-C",
    "debuginfo=0",
    "-C",
    "lto=fat",
    "-C",
    "opt-level=s",
    "-C",
    "panic=abort",
    "-C",
    "strip=symbols",
];

fn main() {
    for path in SOURCES {
        println!("cargo:rerun-if-changed={path}");
    }
    let client = PathBuf::from(variable("OUT_DIR")).join("hook.bin");
    // The C library may not be there in its static form.
    let compiled = match stand_alone() {
        [] => compile(&client, &[]),
        alone => compile(&client, alone).or_else(|_| compile(&client, &[])),
    };
    if let Err(why) = compiled {
        fs::write(&client, "").expect("the folder is writable");
        // Without a linker for another system nothing can be built for it, so this is a check.
        if variable("TARGET") == variable("HOST") {
            println!(
                "cargo:warning=the client of agents' hooks cannot be compiled, so `acp-chain hook` stands in for \
                 it, which takes longer to start: {why}"
            );
        }
    }
}

/// The options by which the program needs no library of the system, and nothing in it has to be relocated.
fn stand_alone() -> &'static [&'static str] {
    let environment = env::var("CARGO_CFG_TARGET_ENV").unwrap_or_default();
    match (&*variable("CARGO_CFG_TARGET_OS"), &*environment) {
        ("linux", _) => &[
            "-C",
            "target-feature=+crt-static",
            "-C",
            "relocation-model=static",
        ],
        ("windows", "msvc") => &["-C", "target-feature=+crt-static"],
        _ => &[],
    }
}

/// Compiles the client to this file; an error is what the compiler says. The flags of other crates do not apply: those
/// of a fuzzer or a profiler want libraries that the client does not have.
fn compile(client: &Path, options: &[&str]) -> Result<(), String> {
    let mut rustc = Command::new(variable("RUSTC"));
    rustc
        .args(OPTIONS)
        .args(options)
        .args(["--target", &variable("TARGET")])
        .args(remap()?)
        .arg("-o")
        .arg(client)
        .arg("client/main.rs");
    if let Ok(linker) = env::var("RUSTC_LINKER") {
        rustc.args(["-C", &format!("linker={linker}")]);
    }
    run(&mut rustc).map(drop)
}

/// The options by which the bytes depend neither on the folder of this crate, nor on that of the compiler.
fn remap() -> Result<[String; 2], String> {
    let mut rustc = Command::new(variable("RUSTC"));
    let root = run(rustc.args(["--print", "sysroot"]))?;
    let library = Path::new(root.trim()).join("lib/rustlib/src/rust");
    let folders = [
        (library.display().to_string(), "/rust"),
        (variable("CARGO_MANIFEST_DIR"), "/hooks"),
    ];
    Ok(folders.map(|(from, to)| format!("--remap-path-prefix={from}={to}")))
}

/// What a command prints; an error is the first line that says why it failed.
fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let told = String::from_utf8_lossy(&output.stderr);
    let mut lines = told.lines();
    let line = lines.find(|line| line.starts_with("error"));
    Err(line.unwrap_or("the compiler failed").to_owned())
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}
