//! A trusted project that changes, moves to another worktree, or gets another project within it keeps its guards until
//! the user decides.

use std::fs;
use std::path::Path;
use std::process::Command;

use acp_chain_tests::client::{chunks, prompt};
use acp_chain_tests::host::component;
use acp_chain_tests::host::peer;
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use serde_json::{Value, json};

use crate::project::world::{SHOUT, World};

/// A client of a new `acp-chain run`, which has been initialized.
async fn client(world: &World) -> Process {
    let mut command = tokio::process::Command::from(world.command("run"));
    command.arg("--").arg(peer("bin").join("npm-agent"));
    let mut client = Process::start("client", &Transcript::new(), command).unwrap();
    let params = r#"{"protocolVersion":1}"#;
    client.wire.request("initialize", params).await;
    client
}

/// A prompt with a key that `redact` knows.
const SAID: &str = "quietly AKIAUJZDEGXDNCF32EPF";

/// The chunks of a turn in a new session in a folder, or the error of the session.
async fn turn(world: &World, folder: &Path) -> Result<String, String> {
    let mut client = client(world).await;
    let params = json!({ "cwd": folder, "mcpServers": [] });
    let answer = client
        .wire
        .request("session/new", &params.to_string())
        .await;
    let Some(result) = answer.result else {
        client.finish().await.unwrap();
        return Err(answer.error.unwrap());
    };
    let result: Value = serde_json::from_str(&result).unwrap();
    let session = result["sessionId"].as_str().unwrap();
    let before = client.wire.transcript().received("client").len();
    client
        .wire
        .request("session/prompt", &prompt(session, SAID))
        .await;
    let lines = client.wire.transcript().received("client");
    client.finish().await.unwrap();
    Ok(chunks(&lines[before..]).concat())
}

fn refusing(world: &World) {
    let folder = world.home().join(".config/acp-chain");
    fs::create_dir_all(&folder).unwrap();
    fs::write(
        folder.join("config.toml"),
        "[trust]\nuntrusted = \"refuse\"\n",
    )
    .unwrap();
}

#[tokio::test]
async fn what_was_agreed_to_runs_on_after_any_change_until_the_user_decides() {
    let world = World::shouting();
    world.trust();
    let command = format!("acp-chain trust {}", world.root.display());
    // Changes by a commit, in connections that begin after it.
    let changes: [(&str, &dyn Fn()); 4] = [
        ("has changed", &|| {
            world.manifest("# Nothing is left of it.\n");
        }),
        ("cannot be used", &|| world.manifest("[[proxy]]\nid = 7\n")),
        ("cannot be used", &|| {
            world.manifest(SHOUT);
            fs::remove_file(world.path("tools/shout.wasm")).unwrap();
        }),
        ("has lost its manifest", &|| {
            fs::remove_file(world.path("acp-chain.toml")).unwrap();
        }),
    ];
    for (why, change) in changes {
        change();
        let told = turn(&world, &world.root).await.unwrap();
        assert!(told.contains("QUIETLY"), "{why}: {told}");
        assert!(told.contains(why), "{why}: {told}");
    }
    refusing(&world);
    let refused = turn(&world, &world.root).await.unwrap_err();
    assert!(
        refused.contains("has lost its manifest") && refused.contains(&command),
        "{refused}"
    );
    // The user may agree even to the loss of the manifest.
    world.trust();
    let told = turn(&world, &world.root).await.unwrap();
    assert!(
        !told.contains("QUIETLY") && !told.contains("manifest"),
        "{told}"
    );
}

#[tokio::test]
async fn a_user_may_have_sessions_refused_where_a_project_is_not_trusted_as_it_is() {
    let world = World::shouting();
    refusing(&world);
    let refused = turn(&world, &world.root).await.unwrap_err();
    let command = format!("acp-chain trust {}", world.root.display());
    assert!(
        refused.contains("is not trusted") && refused.contains(&command),
        "{refused}"
    );
    assert!(turn(&world, &world.home()).await.is_ok(), "no project");
    world.trust();
    assert!(turn(&world, &world.root).await.unwrap().contains("QUIETLY"));
    world.manifest(&format!("# Ours.\n{SHOUT}"));
    let refused = turn(&world, &world.root).await.unwrap_err();
    assert!(
        refused.contains("has changed since you agreed"),
        "{refused}"
    );
    world.do_run(&["trust", "--deny"]);
    assert!(
        turn(&world, &world.root).await.is_ok(),
        "the user has denied the project"
    );
}

fn git(folder: &Path, args: &[&str]) {
    let mut git = Command::new("git");
    let own = ["-c", "user.name=me", "-c", "user.email=me@example.com"];
    let done = git
        .current_dir(folder)
        .args(own)
        .args(args)
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
}

#[tokio::test]
async fn a_yes_counts_in_all_worktrees_of_a_repository_as_git_knows_them() {
    let world = World::shouting();
    git(&world.root, &["init", "--quiet"]);
    git(&world.root, &["add", "."]);
    git(&world.root, &["commit", "--quiet", "--message", "It."]);
    world.trust();
    let other = world.home().join("other");
    git(
        &world.root,
        &["worktree", "add", "--quiet", other.to_str().unwrap()],
    );
    let told = turn(&world, &other).await.unwrap();
    assert!(
        told.contains("QUIETLY") && !told.contains("acp-chain trust"),
        "{told}"
    );
    // The manifest of another branch may differ.
    fs::write(other.join("acp-chain.toml"), "").unwrap();
    let told = turn(&world, &other).await.unwrap();
    assert!(
        told.contains("QUIETLY") && told.contains("has changed"),
        "{told}"
    );
    fs::remove_file(other.join("acp-chain.toml")).unwrap();
    let told = turn(&world, &other).await.unwrap();
    assert!(
        told.contains("QUIETLY") && told.contains("has lost its manifest"),
        "{told}"
    );

    // A folder that only claims to be a worktree is not one.
    let evil = world.home().join("evil");
    fs::create_dir_all(evil.join("tools")).unwrap();
    for file in [".git", "acp-chain.toml", "tools/shout.wasm"] {
        let from = if file == ".git" { &other } else { &world.root };
        fs::copy(from.join(file), evil.join(file)).unwrap();
    }
    let told = turn(&world, &evil).await.unwrap();
    assert!(
        !told.contains("QUIETLY") && told.contains("acp-chain trust"),
        "{told}"
    );
}

#[tokio::test]
async fn a_project_within_another_takes_none_of_its_guards_away() {
    let mut world = World::shouting();
    fs::copy(component("redact"), world.path("tools/redact.wasm")).unwrap();
    let guard = "[[proxy]]\nid = \"redact\"\npath = \"tools/redact.wasm\"\n\
                 powers = [\"prompts.read\", \"prompts.change\"]\n\n";
    world.manifest(&format!("{guard}{SHOUT}"));
    world.trust();
    let outer = world.root.clone();
    let inner = world.path("packages/a");
    fs::create_dir_all(&inner).unwrap();
    fs::write(inner.join("acp-chain.toml"), "").unwrap();
    // Until the user trusts the inner project, it is ignored.
    let told = turn(&world, &inner).await.unwrap();
    assert!(
        told.contains("QUIETLY") && told.contains("has proxies of its own"),
        "{told}"
    );
    // Then it has its own proxies, and the guards of the outer project.
    world.root.clone_from(&inner);
    world.trust();
    let located = world.located(&[&inner, &outer]);
    let names = |said: &Value| {
        let projects = said["projects"].as_array().unwrap().iter();
        projects
            .map(|project| project["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (names(&located[0]), names(&located[1])),
        (vec!["a".into(), "work".into()], vec!["work".to_owned()])
    );
    let told = turn(&world, &inner).await.unwrap();
    assert!(told.contains("quietly [redacted: "), "{told}");
    assert_eq!(located[0]["projects"][1]["guards_only"], true);
}
