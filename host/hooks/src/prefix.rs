//! What runs before the commands of an agent whose hooks would not see all of what they do.
//!
//! It runs before a command and not around it: a command that is not balanced could close what it stands in, and a
//! here-document or a comment at its end would swallow what follows. It has a line of its own, since a shell runs
//! nothing of a line whose syntax is wrong.
//!
//! The agent judges a command by the rules of its user. So what runs before it is kept out of the command if the agent
//! lets us; otherwise, the agent still has to find the command behind it.

use acp_chain_rpc::{edit, text_member};
use memchr::{memchr2, memmem};

/// The tool whose input has a command, of Codex.
const TOOL: &str = "Bash";

/// What is put into a command, before what the model wrote. Proxies and the client see commands without it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prefix {
    text: &'static str,
    /// The part that is in all forms in which an agent shows the text.
    mark: &'static str,
}

/// The model of Codex can type into a shell that still runs, for which Codex runs no hook. So nothing that a command
/// starts reads what is typed.
///
/// Codex looks for its user's rules, and for what it takes for dangerous, in each command of a script, but only if the
/// script has nothing but plain words. Else it judges the script as a single command, which no rule is about: a
/// redirection here would switch off the rules that forbid. Hence `eval`. Rules that allow have no effect, since none
/// allows `eval`.
///
/// When Codex asks, it offers to remember the first command that is not allowed. That would be `eval` with anything
/// behind these words. Codex-acp leaves the offer out if there is a line break in it.
pub(crate) const WITHOUT_INPUT: Prefix = Prefix {
    text: "eval \"exec </dev/null\n\"\n",
    mark: "exec </dev/null",
};

/// The output of a command that fails reaches Claude's model whatever a hook answers. So every command succeeds, and
/// its status is in its output.
///
/// Claude runs each command by `eval` in a shell of its own, behind the text of a file, where this is. In the command,
/// it would mislead Claude's rules: what has a `trap` in it is never allowed without a question.
///
/// Afterwards Claude keeps that shell's folder if the command succeeded. A trap acts when all that is done, so that
/// folders are kept as without it; and also where a command exits by itself, which a line after it would not see.
/// Subshells and background jobs do not inherit it. A command that sets such a trap itself, replaces the shell by
/// `exec` or kills it, fails as it would without this.
pub(crate) const WITH_SUCCESS: &str =
    "trap 's=$?; if [ $s != 0 ]; then echo \"[exit status $s]\"; fi; exit 0' EXIT\n";

impl Prefix {
    /// Whether one may stand before what this tool is given.
    pub(crate) fn is_of(tool: &str) -> bool {
        tool == TOOL
    }

    /// An input with this before its command; `None` if its command cannot be read.
    pub(crate) fn put(self, input: &str) -> Option<String> {
        with_command(input, &format!("{}{}", self.text, command(input)?))
    }

    /// An input without this before its command; `None` if it does not stand there.
    pub(crate) fn removed(self, input: &str) -> Option<String> {
        with_command(input, command(input)?.strip_prefix(self.text)?)
    }

    /// A message (JSON text) without this before the commands that its strings show; `None` if it is nowhere. All else
    /// keeps its bytes.
    pub(crate) fn hidden(self, message: &str) -> Option<String> {
        // Nearly all messages end here.
        memmem::find(message.as_bytes(), self.mark.as_bytes())?;
        let forms = self.forms();
        let mut hidden = String::with_capacity(message.len());
        let mut rest = message;
        while let Some((between, string)) = rest.split_once('"') {
            let (content, behind) = string.split_at_checked(length(string)?)?;
            let (before, command) = split(content, &forms).unwrap_or((content, ""));
            hidden.extend([between, "\"", before, command, "\""]);
            rest = behind.strip_prefix('"')?;
        }
        hidden.push_str(rest);
        (hidden.len() < message.len()).then_some(hidden)
    }

    /// How JSON strings show this: as it is, or within the double quotes of a shell; with its line breaks, or with
    /// spaces or escapes in their place.
    fn forms(self) -> Vec<String> {
        let texts = ["\n", " ", "\\n"].map(|line_break| self.text.replace('\n', line_break));
        let quoted = texts.each_ref().map(|text| text.replace('"', "\\\""));
        texts
            .iter()
            .chain(&quoted)
            .filter_map(|text| {
                let json = serde_json::to_string(text).ok()?;
                Some(json.strip_prefix('"')?.strip_suffix('"')?.to_owned())
            })
            .collect()
    }
}

/// The length of the content of a JSON string that begins here.
fn length(string: &str) -> Option<usize> {
    let bytes = string.as_bytes();
    let mut at = 0;
    loop {
        at += memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes.get(at) == Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

/// What is before and behind the first of these forms in the content of a JSON string, if that is where a command
/// begins: with the string, or with quotes. Later ones are the model's own.
fn split<'s>(content: &'s str, forms: &[String]) -> Option<(&'s str, &'s str)> {
    let found = forms
        .iter()
        .filter_map(|form| Some((content.find(&**form)?, form.len())));
    let (at, len) = found.min()?;
    let (before, rest) = content.split_at_checked(at)?;
    let begins = before.is_empty() || before.ends_with(['"', '\'', '`']);
    begins.then_some((before, rest.get(len..)?))
}

fn command(input: &str) -> Option<String> {
    text_member(input, "command")
}

fn with_command(input: &str, command: &str) -> Option<String> {
    let value = serde_json::to_string(command).ok()?;
    edit(input, "/command", Some(&value)).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    proptest! {
        #[test]
        fn what_is_put_before_a_command_is_removed_exactly(command: String) {
            let input = json!({ "command": command, "timeout": 1 }).to_string();
            let once = WITHOUT_INPUT.put(&input).unwrap();
            prop_assert_eq!(WITHOUT_INPUT.removed(&once), Some(input));
            // A command that begins with it already keeps its own.
            let twice = WITHOUT_INPUT.put(&once).unwrap();
            prop_assert_eq!(WITHOUT_INPUT.removed(&twice), Some(once));
        }

        #[test]
        fn what_an_agent_shows_is_the_command_of_the_model(command: String, other: String) {
            let run = format!("{}{command}", WITHOUT_INPUT.text);
            let twice = format!("{}{run}", WITHOUT_INPUT.text);
            for form in FORMS {
                let shows = |command: &str| {
                    let title = form(command);
                    let input = json!({ "command": ["/bin/bash", "-lc", title], "\"\\": other });
                    json!({ "title": title, "rawInput": input, "x": other }).to_string()
                };
                prop_assert_eq!(WITHOUT_INPUT.hidden(&shows(&command)), None);
                prop_assert_eq!(WITHOUT_INPUT.hidden(&shows(&run)), Some(shows(&command)));
                // A command that begins with it already keeps its own.
                prop_assert_eq!(WITHOUT_INPUT.hidden(&shows(&twice)), Some(shows(&run)));
            }
        }
    }

    /// How agents show a command.
    const FORMS: [fn(&str) -> String; 6] = [
        str::to_owned,
        |command| format!("`{command}`"),
        |command| format!("/bin/bash -lc '{command}'"),
        |command| {
            let escaped = command.replace('\\', "\\\\").replace('"', "\\\"");
            format!("bash -lc \"{escaped}\"")
        },
        |command| command.replace('\n', " "),
        |command| command.replace('\n', "\\n"),
    ];

    #[test]
    fn a_message_keeps_its_bytes_but_for_what_stands_before_a_command() {
        let shown = r#"eval \"exec </dev/null\n\"\n"#;
        for (message, expected) in [
            (
                r#"{ "a":1e400, "b":["SHOWNls"] }"#,
                Some(r#"{ "a":1e400, "b":["ls"] }"#),
            ),
            (
                r#"{"a":"\\", "b":"SHOWN", "c":"\ud800"}"#,
                Some(r#"{"a":"\\", "b":"", "c":"\ud800"}"#),
            ),
            (r#"{"a":"run SHOWNls"}"#, None),
            (r#"{"a":"reSHOWNls"}"#, None),
            (r#"{"a":"\\SHOWNls"}"#, None),
            (r#"{"a":"exec </dev/null\nls"}"#, None),
        ] {
            let message = message.replace("SHOWN", shown);
            let hidden = WITHOUT_INPUT.hidden(&message);
            assert_eq!(hidden.as_deref(), expected, "{message}");
        }
    }

    #[test]
    fn an_input_without_a_readable_command_has_no_place_for_it() {
        for input in [
            "{}",
            "null",
            r#"{"command":["a"]}"#,
            r#"{"command":"\ud800"}"#,
        ] {
            assert_eq!(WITHOUT_INPUT.put(input), None, "{input}");
        }
    }

    #[cfg(unix)]
    fn run(shell: &str, script: &str, typed: &str) -> (Option<i32>, String, String) {
        use std::io::Write as _;
        use std::process::{Command, Stdio};

        let mut child = Command::new(shell)
            .args(["-c", script])
            .current_dir("/usr")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // It may have ended without reading.
        let _ = child.stdin.take().unwrap().write_all(typed.as_bytes());
        let output = child.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (
            output.status.code(),
            text(output.stdout),
            text(output.stderr),
        )
    }

    /// Claude trims the text of the file, and writes the folder to another one.
    #[cfg(unix)]
    fn as_claude_runs(command: &str) -> String {
        let command = crate::attach::quoted(command);
        format!(
            "true && {}\n: && eval {command} </dev/null && pwd -P >&2",
            WITH_SUCCESS.trim()
        )
    }

    #[cfg(unix)]
    #[test]
    fn a_command_of_claude_succeeds_names_its_status_and_keeps_the_folder_as_without() {
        for shell in ["sh", "bash"] {
            for (command, printed, kept) in [
                ("echo a; false", "a\n[exit status 1]\n", ""),
                ("echo a; exit 3; echo b", "a\n[exit status 3]\n", ""),
                ("cd /; exit 0", "", ""),
                ("cd / && echo \"it's\"", "it's\n", "/\n"),
                ("cd /; false", "[exit status 1]\n", ""),
                ("cat <<END\na\nEND", "a\n", "/usr\n"),
                ("echo a # a comment", "a\n", "/usr\n"),
                ("(exit 4)", "[exit status 4]\n", ""),
                ("(echo a; exit 5) & wait", "a\n", "/usr\n"),
                ("(exit 5) & wait $!", "[exit status 5]\n", ""),
            ] {
                let script = as_claude_runs(command);
                let expected = (Some(0), printed.to_owned(), kept.to_owned());
                assert_eq!(run(shell, &script, ""), expected, "{shell}: {command}");
            }
            let (code, printed, _) = run(shell, &as_claude_runs("echo a\n)"), "");
            assert_eq!(code, Some(0), "{shell}");
            assert!(
                printed.starts_with("a\n[exit status "),
                "{shell}: {printed}"
            );
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_command_of_codex_reads_nothing_that_is_typed() {
        for shell in ["sh", "bash"] {
            for command in ["cat; sh; echo end", ") ; cat; (true", "cat <<END\nend\nEND"] {
                let script = format!("{}{command}", WITHOUT_INPUT.text);
                let (_, printed, _) = run(shell, &script, "echo typed\n");
                assert!(!printed.contains("typed"), "{shell}: {command}: {printed}");
            }
            let script = format!("{}echo a; exit 3", WITHOUT_INPUT.text);
            let expected = (Some(3), "a\n".to_owned(), String::new());
            assert_eq!(run(shell, &script, ""), expected);
        }
    }
}
