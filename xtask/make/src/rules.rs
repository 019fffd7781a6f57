//! `cargo xtask rules`: generates the rules of `secrets` from the catalogue of Betterleaks.
//!
//! The catalogue is taken from the crate `kingfisher-rules`, which carries it word for word. That crate is not
//! compiled: its engine is native code. The generated files are checked in.

mod catalogue;
mod corrections;
mod filter;
#[path = "../../../host/secrets/src/needles.rs"]
mod needles;
mod shape;
mod write;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use flate2::read::GzDecoder;
use serde_json::Value;

use catalogue::Catalogue;
use shape::Shape;
use write::NamedRule;
use xtask::fetch::crates;
use xtask::workspace::Workspace;

/// The crate that carries the catalogue.
pub const CRATE: (&str, &str) = ("kingfisher-rules", "3.0.1");

/// Writes the table and the page.
pub fn make(workspace: &Workspace) -> Result<()> {
    let (name, version) = CRATE;
    let folder = crates::source(workspace, name, version)?;
    let sources = sources(folder.join("generated/upstream-sources.json.gz"))?;
    let of = |end: &str| -> Result<(&str, &str)> {
        let found = sources.iter().find(|(address, _)| address.ends_with(end));
        let (address, text) = found.with_context(|| format!("{name} carries no {end}"))?;
        Ok((
            address,
            text.as_deref().with_context(|| format!("{end} is empty"))?,
        ))
    };
    let (address, text) = of("/config/betterleaks.toml")?;
    let revision = address.rsplit('/').nth(2).unwrap_or_default();
    let (_, license) = of(&format!("{revision}/LICENSE"))?;
    let source = format!(
        "the catalogue of Betterleaks (`config/betterleaks.toml`, revision `{}`), which the crate \
         `{name}` {version} carries",
        &revision[..revision.len().min(12)]
    );

    let catalogue = toml::from_str::<Catalogue>(text)?;
    let filter = filter::of_all(&catalogue.filter)?;
    let (mut rules, mut left) = (Vec::new(), Vec::new());
    for mut entry in catalogue.rules {
        corrections::apply(&mut entry);
        let why = if let Some(why) = write::left_out(&entry.id) {
            why.to_owned()
        } else if entry.skip_report {
            "tells of another finding, and is no secret itself".to_owned()
        } else if let Some(path) = &entry.path {
            format!("looks only into files named `{}`", path.replace('|', "\\|"))
        } else {
            match Shape::of(&entry) {
                Ok(shape) => {
                    rules.push(NamedRule {
                        shape,
                        description: entry.description,
                    });
                    continue;
                }
                Err(error) => format!("{error:#}"),
            }
        };
        left.push((entry.id, why));
    }
    ensure!(
        rules.len() > 400,
        "only {} rules could be taken",
        rules.len()
    );

    let secrets = workspace.path("host/secrets");
    fs::write(
        secrets.join("src/rules/betterleaks.rs"),
        write::table(&rules, &filter, &source, license),
    )?;
    fs::write(
        secrets.join("RULES.md"),
        write::page(&rules, &left, &source),
    )?;
    println!("{} rules, {} left out", rules.len(), left.len());
    Ok(())
}

/// The sources that the crate was made from, by address.
fn sources(archive: PathBuf) -> Result<BTreeMap<String, Option<String>>> {
    let file = File::open(&archive).with_context(|| format!("{} is missing", archive.display()))?;
    let sources: BTreeMap<String, Value> = serde_json::from_reader(GzDecoder::new(file))?;
    let text = |value: Value| value.as_str().map(str::to_owned);
    Ok(sources
        .into_iter()
        .map(|(address, value)| (address, text(value)))
        .collect())
}
