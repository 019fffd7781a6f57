//! The harm that an author's project, chain and editor cannot do to `acp-chain dev`.

use std::fs;
use std::os::unix::fs::symlink;

use acp_chain_tests::client::{chunks, prompt};
use acp_chain_tests::wire::in_time;
use tokio::task::spawn_blocking;

use super::author::{BEGIN, Project};
use super::ends::compiler;

const SOURCE: &str = "src/proxy.c";

/// A compiler that fails, and leaves a program behind that holds its output open.
const LEAVES_ONE: &str = r#"#!/bin/sh
if [ "$1" = version ]; then echo 0.17.0; exit; fi
setsid cat "$BEGUN" >/dev/null &
echo "it is all wrong" >&2
exit 1
"#;

#[tokio::test]
async fn a_chain_that_could_write_to_what_is_built_neither_begins_nor_goes_on() {
    let project = Project::new("c", "prompt");
    let chain = fs::read_to_string(project.path("chain.toml")).unwrap();
    for (path, what) in [
        (
            "src",
            "and so to the project, which is built with all of your rights",
        ),
        (".", "by which it could give itself more"),
    ] {
        let given = format!(
            "{chain}\ndirectories = [{{ path = \"{path}\", name = \"/p\", write = true }}]\n"
        );
        project.save("chain.toml", &given);
        let mut dev = project.dev_for(&["--manifest", "chain.toml"]);
        let error = dev.client.request("initialize", BEGIN).await.error.unwrap();
        assert!(error.contains(what), "{error}");
        project.save("chain.toml", &chain);
        dev.finish_refused().await;

        let mut dev = project.dev(&["--manifest", "chain.toml"]).await;
        project.save("chain.toml", &given);
        let said = dev.said.next("the old version goes on").await;
        assert!(said.contains(what), "{said}");
        project.save("chain.toml", &chain);
        dev.finish().await;
    }
}

#[tokio::test]
async fn a_chain_that_could_write_to_what_a_link_makes_a_source_does_not_begin() {
    let project = Project::new("c", "prompt");
    let chain = fs::read_to_string(project.path("chain.toml")).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let header = elsewhere.path().join("more.h");
    fs::write(&header, "").unwrap();
    symlink(&header, project.path("src/more.h")).unwrap();
    let path = elsewhere.path().display();
    let given =
        format!("{chain}\ndirectories = [{{ path = \"{path}\", name = \"/p\", write = true }}]\n");
    project.save("chain.toml", &given);
    let mut dev = project.dev_for(&["--manifest", "chain.toml"]);
    let error = dev.client.request("initialize", BEGIN).await.error.unwrap();
    assert!(error.contains("and so to the project"), "{error}");
    project.save("chain.toml", &chain);
    dev.finish_refused().await;
}

#[tokio::test]
async fn what_it_writes_itself_is_not_built() {
    let project = Project::new("c", "prompt");
    let written = ["--trace", "trace.ndjson", "--log-file", "dev.log"];
    let mut dev = project.dev(&written).await;
    for text in ["echo one", "echo two"] {
        dev.client
            .request("session/prompt", &prompt("s", text))
            .await;
    }
    project.change(SOURCE, "Be brief.", "Be bold.");
    dev.said.next("swapped").await;
    let said = dev.finish().await;
    let built = said.iter().filter(|line| line.contains("built in"));
    assert_eq!(built.count(), 2, "{said:#?}");
}

#[tokio::test]
async fn an_editor_that_does_not_listen_stops_nothing() {
    let project = Project::new("c", "prompt");
    let mut dev = project.dev(&[]).await;
    dev.close_stderr();
    project.change(SOURCE, "Be brief.", "Be bold.");
    let is_swapped = async {
        loop {
            let answer = dev
                .client
                .request("session/prompt", &prompt("s", "echo hello"))
                .await;
            assert!(answer.result.is_some(), "{}", answer.line);
            let said = chunks(&dev.client.transcript().received("client"));
            if said.concat().ends_with("Be bold.") {
                return;
            }
        }
    };
    in_time("the new version", is_swapped).await;
}

#[tokio::test]
async fn what_a_build_leaves_behind_is_not_waited_for() {
    let project = Project::new("c", "prompt");
    let held = compiler(&project, LEAVES_ONE);
    let mut dev = project.dev_with(&[], |command| {
        let path = format!("{}:/usr/bin:/bin", project.path("bin").display());
        command.env("BEGUN", &held).env("PATH", path);
    });
    dev.said.next("it is all wrong").await;
    // Lets that program end.
    spawn_blocking(move || fs::write(held, ""))
        .await
        .unwrap()
        .unwrap();
}
