//! `acp-chain check` without a manifest shows the proxies that would run in a folder, and why.

use std::fs;

use crate::project::world::World;

fn checked(world: &World) -> String {
    let said = world.do_run(&["check"]);
    let said = said.replace(world.root.to_str().unwrap(), "ROOT");
    said.replace(world.home().to_str().unwrap(), "HOME")
}

#[test]
fn where_there_is_no_project_it_says_where_the_way_ended() {
    let world = World::new();
    let said = checked(&world);
    assert!(said.starts_with(
        "config.toml  HOME/.config/acp-chain/config.toml is not there\n\
         project      none: the repository ROOT has no acp-chain.toml at its root, and is not part of another \
         project\n\nclient\n  │\nagent  named on the command line\n"
    ), "{said}");
}

#[test]
fn a_project_is_told_file_by_file_with_what_would_run() {
    let world = World::shouting();
    let files = "project      ROOT, the nearest folder upwards with acp-chain.toml\n\
                 manifest     ROOT/acp-chain.toml\n\
                 lock         ROOT/acp-chain.lock is not there\n";
    let said = checked(&world);
    assert!(said.contains(&format!("{files}trust        none: its proxies do not run; `acp-chain trust ROOT` shows them, and asks you\n")), "{said}");
    assert!(!said.contains("shout"), "{said}");
    world.is_untouched();
    let settings = world.home().join(".config/acp-chain");
    fs::create_dir_all(&settings).unwrap();
    let own = world.home().join("own.wasm");
    fs::copy(world.path("tools/shout.wasm"), &own).unwrap();
    let own = format!("[[proxy]]\nid = \"own\"\npath = '{}'\n", own.display());
    fs::write(settings.join("config.toml"), own).unwrap();
    world.trust();
    let said = checked(&world);
    assert!(
        said.contains("config.toml: 1 proxy of your own\n"),
        "{said}"
    );
    assert!(
        said.contains(&format!("{files}trust        since 2")),
        "{said}"
    );
    let place = |text: &str| {
        said.find(text)
            .unwrap_or_else(|| panic!("{said}\nlacks\n{text}"))
    };
    assert!(place("\nown  ") < place("the project's proxies"), "{said}");
    assert!(
        place("the project's proxies") < place("\nshout  ROOT/tools/shout.wasm"),
        "{said}"
    );
}

#[test]
fn of_a_project_that_has_changed_what_was_agreed_to_is_told() {
    let world = World::shouting();
    world.trust();
    let manifest = fs::read_to_string(world.path("acp-chain.toml")).unwrap();
    world.manifest(&format!("{manifest}# Changed.\n"));
    let said = checked(&world);
    assert!(
        said.contains("trust        since 2")
            && said.contains(", to its files as they were then, which still run; "),
        "{said}"
    );
    assert!(said.contains("\nshout  ROOT/tools/shout.wasm"), "{said}");
}

#[test]
fn a_project_that_is_wrong_is_an_error_with_its_place() {
    let world = World::shouting();
    world.manifest("[[proxy]]\nid = \"it\"\ncommand = \"sh\"\n");
    let error = world.fail(&["check"]);
    assert!(
        error.contains("/acp-chain.toml:3:1: a project starts no programs"),
        "{error}"
    );
}

#[test]
fn a_project_that_is_not_trusted_is_checked_as_well_unless_it_is_denied() {
    let world = World::shouting();
    for (text, told) in [
        (
            "[[proxy]]\nuse = \"redcat\"\n",
            "/acp-chain.toml:2:7: `redcat` is not installed",
        ),
        (
            "[[proxy]]\nid = \"it\"\npath = \"tools/shout.wasm\"\npowers = [\"prompt.read\"]\n",
            "/acp-chain.toml:4:11: `powers`: there is no power `prompt.read`; did you mean `prompts.read`?",
        ),
        (
            "[[prxy]]\n",
            "unknown key `prxy`; did you mean `proxy`? Known here are `agent`, `order`, `proxy`",
        ),
    ] {
        world.manifest(text);
        let error = world.fail(&["check"]);
        assert!(error.contains(told), "{error}\nlacks\n{told}");
    }
    world.do_run(&["trust", "--deny"]);
    assert!(checked(&world).contains("trust        denied: "));
}

#[test]
fn once_they_are_started_guards_of_the_user_are_shown_where_they_stand() {
    let world = World::shouting();
    let settings = world.home().join(".config/acp-chain");
    fs::create_dir_all(&settings).unwrap();
    let own = ["pass", "permissions"].map(|name| {
        let path = acp_chain_tests::host::component(name);
        format!("[[proxy]]\nid = \"{name}\"\npath = '{}'\n", path.display())
    });
    let powers = "powers = [\"permissions.read\", \"permissions.answer\"]\n";
    let own = own.concat() + powers;
    fs::write(settings.join("config.toml"), own).unwrap();
    world.trust();
    let said = world.do_run(&["check", "--start"]);
    let place = |text: &str| {
        said.find(text)
            .unwrap_or_else(|| panic!("{said}\nlacks\n{text}"))
    };
    assert!(place("\npass  ") < place("\nshout  "), "{said}");
    assert!(place("\nshout  ") < place("\npermissions  "), "{said}");
    assert!(place("\npermissions  ") < place("\nagent  "), "{said}");
}

#[test]
fn the_hooks_of_the_agent_are_shown_where_a_proxy_has_a_power_over_tool_runs() {
    let world = World::new();
    let agent = world.path("agent");
    fs::create_dir_all(&agent).unwrap();
    fs::write(agent.join("cli"), "").unwrap();
    let path = acp_chain_tests::host::component("pass");
    let write = |version: &str, power: &str, mode: &str| {
        let package = format!(r#"{{"name":"opencode-ai","version":"{version}"}}"#);
        fs::write(agent.join("package.json"), package).unwrap();
        let manifest = format!(
            "[agent]\ncommand = '{}'\nhooks = '{mode}'\n\n\
             [[proxy]]\nid = 'pass'\npath = '{}'\npowers = ['{power}']\n",
            agent.join("cli").display(),
            path.display()
        );
        fs::write(world.path("chain.toml"), manifest).unwrap();
    };
    let check = ["check", "--manifest", "chain.toml"];
    let checked = |version: &str, power: &str, mode: &str| {
        write(version, power, mode);
        world.do_run(&check)
    };
    let sees = "tool-runs.read";
    let said = checked("1.18.33", sees, "required");
    let line = "\nhooks  required: those of opencode-ai 1.18.33 can be attached\n";
    assert!(said.contains(line), "{said}");
    let said = checked("1.18.34", sees, "best-effort");
    assert!(
        said.contains("are tried with 1.18.33 only; you are told"),
        "{said}"
    );
    let said = checked("1.18.33", sees, "off");
    assert!(said.contains("\nhooks  off: "), "{said}");
    let said = checked("1.18.33", "prompts.read", "best-effort");
    assert!(!said.contains("\nhooks  "), "{said}");
    write("1.18.34", sees, "required");
    let error = world.fail(&check);
    assert!(error.contains("; the chain does not start"), "{error}");
}
