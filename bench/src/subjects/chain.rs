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
    if subject.family == Family::Traced {
        command
            .arg("--trace")
            .arg(places.scratch.join("trace.ndjson"));
    }
    if subject.family == Family::Receipts {
        command
            .arg("--receipts")
            .arg(places.scratch.join("receipts"));
    }
    if subject.family == Family::Exported {
        command
            .env("OTEL_SDK_DISABLED", "false")
            .env("OTEL_EXPORTER_OTLP_ENDPOINT", places.collector.endpoint());
    }
    let agent = if matches!(subject.family, Family::Calls | Family::Results) {
        command.args(["--hooks", "required"]);
        packaged(places)?
    } else {
        places.agent.clone()
    };
    command.arg("--").arg(agent);
    Ok(command)
}

/// acp-chain without arguments, as a user starts it who has set nothing.
fn program(places: &Places, cache: &str) -> Command {
    let folder = |name| places.scratch.join(name);
    let mut command = process::command(&places.program);
    command
        .env_remove("ACP_CHAIN_LOG")
        .env_remove("ACP_CHAIN_TRACE")
        .env_remove("ACP_CHAIN_TRACE_BODIES")
        .env("OTEL_SDK_DISABLED", "true")
        .env("XDG_CONFIG_HOME", folder("config"))
        .env("XDG_DATA_HOME", folder("data"))
        .env("XDG_STATE_HOME", folder("state"))
        .env("XDG_CACHE_HOME", folder(cache));
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
    match subject.family {
        Family::Ours => return ours(&["rules", "permissions", "redact"], components),
        Family::Five => {
            return ours(
                &["rules", "todo", "project-map", "permissions", "redact"],
                components,
            );
        }
        Family::Calls => return ours(&["permissions"], components),
        Family::Results | Family::Redact => return ours(&["redact"], components),
        Family::TwoOfThree => return ours(&["two-of-three", "redact"], components),
        Family::Brake => return ours(&["brake"], components),
        _ => {}
    }
    let mut text = String::new();
    let mut add = |id: &str, component: &str, terms: &str| {
        let path = components.join(component).with_extension("wasm");
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "[[proxy]]\nid = '{id}'\npath = '{}'\n{terms}\n",
            path.display()
        );
    };
    for number in 0..subject.proxies {
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
        let terms = format!("{TERMS}powers = {powers:?}\n[proxy.config]\n{config}\n");
        add(&format!("{component}-{number}"), component, &terms);
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
