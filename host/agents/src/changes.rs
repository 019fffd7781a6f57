//! What is different about a newer version of an agent, for users who decide whether to take it.

use semver::Version;

use crate::kind::Kind;
use crate::record::Record;

/// What is launched in another way than before, each as the rest of a sentence that begins with "it".
pub fn changes(before: &Record, now: &Record) -> Vec<String> {
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
pub fn is_older(version: &str, other: &str) -> bool {
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
