//! `acp-chain agent update`: checks a registry for newer versions.

use std::process::ExitCode;

use acp_chain_agents::{Changing, Install, Kind, Record, Registry};
use semver::Version;

use super::place::{self, Fetcher, NO_AGENTS, RegistryArgs, shown, shown_of_installed};
use crate::extension::consent::agrees;
use crate::{Result, code_if, report_one};
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};

#[derive(Debug, clap::Args)]
pub struct Update {
    /// The agents; by default, all of them
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    from: RegistryArgs,
    /// Do not ask; versions that are older than yours need `--downgrade`, too
    #[arg(long)]
    yes: bool,
    /// Also take an older version
    #[arg(long)]
    downgrade: bool,
}

impl Update {
    pub fn main(self) -> Result<ExitCode> {
        let store = place::store_to_change()?;
        let changing = store.change().map_err(shown)?;
        let names = if self.names.is_empty() {
            store.names().map_err(shown)?
        } else {
            self.names.clone()
        };
        if names.is_empty() {
            show!("{NO_AGENTS}");
        }
        let mut succeeded = true;
        let mut records = Vec::new();
        for name in &names {
            match store.find(name).map_err(shown_of_installed) {
                Ok(record) if record.kind == Kind::Command => {
                    say!("`{name}` stays: it is a command of your own.");
                }
                Ok(record) => records.push(record),
                Err(error) => {
                    tell!("acp-chain: {error}");
                    succeeded = false;
                }
            }
        }
        if records.is_empty() {
            return Ok(code_if(succeeded));
        }
        let fetcher = Fetcher::new()?;
        let mut registries: Vec<(Option<&String>, Registry)> = Vec::new();
        for record in &records {
            let known = |(from, _): &(Option<&String>, _)| *from == record.registry.as_ref();
            let updated = match registries.iter().position(known) {
                Some(at) => Ok(at),
                None => self.from.read(&fetcher, Some(record)).map(|registry| {
                    registries.push((record.registry.as_ref(), registry));
                    registries.len() - 1
                }),
            };
            let updated =
                updated.and_then(|at| self.update(&changing, &registries[at].1, &fetcher, record));
            succeeded &= report_one(&record.name, updated);
        }
        Ok(code_if(succeeded))
    }

    fn update(
        &self,
        changing: &Changing,
        registry: &Registry,
        fetcher: &Fetcher,
        before: &Record,
    ) -> Result<()> {
        let name = &before.name;
        let entry = registry.named(name).map_err(shown)?;
        // Keeps the kind of the installed version, if the registry still offers it.
        let same = registry.offer(&entry, Some(before.kind));
        let offer = same.or_else(|_| registry.offer(&entry, None));
        let install = Install {
            changing,
            registry,
            entry: &entry,
            offer: offer.map_err(shown)?,
            before: Some(before),
            web: fetcher,
        };
        let Some(staged) = install.stage().map_err(shown)? else {
            say!("`{name}` is up to date.");
            return Ok(());
        };
        let versions = [before, &staged.record].map(|record| record.version.as_deref());
        let [current, offered] = versions.map(Option::unwrap_or_default);
        let goes_back = is_older(offered, current);
        let [old, new] = [current, offered].map(|version| quote(version, MAX_QUOTE));
        say!("`{name}`: {old} → {new}");
        if goes_back {
            say!("! it goes back: {new} is older than yours");
        }
        if before.registry != staged.record.registry {
            let registry = quote(before.registry.as_deref().unwrap_or_default(), MAX_QUOTE);
            say!("! it came from another registry: {registry}");
        }
        for change in changes(before, &staged.record) {
            say!("! it {}", Untrusted::new(change));
        }
        place::show(&entry, &staged);
        // Faults that a version has mended come back with an older one.
        if goes_back && self.yes && !self.downgrade {
            return Err(wrong!(
                "version {new} is older than yours, {old}; nothing was changed. `--downgrade` takes it"
            ));
        }
        if agrees(self.yes, "Install it?")? {
            staged.put(changing).map_err(shown)?;
            say!("`{name}` is updated; restart it where it is running.");
        }
        Ok(())
    }
}

/// What is launched in another way than before, each as the rest of a sentence that begins with "it".
fn changes(before: &Record, now: &Record) -> Vec<String> {
    let mut changes = Vec::new();
    if before.kind != now.kind {
        let [was, is] = [before.kind, now.kind].map(Kind::as_str);
        changes.push(format!("is of the kind `{is}`, no longer `{was}`"));
    }
    if before.args != now.args {
        let [was, is] = [before, now].map(|record| record.args.join(" "));
        changes.push(format!("has the arguments `{is}`, no longer `{was}`"));
    }
    let set = now.env.iter();
    let added = set.filter(|(key, value)| before.env.get(*key) != Some(*value));
    changes.extend(added.map(|(key, value)| format!("sets {key}={value}, and did not before")));
    let was_set = before.env.keys();
    let gone = was_set.filter(|key| !now.env.contains_key(*key));
    changes.extend(gone.map(|key| format!("no longer sets {key}")));
    changes
}

/// Whether a version is older than another. Those that are not of semantic versioning are compared by their numbers.
fn is_older(version: &str, other: &str) -> bool {
    if let [Ok(one), Ok(than)] = [version, other].map(Version::parse) {
        return one < than;
    }
    let numbers = |version: &str| {
        let parts = version.split('.').map(|part| {
            let end = part.find(|c: char| !c.is_ascii_digit());
            part[..end.unwrap_or(part.len())].parse().unwrap_or(0_u64)
        });
        let mut all: Vec<_> = parts.collect();
        // `1.0` is `1.0.0`.
        while all.last() == Some(&0) {
            all.pop();
        }
        all
    };
    numbers(version) < numbers(other)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn another_way_of_launching_is_named() {
        let record = |kind, args: &[&str], env: &[(&str, &str)]| {
            let text = |text: &&str| (*text).to_owned();
            let env = env.iter().map(|(key, value)| (text(key), text(value)));
            Record {
                kind,
                args: args.iter().map(text).collect(),
                env: env.collect::<BTreeMap<_, _>>(),
                ..Record::default()
            }
        };
        let before = record(Kind::Npx, &["--acp"], &[("A", "1"), ("B", "1")]);
        assert_eq!(changes(&before, &before), [""; 0]);
        let now = record(Kind::Binary, &["acp", "-x"], &[("A", "2"), ("C", "1")]);
        assert_eq!(
            changes(&before, &now),
            [
                "is of the kind `binary`, no longer `npx`",
                "has the arguments `acp -x`, no longer `--acp`",
                "sets A=2, and did not before",
                "sets C=1, and did not before",
                "no longer sets B",
            ]
        );
    }

    #[test]
    fn versions_are_compared_as_their_publishers_count() {
        for (older, newer) in [
            ("1.9.0", "1.10.0"),
            ("1.0.0-rc.2", "1.0.0"),
            ("1.9", "1.10"),
            ("2026.01.31", "2026.02.01"),
            ("1.0.0", "1.0.1rc1"),
            ("", "1.0"),
        ] {
            assert!(is_older(older, newer), "{older} {newer}");
            assert!(!is_older(newer, older), "{older} {newer}");
        }
        for (one, same) in [
            ("1.0.0", "1.0.0"),
            ("1.0", "1.0.0"),
            ("1.0.0", "1.0.0rc1"),
            ("a", "b"),
        ] {
            assert!(!is_older(one, same) && !is_older(same, one), "{one} {same}");
        }
    }
}
