//! A rule of the catalogue, split into the parts that the detector runs: the part before the secret, the secret, and
//! the part that has to follow.

use std::sync::LazyLock;

use anyhow::{Context, Result, ensure};
use regex::Regex;
use regex_syntax::ParserBuilder;

use super::catalogue::Entry;
use super::filter::Filter;
use super::needles;

/// The catalogue's regex for the text between a name and the secret that is assigned to it.
const GAP: &str = r"(?:[ \t\w.-]{0,20})";
const SEPARATOR: &str = r#"[\s'"]{0,3}(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}"#;
/// [`GAP`] and [`SEPARATOR`], where the group with the case flag ends in between.
const SPLIT: &str =
    r#"(?:[ \t\w.-]{0,20})[\s'"]{0,3})(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}"#;
/// The regex for the end of a secret. The detector reads its escapes as the characters that they stand for.
const END: &str = r#"(?:\\?['"\x60]|[\s;]|\\[nr]|$)"#;

/// A rule in the form for the detector.
pub struct Shape {
    pub name: String,
    /// Texts in lower case; every match begins with one of them.
    pub needles: Vec<String>,
    /// Whether no letter or digit may stand before the match.
    pub apart: bool,
    /// The regex of the part before the secret.
    pub before: String,
    /// Whether there is an assignment between that part and the secret.
    pub assigned: bool,
    pub secret: String,
    pub after: After,
    pub filter: Filter,
}

/// The text that has to follow a secret.
#[derive(Clone, PartialEq)]
pub enum After {
    /// Nothing; but the word of the secret ends with it.
    Word,
    /// The end of a word.
    Boundary,
    /// A quote, white space, a semicolon or the end of the text.
    End,
    /// One of other characters, or the end of the text.
    One(String),
    /// Something longer.
    Rest(String),
}

impl Shape {
    pub fn of(entry: &Entry) -> Result<Self> {
        let filter = Filter::of(&entry.filter)?;
        let (flag, rest) = match entry.regex.strip_prefix("(?i)") {
            Some(rest) => (true, rest),
            None => (false, &*entry.regex),
        };
        ensure!(
            !alternates(rest)?,
            "it has alternatives outside of any group"
        );
        let (apart, rest) = behind(rest);
        let (rest, after) = split_end(rest);
        let parts = split(rest, entry.value_group)?;
        let flagged = |part: &str| {
            if part.is_empty() || !flag {
                part.to_owned()
            } else {
                format!("(?i){part}")
            }
        };
        let after = match parts.rest {
            "" => after,
            more => After::Rest(flagged(&format!("{more}{}", after.regex()))),
        };
        let (before, secret) = (flagged(&parts.before), flagged(parts.secret));
        let whole = if parts.assigned {
            format!("(?:{before}){GAP}{SEPARATOR}(?:{secret})")
        } else {
            format!("(?:{before})(?:{secret})")
        };
        let hir = ParserBuilder::new()
            .unicode(false)
            .utf8(false)
            .build()
            .parse(&whole)?;
        let needles = needles::of(&hir)
            .context("begins with no literal text, so that every word would be kept back for it")?;
        Ok(Self {
            name: entry.id.clone(),
            needles,
            apart,
            before,
            assigned: parts.assigned,
            secret,
            after,
            filter,
        })
    }
}

impl After {
    fn regex(&self) -> &str {
        match self {
            Self::Word => "",
            Self::Boundary => r"\b",
            Self::End => unreachable!("only at the very end"),
            Self::One(class) | Self::Rest(class) => class,
        }
    }
}

fn alternates(regex: &str) -> Result<bool> {
    let ast = regex_syntax::ast::parse::Parser::new().parse(regex)?;
    Ok(matches!(ast, regex_syntax::ast::Ast::Alternation(_)))
}

/// Whether the regex requires something before the match, and the rest of the regex.
fn behind(regex: &str) -> (bool, &str) {
    static BEHIND: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^(?:\\b|\(\?:\^\|\[[^\]]*\]\))").expect("valid"));
    match BEHIND.find(regex) {
        Some(found) => (true, &regex[found.end()..]),
        None => (false, regex),
    }
}

/// The regex without its end, and the text that may follow.
fn split_end(regex: &str) -> (&str, After) {
    static ONE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"\(\?:(\[[^\]]+\])\|(?:\$|\\z)\)$|\(\?:\$\|(\[[^\]]+\])\)$").expect("valid")
    });
    if let Some(rest) = regex.strip_suffix(END) {
        return (rest, After::End);
    }
    if let Some(rest) = regex.strip_suffix(r"\b") {
        return (rest, After::Boundary);
    }
    match ONE.captures(regex) {
        Some(found) => {
            let class = found.get(1).or(found.get(2)).expect("one matched");
            let start = found.get(0).expect("match").start();
            (
                &regex[..start],
                After::One(format!("(?:{}|$)", class.as_str())),
            )
        }
        None => (regex, After::Word),
    }
}

/// A regex around its secret.
struct Parts<'r> {
    before: String,
    assigned: bool,
    secret: &'r str,
    rest: &'r str,
}

/// The secret is the group with this number, or the whole regex if there is none.
fn split(regex: &str, group: usize) -> Result<Parts<'_>> {
    let Some((start, end)) = groups(regex).get(group.max(1) - 1).copied() else {
        let (before, assigned, rest) = (String::new(), false, "");
        return Ok(Parts {
            before,
            assigned,
            secret: regex,
            rest,
        });
    };
    let secret = &regex[start..end];
    let inner = match secret.strip_prefix("(?P<") {
        Some(named) => &named[named.find('>').map_or(0, |at| at + 1)..named.len() - 1],
        None => &secret[1..secret.len() - 1],
    };
    let (before, rest) = (&regex[..start], &regex[end..]);
    ensure!(
        groups(before).iter().all(|(_, end)| *end <= before.len()),
        "its secret is a group within a group"
    );
    let gap = format!("{GAP}{SEPARATOR}");
    let (before, assigned) = match (before.strip_suffix(&gap), before.strip_suffix(SPLIT)) {
        (Some(name), _) => (name.to_owned(), true),
        // The group with the case flag ended after the gap.
        (None, Some(name)) => (format!("{name})"), true),
        (None, None) => (before.to_owned(), false),
    };
    Ok(Parts {
        before,
        assigned,
        secret: inner,
        rest,
    })
}

/// The groups that capture, in the order in which they begin.
fn groups(regex: &str) -> Vec<(usize, usize)> {
    let bytes = regex.as_bytes();
    let (mut open, mut found, mut class, mut at) = (Vec::new(), Vec::new(), false, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'[' if !class => class = true,
            b']' if class => class = false,
            b'(' if !class => {
                let rest = &regex[at + 1..];
                open.push((at, !rest.starts_with('?') || rest.starts_with("?P<")));
            }
            b')' if !class => {
                if let Some((start, true)) = open.pop() {
                    found.push((start, at + 1));
                }
            }
            _ => {}
        }
        at += 1;
    }
    found.sort_unstable();
    found
}
