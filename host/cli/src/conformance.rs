//! `acp-chain conformance`: checks that a component withstands what every proxy must, before it is published.
//!
//! The component runs in its sandbox, as in a run. This process writes the report, and therefore keeps its rights.

use std::fs;
use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use serde_json::{Value, json};

use super::extension::folder::check_file;
use super::test::{check_directories, warn_of_draft};
use crate::Result;
use crate::out::counted;
use crate::path::path;
use acp_chain::host::Host;
use acp_chain_app::{home, proxies};
use acp_chain_extension::Location;
use acp_chain_kit::conformance::{self, CHECKS, Report, UnderTest, Verdict};
use acp_chain_kit::transcript::junit;
use acp_chain_manifest::{Manifest, ProxyEntry, ProxyKind};
use acp_chain_package::PackageError;
use acp_chain_rpc::untrusted::Untrusted;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain conformance shout.wasm
  acp-chain conformance shout.wasm --config '{\"volume\": 11}' --junit report.xml

Exit codes:
  0  no check failed
  1  a check failed
  2  the component cannot be loaded, or the command line is wrong")]
pub struct Conformance {
    /// The component; it gets what it asks for
    component: PathBuf,
    /// Its configuration, as a JSON object; by default `{}`
    #[arg(long, value_name = "JSON", conflicts_with = "manifest")]
    config: Option<String>,
    /// A manifest with its configuration, powers and limits
    #[arg(long, value_name = "FILE", value_parser = path())]
    manifest: Option<PathBuf>,
    /// The proxy in that manifest that it replaces; by default, the only component
    #[arg(long, value_name = "ID", requires = "manifest")]
    proxy: Option<String>,
    /// Print the report for programs
    #[arg(long)]
    json: bool,
    #[arg(
        long,
        value_name = "FILE",
        help = "Also write a JUnit XML report to this file"
    )]
    junit: Option<PathBuf>,
    /// Only this check; repeatable
    #[arg(long, value_name = "CHECK", value_parser = names())]
    only: Vec<String>,
    /// The seed for the messages: the same seed plays the same ones
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// How many messages of each method are played, and everything else in proportion
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    cases: u64,
}

fn names() -> PossibleValuesParser {
    CHECKS
        .iter()
        .map(|check| check.name)
        .collect::<Vec<_>>()
        .into()
}

impl Conformance {
    /// Whether the component passes.
    pub fn main(self) -> Result<bool> {
        home::check_owners()?;
        check_file(&self.component)?;
        let under_test = self.load()?;
        let is_wanted = |check: &conformance::Check| {
            self.only.is_empty() || self.only.iter().any(|name| name == check.name)
        };
        let report = conformance::run(&under_test, is_wanted);
        if self.json {
            say!("{}", report.to_json());
        } else {
            print(&report);
        }
        if let Some(path) = &self.junit {
            let cases = report.outcomes.iter().map(|outcome| {
                let is_wrong = matches!(outcome.verdict(), Verdict::Failed | Verdict::NotRun);
                let name = outcome.check.name.to_owned();
                (name, is_wrong.then(|| describe(outcome).join("\n")))
            });
            let cases: Vec<_> = cases.collect();
            let written = junit::report("acp-chain conformance", &report.component, &cases)?;
            let shown = Untrusted::new(path.display());
            fs::write(path, written)
                .map_err(|error| wrong!("{shown}: the file cannot be written: {error}"))?;
        }
        Ok(report.count(Verdict::Failed) == 0)
    }

    /// The component, with its terms.
    fn load(&self) -> Result<UnderTest> {
        let (user, installed) = home::settings()?;
        let shown = Untrusted::new(self.component.display());
        let component = std::path::absolute(&self.component);
        let component = component.map_err(|error| wrong!("{shown}: {error}"))?;
        let mut manifest = match &self.manifest {
            Some(path) => {
                let mut manifest = Manifest::read(path, &user, &installed)?;
                manifest.proxies = vec![self.chosen(&manifest, path)?.clone()];
                manifest
            }
            None => {
                let head = self.head()?;
                // In the error of the manifest, it would be in a line of the component.
                let read = Location::File(component.clone()).package();
                if let Err(error) = read
                    && !matches!(error, PackageError::NoSection)
                {
                    return Err(wrong!("{shown}: {}", Untrusted::new(&error)));
                }
                Manifest::of_test(&head, &component, Some(&component), &user, &installed)?
            }
        };
        for entry in &mut manifest.proxies {
            if let ProxyKind::Component(terms) = &mut entry.kind {
                terms.location = Location::File(component.clone());
            }
        }
        let proxies = proxies::open(&manifest)?;
        check_directories(&manifest, &proxies)?;
        let host = Host::new(home::engine()?);
        let loaded = host.load(proxies, |_, load| load());
        let entry = &manifest.proxies[0];
        let Some(Some(guest)) = loaded.into_iter().next().map(|proxy| proxy.component) else {
            return Err(manifest
                .about(entry, &"it is a program, not a component")
                .into());
        };
        let guest = guest.map_err(|error| manifest.about(entry, &error))?;
        warn_of_draft(&Location::File(component));
        let cases = usize::try_from(self.cases).unwrap_or(usize::MAX);
        Ok(UnderTest::new(guest, entry.on_failure, self.seed, cases))
    }

    /// The proxy of a manifest whose terms apply.
    fn chosen<'m>(&self, manifest: &'m Manifest, path: &Path) -> Result<&'m ProxyEntry> {
        let shown = Untrusted::new(path.display());
        let is_component = |entry: &ProxyEntry| matches!(entry.kind, ProxyKind::Component(_));
        let is_meant = |entry: &ProxyEntry| match &self.proxy {
            Some(id) => entry.id == *id,
            None => is_component(entry),
        };
        let mut meant = manifest.proxies.iter().filter(|entry| is_meant(entry));
        match (meant.next(), meant.next(), &self.proxy) {
            (Some(entry), None, _) if !is_component(entry) => Err(manifest
                .about(entry, &"it is a program, not a component")
                .into()),
            (Some(entry), None, _) => Ok(entry),
            (Some(_), Some(_), _) => Err(wrong!(
                "{shown}: it has several components; choose one with `--proxy ID`"
            )),
            (None, _, Some(id)) => {
                let id = Untrusted::new(id);
                let all = manifest.proxies.iter();
                let ids: Vec<_> = all.map(|entry| format!("`{}`", entry.id)).collect();
                let known = if ids.is_empty() {
                    "none".to_owned()
                } else {
                    ids.join(", ")
                };
                Err(wrong!("{shown}: it has no proxy `{id}`; it has {known}"))
            }
            (None, _, None) => Err(wrong!(
                "{shown}: it has no component; without `--manifest`, the component gets what it asks for"
            )),
        }
    }

    /// The head of a manifest with the configuration.
    fn head(&self) -> Result<String> {
        let Some(config) = &self.config else {
            return Ok(String::new());
        };
        let wrong = |error: &dyn std::fmt::Display| {
            format!(
                "`--config` takes a JSON object, such as '{{\"words\": 3}}': {}",
                Untrusted::new(error)
            )
        };
        let config: serde_json::Map<String, Value> =
            serde_json::from_str(config).map_err(|error| wrong(&error))?;
        // As text, a number may be larger than a manifest can have.
        let config = toml::Table::try_from(config)
            .map_err(|error| wrong(&format_args!("a manifest cannot express that: {error}")))?;
        let head = toml::to_string(&json!({ "proxy": [{ "config": config }] }));
        Ok(head.map_err(|error| wrong(&error))?)
    }
}

/// Prints a report for people.
fn print(report: &Report) {
    for outcome in &report.outcomes {
        let (verdict, name) = (outcome.verdict().as_str(), outcome.check.name);
        let messages = if outcome.was_run {
            counted(outcome.messages, "message")
        } else {
            String::new()
        };
        say!("{}", format!("{verdict:8} {name:12} {messages}").trim_end());
        for line in describe(outcome) {
            say!("  {line}");
        }
    }
    say!("");
    say!("{}", summary(report));
}

/// The printed findings of a check.
fn describe(outcome: &conformance::Outcome) -> Vec<String> {
    if outcome.was_run {
        outcome.lines()
    } else {
        vec!["the findings above leave nothing to check".to_owned()]
    }
}

fn summary(report: &Report) -> String {
    let mut counts = Vec::new();
    for verdict in [
        Verdict::Ok,
        Verdict::Warning,
        Verdict::Failed,
        Verdict::NotRun,
    ] {
        match (verdict, report.count(verdict)) {
            (_, 0) => {}
            (Verdict::Warning, count) => counts.push(counted(count, "warning")),
            (verdict, count) => counts.push(format!("{count} {}", verdict.as_str())),
        }
    }
    let (component, seed, cases) = (Untrusted::new(&report.component), report.seed, report.cases);
    let again = match report.count(Verdict::Failed) {
        0 => String::new(),
        _ => format!("; `--seed {seed} --cases {cases}` plays the same again"),
    };
    format!("{component}: {}{again}", counts.join(", "))
}
