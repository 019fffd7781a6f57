//! `cargo xtask release-files`: what a release has beside its packages: for each archive the description that
//! `acp-chain self-update` reads, a formula for Homebrew, a manifest for Scoop, and the checksums of all files.
//!
//! The archives may have been packed on several machines. Descriptions and checksums are to be signed by hand: no key
//! is read here.

mod formula;
mod scoop;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use data_encoding::HEXLOWER;
use serde_json::json;
use sha2::{Digest, Sha256};
use xtask::workspace::Workspace;

/// The version of the release.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The file with the checksums.
const SUMS: &str = "SHA256SUMS";

#[derive(clap::Args)]
pub struct Options {
    /// The `https:` address of the folder in which the files will be published
    #[arg(long)]
    url: String,
    /// The folder with the packages, instead of `target/dist/packages`
    folder: Option<PathBuf>,
}

/// A kind of machine that archives are for.
struct Machine {
    triple: &'static str,
    /// As `std::env::consts` has it.
    os: &'static str,
    arch: &'static str,
}

static MACHINES: [Machine; 6] = [
    Machine::new("x86_64-unknown-linux-gnu", "linux", "x86_64"),
    Machine::new("aarch64-unknown-linux-gnu", "linux", "aarch64"),
    Machine::new("x86_64-apple-darwin", "macos", "x86_64"),
    Machine::new("aarch64-apple-darwin", "macos", "aarch64"),
    Machine::new("x86_64-pc-windows-gnu", "windows", "x86_64"),
    Machine::new("x86_64-pc-windows-msvc", "windows", "x86_64"),
];

/// An archive of `cargo xtask dist`.
struct Archive {
    machine: &'static Machine,
    /// The name of the folder in it; that of the file also has an ending.
    name: String,
    url: String,
    size: usize,
    /// SHA-256, in hexadecimal digits.
    digest: String,
}

impl Machine {
    const fn new(triple: &'static str, os: &'static str, arch: &'static str) -> Self {
        Self { triple, os, arch }
    }

    /// The name of the program's file.
    fn program(&self) -> &'static str {
        match self.os {
            "windows" => "acp-chain.exe",
            _ => "acp-chain",
        }
    }
}

/// Writes the files beside the packages.
pub fn write(workspace: &Workspace, options: Options) -> Result<()> {
    let folder = options.folder;
    let folder = folder.unwrap_or_else(|| workspace.target("dist/packages"));
    ensure!(
        options.url.starts_with("https://"),
        "--url {}: it must be an `https:` address",
        options.url
    );
    let url = options.url.trim_end_matches('/');
    let archives = archives(&folder, url)?;
    ensure!(
        !archives.is_empty(),
        "{} has no archive of version {VERSION}; `cargo xtask dist` makes one",
        folder.display()
    );
    let mut files: Vec<_> = archives.iter().map(description).collect();
    let formula = formula::write(&archives, url);
    files.extend(formula.map(|text| ("acp-chain.rb".to_owned(), text)));
    let manifest = scoop::write(&archives, url);
    files.extend(manifest.map(|text| ("acp-chain.json".to_owned(), text)));
    for (name, text) in &files {
        put(&folder.join(name), text)?;
    }
    put(&folder.join(SUMS), &sums(&folder)?)
}

fn put(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))?;
    println!("{}", path.display());
    Ok(())
}

/// The archives of this version in a folder.
fn archives(folder: &Path, url: &str) -> Result<Vec<Archive>> {
    let mut found = Vec::new();
    for machine in &MACHINES {
        let name = format!("acp-chain-{VERSION}-{}", machine.triple);
        let file = format!("{name}.tar.gz");
        let path = folder.join(&file);
        if !path.exists() {
            continue;
        }
        let bytes =
            fs::read(&path).with_context(|| format!("{} cannot be read", path.display()))?;
        found.push(Archive {
            machine,
            name,
            url: format!("{url}/{file}"),
            size: bytes.len(),
            digest: HEXLOWER.encode(&Sha256::digest(&bytes)),
        });
    }
    Ok(found)
}

/// The description of an archive, as `host/update/src/release.rs` reads it, by the name of its file.
fn description(archive: &Archive) -> (String, String) {
    let (machine, name) = (&archive.machine, &archive.name);
    let platform = format!("{}-{}", machine.os, machine.arch);
    let description = json!({
        "version": VERSION,
        "platform": platform,
        "archive": format!("{name}.tar.gz"),
        "size": archive.size,
        "digest": format!("sha256:{}", archive.digest),
        "program": format!("{name}/{}", machine.program()),
    });
    let file = format!("release-{platform}.json");
    (file, format!("{description:#}\n"))
}

/// The checksums of all files but signatures, in the format of `sha256sum --check`.
fn sums(folder: &Path) -> Result<String> {
    let entries = fs::read_dir(folder)?;
    let paths = entries.map(|entry| Ok(entry?.path()));
    let mut paths = paths.collect::<Result<Vec<_>>>()?;
    paths.sort();
    let mut sums = String::new();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name == SUMS || name.ends_with(".minisig") || !path.is_file() {
            continue;
        }
        let digest = Sha256::digest(fs::read(&path)?);
        writeln!(sums, "{}  {name}", HEXLOWER.encode(&digest))?;
    }
    Ok(sums)
}
