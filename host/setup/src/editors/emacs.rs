//! Emacs, with acp.el, which agent-shell also uses to launch its agents. Our code is at the end of the init file, but
//! in front of the comment with which such a file ends, and advises the one function that takes an agent's command. An
//! agent that Emacs launches elsewhere is left alone.

use super::editor::{Code, Editor, Kind};
use super::quoted;
use crate::error::Malformed;
use crate::launch::Launch;

pub(super) const EMACS: Editor = Editor {
    name: "emacs",
    title: "Emacs (agent-shell, acp.el)",
    kind: Kind::Code(Code {
        // With Doom, the init file is Doom's.
        files: |places| {
            let home = |path: &str| places.home.join(path);
            let mut files = places.in_settings("doom/config.el");
            files.extend(
                [
                    ".doom.d/config.el",
                    ".emacs.el",
                    ".emacs",
                    ".emacs.d/init.el",
                ]
                .map(home),
            );
            files.extend(places.in_settings("emacs/init.el"));
            files
        },
        is_own: false,
        comment: ";;",
        text,
        check: Some(check),
        others: "on other machines (TRAMP), behind `agent-shell-command-prefix`, or of packages that do not use acp.el",
    }),
};

fn text(launch: &Launch, programs: &[String]) -> String {
    let list = |words: &[String]| {
        let words = words.iter().map(|word| format!(" {}", quoted(word)));
        words.collect::<String>()
    };
    include_str!("emacs.el")
        .replace("@LAUNCH@", &list(&launch.before_command()))
        .replace("@PROGRAMS@", &list(programs))
}

/// Whether code appended to this text would be independent of it.
fn check(text: &str) -> Result<(), Malformed> {
    let (mut open, mut line) = (Vec::new(), 1);
    let mut last = '\n';
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let before = std::mem::replace(&mut last, c);
        match c {
            '\n' => line += 1,
            ';' => {
                if rest.by_ref().any(|c| c == '\n') {
                    line += 1;
                }
                last = '\n';
            }
            '"' => {
                let began = line;
                loop {
                    match rest.next() {
                        Some('"') => break,
                        Some('\n') => line += 1,
                        Some('\\') => line += usize::from(rest.next() == Some('\n')),
                        Some(_) => {}
                        None => {
                            return Err(Malformed::new(
                                began,
                                "the text that begins here is never closed",
                            ));
                        }
                    }
                }
            }
            '\\' => {
                rest.next();
            }
            // A character, unless it is part of a name.
            '?' if before.is_whitespace() || "()[]'`,".contains(before) => {
                let escape = rest.next().filter(|c| *c == '\\');
                escape.and_then(|_| rest.next());
            }
            '(' | '[' => open.push((c, line)),
            ')' | ']' => {
                let opens = if c == ')' { '(' } else { '[' };
                if open.pop().is_none_or(|(opened, _)| opened != opens) {
                    return Err(Malformed::new(line, format!("unmatched `{c}`")));
                }
            }
            _ => {}
        }
    }
    match open.pop() {
        Some((c, line)) => Err(Malformed::new(line, format!("`{c}` is never closed"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unclosed_text_or_list_is_reported_with_its_first_line() {
        for (text, line) in [
            ("(a)\n(b (c)\n", 2),
            ("(a))\n", 1),
            ("(a]\n", 1),
            ("(a)\n\"text\n", 2),
            ("; (\n(\n; )", 2),
        ] {
            assert_eq!(check(text).unwrap_err().line, line, "{text}");
        }
    }

    #[test]
    fn parentheses_in_texts_comments_and_characters_are_ignored() {
        for text in [
            "",
            "(a \"(\\\"(\" ?\\( ?( '(?\\) [b])) ; ((\n",
            "(really? (not \\( a character?))",
            "(list ?\\\" ?\\; ?a)",
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }
}
