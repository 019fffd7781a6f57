//! Errors about the command line: those of clap, with tips where clap has none.

use std::path::Path;
use std::process::ExitCode;

use acp_chain_agents::is_known;
use acp_chain_author::LANGUAGES;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Error};

use super::{Cli, out};

/// Prints the help, or the error about the command line. Returns the exit code.
pub fn report(mut error: Error, command: Option<&str>) -> ExitCode {
    add_tip(&mut error, command);
    let text = error.render();
    if error.use_stderr() {
        out::write(format_args!("{text}"));
    } else {
        put!("{text}");
    }
    u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)
}

/// Adds a tip to the error about the arguments of a command.
fn add_tip(error: &mut Error, command: Option<&str>) {
    leave_out_hidden(error);
    if let Some((kind, tip)) = tip(error, command)
        && error.get(kind).is_none()
    {
        error.insert(kind, tip);
    }
}

fn tip(error: &mut Error, command: Option<&str>) -> Option<(ContextKind, ContextValue)> {
    let typed = |kind| match error.get(kind) {
        Some(ContextValue::String(typed)) => Some(typed.clone()),
        _ => None,
    };
    Some(match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let word = typed(ContextKind::InvalidSubcommand)?;
            if let Some(meant) = other_name(&word).filter(|_| command == Some(&*word)) {
                error.remove(ContextKind::SuggestedSubcommand);
                // There is a list, though an empty one.
                error.remove(ContextKind::Suggested);
                suggested(format!("'acp-chain {meant}' does that"))
            } else {
                let names = ContextValue::Strings(vec![jumbled(&word)?]);
                (ContextKind::SuggestedSubcommand, names)
            }
        }
        ErrorKind::UnknownArgument if proposes_value(error) => {
            // That of clap is right only for an installed agent, and for no other command.
            let word = typed(ContextKind::InvalidArg)?;
            error.remove(ContextKind::Suggested);
            command.filter(|command| launches_agent(command))?;
            suggested(format!(
                "the agent's arguments go after '--': 'NAME -- {word}' if it is installed, or else its whole command, \
                 '-- COMMAND {word}'"
            ))
        }
        ErrorKind::UnknownArgument if command == Some("add") => {
            let word = typed(ContextKind::InvalidArg).filter(|word| !word.starts_with('-'))?;
            suggested(format!(
                "extensions are added one by one: 'acp-chain add {word}'"
            ))
        }
        ErrorKind::UnknownArgument if command == Some("setup") => {
            let word = typed(ContextKind::InvalidArg).filter(|word| !word.starts_with('-'))?;
            suggested(format!(
                "an agent is named with '--agent {word}', an extension with '--with {word}', and a command gets a name \
                 by 'acp-chain agent add NAME -- COMMAND'"
            ))
        }
        ErrorKind::UnknownArgument => {
            let is_manifest = |file: &String| {
                let extension = Path::new(file).extension();
                extension.is_some_and(|extension| extension == "toml")
            };
            let file = typed(ContextKind::InvalidArg).filter(is_manifest)?;
            command.filter(|command| takes_manifest(command))?;
            suggested(format!("a manifest is named with '--manifest {file}'"))
        }
        ErrorKind::InvalidValue
            if command == Some("setup") && error.get(ContextKind::SuggestedValue).is_none() =>
        {
            let [place, word] = [ContextKind::InvalidArg, ContextKind::InvalidValue].map(typed);
            let word = word.filter(|_| place.as_deref() == Some("[EDITOR]"))?;
            let other = "let any other editor launch 'acp-chain run --with EXTENSION -- AGENT' as its agent";
            suggested(in_place_of_editor(&word).unwrap_or_else(|| other.to_owned()))
        }
        // Where a value is missing, clap does not name those that are possible.
        ErrorKind::MissingRequiredArgument if command == Some("new") && lacks_language(error) => {
            let names: Vec<_> = LANGUAGES.iter().map(|language| language.name).collect();
            suggested(format!("the languages are {}", names.join(", ")))
        }
        _ => return None,
    })
}

fn suggested(tip: String) -> (ContextKind, ContextValue) {
    let tips = ContextValue::StyledStrs(vec![tip.into()]);
    (ContextKind::Suggested, tips)
}

/// What is meant by a word in place of an editor's name, if it is another name of one, or that of an agent.
fn in_place_of_editor(word: &str) -> Option<String> {
    let name = match word.to_lowercase().as_str() {
        "code" | "codium" | "cursor" | "vscodium" | "windsurf" => "vscode",
        "clion" | "goland" | "idea" | "intellij" | "phpstorm" | "pycharm" | "rider"
        | "rubymine" | "rustrover" | "webstorm" => "jetbrains",
        "nvim" | "vim" => "neovim",
        other if is_known(other) => {
            return Some(format!(
                "'{other}' is an agent: 'acp-chain setup EDITOR --agent {other}' puts the chain in front of it"
            ));
        }
        _ => return None,
    };
    Some(format!("it is called '{name}' here"))
}

/// The command that is called by this name elsewhere.
fn other_name(word: &str) -> Option<&'static str> {
    Some(match word {
        "disable" | "uninstall" => "remove NAME",
        "enable" => "add NAME",
        "explain" => "permissions explain",
        "import" => "permissions import",
        "init" => "new NAME",
        "logs" => "doctor",
        "start" => "run",
        "status" | "watch" => "top",
        "suggest" => "permissions suggest",
        "token" => "serve-token",
        "undo" => "setup EDITOR --undo",
        "upgrade" => "self-update",
        _ => return None,
    })
}

/// Whether clap proposes to pass an option as a value.
fn proposes_value(error: &Error) -> bool {
    match error.get(ContextKind::Suggested) {
        Some(ContextValue::StyledStrs(tips)) => {
            let mut tips = tips.iter();
            tips.any(|tip| tip.to_string().contains("as a value"))
        }
        _ => false,
    }
}

fn lacks_language(error: &Error) -> bool {
    let missing = error.get(ContextKind::InvalidArg);
    matches!(missing, Some(ContextValue::Strings(all)) if all.iter().any(|one| one.starts_with("--lang")))
}

/// Takes the commands that only acp-chain itself starts out of clap's suggestions.
fn leave_out_hidden(error: &mut Error) {
    let kind = ContextKind::SuggestedSubcommand;
    let Some(ContextValue::Strings(names)) = error.remove(kind) else {
        return;
    };
    let program = Cli::command();
    let is_shown = |name: &String| {
        let command = program.find_subcommand(name);
        command.is_none_or(|command| !command.is_hide_set())
    };
    let shown: Vec<_> = names.into_iter().filter(is_shown).collect();
    if !shown.is_empty() {
        error.insert(kind, ContextValue::Strings(shown));
    }
}

/// The command that has the letters of this one in another order: of short names, clap does not find it.
fn jumbled(typed: &str) -> Option<String> {
    let letters = |name: &str| {
        let mut letters: Vec<_> = name.chars().collect();
        letters.sort_unstable();
        letters
    };
    let program = Cli::command();
    let mut names = program
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
        .map(|command| command.get_name().to_owned());
    names.find(|name| letters(name) == letters(typed))
}

/// Whether a command launches the agent that its command line names.
fn launches_agent(command: &str) -> bool {
    matches!(command, "run" | "try" | "dev" | "serve" | "doctor")
}

/// Whether a command has the option `--manifest`.
fn takes_manifest(command: &str) -> bool {
    let program = Cli::command();
    program.find_subcommand(command).is_some_and(|command| {
        let mut options = command.get_arguments();
        options.any(|option| option.get_long() == Some("manifest"))
    })
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    /// What is printed about a wrong command line.
    fn told(words: &[&str]) -> String {
        let all = ["acp-chain"].iter().chain(words).map(OsString::from);
        let all: Vec<_> = all.collect();
        let mut error = crate::parse(&all).unwrap_err();
        add_tip(&mut error, words.first().copied());
        error.render().to_string()
    }

    #[test]
    fn a_jumbled_command_is_named() {
        for (typed, meant) in [("rnu", "run"), ("tyr", "try"), ("dda", "add")] {
            let told = told(&[typed]);
            let tip = format!("tip: a similar subcommand exists: '{meant}'");
            assert!(told.contains(&tip), "{told}\nlacks\n{tip}");
        }
        assert!(!told(&["xyz"]).contains("tip: "));
        // `hook` is nearest, and is started by agents alone.
        assert!(!told(&["foo"]).contains("hook"));
    }

    #[test]
    fn a_command_is_found_by_the_name_that_it_has_elsewhere() {
        for (typed, meant) in [
            ("explain", "permissions explain"),
            ("undo", "setup EDITOR --undo"),
        ] {
            let told = told(&[typed]);
            let tip = format!("tip: 'acp-chain {meant}' does that");
            assert!(told.contains(&tip), "{told}\nlacks\n{tip}");
            assert!(!told.contains("similar"), "{told}");
        }
        assert!(!told(&["agent", "uninstall"]).contains("does that"));
    }

    #[test]
    fn no_option_is_proposed_as_a_value() {
        for words in [
            &["add", "--with", "redact"][..],
            &["package", "a.wasm", "-o", "b.wasm"],
        ] {
            let told = told(words);
            assert!(!told.contains("as a value"), "{told}");
        }
        assert!(told(&["--with", "redact", "run"]).contains("'run --with' exists"));
    }

    #[test]
    fn a_command_behind_the_name_of_an_editor_is_told_with_the_options_that_name_agents() {
        let tip = "tip: an agent is named with '--agent nope', ";
        for words in [
            &["setup", "zed", "--", "nope"][..],
            &["setup", "zed", "nope"],
        ] {
            let told = told(words);
            assert!(told.contains(tip), "{told}\nlacks\n{tip}");
        }
        assert!(!told(&["setup", "zed", "--nope"]).contains("tip: an agent"));
    }

    #[test]
    fn another_name_of_an_editor_and_an_agent_are_told_apart() {
        for (typed, tip) in [
            ("cursor", "tip: it is called 'vscode' here"),
            ("PyCharm", "tip: it is called 'jetbrains' here"),
            (
                "gemini",
                "tip: 'gemini' is an agent: 'acp-chain setup EDITOR --agent gemini' ",
            ),
        ] {
            let told = told(&["setup", typed]);
            assert!(told.contains(tip), "{told}\nlacks\n{tip}");
        }
        assert!(told(&["setup", "nvim"]).contains("'neovim'"));
        let other = told(&["setup", "notepad"]);
        assert!(
            other.contains("tip: let any other editor launch 'acp-chain run "),
            "{other}"
        );
    }

    #[test]
    fn an_argument_of_an_agent_is_told_to_follow_two_dashes() {
        let told = told(&["try", "gemini", "--acp"]);
        let tip = "tip: the agent's arguments go after '--': 'NAME -- --acp' if it is installed, or else its whole \
                   command, '-- COMMAND --acp'";
        assert!(told.contains(tip), "{told}\nlacks\n{tip}");
        assert!(!told.contains("as a value"), "{told}");
    }

    #[test]
    fn a_second_extension_is_told_to_be_added_by_itself() {
        let told = told(&["add", "redact", "rules"]);
        let tip = "tip: extensions are added one by one: 'acp-chain add rules'";
        assert!(told.contains(tip), "{told}\nlacks\n{tip}");
    }

    #[test]
    fn the_languages_are_named_where_one_is_missing() {
        let without = told(&["new", "shout"]);
        assert!(
            without.contains("tip: the languages are rust, "),
            "{without}"
        );
        assert!(!told(&["new", "--lang", "rust"]).contains("the languages are"));
    }

    #[test]
    fn a_manifest_without_its_option_is_told_with_it() {
        for command in ["check", "list"] {
            let told = told(&[command, "chain.toml"]);
            let tip = "tip: a manifest is named with '--manifest chain.toml'";
            assert!(told.contains(tip), "{told}\nlacks\n{tip}");
        }
        for other in [["powers", "chain.toml"], ["check", "chain.tml"]] {
            assert!(!told(&other).contains("--manifest chain"), "{other:?}");
        }
    }
}
