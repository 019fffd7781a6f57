//! What proxies may do, in three lines, for users who decide about them: how many powers are of high danger, what they
//! read, and what they change. The list of all powers follows these lines.

use acp_chain_powers::{Danger, Power};
use acp_chain_sandbox::Directory;

/// The actions in keys of powers by which a proxy only learns something.
const READING: [&str; 3] = ["read", "watch", "secrets"];

/// The permissions of one proxy, or of several.
#[derive(Debug, Default)]
pub struct Short {
    powers: usize,
    /// How many of the powers are of high danger.
    high: usize,
    reads: Vec<String>,
    changes: Vec<String>,
}

impl Short {
    /// Counts a power.
    pub fn power(&mut self, power: &Power) {
        self.powers += 1;
        self.high += usize::from(power.danger == Danger::High);
        let (topic, action) = power.key.split_once('.').unwrap_or((power.key, ""));
        let topic = topic.replace('-', " ");
        if action == "secrets" {
            add(&mut self.reads, format!("secrets of {topic}"));
        } else if READING.contains(&action) {
            add(&mut self.reads, topic);
        } else {
            add(&mut self.changes, topic);
        }
    }

    /// Counts a method outside of the protocol: what it does is not known.
    pub fn method(&mut self) {
        self.powers += 1;
        self.high += 1;
        add(&mut self.changes, "what is not in the protocol".to_owned());
    }

    /// Counts a granted directory: the list marks each.
    pub fn directory(&mut self, directory: &Directory) {
        self.powers += 1;
        self.high += 1;
        let what = "files in a directory";
        add(&mut self.reads, what.to_owned());
        if directory.write {
            add(&mut self.changes, what.to_owned());
        }
    }

    /// The three lines.
    pub fn lines(&self) -> [String; 3] {
        let Self { powers, high, .. } = self;
        let (noun, verb) = match (powers, high) {
            (1, _) => ("power", "is"),
            (_, 1) => ("powers", "is"),
            _ => ("powers", "are"),
        };
        let marked = if *high > 0 { ", marked with !" } else { "" };
        [
            format!("In short: {high} of {powers} {noun} {verb} of high danger{marked}"),
            format!("  reads             {}", listed(&self.reads)),
            format!("  changes or sends  {}", listed(&self.changes)),
        ]
    }
}

fn add(to: &mut Vec<String>, what: String) {
    if !to.contains(&what) {
        to.push(what);
    }
}

fn listed(all: &[String]) -> String {
    if all.is_empty() {
        "nothing".to_owned()
    } else {
        all.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use acp_chain_powers::TABLE;

    use super::*;

    fn of(keys: &[&str]) -> [String; 3] {
        let mut short = Short::default();
        for key in keys {
            short.power(Power::named(key).unwrap());
        }
        short.lines()
    }

    #[test]
    fn three_lines_say_how_much_is_dangerous_and_what_is_read_and_changed() {
        let keys = [
            "prompts.read",
            "prompts.change",
            "session-setup.secrets",
            "turns.stop",
        ];
        assert_eq!(
            of(&keys),
            [
                "In short: 2 of 4 powers are of high danger, marked with !",
                "  reads             prompts, secrets of session setup",
                "  changes or sends  prompts, turns",
            ]
        );
        assert_eq!(
            of(&["plans.read"]),
            [
                "In short: 0 of 1 power is of high danger",
                "  reads             plans",
                "  changes or sends  nothing",
            ]
        );
    }

    #[test]
    fn a_directory_is_never_harmless() {
        let mut short = Short::default();
        short.directory(&Directory {
            path: "/work".into(),
            name: "/work".to_owned(),
            write: false,
        });
        assert_eq!(
            short.lines(),
            [
                "In short: 1 of 1 power is of high danger, marked with !",
                "  reads             files in a directory",
                "  changes or sends  nothing",
            ]
        );
    }

    #[test]
    fn a_power_that_may_change_or_send_anything_is_not_one_that_only_reads() {
        for power in TABLE.iter().copied().flatten() {
            let action = power.key.split_once('.').map_or("", |(_, action)| action);
            let only_reads = power.words.starts_with("reads ")
                || power.words.starts_with("sees ")
                || power.words.starts_with("learns ");
            assert_eq!(READING.contains(&action), only_reads, "{}", power.key);
        }
    }
}
