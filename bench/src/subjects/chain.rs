//! acp-chain as an editor launches it, with a manifest for each subject.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::Command;

use acp_chain_package::Package;
use acp_chain_powers::Power;
use anyhow::{Context, Result};

use super::{FEW, Family, Places, Subject, TERMS, process, projects};

/// By what acp-chain knows the hooks of an agent.
const PACKAGE: &str = r#"{"name":"@agentclientprotocol/claude-agent-acp","version":"0.101.0"}"#;

/// The rule of `permissions`, which without one would decide nothing.
const RULE: &str = "[[proxy.config.rules]]\ndecision = 'deny'\ncommand = 'rm *'\n";

pub fn command(subject: &Subject, places: &Places, cache: &str) -> Result<Command> {
    projects::make(subject, places, || program(places, cache))?;
    let mut command = program(places, cache);
    command.arg("run");
    if subject.family != Family::Empty && subject.projects() == 0 {
        let name = format!("{:?}-{}.toml", subject.family, subject.proxies);
        let path = places.scratch.join(name);
        let manifest = manifest(subject, &places.components, &places.powers)?;
        fs::write(&path, manifest)?;
        command.arg("--manifest").arg(path);
    }
    let mut agent = places.agent.clone();
    let scratch = |name| places.scratch.join(name);
    match subject.family {
        Family::Traced => {
            command.arg("--trace").arg(scratch("trace.ndjson"));
        }
        Family::Receipts => {
            command.arg("--receipts").arg(scratch("receipts"));
        }
        Family::Exported => {
            command.env("OTEL_SDK_DISABLED", "false");
            command.env("OTEL_EXPORTER_OTLP_ENDPOINT", places.collector.endpoint());
        }
        Family::Calls | Family::Results => {
            command.args(["--hooks", "required"]);
            agent = packaged(places)?;
        }
        _ => {}
    }
    command.arg("--").arg(agent);
    Ok(command)
}

/// acp-chain without arguments, with the compiled code in this folder of the run.
fn program(places: &Places, cache: &str) -> Command {
    let mut command = process::acp_chain(&places.program, &places.scratch);
    command.env("XDG_CACHE_HOME", places.scratch.join(cache));
    command
}

/// The scan of what agents have recorded in a home folder, through `permissions` and `redact`.
pub fn scanning(places: &Places, home: &Path) -> Result<Command> {
    let path = places.scratch.join("scan.toml");
    fs::write(&path, ours(&["permissions", "redact"], &places.components)?)?;
    let mut command = program(places, "cache");
    command.args(["scan", "--json", "--home"]).arg(home);
    command.arg("--manifest").arg(path);
    Ok(command)
}

/// The agent, in a package.
fn packaged(places: &Places) -> Result<PathBuf> {
    let folder = places.scratch.join("package");
    let agent = folder.join("agent");
    // One that runs cannot be written to.
    if !agent.exists() {
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("package.json"), PACKAGE)?;
        fs::copy(&places.agent, &agent)?;
    }
    Ok(agent)
}

fn manifest(subject: &Subject, components: &Path, powers: &[&str]) -> Result<String> {
    let of_ours: &[&str] = match subject.family {
        Family::Ours => &["rules", "permissions", "redact"],
        Family::Five => &["rules", "todo", "project-map", "permissions", "redact"],
        Family::Calls => &["permissions"],
        Family::Results | Family::Redact => &["redact"],
        Family::TwoOfThree => &["two-of-three", "redact"],
        Family::Brake => &["brake"],
        _ => &[],
    };
    let mut text = ours(of_ours, components)?;
    let others = subject.proxies.saturating_sub(of_ours.len());
    for number in 0..others {
        let (component, config) = match subject.family {
            Family::Python => ("shout-python", ""),
            Family::WithoutBody => ("pass", "with-body = false"),
            Family::Elsewhere => ("pass", "elsewhere = true"),
            // Spread evenly among the others.
            Family::Few if !number.is_multiple_of(subject.proxies.div_ceil(FEW)) => {
                ("pass", "elsewhere = true")
            }
            _ => ("pass", ""),
        };
        let path = components.join(component).with_extension("wasm");
        write!(
            text,
            "[[proxy]]\nid = '{component}-{number}'\npath = '{}'\n{TERMS}powers = {powers:?}\n[proxy.config]\n{config}\n",
            path.display()
        )?;
    }
    Ok(text)
}

/// The powers known to this program, which may be of an earlier commit; without the one for which another process
/// starts.
///
/// # Errors
/// If it cannot be started.
pub fn powers(program: &Path) -> Result<Vec<&'static str>> {
    let output = process::command(program).arg("powers").output()?;
    let told = String::from_utf8(output.stdout)?;
    let known: HashSet<_> = told.split_whitespace().collect();
    let powers = Power::all().map(|power| power.key);
    let chosen = powers.filter(|key| known.contains(key) && *key != "values.keep");
    Ok(chosen.collect())
}

/// A manifest of some of our proxies, with the powers that they request.
pub fn ours(names: &[&str], components: &Path) -> Result<String> {
    let mut text = String::new();
    for name in names {
        let path = components.join(name).with_extension("wasm");
        let file = File::open(&path).with_context(|| format!("{} is missing", path.display()))?;
        let asks = Package::read(BufReader::new(file))?.asks;
        let powers: Vec<_> = asks.powers.iter().map(|asked| &asked.power).collect();
        let limits = toml::Table::try_from(&asks.limits)?;
        write!(
            text,
            "[[proxy]]\nid = '{name}'\npath = '{}'\npowers = {powers:?}\n[proxy.limits]\n{limits}\n",
            path.display()
        )?;
        if *name == "permissions" {
            text.push_str(RULE);
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_of_many_subscribe() {
        let many = Subject::new(Family::Few, super::super::MANY);
        let manifest = manifest(&many, Path::new("components"), &[]).unwrap();
        assert_eq!(manifest.matches("[[proxy]]").count(), 100);
        assert_eq!(manifest.matches("elsewhere = true").count(), 97);
    }
}
