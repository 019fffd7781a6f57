//! The agents, at the versions that `tests/peers/coding-agents` pins, and the program with the extensions of the chain.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::make::{self, BuildScope};
use xtask::fetch::{npm, python};
use xtask::program::{PROGRAM, bundle};
use xtask::workspace::Workspace;

/// The chain, the proxy next to the client first.
pub const CHAIN: [&str; 2] = ["todo", "redact"];

/// The extensions in the program, and the proxy of the tests that changes what it is configured to.
const COMPONENTS: [&str; 6] = [
    "todo",
    "redact",
    "permissions",
    "brake",
    "two-of-three",
    "does",
];

/// What the trials run.
pub struct Installation {
    /// acp-chain, which carries the extensions of the chains.
    pub program: PathBuf,
    /// The component of the proxy `does`.
    pub does: PathBuf,
    /// The folder of the npm packages.
    pub modules: PathBuf,
    /// The folder with the programs of the Python packages, if there is a suitable Python.
    python: Result<PathBuf>,
    /// The folder with our scripts.
    pub scripts: PathBuf,
}

/// Installs and builds everything. To be measured, acp-chain is optimised, as for users.
pub fn all(workspace: &Workspace, is_measured: bool) -> Result<Installation> {
    let scripts = workspace.path("tests/peers/coding-agents");
    let into = workspace.target("peers/coding-agents");
    let programs = npm::install(workspace, &scripts, &into)?;
    let (program, does) = build(workspace, is_measured)?;
    Ok(Installation {
        program,
        does,
        modules: programs.with_file_name(""),
        python: python_programs(workspace, &scripts),
        scripts,
    })
}

fn python_programs(workspace: &Workspace, scripts: &Path) -> Result<PathBuf> {
    python::install_with(
        workspace,
        &interpreter()?,
        &scripts.join("requirements.txt"),
        &workspace.target("peers/coding-agents-python"),
    )
}

/// Builds acp-chain with its extensions, as the tests do unless it is measured, and the proxy `does`.
fn build(workspace: &Workspace, is_measured: bool) -> Result<(PathBuf, PathBuf)> {
    let mut components = make::components(workspace, BuildScope::Tests, &COMPONENTS)?;
    let does = components.pop().context("no component was built")?;
    let (scope, profile) = if is_measured {
        ("--profile dist --package acp-chain-cli", "dist")
    } else {
        ("--workspace", BuildScope::Tests.profile())
    };
    let words = format!("build --locked --bin acp-chain {scope}");
    workspace.run("acp-chain", &mut workspace.cargo(&words))?;
    let folder = workspace.target("agents");
    fs::create_dir_all(&folder)?;
    let built = workspace.target(profile).join(PROGRAM);
    let program = folder.join(PROGRAM);
    bundle(&built, &components, &program)?;
    Ok((program, does))
}

/// A Python that is new enough for fast-agent: in `PATH`, from uv, or from pyenv.
fn interpreter() -> Result<PathBuf> {
    const NAMES: [&str; 2] = ["python3.14", "python3.13"];
    let pyenv = std::env::home_dir()
        .unwrap_or_default()
        .join(".pyenv/versions");
    let versions = fs::read_dir(pyenv).into_iter().flatten().flatten();
    let of_pyenv =
        versions.flat_map(|version| NAMES.map(|name| version.path().join("bin").join(name)));
    let of_uv = Command::new("uv")
        .args(["python", "find", ">=3.13"])
        .output();
    let of_uv = of_uv
        .ok()
        .and_then(|output| String::from_utf8(output.stdout).ok());
    NAMES
        .map(PathBuf::from)
        .into_iter()
        .chain(of_uv.map(|path| PathBuf::from(path.trim())))
        .chain(of_pyenv)
        .find(|python| runs(python))
        .context("fast-agent needs Python 3.13 or newer: install it, from your system, with uv or with pyenv")
}

fn runs(python: &Path) -> bool {
    let output = Command::new(python).arg("--version").output();
    output.is_ok_and(|output| output.status.success())
}

impl Installation {
    /// The program of an npm package with this name.
    pub fn npm_program(&self, package: &str, name: &str) -> Result<PathBuf> {
        let programs = self.description(package)?["bin"].take();
        let file = programs.as_str().or_else(|| programs[name].as_str());
        let file = file.with_context(|| format!("{package} has no program {name}"))?;
        Ok(self.modules.join(package).join(file))
    }

    /// The version of an npm package.
    pub fn npm_version(&self, package: &str) -> Result<String> {
        let description = self.description(package)?;
        let version = description["version"].as_str();
        Ok(version.context("a package without a version")?.to_owned())
    }

    /// A program of the Python packages.
    pub fn python_program(&self, name: &str) -> Result<PathBuf> {
        match &self.python {
            Ok(programs) => Ok(programs.join(name)),
            Err(error) => bail!("{error:#}"),
        }
    }

    /// The version of an installed Python package.
    pub fn python_version(&self, package: &str) -> Result<String> {
        let script = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))";
        let mut python = Command::new(self.python_program("python")?);
        let version = xtask::printed(python.args(["-c", script, package]))?;
        Ok(version.trim().to_owned())
    }

    fn description(&self, package: &str) -> Result<Value> {
        let path = self.modules.join(package).join("package.json");
        let text = fs::read_to_string(&path)
            .with_context(|| format!("{package} is missing: {}", path.display()))?;
        Ok(serde_json::from_str(&text)?)
    }
}
