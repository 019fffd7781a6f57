//! The options of `acp-chain run` about projects.

use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use tokio::process::Command;

use crate::project::world::World;

#[tokio::test]
async fn a_folder_that_has_no_project_cannot_be_that_of_all_sessions() {
    let world = World::new();
    let mut command = Command::from(world.command("run"));
    command
        .arg("--project")
        .arg(&world.root)
        .args(["--", "cat"]);
    let mut chain = Process::start("client", &Transcript::new(), command).unwrap();
    let answer = chain
        .wire
        .request("initialize", r#"{"protocolVersion":1}"#)
        .await;
    let expected = format!(
        "--project: there is no project at {}: the repository ",
        world.root.display()
    );
    assert!(answer.line.contains(&expected), "{}", answer.line);
    chain.finish().await.unwrap();
}

#[test]
fn all_sessions_have_a_project_or_none_has() {
    let world = World::shouting();
    let error = world.fail(&["run", "--no-project", "--project", ".", "--", "cat"]);
    assert!(error.contains("cannot be used with"), "{error}");
}
