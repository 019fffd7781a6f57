//! Rules as tables of a manifest.

use std::path::Path;

use acp_chain_rpc::untrusted::quote;
use toml_edit::{Array, ArrayOfTables, Item, Table, value};

use crate::rule::{Decision, Rule};

/// How many bytes of a comment's line are written.
const LONGEST_LINE: usize = 400;

/// Rules were not inserted, as the configuration is written in one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misplaced;

impl std::fmt::Display for Misplaced {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("its rules are written in one line; write each as `[[proxy.config.rules]]`")
    }
}

impl std::error::Error for Misplaced {}

/// Inserts rules into the `config` of a proxy: those that deny go in front of all, those that ask in front of the first
/// that allows, and those that allow behind all. So nothing is allowed that was denied or asked about. What is denied or
/// asked about behind a rule that allows calls of the same kind is tried after that, and so goes behind it. Each has a
/// comment with its source. One that stands there already is not inserted again. Returns how many were.
///
/// # Errors
/// If the configuration is written in one line.
pub fn insert(config: &mut Item, rules: &[Rule]) -> Result<usize, Misplaced> {
    let config = config.as_table_mut().ok_or(Misplaced)?;
    let list = config
        .entry("rules")
        .or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
    let Item::ArrayOfTables(list) = list else {
        return Err(Misplaced);
    };
    let mut denials = 0;
    let mut inserted = 0;
    for (number, rule) in rules.iter().enumerate() {
        let table = table(rule);
        let mut earlier = rules[..number].iter();
        let allows = |earlier: &Rule| earlier.decision == Decision::Allow;
        let is_last =
            allows(rule) || earlier.any(|earlier| allows(earlier) && may_meet(earlier, rule));
        let is_first = rule.decision == Decision::Deny && !is_last;
        // Where it goes, and how many rules are tried before it, whatever else the manifest has.
        let (at, before) = if is_first {
            let others = list.iter().position(|own| !decides(own, Decision::Deny));
            (denials, others.unwrap_or(list.len()))
        } else if is_last {
            (list.len(), list.len())
        } else {
            let first = list.iter().position(|own| decides(own, Decision::Allow));
            let first = first.unwrap_or(list.len());
            (first, first)
        };
        if list.iter().take(before).any(|own| is_same(own, &table)) {
            continue;
        }
        denials += usize::from(is_first);
        list.insert(at, table);
        inserted += 1;
    }
    Ok(inserted)
}

/// Whether two rules may be about the same calls, judging by their kinds.
fn may_meet(one: &Rule, other: &Rule) -> bool {
    let [one, other] = [one, other].map(kinds);
    one.is_empty() || other.is_empty() || one.iter().any(|kind| other.contains(kind))
}

/// The kinds of calls that a rule is about: without any, it may be about all.
fn kinds(rule: &Rule) -> &[&'static str] {
    if rule.kind.is_empty() && !rule.command.is_empty() {
        return &["execute"];
    }
    &rule.kind
}

fn decides(table: &Table, decision: Decision) -> bool {
    table.get("decision").and_then(Item::as_str) == Some(decision.as_str())
}

/// Whether two rules have the same decision and conditions.
fn is_same(one: &Table, other: &Table) -> bool {
    let is_in_one = |(name, item): (&str, &Item)| {
        let own = one.get(name).and_then(texts);
        own.is_some() && own == texts(item)
    };
    one.len() == other.len() && other.iter().all(is_in_one)
}

/// The texts of a value; `None` of a table.
fn texts(item: &Item) -> Option<Vec<String>> {
    if let Some(array) = item.as_array() {
        let texts = array.iter().map(|value| value.as_str().map(str::to_owned));
        return texts.collect();
    }
    let text = item.as_str().map(str::to_owned);
    let text = text.or_else(|| item.as_bool().map(|is_set| is_set.to_string()));
    text.map(|text| vec![text])
}

fn table(rule: &Rule) -> Table {
    let mut table = Table::new();
    table.insert("decision", value(rule.decision.as_str()));
    let kinds: Vec<_> = rule.kind.iter().map(|kind| (*kind).to_owned()).collect();
    for (name, texts) in [
        ("kind", &kinds),
        ("title", &rule.title),
        ("path", &rule.path),
        ("command", &rule.command),
    ] {
        match &texts[..] {
            [] => {}
            [text] => drop(table.insert(name, value(text))),
            texts => drop(table.insert(name, value(texts.iter().collect::<Array>()))),
        }
    }
    if !rule.redirections {
        table.insert("redirections", value(false));
    }
    table.decor_mut().set_prefix(comment(rule));
    table
}

/// The lines above a rule.
fn comment(rule: &Rule) -> String {
    let from = &rule.from;
    let place = place(&from.file, from.line);
    let first = format!("{place}: {}", from.rule);
    let lines = [Some(&first), rule.note.as_ref()];
    let lines = lines.into_iter().flatten();
    let lines = lines.map(|line| format!("# {}\n", quote(line, LONGEST_LINE)));
    ["\n".to_owned()].into_iter().chain(lines).collect()
}

fn place(file: &Path, line: usize) -> String {
    match line {
        0 => file.display().to_string(),
        line => format!("{}:{line}", file.display()),
    }
}
