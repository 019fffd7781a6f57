//! Checks that the help texts are true, and that the book repeats them.

use std::fs;
use std::path::Path;

use clap::{Command, CommandFactory};

use super::Cli;

/// Set by `cargo xtask book`.
const WRITE: &str = "ACP_CHAIN_BOOK";

/// The page with the help texts.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/command-line.md");

/// The program and its commands, except hidden ones.
fn commands() -> Vec<Command> {
    let whole = Cli::command();
    let all = whole.get_subcommands();
    let mut commands: Vec<_> = all
        .filter(|command| !command.is_hide_set())
        .cloned()
        .collect();
    commands.insert(0, whole);
    commands
}

/// The lines under a heading of a command's help.
fn block(command: &Command, heading: &str) -> Vec<String> {
    let help = command.get_after_help().map(ToString::to_string);
    let help = help.unwrap_or_default();
    let blocks = help
        .split("\n\n")
        .filter(|block| block.starts_with(heading));
    let lines = blocks.flat_map(|block| block.lines().skip(1));
    lines.map(|line| line.trim().to_owned()).collect()
}

/// The two columns of the lines under a heading.
fn rows(command: &Command, heading: &str) -> Vec<(String, String)> {
    let lines = block(command, heading).into_iter();
    let rows = lines.map(|line| {
        let (name, words) = line.split_once("  ").expect("two columns");
        (name.to_owned(), words.trim().to_owned())
    });
    rows.collect()
}

/// The words of a command line, up to a pipe or redirection.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for (at, part) in line.split('\'').enumerate() {
        match at % 2 {
            1 => words.last_mut().unwrap().push_str(part),
            _ => {
                let mut parts = part.split(' ');
                words
                    .last_mut()
                    .unwrap()
                    .push_str(parts.next().unwrap_or_default());
                words.extend(parts.map(str::to_owned));
            }
        }
    }
    words.retain(|word| !word.is_empty());
    let end = words
        .iter()
        .position(|word| [">", ">>", "|"].contains(&word.as_str()));
    words.truncate(end.unwrap_or(words.len()));
    words
}

#[test]
fn every_help_has_examples_that_parse() {
    for command in commands() {
        let name = command.get_name();
        let examples = block(&command, "Examples:");
        assert!(!examples.is_empty(), "the help of {name} has no examples");
        for example in examples {
            let words = words(&example);
            assert!(
                name == "acp-chain" || words[1] == name,
                "`{example}` is not an example of {name}"
            );
            if let Err(error) = Cli::command().try_get_matches_from(words) {
                panic!("`{example}` in the help of {name}: {error}");
            }
        }
    }
}

#[test]
fn every_variable_that_options_are_read_from_is_in_the_help() {
    let documented = rows(&Cli::command(), "Environment:");
    for command in commands() {
        for variable in command.get_arguments().filter_map(clap::Arg::get_env) {
            let variable = variable.to_string_lossy();
            assert!(
                documented.iter().any(|(name, _)| *name == variable),
                "{variable} is not in the help"
            );
        }
    }
}

#[test]
fn the_page_of_the_book_repeats_the_helps() {
    let row = |cells: &[&str]| format!("| {} |\n", cells.join(" | "));
    let mut codes = row(&["Command", "Code", "Meaning"]) + &row(&["---"; 3]);
    let mut list = row(&["Command", "What it does"]) + &row(&["---"; 2]);
    for command in commands() {
        let whole = command.get_name() == "acp-chain";
        let name = if whole {
            "unless said otherwise".to_owned()
        } else {
            format!("`{}`", command.get_name())
        };
        if !whole {
            let about = command.get_about().expect("a line about it").to_string();
            list += &row(&[&name, &about]);
        }
        for (code, meaning) in rows(&command, "Exit codes") {
            codes += &row(&[&name, &code, &meaning]);
        }
    }
    let mut environment = row(&["Variable", "Meaning"]) + &row(&["---"; 2]);
    for (name, words) in rows(&Cli::command(), "Environment:") {
        environment += &row(&[&format!("`{name}`"), &words]);
    }
    let page = fs::read_to_string(PAGE).unwrap();
    let now = with_table(&page, "commands", &list);
    let now = with_table(&now, "exit codes", &codes);
    let now = with_table(&now, "environment", &environment);
    match std::env::var_os(WRITE) {
        Some(_) => fs::write(PAGE, now).unwrap(),
        None => assert!(
            now == page,
            "{} is old: `cargo xtask book` regenerates it",
            Path::new(PAGE).display()
        ),
    }
}

/// The page with this table under the comment that names it, replacing the one there.
fn with_table(page: &str, name: &str, table: &str) -> String {
    let comment = format!("<!-- {name}, from the helps -->\n");
    let (before, rest) = page.split_once(&comment).expect("a place for the table");
    let after = rest.find("\n\n").map_or("\n", |end| &rest[end + 1..]);
    format!("{before}{comment}{table}{after}")
}
