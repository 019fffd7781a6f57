//! The declarations of a file, line by line: there is no parser, only the beginning of each line counts. Unusual
//! formatting is missed, and a line within a long string may be taken for a declaration.

use crate::language::Language;

/// The maximum length of a shown line, in bytes.
const LONGEST_LINE: usize = 160;

/// The declarations, each as `LINE: TEXT`, indented as in the file.
pub(crate) fn outline(language: Language, text: &str) -> Vec<String> {
    let mut skipping = SkipState::default();
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if !skipping.skips(language, line) && declares(language, line) {
            found.push(format!("{number}: {}", shown(line)));
        }
    }
    found
}

/// The line as listed: without the end where a body begins.
pub(crate) fn shown(line: &str) -> String {
    let line = line.replace('\t', "  ");
    let text = line.trim_end().trim_end_matches('{').trim_end();
    match text.len() {
        0..=LONGEST_LINE => text.to_owned(),
        _ => format!("{}…", &text[..text.floor_char_boundary(LONGEST_LINE)]),
    }
}

/// Lines without declarations: in comments of several lines, and in blocks of code.
#[derive(Default)]
struct SkipState {
    /// The end of the current one.
    until: Option<&'static str>,
}

impl SkipState {
    fn skips(&mut self, language: Language, line: &str) -> bool {
        let text = line.trim();
        if let Some(end) = self.until {
            let over = match language {
                Language::Markdown => text.starts_with(end),
                _ => text.contains(end),
            };
            if over {
                self.until = None;
            }
            return true;
        }
        let begins = |begin: &str, end| (text.starts_with(begin)).then_some((begin.len(), end));
        let began = match language {
            Language::Markdown => begins("```", "```").or_else(|| begins("~~~", "~~~")),
            Language::Python => begins("\"\"\"", "\"\"\"").or_else(|| begins("'''", "'''")),
            _ => begins("/*", "*/"),
        };
        let Some((length, end)) = began else {
            return text.starts_with("//");
        };
        if language == Language::Markdown || !text[length..].contains(end) {
            self.until = Some(end);
        }
        true
    }
}

fn declares(language: Language, line: &str) -> bool {
    let text = line.trim_start();
    let top = text.len() == line.len();
    match language {
        Language::Rust => rust(text),
        Language::Python => ["def ", "async def ", "class "]
            .iter()
            .any(|key| text.starts_with(key)),
        Language::Script => script(text, top),
        Language::Go => {
            top && ["func ", "type ", "const ", "var "]
                .iter()
                .any(|key| text.starts_with(key))
        }
        Language::C => top && c(text),
        Language::Java => java(text),
        Language::Markdown => {
            let rest = text.trim_start_matches('#');
            top && (1..=6).contains(&(text.len() - rest.len())) && rest.starts_with(' ')
        }
        Language::CargoToml => top && text.starts_with('['),
        Language::PackageJson | Language::GoMod => false,
    }
}

/// The words of a line, without anything attached to them: `pub(crate)` is `pub`.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let word = |word: &'_ str| {
        word.find(|c: char| !(c.is_alphanumeric() || c == '_'))
            .unwrap_or(word.len())
    };
    text.split_whitespace().map(move |text| &text[..word(text)])
}

fn rust(text: &str) -> bool {
    if text.starts_with("macro_rules!") || text.starts_with("impl<") {
        return true;
    }
    let before = ["pub", "async", "unsafe", "default", "extern"];
    // The ABI of an `extern` is a string, and so has no word.
    let mut words = words(text)
        .skip_while(|word| before.contains(word) || word.is_empty())
        .peekable();
    let begins = words.next().unwrap_or_default();
    let next = words.next().unwrap_or_default();
    match begins {
        "fn" | "struct" | "enum" | "trait" | "impl" | "mod" | "type" | "union" => {
            !next.is_empty() || begins == "impl"
        }
        "const" | "static" => {
            matches!(next, "fn" | "unsafe" | "async" | "mut") || text.contains(": ")
        }
        _ => false,
    }
}

fn script(text: &str, top: bool) -> bool {
    let before = "export default declare abstract async public private protected static readonly";
    let kept: Vec<_> = words(text)
        .filter(|word| !before.split(' ').any(|other| other == *word))
        .take(2)
        .collect();
    let begins = kept.first().copied().unwrap_or_default();
    match begins {
        "function" | "class" | "interface" | "enum" | "namespace" => {
            kept.len() > 1 || text.contains('(')
        }
        "type" => kept.len() > 1 && text.contains('='),
        "const" | "let" | "var" => {
            top && (text.starts_with("export") || text.contains("=> ") || text.contains("function"))
        }
        _ => !top && body_begins(text) && !text.contains("=>") && named_call(text),
    }
}

fn c(text: &str) -> bool {
    let first = words(text).next().unwrap_or_default();
    match first {
        "struct" | "class" | "enum" | "union" | "namespace" if !text.contains('(') => {
            !text.ends_with(';') || text.contains('{')
        }
        "typedef" | "template" => true,
        "if" | "for" | "while" | "switch" | "return" | "else" | "do" | "extern" => false,
        "" => text.starts_with("#define "),
        // A function: its type and name, with its body here or further on.
        _ => text.contains('(') && !text.ends_with(';') && !text.contains(" = "),
    }
}

fn java(text: &str) -> bool {
    let mut words = words(text);
    if words.any(|word| ["class", "interface", "enum", "record"].contains(&word)) {
        return text.trim_end().ends_with(['{', '}']) && !text.starts_with('*');
    }
    body_begins(text)
        && named_call(text)
        && text.find('(').is_some_and(|at| text[..at].contains(' '))
}

/// Whether a body begins at the end of a line.
fn body_begins(text: &str) -> bool {
    text.trim_end().ends_with('{') && text.contains('(')
}

/// Whether a line is like `name(…) {`, and not a control structure.
fn named_call(text: &str) -> bool {
    let control = "if for while switch catch return else do try new with synchronized throw await";
    let begins_with_name = text.starts_with(|c: char| c.is_alphabetic() || "_#$@<*".contains(c));
    let before = text.split('(').next().unwrap_or_default();
    begins_with_name
        && after_parameters(text)
            .is_some_and(|rest| rest.starts_with(['{', ':']) || rest.starts_with("throws "))
        && !before.contains(['=', '.', '"'])
        && !words(text)
            .next()
            .is_some_and(|word| control.split(' ').any(|other| other == word))
}

/// The text after the first parentheses.
fn after_parameters(text: &str) -> Option<&str> {
    let mut depth = 0_u32;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 1 => return Some(text[at + 1..].trim_start()),
            ')' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests;
