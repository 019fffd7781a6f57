//! `acp-chain find-projects`, with the requests of the host.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use acp_chain_tests::host::component;
use acp_chain_tests::wire::in_time;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::project::world::{SHOUT, World, lookup};

#[test]
fn the_nearest_project_upwards_is_found_once_it_is_trusted() {
    let world = World::shouting();
    fs::create_dir(world.path("src")).unwrap();
    let said = world.located_here();
    let notice = said["notice"].as_str().unwrap();
    let command = format!("`acp-chain trust {}`", world.root.display());
    assert!(notice.contains(&command), "{notice}");
    assert!(said.get("projects").is_none(), "{said}");
    let key = world.trust();
    let said = world.located(&[&world.path("src"), &world.home(), &world.path("none")]);
    assert_eq!(said[0]["projects"][0]["key"], *key);
    assert_eq!(said[0]["projects"][0]["name"], "work");
    for none in &said[1..] {
        assert!(
            none.get("projects").is_none() && none.get("notice").is_none(),
            "{none}"
        );
    }
}

#[test]
fn a_notice_comes_once_for_each_project() {
    let world = World::shouting();
    let said = world.located(&[&world.root, &world.path("tools"), &world.root]);
    let notices: Vec<_> = said
        .iter()
        .map(|said| said.get("notice").is_some())
        .collect();
    assert_eq!(notices, [true, false, false]);
}

#[test]
fn all_sessions_have_the_project_that_the_command_line_names() {
    let world = World::shouting();
    let key = world.trust();
    let mut command = world.command("find-projects");
    command.arg("--project").arg(&world.root);
    let mut running = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = running.stdin.take().unwrap();
    std::io::Write::write_all(&mut input, &lookup(7, &world.home())).unwrap();
    let mut line = String::new();
    let mut output = std::io::BufReader::new(running.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut output, &mut line).unwrap();
    let said: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(
        (&said["number"], &said["projects"][0]["key"]),
        (&7.into(), &Value::from(key))
    );
    drop(input);
    assert!(running.wait().unwrap().success());
}

struct Locator {
    running: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Locator {
    fn start(world: &World) -> Self {
        let mut command = Command::from(world.command("find-projects"));
        let command = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true);
        let mut running = command.spawn().unwrap();
        Self {
            input: running.stdin.take().unwrap(),
            output: BufReader::new(running.stdout.take().unwrap()).lines(),
            running,
        }
    }

    async fn ask(&mut self, number: u64, folder: &Path) {
        self.input.write_all(&lookup(number, folder)).await.unwrap();
    }

    /// The locator's next message.
    async fn next(&mut self) -> Value {
        let line = in_time("the locator", self.output.next_line()).await;
        serde_json::from_str(&line.unwrap().unwrap()).unwrap()
    }

    async fn finish(self) {
        let Self {
            mut running, input, ..
        } = self;
        drop(input);
        assert!(running.wait().await.unwrap().success());
    }
}

#[tokio::test]
async fn changes_of_components_are_told_wherever_they_lie() {
    let world = World::shouting();
    world.component("later/deep/shout.wasm");
    world.trust();
    let mut locator = Locator::start(&world);
    locator.ask(0, &world.root).await;
    assert!(locator.next().await.get("projects").is_some());
    let pass = component("pass");
    fs::copy(&pass, world.path("tools/shout.wasm")).unwrap();
    let changed = "has changed since you agreed to its proxies";
    let said = locator.next().await["notice"].to_string();
    assert!(said.contains(changed), "{said}");

    // Changes are also reported in folders that the manifest did not name before.
    world.manifest(&SHOUT.replace("tools/", "later/deep/"));
    world.trust();
    let said = locator.next().await["notice"].to_string();
    assert!(said.contains("is trusted now"), "{said}");
    fs::copy(&pass, world.path("later/deep/shout.wasm")).unwrap();
    let said = locator.next().await["notice"].to_string();
    assert!(said.contains(changed), "{said}");
    locator.finish().await;
}

#[tokio::test]
async fn changes_are_told_as_they_happen() {
    let world = World::shouting();
    let key = world.trust();
    let mut locator = Locator::start(&world);
    locator.ask(0, &world.root).await;
    assert_eq!(locator.next().await["projects"][0]["key"], *key);

    world.manifest(&format!("# Ours.\n{SHOUT}"));
    let said = locator.next().await;
    let notice = said["notice"].as_str().unwrap();
    assert!(notice.contains("has changed since you agreed to its proxies. New sessions have the proxies that you agreed to before"), "{notice}");
    // Until the user agrees, sessions have the proxies agreed to before.
    locator.ask(1, &world.root).await;
    assert_eq!(locator.next().await["projects"][0]["key"], *key);

    let new = world.trust();
    let said = locator.next().await;
    assert!(
        said["notice"].as_str().unwrap().contains("is trusted now"),
        "{said}"
    );
    locator.ask(2, &world.root).await;
    assert_eq!(locator.next().await["projects"][0]["key"], *new);

    world.do_run(&["trust", "--revoke"]);
    let said = locator.next().await;
    assert!(
        said["notice"]
            .as_str()
            .unwrap()
            .contains("is no longer trusted"),
        "{said}"
    );
    locator.ask(3, &world.root).await;
    assert!(locator.next().await.get("projects").is_none());
    locator.finish().await;
}
