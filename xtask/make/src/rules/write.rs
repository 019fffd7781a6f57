//! The rules as a table in Rust, and as a page for people.

use std::fmt::Write as _;

use super::corrections::LEFT_OUT;
use super::shape::{After, Shape};

/// A rule, with its description for the page.
pub struct NamedRule {
    pub shape: Shape,
    pub description: String,
}

/// The table.
pub fn table(rules: &[NamedRule], filter: &[String], source: &str, license: &str) -> String {
    let mut text = format!(
        "//! Made by `cargo xtask rules` from {source}; not to be edited.\n//!\n\
         //! The catalogue is the work of its authors, and comes under this licence:\n//!\n"
    );
    for line in license.trim().lines() {
        let _ = writeln!(text, "{}", format!("//! {line}").trim_end());
    }
    text += "\nuse super::{After, NONE, Rule};\n\n";
    text += "/// What no secret matches, whatever rule it is by.\n#[rustfmt::skip]\n";
    let _ = writeln!(text, "pub(super) static NOT: &[&str] = {};\n", list(filter));
    text += "/// The rules, in the order of the catalogue.\n#[rustfmt::skip]\n";
    text += "pub(super) static RULES: &[Rule] = &[\n";
    for NamedRule { shape, .. } in rules {
        text += "    ";
        text += &rule(shape);
        text += ",\n";
    }
    text + "];\n"
}

fn rule(shape: &Shape) -> String {
    let Shape {
        name,
        needles,
        apart,
        before,
        assigned,
        secret,
        after,
        filter,
    } = shape;
    let mut text = format!(
        "Rule {{ name: {name:?}, needles: {}, secret: {}, ",
        list(needles),
        raw(secret)
    );
    let mut field = |name: &str, value: String, is_default: bool| {
        if !is_default {
            let _ = write!(text, "{name}: {value}, ");
        }
    };
    field("apart", apart.to_string(), !apart);
    field("before", raw(before), before.is_empty());
    field("assigned", assigned.to_string(), !assigned);
    let after_text = match after {
        After::Word => String::new(),
        After::Boundary => "After::Boundary".to_owned(),
        After::End => "After::End".to_owned(),
        After::One(regex) => format!("After::One({})", raw(regex)),
        After::Rest(regex) => format!("After::Rest({})", raw(regex)),
    };
    field("after", after_text, *after == After::Word);
    field(
        "entropy",
        format!("{:?}", (filter.entropy * 1000.0).round() / 1000.0),
        filter.entropy == 0.0,
    );
    field("random", filter.random.to_string(), !filter.random);
    field("none", list(&filter.none), filter.none.is_empty());
    field("all", list(&filter.all), filter.all.is_empty());
    field("around", list(&filter.around), filter.around.is_empty());
    text + "..NONE }"
}

fn list(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| raw(text)).collect();
    format!("&[{}]", texts.join(", "))
}

fn raw(text: &str) -> String {
    let mut hashes = String::new();
    while text.contains(&format!("\"{hashes}")) || (hashes.is_empty() && text.contains('"')) {
        hashes.push('#');
    }
    if hashes.is_empty() && !text.contains('\\') {
        format!("\"{text}\"")
    } else {
        format!("r{hashes}\"{text}\"{hashes}")
    }
}

/// The page.
pub fn page(rules: &[NamedRule], left: &[(String, String)], source: &str) -> String {
    let mut text = format!(
        "# The rules for secrets\n\nMade by `cargo xtask rules` from {source}; not to be edited. What \
         is of our own is in the README of [redact](../guests/redact/README.md).\n\n| name | what it finds |\n|---|---|\n"
    );
    for NamedRule { shape, description } in rules {
        let sentence = description
            .split_once(", ")
            .map_or(&**description, |(first, _)| first);
        let _ = writeln!(
            text,
            "| `{}` | {} |",
            shape.name,
            sentence.trim_end_matches('.').replace('|', "\\|")
        );
    }
    text += "\n## Left out\n\n| name | why |\n|---|---|\n";
    for (name, why) in left {
        let _ = writeln!(text, "| `{name}` | {why} |");
    }
    text
}

/// Why a rule is left out on purpose.
pub fn left_out(id: &str) -> Option<&'static str> {
    LEFT_OUT
        .iter()
        .find(|(name, _)| *name == id)
        .map(|(_, why)| *why)
}
