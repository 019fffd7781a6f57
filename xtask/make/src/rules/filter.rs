//! The catalogue's expressions that exclude findings.

use std::sync::LazyLock;

use anyhow::{Result, bail, ensure};
use regex::Regex;

/// The conditions that distinguish a secret from a text that only looks like one.
#[derive(Default)]
pub struct Filter {
    /// The secret has at least this entropy, in bits a character.
    pub entropy: f64,
    /// The secret does not read like words.
    pub random: bool,
    /// The secret matches none of these.
    pub none: Vec<String>,
    /// The secret matches each of these.
    pub all: Vec<String>,
    /// The secret, with the rest of the match around it, begins with none of these.
    pub around: Vec<String>,
}

impl Filter {
    /// All parts of the expression have to be known, except those about the path of a file.
    pub fn of(expression: &str) -> Result<Self> {
        static ENTROPY: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r#"^entropy\(finding\["secret"\]\) (<=?) ([0-9.]+)$"#).expect("valid")
        });
        static RATIO: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r#"^tokenRatio\(finding\["secret"\]\) >= 2\.5$"#).expect("valid")
        });
        static MATCHES: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(
                r#"(?s)^(!?)(matches|contains)Any\(finding\["(secret|match)"\], \[(.*)\]\)$"#,
            )
            .expect("valid")
        });
        let mut filter = Self::default();
        for part in parts(&inlined(expression)) {
            if let Some(found) = ENTROPY.captures(&part) {
                filter.entropy = found[2].parse()?;
                if &found[1] == "<=" {
                    filter.entropy += 0.001;
                }
            } else if RATIO.is_match(&part) {
                filter.random = true;
            } else if let Some(found) = MATCHES.captures(&part) {
                let mut texts = strings(&found[4]);
                for text in &mut texts {
                    *text = match &found[2] {
                        "contains" => regex_syntax::escape(text),
                        _ => literal_braces(text),
                    };
                }
                match (&found[1], &found[3]) {
                    ("!", "secret") => filter.all.push(texts.join("|")),
                    ("", "secret") => filter.none.extend(texts),
                    ("", _) => filter.around.extend(texts),
                    _ => bail!("its filter cannot be expressed"),
                }
            } else {
                let path = part.starts_with(r#"matchesAny(attributes["path"]"#);
                ensure!(path, "its filter cannot be expressed");
            }
        }
        Ok(filter)
    }
}

/// The last expression, with the named ones before it substituted.
fn inlined(expression: &str) -> String {
    static LET: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?s)^let (\w+) = (.*?);\n").expect("valid"));
    let lines = expression.lines().map(str::trim_start);
    let lines = lines.filter(|line| !line.starts_with("//") && !line.is_empty());
    let mut rest = lines.collect::<Vec<_>>().join("\n");
    let mut names = Vec::new();
    while let Some(found) = LET.captures(&rest) {
        names.push((found[1].to_owned(), found[2].to_owned()));
        rest = rest[found[0].len()..].to_owned();
    }
    for (name, value) in names.iter().filter(|(name, _)| name != "_") {
        let name = Regex::new(&format!(r"\b{name}\b")).expect("valid");
        rest = name.replace_all(&rest, regex::NoExpand(value)).into_owned();
    }
    rest
}

/// The operands of `||`, outside brackets and quotes.
fn parts(expression: &str) -> Vec<String> {
    let (mut parts, mut part, mut depth, mut quote) = (Vec::new(), String::new(), 0, None);
    let mut rest = expression.chars().peekable();
    while let Some(character) = rest.next() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (Some('"'), '\\') => {
                part.push(character);
                part.extend(rest.next());
                continue;
            }
            (None, '"' | '`') => quote = Some(character),
            (None, '(' | '[') => depth += 1,
            (None, ')' | ']') => depth -= 1,
            (None, '|') if depth == 0 && rest.peek() == Some(&'|') => {
                rest.next();
                parts.push(std::mem::take(&mut part));
                continue;
            }
            _ => {}
        }
        part.push(character);
    }
    parts.push(part);
    parts.retain_mut(|part| {
        *part = part.trim().to_owned();
        !part.is_empty()
    });
    parts
}

/// The patterns that exclude a finding of any rule.
pub fn of_all(expression: &str) -> Result<Vec<String>> {
    let expression = expression
        .trim()
        .trim_start_matches('(')
        .trim_end_matches(')');
    Ok(Filter::of(&format!("{expression})"))?.none)
}

/// Escapes braces that are not quantifiers, as regexes in Rust require.
fn literal_braces(regex: &str) -> String {
    static COUNT: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^\{\d+(?:,\d*)?\}").expect("valid"));
    let (mut out, mut is_class, mut at) = (String::new(), false, 0);
    while let Some(character) = regex[at..].chars().next() {
        let mut length = character.len_utf8();
        match character {
            '\\' => length += regex[at + 1..].chars().next().map_or(0, char::len_utf8),
            '[' => is_class = true,
            // A bracket that is first in a class stands for itself.
            ']' if !regex[..at].ends_with("[^") && !regex[..at].ends_with('[') => is_class = false,
            '{' if !is_class && !COUNT.is_match(&regex[at..]) => out.push('\\'),
            _ => {}
        }
        out.push_str(&regex[at..at + length]);
        at += length;
    }
    out
}

/// The strings of a list: raw in back quotes, or with escapes in double ones.
fn strings(list: &str) -> Vec<String> {
    static STRING: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"`([^`]*)`|("(?:[^"\\]|\\.)*")"#).expect("valid"));
    STRING
        .captures_iter(list)
        .map(|found| match found.get(1) {
            Some(raw) => raw.as_str().to_owned(),
            None => serde_json::from_str(&found[2]).unwrap_or_default(),
        })
        .collect()
}
