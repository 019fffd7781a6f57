//! In any configuration, only the agent changes.

use std::fs;

use acp_chain_setup::{Backups, Editor, Folders, Launch, Wanted, plan};
use jsonc_parser::{ParseOptions, parse_to_serde_value};
use proptest::prelude::*;
use serde_json::{Value, json};

/// What may stand between two tokens.
fn gap() -> impl Strategy<Value = String> {
    let one = prop_oneof![
        Just(String::new()),
        Just(" ".to_owned()),
        Just("\n\t".to_owned()),
        Just("\r\n    ".to_owned()),
        Just(" /* , \" ] */ ".to_owned()),
        Just(" // \" }\n  ".to_owned()),
    ];
    proptest::collection::vec(one, 0..3).prop_map(|parts| parts.concat())
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z./-]{1,8}", "[ -~äß☃]{1,8}"].prop_map(|text| Value::from(text).to_string())
}

/// The layout of a list, with or without a comma at its end.
fn list() -> impl Strategy<Value = String> {
    let words = proptest::collection::vec((gap(), word(), gap()), 0..4);
    (words, any::<bool>(), gap()).prop_map(|(words, comma, end)| {
        let words: Vec<_> = words
            .iter()
            .map(|(a, word, b)| format!("{a}{word}{b}"))
            .collect();
        let comma = if comma && !words.is_empty() { "," } else { "" };
        format!("[{}{comma}{end}]", words.join(","))
    })
}

/// The value of an agent, its command first or last.
fn agent() -> impl Strategy<Value = String> {
    let arguments = prop_oneof![
        Just(None),
        Just(Some("null".to_owned())),
        list().prop_map(Some)
    ];
    let gaps = [gap(), gap(), gap(), gap(), gap(), gap()];
    (word(), arguments, gaps, any::<bool>(), any::<bool>()).prop_map(
        |(program, arguments, [a, b, c, d, e, f], first, comma)| {
            let program = format!("{a}\"command\"{b}:{c}{program}");
            let environment = format!("{d}\"env\":{{\"A\":\"args\"}}");
            let arguments = arguments.map(|list| format!("{e}\"args\":{f}{list}"));
            let mut parts: Vec<_> = [Some(program), Some(environment), arguments]
                .into_iter()
                .flatten()
                .collect();
            if !first {
                parts.reverse();
            }
            format!("{{{}{}{a}}}", parts.join(","), if comma { "," } else { "" })
        },
    )
}

fn value(text: &str) -> Value {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let parsed = parse_to_serde_value::<Option<Value>>(text, &ParseOptions::default());
    parsed.unwrap().unwrap()
}

/// The words that an agent is launched with.
fn words(agent: &Value) -> Vec<Value> {
    let arguments = agent["args"].as_array().cloned().unwrap_or_default();
    [agent["command"].clone()]
        .into_iter()
        .chain(arguments)
        .collect()
}

/// The text that a setup plans for the agent `mine`, and the text after an edit elsewhere and undo.
fn there_and_back(text: &str, installed: &[&str]) -> (String, String) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().to_owned();
    let file = path.join("settings.json");
    fs::write(&file, text).unwrap();
    let editor = Editor::named("zed").unwrap();
    let places = Folders {
        // Expanding `~` has no effect.
        home: "~".into(),
        settings: path.clone(),
        local_settings: path.clone(),
        nvim: String::new(),
    };
    let wanted = Wanted {
        file: Some(file.clone()),
        agents: vec!["mine".to_owned()],
        installed: installed.iter().map(|&name| name.to_owned()).collect(),
    };
    let launch = Launch::new("/opt/acp-chain".as_ref(), vec!["redact".to_owned()]).unwrap();
    let planned = plan(editor, &places, &wanted, &launch).unwrap();
    let change = planned.change.unwrap();
    let after = change.after.clone().unwrap();
    // A second setup changes nothing.
    let remembered = path.join("remembered");
    fs::create_dir(&remembered).unwrap();
    let backups = Backups::new(remembered, |path, bytes| fs::write(path, bytes));
    backups.apply(editor, &change).unwrap();
    let again = plan(editor, &places, &wanted, &launch).unwrap();
    assert!(again.change.is_none(), "{after}");
    fs::write(&file, format!("{after} ")).unwrap();
    let undo = backups.undo(editor, &places, Some(&file)).unwrap();
    (after, undo.change.unwrap().after.unwrap())
}

/// A text without its layout.
fn dense(text: &str) -> String {
    text.split_whitespace().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn only_the_value_of_the_agent_changes(
        agent in agent(),
        other in agent(),
        before in gap(),
        behind in gap(),
        mark in prop_oneof![Just(""), Just("\u{feff}")],
    ) {
        let head = format!("{mark}{before}{{\"a\":[1.50,{{}}],{before}\"agent_servers\":{{\"other\":{other},{before}\"mine\":");
        let tail = format!("{behind}}},\"agent\":{{\"command\":7}}{behind}}}{behind}\n");
        let text = format!("{head}{agent}{tail}");
        let (after, again) = there_and_back(&text, &[]);
        prop_assert!(after.starts_with(&head) && after.ends_with(&tail), "{after}");
        let chained = value(&after[head.len()..after.len() - tail.len()]);
        let ours = [json!("/opt/acp-chain"), json!("run"), json!("--with"), json!("redact"), json!("--")];
        let plain = value(&agent);
        let expected: Vec<_> = ours.into_iter().chain(words(&plain)).collect();
        prop_assert_eq!(words(&chained), expected);
        prop_assert_eq!(&chained["env"], &plain["env"]);
        // Undo after an edit elsewhere restores the agent, to the byte.
        prop_assert!(again.starts_with(&head) && again.ends_with(&format!("{tail} ")), "{again}");
        let bare = &again[head.len()..again.len() - tail.len() - 1];
        prop_assert_eq!(bare, agent);
    }

    #[test]
    fn adding_and_removing_an_agent_leaves_everything_else(
        others in prop_oneof![Just(None), proptest::collection::vec((gap(), agent(), gap()), 0..3).prop_map(Some)],
        more in any::<bool>(),
        gaps in [gap(), gap(), gap(), gap(), gap()],
        commas in [any::<bool>(), any::<bool>()],
        mark in prop_oneof![Just(""), Just("\u{feff}")],
    ) {
        let [a, b, c, d, e] = gaps;
        let agents = others.map(|others| {
            let comma = if commas[0] && !others.is_empty() { "," } else { "" };
            let others = others.iter().enumerate();
            let others = others.map(|(at, (before, agent, behind))| format!("{before}\"{at}\":{agent}{behind}"));
            let others: Vec<_> = others.collect();
            format!("\"agent_servers\":{{{}{comma}{b}}}", others.join(","))
        });
        let more = more.then(|| "\"a\":[1.50,{}]".to_owned());
        let all: Vec<_> = [agents, more].into_iter().flatten().collect();
        let comma = if commas[1] && !all.is_empty() { "," } else { "" };
        let text = format!("{mark}{a}{{{c}{}{d}{comma}{e}}}\n", all.join(&format!("{d},{b}")));
        let (after, again) = there_and_back(&text, &["mine"]);
        let (before, mut after) = (value(&text), value(&after));
        let agents = after["agent_servers"].as_object_mut().unwrap();
        let mine = agents.remove("mine").unwrap();
        let ours = ["/opt/acp-chain", "run", "--with", "redact", "mine"].map(Value::from);
        prop_assert_eq!(words(&mine), ours.to_vec());
        if before.get("agent_servers").is_none() {
            prop_assert!(agents.is_empty());
            after.as_object_mut().unwrap().remove("agent_servers");
            prop_assert_eq!(value(&again)["agent_servers"].clone(), json!({}));
        } else {
            prop_assert_eq!(dense(&again), dense(&text));
        }
        prop_assert_eq!(after, before);
    }
}
