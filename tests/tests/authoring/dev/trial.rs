//! `acp-chain dev` without an agent: each typed line is a prompt, and the proxy's change of each message is shown.

use acp_chain_tests::wire::in_time;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use super::author::{Project, start};

const FIRST: &str = "  client ⇄ tried ⇄ agent

client asks session/prompt
  client → tried                    hello
  tried → agent                     Be brief.

agent tells session/update
  agent → client                    Read README.md

agent asks session/request_permission
  agent → client                    Edit README.md

client answers session/request_permission
  client → agent                    allow

agent tells session/update
  agent → client                    You said: hello

agent tells session/update
  agent → client                    You said: Be brief.

agent answers session/prompt
  agent → client                    end_turn

";

#[tokio::test]
async fn each_message_is_shown_beside_what_the_proxy_made_of_it() {
    let project = Project::new("c", "prompt");
    let (mut child, mut input, output, mut said) = start(project.acp_chain("dev"));
    let mut shown = BufReader::new(output).lines();
    let mut turn = async |lines: usize| {
        let mut text = String::new();
        for _ in 0..lines {
            let line = in_time("a line", shown.next_line()).await.unwrap().unwrap();
            text += &line;
            text.push('\n');
        }
        text
    };
    input.write_all(b"hello\n").await.unwrap();
    assert_eq!(turn(FIRST.lines().count()).await, FIRST);

    project.change("src/proxy.c", "Be brief.", "Be bold.");
    said.next("swapped").await;
    input.write_all(b"\nhello\n").await.unwrap();
    let (_, second) = FIRST.split_once('\n').unwrap();
    let second = second.replace("Be brief.", "Be bold.");
    assert_eq!(turn(second.lines().count()).await, second);

    drop(input);
    let status = in_time("the end of acp-chain dev", child.wait()).await;
    let said = said.rest().await;
    assert!(status.unwrap().success(), "{said:#?}");
}

#[tokio::test]
async fn when_the_prompts_end_and_nothing_can_be_tried_so_does_the_trial() {
    let project = Project::new("c", "prompt");
    project.change("src/proxy.c", "return true;", "return tru;");
    let (mut child, mut input, _output, said) = start(project.acp_chain("dev"));
    input.write_all(b"hello\n").await.unwrap();
    drop(input);
    let status = in_time("the end of acp-chain dev", child.wait()).await;
    assert_eq!(status.unwrap().code(), Some(1));
    let said = said.rest().await.join("\n");
    assert!(said.contains("the input has ended"), "{said}");
}

#[tokio::test]
async fn what_is_no_project_is_told() {
    let project = Project::new("c", "prompt");
    let mut command = project.acp_chain("dev");
    command.args(["--project-dir", "src"]);
    let (mut child, _input, _output, said) = start(command);
    let status = in_time("the end of acp-chain dev", child.wait()).await;
    assert!(!status.unwrap().success());
    let said = said.rest().await.join("\n");
    assert!(said.contains("extension.toml"), "{said}");
}
