//! Whichever process of projects is killed, at any time: every request is answered once, sessions of other projects
//! notice nothing, those of the same project continue, and no process is left.

use acp_chain_tests::client::prompt;
use acp_chain_tests::envelope::{Message, request};
use acp_chain_tests::process::{Process, gone};
use acp_chain_tests::stand_in::{StandIn, kill};
use acp_chain_tests::transcript::Transcript;
use acp_chain_tests::wire::Wire;
use rustix::process::Pid;
use serde_json::json;
use tokio::process::Command;

use crate::project::sessions::Projects;

const STAND_IN: &str = env!("CARGO_BIN_EXE_stand-in");

/// The id of the agent's permission request.
const PERMISSION: &str = "\"permission\"";

#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    /// The proxies of the session's project.
    Chain,
    /// The process that finds projects.
    Locator,
    Both,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Idle,
    /// Another session of the project is being set up.
    SessionNew,
    /// A turn is running.
    Prompt,
    /// The agent has sent the client a permission request.
    Question,
    /// Then the client has cancelled the turn.
    Cancelled,
}

#[derive(Clone, Copy, Debug)]
struct Case {
    part: Part,
    stage: Stage,
    /// Whether a session of another project is in a turn.
    other: bool,
}

struct Scene {
    projects: Projects,
    client: Process,
    agent: Wire,
    /// The process of the first project.
    chain: u32,
    /// The client's open requests in sessions of the first project.
    open: Vec<String>,
    /// The prompt of the other session.
    other: Option<String>,
    /// The requests that the agent has not answered.
    at_agent: Vec<Message>,
}

/// The agent receives a request.
async fn comes(agent: &mut Wire, method: &str) -> Message {
    let came = agent.receive().await.expect("the request");
    assert_eq!(came.method.as_deref(), Some(method));
    came
}

impl Scene {
    async fn begin(case: Case, transcript: &Transcript) -> Self {
        let projects = Projects::new();
        let agent = StandIn::new(&projects.world.home(), "agent").unwrap();
        let mut command = Command::from(projects.world.command("run"));
        command.arg("--").args(agent.command(STAND_IN));
        let mut client = Process::start("client", transcript, command).unwrap();
        let id = client.wire.ask("initialize", r#"{"protocolVersion":1}"#);
        let (_, mut agent) = agent.started(transcript).await;
        let initialize = comes(&mut agent, "initialize").await;
        agent.send_all(initialize.result(r#"{"protocolVersion":1}"#));
        client.wire.response(&id).await;
        let mut chain = None;
        for (name, folder) in [("a", &projects.shouting), ("b", &projects.counting)] {
            let params = json!({ "cwd": folder, "mcpServers": [] }).to_string();
            let id = client.wire.ask("session/new", &params);
            let asked = comes(&mut agent, "session/new").await;
            agent.send_all(asked.result(&format!(r#"{{"sessionId":"{name}"}}"#)));
            assert!(client.wire.response(&id).await.result.is_some());
            chain.get_or_insert_with(|| projects.world.processes("project-chain")[0]);
        }
        let mut scene = Self {
            projects,
            client,
            agent,
            chain: chain.unwrap(),
            open: Vec::new(),
            other: None,
            at_agent: Vec::new(),
        };
        scene.reach(case).await;
        scene
    }

    async fn reach(&mut self, case: Case) {
        if case.other {
            self.other = Some(self.asks("session/prompt", &prompt("b", "also")).await);
        }
        if case.stage == Stage::SessionNew {
            let params = json!({ "cwd": self.projects.shouting, "mcpServers": [] }).to_string();
            let id = self.asks("session/new", &params).await;
            self.open.push(id);
        } else if case.stage != Stage::Idle {
            let id = self.asks("session/prompt", &prompt("a", "hi")).await;
            self.open.push(id);
        }
        if matches!(case.stage, Stage::Question | Stage::Cancelled) {
            let params = r#"{"sessionId":"a","options":[]}"#;
            let ask = request(PERMISSION, "session/request_permission", params);
            self.agent.send(ask);
            comes(&mut self.client.wire, "session/request_permission").await;
        }
        if case.stage == Stage::Cancelled {
            let params = r#"{"sessionId":"a"}"#;
            self.client.wire.notify("session/cancel", params);
            comes(&mut self.agent, "session/cancel").await;
        }
    }

    /// Sends a request of the client, which the agent receives and keeps.
    async fn asks(&mut self, method: &str, params: &str) -> String {
        let id = self.client.wire.ask(method, params);
        self.at_agent.push(comes(&mut self.agent, method).await);
        id
    }

    async fn kill(&self, part: Part, transcript: &Transcript) {
        let mut processes = Vec::new();
        if part != Part::Locator {
            processes.push(self.chain);
        }
        if part != Part::Chain {
            processes.extend(self.projects.world.processes("find-projects"));
        }
        for process in processes {
            kill(Pid::from_raw(process.cast_signed()).unwrap()).unwrap();
            gone(transcript, process).await.unwrap();
        }
    }

    async fn goes_on(mut self, case: Case, transcript: &Transcript) {
        let mut client = self.client;
        // Answers that the killed proxies of the project were to receive.
        if case.part != Part::Locator {
            for id in std::mem::take(&mut self.open) {
                let answer = client.wire.response(&id).await;
                let error = answer.error.unwrap_or_default();
                assert!(error.contains("of the project `work` failed on"), "{error}");
            }
        }
        let agent = tokio::spawn(serve(self.agent, self.at_agent));
        for id in self.open.into_iter().chain(self.other) {
            let answer = client.wire.response(&id).await;
            assert!(answer.result.is_some(), "{}", answer.line);
        }
        // A message that is sent before its death is noticed may be lost.
        let probe = prompt("a", "anybody there?");
        client.wire.request("session/prompt", &probe).await;
        for (session, said) in [("a", "GO ON"), ("b", "go on")] {
            let prompt = prompt(session, "go on");
            let answer = client.wire.request("session/prompt", &prompt).await;
            assert!(answer.result.is_some(), "{}", answer.line);
            let received = transcript.received("agent");
            let said = format!(r#""text":"{said}""#);
            assert!(received.iter().any(|line| line.contains(&said)), "{said}");
        }
        let params = json!({ "cwd": self.projects.shouting, "mcpServers": [] }).to_string();
        let answer = client.wire.request("session/new", &params).await;
        assert!(answer.result.is_some(), "{}", answer.line);
        let subcommands = ["run", "find-projects", "project-chain"];
        let world = &self.projects.world;
        let all = subcommands.map(|subcommand| world.processes(subcommand));
        let exit = client.finish().await.unwrap();
        assert!(exit.status.success() && exit.stderr.is_empty(), "{exit:?}");
        agent.await.unwrap();
        for process in all.concat() {
            gone(transcript, process).await.unwrap();
        }
        let received = transcript.received("client");
        for line in transcript.sent("client") {
            let sent = Message::parse(&line).unwrap();
            if let Some(id) = sent.id.as_deref().filter(|_| sent.is_request()) {
                let answers = received.iter().filter(|line| {
                    let message = Message::parse(*line).unwrap();
                    message.answers(id)
                });
                assert_eq!(answers.count(), 1, "{line}");
            }
        }
    }
}

/// Answers all requests as the agent.
async fn serve(mut agent: Wire, open: Vec<Message>) {
    let mut count = 0;
    let mut answer = |message: &Message| {
        count += 1;
        let result = match message.method.as_deref() {
            Some("session/new") => format!(r#"{{"sessionId":"later-{count}"}}"#),
            _ => r#"{"stopReason":"end_turn"}"#.to_owned(),
        };
        message.result(&result)
    };
    for message in open {
        agent.send_all(answer(&message));
    }
    while let Some(message) = agent.receive().await {
        if message.is_request() {
            agent.send_all(answer(&message));
        }
    }
}

async fn killed(part: Part) {
    for stage in [
        Stage::Idle,
        Stage::SessionNew,
        Stage::Prompt,
        Stage::Question,
        Stage::Cancelled,
    ] {
        for other in [false, true] {
            let case = Case { part, stage, other };
            let transcript = Transcript::new();
            let play = async {
                let scene = Scene::begin(case, &transcript).await;
                scene.kill(part, &transcript).await;
                scene.goes_on(case, &transcript).await;
            };
            println!("{case:?}");
            play.await;
        }
    }
}

#[tokio::test]
async fn the_proxies_of_a_project_that_are_killed() {
    killed(Part::Chain).await;
}

#[tokio::test]
async fn what_finds_projects_that_is_killed() {
    killed(Part::Locator).await;
}

#[tokio::test]
async fn both_that_are_killed_at_once() {
    killed(Part::Both).await;
}
