//! The help of the program: its commands by topic. clap groups options only.

use acp_chain_interactive::{columns, fitted};
use clap::Command;

/// The longest lines that are read with ease.
const WIDEST: usize = 100;

/// The topics, with their commands in the order of the help.
const GROUPS: [(&str, &str); 5] = [
    (
        "Use",
        "demo try setup run agent trust self-update completions man",
    ),
    ("Extensions", "info add list update remove install gc state"),
    (
        "Look",
        "check doctor self-test inspect top trace receipts scan replay permissions powers limits",
    ),
    (
        "Write",
        "new dev build test conformance sdk package publish bundle",
    ),
    ("Serve", "serve serve-token"),
];

/// The program with its commands by topic in its help.
pub fn grouped(program: Command) -> Command {
    let names = GROUPS.iter().flat_map(|(_, names)| names.split(' '));
    let width = names.map(str::len).max().unwrap_or_default();
    let mut list = String::new();
    for (topic, names) in GROUPS {
        list.push_str(topic);
        list.push_str(":\n");
        for name in names.split(' ') {
            let about = program.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let line = format!("  {name:width$}  {}\n", fitted(&about, width + 4));
            list.push_str(&line);
        }
        list.push('\n');
    }
    // Elsewhere than in a terminal, a text is one line.
    let columns = columns().map_or(0, |columns| columns.min(WIDEST));
    program.term_width(columns).help_template(format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}Options:\n{{options}}{{after-help}}"
    ))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory;

    use super::*;
    use crate::Cli;

    #[test]
    fn each_command_for_people_is_in_one_group() {
        let program = Cli::command();
        let shown = program.get_subcommands();
        let shown = shown.filter(|command| !command.is_hide_set());
        let all: BTreeSet<_> = shown.map(Command::get_name).collect();
        let names = GROUPS.iter().flat_map(|(_, names)| names.split(' '));
        let grouped: Vec<_> = names.collect();
        let once: BTreeSet<_> = grouped.iter().copied().collect();
        assert_eq!(once, all);
        assert_eq!(once.len(), grouped.len(), "a command is in two groups");
    }

    #[test]
    fn the_help_has_each_group_with_its_commands_and_all_options() {
        let help = grouped(Cli::command()).render_help().to_string();
        for (topic, names) in GROUPS {
            let (_, group) = help.split_once(&format!("\n{topic}:\n")).unwrap();
            let (group, _) = group.split_once("\n\n").unwrap();
            // What is further to the right goes on about the command above.
            let lines = group.lines().filter_map(|line| line.strip_prefix("  "));
            let lines = lines.filter(|line| !line.starts_with(' '));
            let listed = lines.map(|line| line.split_whitespace().next().unwrap());
            assert!(listed.eq(names.split(' ')), "{group}");
        }
        for part in [
            "Usage: acp-chain ",
            "      --data <FOLDER>",
            "  -h, --help",
            "\nExamples:\n",
        ] {
            assert!(help.contains(part), "{help}\nlacks {part}");
        }
        assert!(!help.contains("Commands:") && !help.contains('{'), "{help}");
    }
}
