//! The script language of prompts.

use std::collections::VecDeque;

use crate::params::Params;

/// One action of the agent in a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Echo text in up to three chunks.
    Repeat(String),
    Echo(String),
    Show,
    Stream(usize, String),
    Update(String),
    Line(usize),
    Garbage,
    /// Writes a line as it is, in UTF-8 or else in Latin-1.
    Raw {
        text: String,
        utf8: bool,
    },
    Stderr(usize),
    Read(String),
    Permission {
        kind: String,
        title: String,
        path: String,
    },
    Ask {
        method: String,
        params: String,
        withdrawn: bool,
    },
    Tell {
        method: String,
        params: String,
    },
    Stop(String),
    Fail(String),
    /// Answer with a result of that many bytes.
    Bulk(usize),
    Wait,
    Never,
    Twice,
    Unknown,
    Exit(i32),
    Abort,
}

/// The steps of a prompt.
pub(crate) fn steps(params: &Params) -> VecDeque<Step> {
    let mut steps = VecDeque::new();
    for text in params
        .prompt
        .iter()
        .filter_map(|block| block.text.as_deref())
    {
        if text.lines().next().is_some_and(|line| step(line).is_some()) {
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            steps.extend(lines.map(|line| step(line).unwrap_or(Step::Repeat(line.to_owned()))));
        } else {
            steps.push_back(Step::Repeat(text.to_owned()));
        }
    }
    steps
}

/// The step of a command line; none if the line is not a command.
fn step(line: &str) -> Option<Step> {
    let (command, rest) = line.split_once(' ').unwrap_or((line, ""));
    Some(match (command, rest) {
        ("echo", _) => Step::Echo(rest.to_owned()),
        ("show", "") => Step::Show,
        ("stream", _) => {
            let (count, text) = rest.split_once(' ').unwrap_or((rest, "chunk"));
            Step::Stream(count.parse().ok()?, text.to_owned())
        }
        ("update", _) => Step::Update(json(rest)?),
        ("line", _) => Step::Line(rest.parse().ok()?),
        ("garbage", "") => Step::Garbage,
        ("raw" | "latin1" | "read", "") => return None,
        ("raw" | "latin1", _) => Step::Raw {
            text: rest.to_owned(),
            utf8: command == "raw",
        },
        ("stderr", _) => Step::Stderr(rest.parse().ok()?),
        ("read", _) => Step::Read(rest.to_owned()),
        ("permission", _) => {
            let (kind, rest) = rest.split_once(' ')?;
            let (title, path) = rest.rsplit_once(' ')?;
            Step::Permission {
                kind: kind.to_owned(),
                title: title.to_owned(),
                path: path.to_owned(),
            }
        }
        ("ask" | "withdraw", _) => {
            let (method, params) = call(rest)?;
            Step::Ask {
                method,
                params,
                withdrawn: command == "withdraw",
            }
        }
        ("tell", _) => {
            let (method, params) = call(rest)?;
            Step::Tell { method, params }
        }
        ("stop", _) => Step::Stop(json(rest)?),
        ("fail", _) => Step::Fail(json(rest)?),
        ("bulk", _) => Step::Bulk(rest.parse().ok()?),
        ("wait", "") => Step::Wait,
        ("never", "") => Step::Never,
        ("twice", "") => Step::Twice,
        ("unknown", "") => Step::Unknown,
        ("exit", _) => Step::Exit(rest.parse().ok()?),
        ("abort", "") => Step::Abort,
        _ => return None,
    })
}

/// A method and its parameters, `{}` if there are none.
fn call(text: &str) -> Option<(String, String)> {
    let (method, params) = text.split_once(' ').unwrap_or((text, "{}"));
    (!method.is_empty()).then_some((method.to_owned(), json(params)?))
}

/// The text, if it is JSON.
fn json(text: &str) -> Option<String> {
    serde_json::from_str::<&serde_json::value::RawValue>(text)
        .is_ok()
        .then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use crate::params::Block;

    use super::*;

    fn of(texts: &[&str]) -> Vec<Step> {
        let block = |text: &&str| Block {
            text: Some((*text).to_owned()),
        };
        steps(&Params {
            prompt: texts.iter().map(block).collect(),
            ..Params::default()
        })
        .into()
    }

    #[test]
    fn a_block_is_a_script_if_its_first_line_is_a_command() {
        assert_eq!(
            of(&["hello\nwait", "stream 3\n\nexit 7", "read /a b"]),
            [
                Step::Repeat("hello\nwait".into()),
                Step::Stream(3, "chunk".into()),
                Step::Exit(7),
                Step::Read("/a b".into()),
            ]
        );
    }

    #[test]
    fn words_that_only_begin_like_a_command_are_text() {
        for text in [
            "wait for me",
            "exit now",
            "stop it",
            "never mind",
            "show me",
            "readme",
            "",
        ] {
            assert_eq!(of(&[text]), [Step::Repeat(text.into())]);
        }
    }

    #[test]
    fn arguments_are_told_apart() {
        assert_eq!(
            of(&["permission edit Write the file /etc/hosts\nask x/y {\"n\": 1e400}\nwithdraw z"]),
            [
                Step::Permission {
                    kind: "edit".into(),
                    title: "Write the file".into(),
                    path: "/etc/hosts".into(),
                },
                Step::Ask {
                    method: "x/y".into(),
                    params: "{\"n\": 1e400}".into(),
                    withdrawn: false,
                },
                Step::Ask {
                    method: "z".into(),
                    params: "{}".into(),
                    withdrawn: true,
                },
            ]
        );
    }
}
