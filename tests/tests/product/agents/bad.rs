//! A changed or invalid agent is refused with the reason, and nothing is changed.

use std::fs;

use acp_chain::extension::Digest;
use acp_chain_tests::output::CommandOutput;
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use serde_json::{Value, json};

use super::world::{World, entry, tar_gz, zip};
use crate::http_proxy::HttpProxy;

/// A user who has version 1.0.0 of a script.
fn with_script() -> (World, String) {
    let world = World::new();
    let registry = world.registry(&[world.script("1.0.0")]);
    world.does(&["agent", "add", "script", "--registry", &registry, "--yes"]);
    (world, registry)
}

fn sha256(bytes: &[u8]) -> String {
    Digest::of(bytes).hex()
}

#[test]
fn an_archive_that_is_not_what_the_registry_says_is_refused() {
    let world = World::new();
    let archive = tar_gz(&[("run", b"#!/bin/sh\n")]);
    world
        .server
        .put("/it.tar.gz", tar_gz(&[("run", b"#!/bin/sh\nevil\n")]));
    let more = json!({ "cmd": "run", "sha256": sha256(&archive).to_uppercase() });
    let registry = world.registry(&[world.binary("it", "1.0.0", "/it.tar.gz", more)]);
    let add = ["agent", "add", "it", "--registry", &registry, "--yes"];
    let told = world.fails(&add);
    assert!(
        told.contains(&format!("expected sha256:{}", sha256(&archive)))
            && told.contains("nothing was installed"),
        "{told}"
    );
    assert!(world.versions("it").is_empty());
    world.server.put("/it.tar.gz", archive);
    world.does(&add);
}

#[test]
fn a_version_that_has_become_another_is_refused_and_the_old_one_stays() {
    let (world, _) = with_script();
    let record = world.record("script");
    let program = world.versions("script")[0].join("agent/run");
    let other = tar_gz(&[("agent/run", b"#!/bin/sh\nevil\n")]);
    world.server.put("/script-1.0.0.tar.gz", other.clone());
    let refused = |world: &World| {
        let told = world.fails(&["agent", "update", "script", "--yes"]);
        assert!(
            told.contains("something else under the same version"),
            "{told}"
        );
        assert_eq!(world.record("script"), record);
    };
    refused(&world);
    // Also with the new digest in the registry, or with a broken installation.
    let more = json!({ "cmd": "./agent/run", "sha256": sha256(&other) });
    world.registry(&[world.binary("script", "1.0.0", "/script-1.0.0.tar.gz", more)]);
    refused(&world);
    assert!(program.exists());
    fs::remove_file(program).unwrap();
    refused(&world);
}

#[test]
fn what_is_gone_is_told_and_what_was_there_stays() {
    let (world, _) = with_script();
    let record = world.record("script");
    let newer = world.script("1.1.0");
    let registry = world.registry(&[newer]);
    world.server.remove("/script-1.1.0.tar.gz");
    let told = world.fails(&["agent", "update", "--yes"]);
    assert!(
        told.contains("script-1.1.0.tar.gz: the server answers 404"),
        "{told}"
    );
    world.registry(&[]);
    let told = world.fails(&["agent", "update", "--yes"]);
    assert!(
        told.contains("there is no agent `script` in http://"),
        "{told}"
    );
    world.server.remove("/registry.json");
    let told = world.fails(&["agent", "update", "--yes"]);
    assert!(
        told.contains("registry.json: the server answers 404"),
        "{told}"
    );
    assert_eq!(world.record("script"), record);
    let missing = [
        (
            json!({ "npx": { "package": "@acp-chain-tests/none@1.0.0" } }),
            "npm error",
        ),
        (
            json!({ "uvx": { "package": "acp-chain-tests-none==1.0.0" } }),
            "No matching distribution",
        ),
    ];
    for (distribution, says) in missing {
        world.registry(&[entry("none", "1.0.0", distribution)]);
        let told = world.fails(&["agent", "add", "none", "--registry", &registry, "--yes"]);
        assert!(told.contains(says), "{told}");
        assert!(world.versions("none").is_empty());
    }
}

#[test]
fn archives_that_climb_out_of_their_folder_are_refused() {
    let world = World::new();
    for (file, archive) in [
        (
            "a.zip",
            zip(&[("../../../climbed".to_owned(), String::new())]),
        ),
        (
            "b.zip",
            zip(&[("/tmp/acp-chain-tests-climbed".to_owned(), String::new())]),
        ),
        ("c.tar.gz", through_a_link()),
        ("d.tar.gz", b"no archive".to_vec()),
        ("e.zip", b"no archive".to_vec()),
        ("f.deb", Vec::new()),
        ("g.zip", zip(&[("other".to_owned(), String::new())])),
    ] {
        let path = format!("/{file}");
        world.server.put(&path, archive);
        let registry =
            world.registry(&[world.binary("it", "1.0.0", &path, json!({ "cmd": "run" }))]);
        let told = world.fails(&["agent", "add", "it", "--registry", &registry, "--yes"]);
        assert!(
            told.contains(&path) && told.contains("nothing was installed"),
            "{told}"
        );
        assert!(world.versions("it").is_empty(), "{file}");
        assert!(!world.agents().join("climbed").exists(), "{file}");
    }
}

/// A link out of its folder, and a program by way of it.
fn through_a_link() -> Vec<u8> {
    let mut archive = tar::Builder::new(flate2::write::GzEncoder::new(
        Vec::new(),
        flate2::Compression::fast(),
    ));
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Symlink);
    header.set_size(0);
    archive.append_link(&mut header, "run", "/bin/sh").unwrap();
    archive.into_inner().unwrap().finish().unwrap()
}

#[test]
fn what_is_no_registry_is_refused_and_what_is_not_known_in_one_is_passed_over() {
    let world = World::new();
    let file = world.path("registry.json");
    let add = [
        "agent",
        "add",
        "it",
        "--registry",
        file.to_str().unwrap(),
        "--yes",
    ];
    let wide = |agent: &Value| format!("{{\"agents\":[{agent}]{}}}", " ".repeat(17 << 20));
    let docker = entry("it", "1.0.0", json!({ "docker": {} }));
    let plan9 = json!({ "binary": { "plan9-mips": { "archive": "a", "cmd": "b" } } });
    for (text, says) in [
        ("no JSON".to_owned(), "this is not a registry of agents"),
        ("{}".to_owned(), "missing field `agents`"),
        ("[]".to_owned(), "this is not a registry of agents"),
        (wide(&docker), "larger than 16 MiB"),
        (json!({ "agents": [docker] }).to_string(), "`docker`, which this version does not support"),
        (json!({ "agents": [entry("it", "1.0.0", plan9)] }).to_string(), "`binary` for plan9-mips"),
        (json!({ "agents": [entry("it", "..", json!({}))] }).to_string(), "has the invalid version"),
        (json!({ "agents": [docker, docker] }).to_string(), "is listed twice"),
        (json!({ "agents": [entry("item", "1.0.0", json!({}))] }).to_string(), "(did you mean `item`?)"),
        (
            json!({ "agents": [entry("it", "1.0.0", json!({ "npx": { "package": "--registry=x" } }))] }).to_string(),
            "which is not a valid npm package",
        ),
    ] {
        fs::write(&file, text).unwrap();
        let told = world.fails(&add);
        assert!(told.contains(says), "{says}: {told}");
        assert!(told.contains("registry.json"), "{told}");
    }
    let told = world.fails(&[
        "agent",
        "list",
        "--available",
        "--registry",
        "/no/such/file",
    ]);
    assert!(told.contains("/no/such/file: No such file"), "{told}");
    let told = world.fails(&[
        "agent",
        "list",
        "--available",
        "--registry",
        "http://example.com/r.json",
    ]);
    assert!(told.contains("it is not an `https:` address"), "{told}");
    let told = world.fails(&[
        "agent",
        "list",
        "--available",
        "--registry",
        "ftp://x/r.json",
    ]);
    assert!(
        told.contains("is not a location that acp-chain supports"),
        "{told}"
    );
}

#[test]
fn a_registry_of_a_server_names_no_files_of_this_machine() {
    let world = World::new();
    let mut agent = world.script("1.0.0");
    for target in agent["distribution"]["binary"]
        .as_object_mut()
        .unwrap()
        .values_mut()
    {
        target["archive"] = json!("file:///etc/passwd");
    }
    let registry = world.registry(&[agent]);
    let told = world.fails(&["agent", "add", "script", "--registry", &registry, "--yes"]);
    assert!(
        told.contains("only a registry that is a file here may name one"),
        "{told}"
    );
}

#[tokio::test]
async fn a_name_that_nobody_has_is_told_to_the_client_with_the_nearest() {
    let (world, _) = with_script();
    let command = world.command(&["run", "skript"]);
    let transcript = Transcript::new();
    let mut client = Process::start("client", &transcript, command).unwrap();
    let params = r#"{"protocolVersion":1}"#;
    let answer = client.wire.request("initialize", params).await;
    let error = answer.error.unwrap();
    assert!(
        error.contains("no agent `skript` is installed (did you mean `script`?)")
            && error.contains("acp-chain agent add skript"),
        "{error}"
    );
    client.wire.close();
    assert_eq!(client.exited().await.unwrap().code(), Some(2));
}

#[test]
fn one_that_is_broken_is_marked_and_update_mends_it() {
    let (world, _) = with_script();
    let folder = world.versions("script").remove(0);
    fs::remove_dir_all(&folder).unwrap();
    let listed = world.does(&["agent", "list"]);
    assert!(
        listed.contains("  ! the agent `script` is broken")
            && listed.contains("`acp-chain agent update script`"),
        "{listed}"
    );
    world.does(&["agent", "update", "script", "--yes"]);
    assert!(!world.does(&["agent", "list"]).contains('!'));
    let record = world.agents().join("script/agent.toml");
    fs::write(&record, "name = 7").unwrap();
    let listed = world.does(&["agent", "list"]);
    assert!(
        listed.contains("script/agent.toml: ") && listed.contains("agent remove script"),
        "{listed}"
    );
    world.does(&["agent", "remove", "script"]);
    let told = world.fails(&["agent", "remove", "script"]);
    assert!(
        told.contains(
            "no agent `script` is installed; `acp-chain agent list` shows those that are"
        ),
        "{told}"
    );
}

#[test]
fn a_registry_is_reached_through_the_proxy_that_the_environment_names() {
    let world = World::new();
    let proxy = HttpProxy::start();
    let registry = "https://agents.example/registry.json";
    let args = ["agent", "add", "it", "--registry", registry, "--yes"];
    let mut command = world.command(&args).into_std();
    for variable in ["HTTPS_PROXY", "https_proxy"] {
        command.env(variable, proxy.url());
    }
    command.env_remove("NO_PROXY").env_remove("no_proxy");
    let output = CommandOutput::from(command.output().unwrap());
    let told = output.of_failure(&args);
    assert!(told.contains(registry), "{told}");
    assert_eq!(proxy.asked(), "CONNECT agents.example:443 HTTP/1.1\r\n");
}
