//! Rules in a manifest.

use std::path::PathBuf;

use toml_edit::{DocumentMut, Item, Table};

use crate::{Decision, Misplaced, Rule, Source, insert};

/// A manifest after these rules were inserted into its only proxy.
fn inserted(manifest: &str, rules: &[Rule]) -> Result<String, Misplaced> {
    let mut document: DocumentMut = manifest.parse().unwrap();
    let proxies = document["proxy"].as_array_of_tables_mut().unwrap();
    let proxy = proxies.get_mut(0).unwrap();
    let mut empty = Table::new();
    empty.set_implicit(true);
    let config = proxy.entry("config").or_insert(Item::Table(empty));
    insert(config, rules)?;
    Ok(document.to_string())
}

fn rules_to_insert() -> Vec<Rule> {
    let from = |line, rule: &str| Source {
        file: PathBuf::from("/s.json"),
        line,
        rule: rule.to_owned(),
    };
    let rule = |decision, line, command: &str| {
        let rule = Rule::new(decision, &from(line, "a\n[[proxy]]"));
        rule.commands(vec![command.to_owned()])
    };
    vec![
        rule(Decision::Deny, 1, "d"),
        rule(Decision::Ask, 2, "q").note("more"),
        rule(Decision::Allow, 3, "a"),
        rule(Decision::Ask, 4, "*"),
    ]
}

#[test]
fn rules_only_make_stricter_what_is_there() {
    let manifest = "# Ours.\n[[proxy]]\nuse = \"permissions\"\n\n# Mine.\n[[proxy.config.rules]]\ndecision = \"ask\"\n\
                    command = \"mine\"  # asked\n\n[[proxy.config.rules]]\ndecision = \"allow\"\ncommand = \"ours\"\n\n\
                    [[proxy]]\nuse = \"redact\"\n";
    let text = inserted(manifest, &rules_to_insert()).unwrap();
    let order: Vec<_> = text
        .lines()
        .filter_map(|line| line.strip_prefix("command = "))
        .collect();
    assert_eq!(
        order,
        [
            "\"d\"",
            "\"mine\"  # asked",
            "\"q\"",
            "\"ours\"",
            "\"a\"",
            "\"*\""
        ],
        "{text}"
    );
    assert!(
        text.starts_with("# Ours.\n[[proxy]]\nuse = \"permissions\"\n"),
        "{text}"
    );
    assert!(
        text.contains("\n# Mine.\n[[proxy.config.rules]]\ndecision = \"ask\"\n"),
        "{text}"
    );
    assert!(text.ends_with("[[proxy]]\nuse = \"redact\"\n"), "{text}");
    // Each rule has its source, in one line whatever that is.
    assert_eq!(text.matches("\n# /s.json:").count(), 4, "{text}");
    assert_eq!(text.matches("\n[[proxy]]").count(), 2, "{text}");
    assert!(
        text.contains("\n# more\n[[proxy.config.rules]]\n"),
        "{text}"
    );
    assert!(
        text.contains("command = \"a\"\nredirections = false\n"),
        "{text}"
    );
    let read: DocumentMut = text.parse().unwrap();
    let rules = read["proxy"][0]["config"]["rules"].as_array_of_tables();
    assert_eq!(rules.unwrap().len(), 6);
}

#[test]
fn what_denies_is_in_front_unless_it_is_an_exception_of_what_is_allowed_before() {
    let from = Source {
        file: PathBuf::from("/s.json"),
        line: 1,
        rule: String::new(),
    };
    let rules = [
        Rule::new(Decision::Allow, &from).kinds(&["edit"]),
        Rule::new(Decision::Deny, &from).commands(vec!["rm *".to_owned()]),
        Rule::new(Decision::Deny, &from).kinds(&["edit", "delete"]),
    ];
    let manifest = "[[proxy]]\nuse = \"permissions\"\n\n[[proxy.config.rules]]\ndecision = \"allow\"\ncommand = \"*\"\n";
    let text = inserted(manifest, &rules).unwrap();
    let places = [
        "command = \"rm *\"",
        "command = \"*\"",
        "kind = \"edit\"",
        "kind = [\"edit\", \"delete\"]",
    ];
    let places = places.map(|place| text.find(place).expect(place));
    assert!(places.is_sorted(), "{text}");
}

#[test]
fn what_stands_there_already_is_not_inserted_again() {
    let manifest = "[[proxy]]\nuse = \"permissions\"\n\n[[proxy.config.rules]]\ndecision = \"allow\"\ncommand = \"x\"\n";
    let once = inserted(manifest, &rules_to_insert()).unwrap();
    assert_eq!(inserted(&once, &rules_to_insert()).unwrap(), once);
    // One that is tried too late is.
    let behind = "[[proxy]]\nuse = \"permissions\"\n\n[[proxy.config.rules]]\ndecision = \"allow\"\ncommand = \"x\"\n\n\
                  [[proxy.config.rules]]\ndecision = \"deny\"\ncommand = \"d\"\n";
    let text = inserted(behind, &rules_to_insert()).unwrap();
    assert_eq!(text.matches("command = \"d\"").count(), 2, "{text}");
}

#[test]
fn rules_in_one_line_are_left_alone() {
    for config in ["config = { rules = [] }", "config.rules = []"] {
        let manifest = format!("[[proxy]]\nuse = \"permissions\"\n{config}\n");
        assert_eq!(
            inserted(&manifest, &rules_to_insert()),
            Err(Misplaced),
            "{config}"
        );
    }
}
