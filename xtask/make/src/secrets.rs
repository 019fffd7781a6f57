//! `cargo xtask secrets`: compares what `redact` finds with what the engine of its catalogue of rules finds, in texts
//! that neither was developed with.
//!
//! The engine is Kingfisher, a program from a wheel, with the catalogue from the crate of the rules. The examples are
//! those of the rules that an older Kingfisher contained. Ordinary text is the source of the tests' peers and of the
//! workspace's dependencies.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use walkdir::{DirEntry, WalkDir};

use crate::rules;
use xtask::fetch::{crates, python};
use xtask::workspace::Workspace;

/// The wheel of the engine and its version, and the version with examples.
const ENGINE: (&str, &str) = ("kingfisher-bin", "2.14.0");
const EXAMPLES: &str = "1.79.0";

/// The share of the engine's findings in the examples that `redact` has to find.
const RECALL: f64 = 0.95;

/// Folders whose files have keys that were made up for them.
const OF_TESTS: [&str; 4] = ["benches", "test", "tests", "testing"];

/// The ordinary text: this many bytes from each source, of files of these kinds.
const SHARE: usize = 5_000_000;
const KINDS: [&str; 10] = ["c", "h", "js", "json", "md", "mjs", "py", "rs", "ts", "txt"];

/// Compares, and prints the figures. The peers have to be installed.
pub fn compare(workspace: &Workspace) -> Result<()> {
    let (name, version) = ENGINE;
    let engine = program(&python::wheel(workspace, name, version)?)?;
    let older = program(&python::wheel(workspace, name, EXAMPLES)?)?;
    let (name, version) = rules::CRATE;
    let rules = crates::source(workspace, name, version)?;
    let rules = rules.join("generated/rules/betterleaks.yml");

    build_look(workspace)?;

    let examples = examples(&fs::read(older)?);
    ensure!(
        examples.len() > 500,
        "only {} examples were read",
        examples.len()
    );
    let theirs = by_engine(workspace, &engine, &rules, &examples)?;
    let ours = by_us(workspace, &examples)?;
    let missed: Vec<_> = theirs
        .iter()
        .filter(|(text, secret)| ours[*text].0.contains(secret))
        .collect();
    let all = theirs.len();
    let found = all - missed.len();
    println!(
        "examples: {} texts, {all} secrets by the engine, {found} of them by redact",
        examples.len()
    );

    let ordinary = ordinary(workspace)?;
    let bytes: usize = ordinary.iter().map(String::len).sum();
    let theirs = by_engine(workspace, &engine, &rules, &ordinary)?.len();
    let ours = by_us(workspace, &ordinary)?;
    let found_by_us: Vec<_> = (0..)
        .zip(ours.iter().map(|(_, names)| names))
        .filter(|(_, names)| !names.is_empty())
        .collect();
    let ours: usize = found_by_us.iter().map(|(_, names)| names.len()).sum();
    println!("ordinary text: {bytes} bytes, {theirs} secrets by the engine, {ours} by redact");

    #[expect(clippy::cast_precision_loss, reason = "they are few")]
    let recall = found as f64 / all as f64;
    ensure!(recall >= RECALL, "redact misses {missed:?}");
    ensure!(
        ours <= theirs,
        "redact finds more in ordinary text than the engine, by the numbers of the texts: {found_by_us:?}"
    );
    Ok(())
}

fn program(wheel: &Path) -> Result<PathBuf> {
    let program = wheel.join("kingfisher/bin/kingfisher");
    fs::set_permissions(&program, Permissions::from_mode(0o755))
        .with_context(|| format!("{} is missing", program.display()))?;
    Ok(program)
}

/// The examples of the rules that a program carries as YAML.
fn examples(program: &[u8]) -> Vec<String> {
    let mut found = BTreeSet::new();
    let head = b"examples:\n";
    for at in memchr::memmem::find_iter(program, head) {
        let line = program[..at]
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        let indent = at - line;
        if program[line..at].iter().any(|byte| *byte != b' ') {
            continue;
        }
        let mut example: Option<String> = None;
        let lines = program[at + head.len()..]
            .split(|byte| *byte == b'\n')
            .take(400);
        for line in lines.map(String::from_utf8_lossy) {
            let text = line.trim_start();
            let depth = line.len() - text.len();
            if let Some(first) = text
                .strip_prefix("- ")
                .filter(|_| depth.abs_diff(indent) <= 4)
            {
                found.extend(example.replace(first.to_owned()));
            } else if let Some(example) = example.as_mut().filter(|_| depth > indent + 1) {
                *example += "\n";
                *example += text;
            } else if !text.is_empty() {
                break;
            }
        }
        found.extend(example);
    }
    found
        .iter()
        .map(|example| unquoted(example.trim()))
        .filter(|text| !text.is_empty())
        .collect()
}

/// The text of a YAML scalar, in the forms that the examples have.
fn unquoted(scalar: &str) -> String {
    if let Some(block) = scalar.strip_prefix(['|', '>']) {
        return block
            .split_once('\n')
            .map_or("", |(_, text)| text)
            .trim()
            .to_owned();
    }
    if let Some(text) = scalar
        .strip_prefix('\'')
        .and_then(|rest| rest.strip_suffix('\''))
    {
        return text.replace("''", "'");
    }
    if scalar.starts_with('"') {
        return serde_json::from_str(scalar).unwrap_or_else(|_| scalar.to_owned());
    }
    scalar.to_owned()
}

/// Third-party source and prose.
fn ordinary(workspace: &Workspace) -> Result<Vec<String>> {
    let peers = workspace.target("peers");
    let mut roots = vec![
        vec![peers.join("npm/node_modules")],
        vec![peers.join("python/lib")],
    ];
    let mut metadata = workspace.cargo("metadata --format-version=1 --locked");
    let metadata: Value = serde_json::from_str(&xtask::printed(&mut metadata)?)?;
    let packages = metadata["packages"].as_array().cloned().unwrap_or_default();
    let of_others = packages
        .iter()
        .filter(|package| !package["source"].is_null());
    let manifests = of_others.filter_map(|package| package["manifest_path"].as_str());
    roots.push(
        manifests
            .map(|manifest| Path::new(manifest).with_file_name(""))
            .collect(),
    );

    let mut texts = Vec::new();
    for folders in roots {
        let mut files = Vec::new();
        for folder in folders {
            list(&folder, &mut files)?;
        }
        files.sort();
        // Spread over all files.
        let step = files.len() / 1000 + 1;
        let mut left = SHARE;
        for file in (0..step).flat_map(|first| files.iter().skip(first).step_by(step)) {
            let Ok(text) = fs::read_to_string(file) else {
                continue;
            };
            left = left.saturating_sub(text.len());
            texts.push(text);
            if left == 0 {
                break;
            }
        }
    }
    Ok(texts)
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let is_of_tests = |entry: &DirEntry| OF_TESTS.iter().any(|name| entry.file_name() == *name);
    let walk = WalkDir::new(folder).min_depth(1).into_iter();
    for entry in walk.filter_entry(|entry| !is_of_tests(entry)) {
        let entry = entry?;
        let kind = entry.path().extension().and_then(OsStr::to_str);
        if kind.is_some_and(|kind| KINDS.contains(&kind)) && !entry.file_type().is_dir() {
            files.push(entry.into_path());
        }
    }
    Ok(())
}

/// The secrets that the engine finds, each with the number of its text.
fn by_engine(
    workspace: &Workspace,
    engine: &Path,
    rules: &Path,
    texts: &[String],
) -> Result<Vec<(usize, String)>> {
    let folder = workspace.target("xtask/secrets");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(folder.join("texts"))?;
    for (number, text) in texts.iter().enumerate() {
        fs::write(folder.join("texts").join(format!("{number}.txt")), text)?;
    }
    let report = folder.join("report.jsonl");
    // The exit code shows whether it found something, so it is not checked.
    let output = Command::new(engine)
        .args(["scan", "--load-builtins=false", "--no-update-check"])
        .args(["--no-validate", "--no-dedup", "--no-base64", "--no-limits"])
        .args(["--no-ignore", "--confidence=low", "--format=jsonl"])
        .arg("--rules-path")
        .arg(rules)
        .arg("--output")
        .arg(&report)
        .arg(folder.join("texts"))
        .env("KF_RULE_CACHE_DIR", folder.join("cache"))
        .output()?;
    let report = fs::read_to_string(&report)
        .with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
    let mut secrets = Vec::new();
    for line in report.lines().filter(|line| !line.is_empty()) {
        let line: Value = serde_json::from_str(line)?;
        let finding = &line["finding"];
        let number = finding["path"]
            .as_str()
            .and_then(|path| Path::new(path).file_stem()?.to_str());
        if let (Some(number), Some(secret)) = (number, finding["snippet"].as_str()) {
            secrets.push((number.parse()?, secret.to_owned()));
        }
    }
    Ok(secrets)
}

/// Builds the example that redacts texts, with the features of the workspace, so that the tests' build has it already.
fn build_look(workspace: &Workspace) -> Result<()> {
    let mut build = workspace.cargo("build --workspace --example look");
    workspace.run("the example `look` of acp-chain-secrets", &mut build)
}

/// The redacted texts, and the names of the findings.
fn by_us(workspace: &Workspace, texts: &[String]) -> Result<Vec<(String, Vec<String>)>> {
    let mut look = Command::new(workspace.target("debug/examples/look"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("the example `look` could not be started")?;
    let input = look.stdin.take().context("no input")?;
    serde_json::to_writer(std::io::BufWriter::new(input), texts)?;
    let output = look.wait_with_output()?;
    ensure!(
        output.status.success(),
        "the example `look` of acp-chain-secrets failed"
    );
    Ok(serde_json::from_slice(&output.stdout)?)
}
