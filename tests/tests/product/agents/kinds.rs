//! Agents of each kind are installed, and answer a turn behind a chain.

use std::fs;

use acp_chain_tests::client::prompt;
use acp_chain_tests::envelope::quoted;
use acp_chain_tests::host::{self, peer};
use acp_chain_tests::process::Process;
use acp_chain_tests::terminal::Terminal;
use acp_chain_tests::transcript::Transcript;
use serde_json::{Value, json};

use super::world::{World, entry, tar_gz};

/// Prompts an agent behind a proxy. Returns the answer.
pub async fn turn(world: &World, args: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let manifest = host::passes(folder.path(), 1).unwrap();
    let words = ["run", "--manifest", manifest.to_str().unwrap()];
    let command = world.command(&[&words, args].concat());
    let mut client = Process::start("client", &Transcript::new(), command).unwrap();
    client.initialize().await;
    let cwd = quoted(world.path("").to_str().unwrap());
    let params = format!(r#"{{"cwd":{cwd},"mcpServers":[]}}"#);
    let session = client.wire.request("session/new", &params).await;
    let session: Value = serde_json::from_str(session.result.as_deref().unwrap()).unwrap();
    let id = session["sessionId"].as_str().unwrap();
    let text = prompt(id, "Hello, how are you?");
    let answer = client.wire.request("session/prompt", &text).await;
    assert!(answer.line.contains("end_turn"), "{}", answer.line);
    let said = client.chunks().concat();
    client.wire.close();
    said
}

#[tokio::test]
async fn an_agent_of_an_archive_is_installed_pinned_and_answers() {
    let world = World::new();
    let program = fs::read(peer("bin/elizacp")).unwrap();
    let archive = tar_gz(&[("elizacp-12/elizacp", &program)]);
    world.server.put("/elizacp.tgz", archive);
    let more = json!({ "cmd": "./elizacp-12/elizacp", "args": ["--deterministic", "acp"], "env": { "A": "b" } });
    let registry = world.registry(&[world.binary("eliza", "12.0.0", "/elizacp.tgz", more)]);
    let shown = world.does(&["agent", "add", "eliza", "--registry", &registry, "--yes"]);
    for fact in [
        "An agent 12.0.0 (eliza)",
        "Somebody",
        "https://example.com/agent",
        "MIT",
        &registry,
        "/elizacp.tgz",
        "sha256:",
        "MiB",
        "elizacp --deterministic acp",
        "A=b",
        "all of your rights",
    ] {
        assert!(shown.contains(fact), "{fact}: {shown}");
    }
    let record = world.record("eliza");
    assert!(record.contains("digest = \"sha256:"), "{record}");
    // The installed agent needs no server.
    world.server.remove("/elizacp.tgz");
    world.server.remove("/registry.json");
    assert!(!turn(&world, &["eliza"]).await.is_empty());
    let listed = world.does(&["agent", "list"]);
    assert!(listed.contains("eliza 12.0.0 (binary)"), "{listed}");
    world.does(&["agent", "remove", "eliza"]);
    assert!(!world.agents().join("eliza").exists());
}

#[tokio::test]
async fn an_agent_of_npm_is_installed_pinned_without_its_scripts_and_answers() {
    let world = World::new();
    let package = world.npm_agent("1.0.0");
    let latest = entry(
        "npm-agent",
        "1.0.0",
        json!({ "npx": { "package": format!("{package}@latest") } }),
    );
    let registry = world.registry(&[latest]);
    let add = [
        "agent",
        "add",
        "npm-agent",
        "--registry",
        &registry,
        "--yes",
    ];
    let shown = world.does(&add);
    assert!(
        shown.contains("@acp-chain-tests/npm-agent@1.0.0"),
        "{shown}"
    );
    let folder = &world.versions("npm-agent")[0];
    assert!(
        !folder
            .join("node_modules")
            .join(package)
            .join("ran")
            .exists()
    );
    let lock = fs::read_to_string(folder.join("package-lock.json")).unwrap();
    assert!(lock.contains("sha512-"), "{lock}");
    assert!(turn(&world, &["npm-agent"]).await.contains("how are you"));

    let same = world.does(&["agent", "update"]);
    assert!(same.contains("`npm-agent` is up to date"), "{same}");
    // The same version with another content.
    let document = format!("/npm/{package}");
    let about = world.server.get(&document);
    let moved = about.replace("sha256-", "sha256-AAAA");
    world.server.put(&document, moved);
    let update = ["agent", "update", "npm-agent", "--yes"];
    let told = world.fails(&update);
    assert!(
        told.contains("something else under the same version"),
        "{told}"
    );
    // A newer version that does not match its index.
    world.npm_agent("1.1.0");
    let tarball = "/npm/npm-agent-1.1.0.tgz";
    world
        .server
        .put(tarball, tar_gz(&[("package/package.json", b"{}")]));
    let told = world.fails(&update);
    assert!(told.contains("  | npm error code EINTEGRITY"), "{told}");
    assert!(world.record("npm-agent").contains("1.0.0"));
    world.npm_agent("1.1.0");
    let shown = world.does(&update);
    assert!(shown.contains("`npm-agent`: 1.0.0 → 1.1.0"), "{shown}");
    assert_eq!(world.versions("npm-agent").len(), 1);
    // When the package has been removed, the installed version stays.
    world.server.remove(&document);
    let told = world.fails(&update);
    assert!(
        told.contains("`npm install") && told.contains("  | npm error"),
        "{told}"
    );
    assert!(world.record("npm-agent").contains("1.1.0"));
}

#[tokio::test]
async fn an_agent_of_pythons_is_installed_by_its_hashes_and_answers() {
    let world = World::new();
    let package = world.python_agent();
    let registry = world.registry(&[entry(
        "echo",
        "1.0.0",
        json!({ "uvx": { "package": package } }),
    )]);
    // The current folder may belong to another user.
    for module in ["venv.py", "pip.py", "logging.py"] {
        fs::write(world.path(module), "raise SystemExit('this was run')\n").unwrap();
    }
    let shown = world.does(&["agent", "add", "echo", "--registry", &registry, "--yes"]);
    assert!(shown.contains(&format!("{package}==1.0.0")), "{shown}");
    let hashes = world.versions("echo")[0].join("requirements.txt");
    let hashes = fs::read_to_string(hashes).unwrap();
    assert!(
        hashes.contains("agent-client-protocol==0.12.1 --hash=sha256:"),
        "{hashes}"
    );
    assert!(turn(&world, &["echo"]).await.contains("how are you"));
    let same = world.does(&["agent", "update", "echo"]);
    assert!(same.contains("`echo` is up to date"), "{same}");
}

#[test]
fn another_program_of_the_same_archive_is_an_update() {
    let world = World::new();
    let script: &[u8] = b"#!/bin/sh\n";
    let archive = tar_gz(&[("one", script), ("two", script)]);
    world.server.put("/both.tar.gz", archive);
    let offer = |cmd: &str| {
        let more = json!({ "cmd": cmd });
        world.registry(&[world.binary("it", "1.0.0", "/both.tar.gz", more)])
    };
    let registry = offer("one");
    world.does(&["agent", "add", "it", "--registry", &registry, "--yes"]);
    offer("./two");
    world.does(&["agent", "update", "it", "--yes"]);
    let record = world.record("it");
    assert!(record.contains("/two\"]"), "{record}");
    let same = world.does(&["agent", "update", "it"]);
    assert!(same.contains("`it` is up to date"), "{same}");
}

#[tokio::test]
async fn a_command_of_ones_own_is_an_agent_and_takes_more_arguments() {
    let world = World::new();
    let eliza = peer("bin/elizacp").display().to_string();
    world.does(&["agent", "add", "mine", "--", &eliza, "--deterministic"]);
    assert!(!turn(&world, &["mine", "--", "acp"]).await.is_empty());
    let shell = world.does(&["agent", "add", "shell", "--", "sh", "-c", "x"]);
    // The path is absolute, since an editor has another PATH.
    assert!(shell.contains("/sh -c x"), "{shell}");
    let kept = world.does(&["agent", "update"]);
    assert!(kept.contains("`mine` stays"), "{kept}");
    let told = world.fails(&["agent", "add", "mine", "--", "sh"]);
    assert!(told.contains("is installed already"), "{told}");
    assert!(told.contains("`acp-chain agent remove mine`"), "{told}");
    assert!(!told.contains("agent update"), "{told}");
    // On case-insensitive systems, both agents would have the same folder.
    let told = world.fails(&["agent", "add", "Mine", "--", "sh"]);
    assert!(told.contains("`mine` is installed already"), "{told}");
    let told = world.fails(&["agent", "add", "other", "--", "no-such-program"]);
    assert!(told.contains("`no-such-program` cannot be found"), "{told}");
}

#[test]
fn in_a_terminal_a_name_is_the_agents_that_is_installed_and_other_words_are_the_manifests_agents() {
    let world = World::new();
    world.does(&["agent", "add", "greets", "--", "echo", "greets"]);
    let manifest = world.path("acp-chain.toml");
    fs::write(
        &manifest,
        "[agent]\ncommand = \"echo\"\nargs = [\"the manifest's\"]\n",
    )
    .unwrap();
    let manifest = manifest.to_str().unwrap();
    for (args, shown) in [
        (&["greets"][..], "greets"),
        (&["greets", "--", "you"], "greets you"),
        (&["greets", "login"], "greets login"),
        (&["--manifest", manifest, "greets"], "greets"),
        (&["--manifest", manifest, "login"], "the manifest's login"),
        (
            &["--manifest", manifest, "login", "--now", "x"],
            "the manifest's login --now x",
        ),
        (
            &["greet"],
            "no agent `greet` is installed (did you mean `greets`?)",
        ),
    ] {
        let command = world.command(&[&["run"], args].concat()).into_std();
        let (_, text) = Terminal::open().unwrap().run(command, "").unwrap();
        assert!(text.contains(shown), "{args:?}: {text}");
    }
}

#[test]
fn a_version_is_installed_when_its_user_says_yes_to_it() {
    let world = World::new();
    let registry = world.registry(&[world.script("1.0.0")]);
    let add = ["agent", "add", "script", "--registry", &registry];
    let told = world.fails(&add);
    assert!(
        told.contains("no terminal to ask on") && told.contains("`--yes`"),
        "{told}"
    );
    assert!(world.versions("script").is_empty());
    for (line, is_there) in [("n\n", 0), ("y\n", 1)] {
        let command = world.command(&add).into_std();
        let (_, shown) = Terminal::open().unwrap().run(command, line).unwrap();
        assert!(shown.contains("Install it as `script`? [y/N]"), "{shown}");
        assert_eq!(world.versions("script").len(), is_there, "{shown}");
    }
    // From the registry of its installation.
    world.registry(&[world.script("1.1.0")]);
    let told = world.fails(&["agent", "update"]);
    assert!(told.contains("no terminal to ask on"), "{told}");
    assert!(world.record("script").contains("1.0.0"));
    let shown = world.does(&["agent", "update", "--yes"]);
    assert!(shown.contains("`script`: 1.0.0 → 1.1.0"), "{shown}");
    assert_eq!(world.versions("script").len(), 1);
}

#[test]
fn an_older_version_is_named_and_needs_more_than_a_yes() {
    let world = World::new();
    let registry = world.registry(&[world.script("1.10.0")]);
    world.does(&["agent", "add", "script", "--registry", &registry, "--yes"]);
    world.registry(&[world.script("1.9.0")]);
    let told = world.fails(&["agent", "update", "--yes"]);
    assert!(
        told.contains("version 1.9.0 is older than yours, 1.10.0; nothing was changed")
            && told.contains("`--downgrade`"),
        "{told}"
    );
    assert!(world.record("script").contains("1.10.0"));
    let shown = world.does(&["agent", "update", "--yes", "--downgrade"]);
    assert!(
        shown.contains("! it goes back: 1.9.0 is older than yours"),
        "{shown}"
    );
    assert!(world.record("script").contains("1.9.0"));
}

#[test]
fn a_registry_of_the_users_file_is_read_without_a_network() {
    let world = World::new();
    let script = "#!/bin/sh\n";
    fs::write(
        world.path("it.tar.gz"),
        tar_gz(&[("run", script.as_bytes())]),
    )
    .unwrap();
    let mut agent = world.binary("it", "1.0.0", "", json!({ "cmd": "run" }));
    let platforms = agent["distribution"]["binary"].as_object_mut().unwrap();
    for target in platforms.values_mut() {
        target["archive"] = json!("it.tar.gz");
    }
    let text = json!({ "agents": [agent, { "id": "wrong" }] }).to_string();
    fs::write(world.path("agents.json"), text).unwrap();
    fs::create_dir_all(world.path("config/acp-chain")).unwrap();
    let config = "[agents]\nregistry = \"../../agents.json\"\n";
    fs::write(world.path("config/acp-chain/config.toml"), config).unwrap();
    let shown = world.does(&["agent", "list", "--available"]);
    assert!(shown.contains("it 1.0.0 (binary)"), "{shown}");
    assert!(
        shown.contains("! ") && shown.contains("the agent `wrong` cannot be read"),
        "{shown}"
    );
    world.does(&["agent", "add", "it", "--yes"]);
}
