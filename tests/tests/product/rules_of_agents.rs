//! `acp-chain permissions import` and `suggest`: rules that people have, or that recorded calls suggest, for
//! `permissions`.

use std::fs;
use std::path::Path;

use acp_chain_tests::host::component;
use serde_json::Value;

use crate::project::world::World;

const IMPORT: [&str; 3] = ["permissions", "import", "claude"];

/// A user with rules in Claude, and a manifest with a rule.
fn world() -> World {
    let world = World::new();
    let claude = world.home().join(".claude");
    fs::create_dir(&claude).unwrap();
    let settings = "{ \"permissions\": {\n\"deny\": [\"Bash(git push:*)\"],\n\"allow\": [\"Bash(make:*)\", \"Bash(cat:*)\"] } }";
    fs::write(claude.join("settings.json"), settings).unwrap();
    let component = component("permissions");
    world.manifest(&format!(
        "# The project's.\n[[proxy]]\nid = \"permissions\"\npath = '{}'\npowers = [\"permissions.read\", \
         \"permissions.answer\", \"tool-calls.read\", \"session-setup.read\", \"turns.read\"]\n\n# Always.\n\
         [[proxy.config.rules]]\ndecision = \"allow\"\ncommand = \"ls\"\n",
        component.display()
    ));
    world
}

#[test]
fn rules_are_printed_with_their_lines_and_what_is_left_out() {
    let world = world();
    let printed = world.do_run(&IMPORT);
    let settings = world.home().join(".claude/settings.json");
    for text in [
        "[[proxy]]\nuse = \"permissions\"\n",
        &*format!(
            "\n# {}:2: deny Bash(git push:*)\n[[proxy.config.rules]]\ndecision = \"deny\"\ncommand = \"git push *\"\n",
            settings.display()
        ),
        "decision = \"allow\"\ncommand = \"make *\"\nredirections = false\n",
        &*format!(
            "# not taken over: {}:3: allow Bash(cat:*): ",
            settings.display()
        ),
    ] {
        assert!(printed.contains(text), "{printed}\nlacks\n{text}");
    }
    let json = world.do_run(&[&IMPORT[..], &["--json"]].concat());
    let json: Value = serde_json::from_str(&json).unwrap();
    let agent = &json["agents"][0];
    assert_eq!(agent["rules"].as_array().unwrap().len(), 2);
    assert_eq!(agent["rules"][0]["from"]["line"], 2);
    assert_eq!(agent["left"].as_array().unwrap().len(), 1);
}

#[test]
fn written_rules_stand_in_the_manifest_and_decide() {
    let world = world();
    let write = [&IMPORT[..], &["--manifest", "acp-chain.toml", "--write"]].concat();
    world.do_run(&write);
    let manifest = fs::read_to_string(world.path("acp-chain.toml")).unwrap();
    assert!(
        manifest.starts_with("# The project's.\n[[proxy]]\n"),
        "{manifest}"
    );
    let places = [
        "command = \"git push *\"",
        "# Always.",
        "command = \"make *\"",
    ];
    let places = places.map(|text| manifest.find(text).expect(text));
    assert!(places.is_sorted(), "{manifest}");
    let again = world.do_run(&write);
    assert!(
        again.contains(" has all of these rules already."),
        "{again}"
    );
    assert_eq!(
        fs::read_to_string(world.path("acp-chain.toml")).unwrap(),
        manifest
    );
    fs::write(
        world.path("call.json"),
        "{\"kind\":\"execute\",\"title\":\"git push\"}",
    )
    .unwrap();
    let explain = [
        "permissions",
        "explain",
        "call.json",
        "--manifest",
        "acp-chain.toml",
    ];
    let explained = world.do_run(&explain);
    assert!(
        explained.contains("rule 1: denied \"git push\""),
        "{explained}"
    );
}

#[test]
fn nothing_is_written_without_the_proxy() {
    let world = world();
    world.manifest("[[proxy]]\nuse = \"redact\"\n");
    let write = [&IMPORT[..], &["--manifest", "acp-chain.toml", "--write"]].concat();
    let error = world.fail(&write);
    assert!(
        error.contains("has no proxy `permissions`")
            && error.contains("`acp-chain add permissions --manifest /"),
        "{error}"
    );
    let manifest = fs::read_to_string(world.path("acp-chain.toml")).unwrap();
    assert_eq!(manifest, "[[proxy]]\nuse = \"redact\"\n");
}

#[cfg(unix)]
#[test]
fn a_project_whose_manifest_is_a_link_writes_nothing_behind_it() {
    let world = world();
    let project = world.path("project");
    fs::create_dir_all(project.join(".claude")).unwrap();
    let settings = "{ \"permissions\": { \"allow\": [\"Bash(make:*)\"] } }";
    fs::write(project.join(".claude/settings.json"), settings).unwrap();
    let before = fs::read_to_string(world.path("acp-chain.toml")).unwrap();
    let link = project.join("acp-chain.toml");
    std::os::unix::fs::symlink("../acp-chain.toml", link).unwrap();
    let write = [&IMPORT[..], &["--project", "project", "--write"]].concat();
    let error = world.fail(&write);
    assert!(error.contains("is a link"), "{error}");
    let after = fs::read_to_string(world.path("acp-chain.toml")).unwrap();
    assert_eq!(after, before);
    let named = ["--manifest", "project/acp-chain.toml"];
    world.do_run(&[&write[..], &named].concat());
    let after = fs::read_to_string(world.path("acp-chain.toml")).unwrap();
    assert!(after.contains("command = \"make *\""), "{after}");
}

#[test]
fn a_trace_suggests_rules() {
    let world = World::new();
    let line = |id: &str, command: &str| {
        format!(
            "{{\"connection\":\"c\",\"from\":\"agent\",\"to\":\"client\",\"kind\":\"notification\",\
             \"method\":\"session/update\",\"session\":\"s\",\"params\":{{\"update\":{{\"toolCallId\":\"{id}\",\
             \"rawInput\":{{\"command\":\"{command}\"}}}}}}}}\n"
        )
    };
    let commands = [
        "git log -1",
        "git log -2",
        "git push",
        "git push",
        "make",
        "make",
    ];
    let lines = (0..)
        .zip(commands)
        .map(|(id, command)| line(&format!("{id}"), command));
    fs::write(world.path("trace.jsonl"), lines.collect::<String>()).unwrap();
    let args = ["permissions", "suggest", "trace.jsonl", "--least", "2"];
    let printed = world.do_run(&args);
    for text in [
        "\n# trace.jsonl:3: seen 2 times, here first\n[[proxy.config.rules]]\ndecision = \"ask\"\ncommand = \"git push *\"\n",
        "\n# trace.jsonl:1: seen 2 times, here first\n[[proxy.config.rules]]\ndecision = \"allow\"\ncommand = \"git log *\"\n",
        "# 6 commands were run\n# no rule: make (seen 2 times): it is not known to be harmless\n",
    ] {
        assert!(printed.contains(text), "{printed}\nlacks\n{text}");
    }
}

/// A file of which an agent's records are a part.
const RECORDED: &str = "-home-me-work/a17be0b3-f447-400f-ae7f-c37dfc3991af.jsonl";

#[test]
fn what_agents_recorded_suggests_rules() {
    let world = World::new();
    let recordings = Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings");
    let home = recordings.join("claude-agent-acp-0.101.0");
    let suggest = ["permissions", "suggest", "--least", "1"];
    let of_home = ["--agent", "claude", "--home", home.to_str().unwrap()];
    let printed = world.do_run(&[&suggest[..], &of_home].concat());
    for text in [
        "seen once\n[[proxy.config.rules]]\ndecision = \"ask\"\ncommand = \"git push *\"\n",
        "seen once\n[[proxy.config.rules]]\ndecision = \"allow\"\ncommand = \"ls -la\"\nredirections = false\n",
        "# 3 commands were run\n# no rule: cat key.txt (seen once): it is not known to be harmless\n",
        RECORDED,
    ] {
        assert!(printed.contains(text), "{printed}\nlacks\n{text}");
    }
    // Without arguments, they are found.
    let project = world.home().join(".claude/projects/-home-me-work");
    fs::create_dir_all(&project).unwrap();
    let own = home.join(".claude/projects").join(RECORDED);
    fs::copy(own, project.join("session.jsonl")).unwrap();
    let codex = world.home().join(".codex/sessions");
    fs::create_dir_all(&codex).unwrap();
    let exports = r#"{"timestamp":"2026-11-29T12:11:09.000Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"AWS_KEY=AKIAIOSFODNN7EXAMPLQ aws s3 ls\"}","call_id":"c"}}"#;
    fs::write(codex.join("rollout.jsonl"), exports).unwrap();
    let found = world.do_run(&suggest);
    assert!(found.contains("/session.jsonl:"), "{found}");
    assert!(found.contains("# 3 commands were run"), "{found}");
    assert!(!found.contains("AKIAIOSFODNN7EXAMPLQ"), "{found}");
}
