//! `cargo xtask languages`: builds the project that `acp-chain new` creates in each language, measures it, and writes
//! the table of languages into the book. The tests in `checkout/languages` check that each has a row and a page.
//!
//! Times are wall-clock times of this machine, to be compared with Rust's in the same run.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use acp_chain_author::{LANGUAGES, Language, Purpose, Toolchains};
use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::guests::projects;
use xtask::publish;
use xtask::workspace::Workspace;

/// The mark before the table in the page.
const ABOVE: &str = "<!-- by cargo xtask languages -->\n";

/// The name of every project.
const NAME: &str = "measured";

/// The facts about a language that are not measured.
struct LanguageFacts {
    language: &'static str,
    page: &'static str,
    /// The failures that are shown with file and line; the tests in `authoring/author` check this.
    says_where: &'static str,
}

const KNOWN: [LanguageFacts; 9] = [
    known("rust", "rust.md", "of a panic"),
    known("js", "javascript.md", "of what is thrown"),
    known("ts", "javascript.md", "of what is thrown"),
    known("python", "python.md", "of what is raised"),
    known("c", "c.md", "no"),
    known("cpp", "cpp.md", "of a failed `assert`"),
    known("zig", "zig.md", "of all that breaks"),
    known("go", "go.md", "of a panic"),
    known("assemblyscript", "assemblyscript.md", "of what is thrown"),
];

const fn known(
    language: &'static str,
    page: &'static str,
    says_where: &'static str,
) -> LanguageFacts {
    LanguageFacts {
        language,
        page,
        says_where,
    }
}

/// The built project of a language.
struct BuiltProject {
    language: &'static Language,
    component: PathBuf,
    lines: [usize; 2],
    again: Duration,
}

/// The output of `host/library/benches/languages.rs` for a component.
#[derive(Deserialize)]
struct BenchOutput {
    micros: f64,
    memory: u64,
}

/// Builds, measures and writes.
pub fn run(workspace: &Workspace) -> Result<()> {
    let path = projects::toolchains(workspace)?;
    let mut all = Vec::new();
    for language in LANGUAGES {
        all.push(workspace.step(language.title, |_| build(workspace, language, &path))?);
    }
    let measured = measure(workspace, &all)?;
    let mut table = String::from(
        "| | Toolchain | Lines: `prompt`, `tools` | Component | Built again in | A message | Memory | Says file and line |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for (built, BenchOutput { micros, memory }) in all.iter().zip(&measured) {
        let name = built.language.name;
        let known = KNOWN.iter().find(|known| known.language == name);
        let LanguageFacts {
            page, says_where, ..
        } = known
            .with_context(|| format!("add a row for {name} to xtask/make/src/languages.rs"))?;
        let (title, toolchain) = (built.language.title, built.language.toolchain());
        let [prompt, tools] = built.lines;
        let size = kilobytes(fs::metadata(&built.component)?.len());
        let (again, memory) = (built.again.as_secs_f64(), kilobytes(*memory));
        writeln!(
            table,
            "| [{title}]({page}) | {toolchain} | {prompt}, {tools} | {size} | {again:.1} s | {micros:.0} µs | {memory} | \
             {says_where} |"
        )?;
    }
    publish::tables(workspace, "docs/languages/README.md", ABOVE, &table)
}

/// Builds the project that changes prompts, and once more after a change; counts its lines, and those of one with a
/// tool.
fn build(workspace: &Workspace, language: &'static Language, path: &OsStr) -> Result<BuiltProject> {
    let begin = |template: &str| -> Result<PathBuf> {
        let folder = workspace
            .target("xtask/languages")
            .join(language.name)
            .join(template);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        acp_chain_author::new(language, template, NAME, &folder)?;
        Ok(folder)
    };
    let (prompt, tools) = (begin("prompt")?, begin("tools")?);
    fs::copy(workspace.path("Cargo.lock"), prompt.join("Cargo.lock"))?;
    let toolchains = Toolchains {
        path: path.to_owned(),
        folder: None,
        install: false,
        told: &|_| (),
    };
    acp_chain_author::build(&prompt, &toolchains, Purpose::Use)?.write()?;
    for source in sources(&prompt)? {
        fs::OpenOptions::new()
            .append(true)
            .open(source)?
            .write_all(b"\n")?;
    }
    let start = Instant::now();
    let built = acp_chain_author::build(&prompt, &toolchains, Purpose::Use)?;
    let again = start.elapsed();
    built.write()?;
    Ok(BuiltProject {
        language,
        component: built.file,
        lines: [lines(&prompt)?, lines(&tools)?],
        again,
    })
}

/// The files that the author of a project writes.
fn sources(project: &Path) -> Result<Vec<PathBuf>> {
    let folders = ["src", "assembly"].map(|folder| project.join(folder));
    match folders.into_iter().find(|folder| folder.exists()) {
        Some(folder) => {
            let files = fs::read_dir(folder)?.map(|file| Ok(file?.path()));
            // Python's toolchain leaves a folder there.
            let is_file = |path: &Result<PathBuf>| path.as_ref().is_ok_and(|path| path.is_file());
            files.filter(is_file).collect()
        }
        None => Ok(vec![project.join("main.go")]),
    }
}

/// The lines of a project's sources, without blanks, comments and tests.
fn lines(project: &Path) -> Result<usize> {
    let mut count = 0;
    for source in sources(project)? {
        let text = fs::read_to_string(&source)?;
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        let comments: &[&str] = match source.extension().and_then(OsStr::to_str) {
            Some("py") => &["#", "\"\"\""],
            _ => &["//"],
        };
        let is_code = |line: &&str| {
            let line = line.trim();
            !line.is_empty() && !comments.iter().any(|comment| line.starts_with(comment))
        };
        count += text.lines().filter(is_code).count();
    }
    Ok(count)
}

/// Sends messages through each component, in an optimised host.
fn measure(workspace: &Workspace, all: &[BuiltProject]) -> Result<Vec<BenchOutput>> {
    let bench = || workspace.cargo("bench --locked --package acp-chain --bench languages");
    workspace.run("the host, optimised", bench().arg("--no-run"))?;
    let components = all.iter().map(|built| &built.component);
    let mut all_once = bench();
    all_once.arg("--").args(components).stderr(Stdio::inherit());
    let printed = xtask::printed(&mut all_once)?;
    let measured: Vec<BenchOutput> = printed
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    ensure!(measured.len() == all.len(), "not all were measured");
    Ok(measured)
}

fn kilobytes(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} kB", bytes.div_ceil(1000)),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}
