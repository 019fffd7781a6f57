//! A chain with all its parts, up to the kill of one.

use acp_chain_tests::chain::{MANIFEST, entry};
use acp_chain_tests::client::prompt;
use acp_chain_tests::envelope::{Message, request};
use acp_chain_tests::host;
use acp_chain_tests::process::Process;
use acp_chain_tests::stand_in::{StandIn, kill};
use acp_chain_tests::transcript::Transcript;
use acp_chain_tests::tree::MARK;
use acp_chain_tests::wire::{Wire, in_time};
use rustix::process::{Pid, Signal};
use tempfile::TempDir;
use tokio::sync::oneshot;

use crate::kills::agent::{INITIALIZED, update};
use crate::kills::case::{Case, Part, Stage};
use crate::kills::native::Native;

const STAND_IN: &str = env!("CARGO_BIN_EXE_stand-in");

/// The component's configuration: it sees the messages of the client and the agent in these tests, answers
/// one request, holds another and one prompt, and traps at a third.
const CONFIG: &str = "
    [proxy.config]
    holds-on = true
    [proxy.config.requests]
    'test/trap' = [{ break = 'panic' }]
    'test/hold' = ['hold']
    'test/alive' = [{ respond = { by = 'component' } }]
    'initialize' = []
    'session/new' = []
    'session/prompt' = [{ unless = { pointer = '/prompt/0/text', is = 'not yet' } }, 'hold']
    'fs/read_text_file' = []
    'session/request_permission' = []
    [proxy.config.notifications]
    'session/update' = []
    'session/cancel' = []
    [proxy.config.responses]
    'initialize' = []
    'session/new' = []
    'session/prompt' = []
    'fs/read_text_file' = []
    'session/request_permission' = []
    ";

/// The text of a prompt that the component holds.
pub(crate) const HELD: &str = "not yet";

/// The id of the agent's request that is not answered before the kill.
const PERMISSION: &str = "\"permission\"";

pub(crate) struct Scene {
    pub(crate) case: Case,
    pub(crate) transcript: Transcript,
    pub(crate) client: Process,
    pub(crate) before: Native,
    pub(crate) behind: Native,
    agent: StandIn,
    pub(crate) running: Option<(Pid, Wire)>,
    /// The open requests of the client, by id and method.
    pub(crate) open: Vec<(String, &'static str)>,
    /// The id of the cancelled prompt that the component holds.
    pub(crate) held: Option<String>,
    /// The requests that the agent has not answered.
    pub(crate) at_agent: Vec<Message>,
    /// The agent's request that the client has not answered.
    pub(crate) permission: Option<Message>,
    pub(crate) folder: TempDir,
}

impl Scene {
    pub(crate) fn begin(case: Case, transcript: Transcript) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let place = |part: Part| StandIn::new(folder.path(), part.name()).expect("a socket");
        let (before, behind) = (place(Part::Before), place(Part::Behind));
        let agent = place(Part::Agent);
        let policy = case.policy.key();
        let native = |place: &StandIn, part: Part| {
            let [program, socket] = place.command(STAND_IN);
            let (program, socket, name) = (program.display(), socket.display(), part.name());
            format!(
                "[[proxy]]\nid = '{name}'\ncommand = '{program}'\nargs = ['{socket}']\non-failure = '{policy}'\n"
            )
        };
        let terms = format!("on-failure = {policy:?}\n{CONFIG}");
        let manifest = native(&before, Part::Before)
            + &entry(Part::Component.name(), "does", &terms)
            + &native(&behind, Part::Behind);
        let path = folder.path().join(MANIFEST);
        std::fs::write(&path, manifest).expect("a manifest");
        let mut command = host::run(Some(&path), agent.command(STAND_IN));
        command
            .env("XDG_CONFIG_HOME", host::grants_native(folder.path()))
            .env("XDG_STATE_HOME", folder.path())
            .env(MARK, folder.path());
        let mut client = Process::start("client", &transcript, command).expect("a process");
        // The client answers file reads at once, and permission requests not yet, as if it asked its user.
        client.wire = client
            .wire
            .answering(|message| match message.method.as_deref() {
                Some("fs/read_text_file") => message.result(r#"{"content":"x"}"#),
                _ => Vec::new(),
            });
        // When the host is killed, the native proxies live on unless they are ended.
        let lives_on = case.part == Part::Host;
        Self {
            before: Native::new(before, transcript.clone(), lives_on),
            behind: Native::new(behind, transcript.clone(), lives_on),
            case,
            transcript,
            client,
            agent,
            running: None,
            open: Vec::new(),
            held: None,
            at_agent: Vec::new(),
            permission: None,
            folder,
        }
    }

    /// Brings the chain to its stage.
    pub(crate) async fn reach(&mut self) {
        let Case { stage, second, .. } = self.case;
        if stage > Stage::Initialize {
            self.passes("initialize", r#"{"protocolVersion":1}"#, INITIALIZED)
                .await;
            self.passes("session/new", "{}", r#"{"sessionId":"a"}"#)
                .await;
        }
        if second {
            self.passes("session/new", "{}", r#"{"sessionId":"b"}"#)
                .await;
            self.comes_to_the_agent("session/prompt", &prompt("b", "also"))
                .await;
        }
        match stage {
            Stage::Initialize => self.gets_far(r#"{"protocolVersion":1}"#).await,
            Stage::SessionNew => self.gets_far(r#"{"third":true}"#).await,
            Stage::Prompt => self.gets_far(&prompt("a", "hi")).await,
            Stage::Stream | Stage::CancelRequest | Stage::SessionCancel => self.streams().await,
            Stage::HeldCancel => self.stops_what_is_held().await,
            Stage::Idle => {}
        }
    }

    /// The agent streams and sends a request, and the client may cancel.
    async fn streams(&mut self) {
        let id = self
            .comes_to_the_agent("session/prompt", &prompt("a", "hi"))
            .await;
        let agent = self.wire().await;
        for text in ["one", "two", "three"] {
            agent.send(update(text));
        }
        let kept = self
            .case
            .in_hand
            .then(|| self.keeps("session/request_permission"));
        let params = r#"{"sessionId":"a","options":[]}"#;
        let ask = request(PERMISSION, "session/request_permission", params);
        self.wire().await.send(ask);
        for _ in 0..3 {
            let update = self.client.wire.receive().await.expect("an update");
            assert_eq!(update.method.as_deref(), Some("session/update"));
        }
        if let Some(kept) = kept {
            return in_time("the question", kept).await.expect("the message");
        }
        let asked = self.client.wire.receive().await.expect("the question");
        assert_eq!(asked.method.as_deref(), Some("session/request_permission"));
        self.permission = Some(asked);
        let (method, params) = match self.case.stage {
            Stage::CancelRequest => ("$/cancel_request", format!(r#"{{"requestId":{id}}}"#)),
            Stage::SessionCancel => ("session/cancel", r#"{"sessionId":"a"}"#.to_owned()),
            _ => return,
        };
        self.client.wire.notify(method, &params);
        let came = self.wire().await.receive().await.expect("the cancellation");
        assert_eq!(came.method.as_deref(), Some(method));
    }

    /// The component holds a prompt, which the client cancels: the agent gets the cancellation, but no prompt.
    async fn stops_what_is_held(&mut self) {
        let id = self.client.wire.ask("session/prompt", &prompt("a", HELD));
        self.held = Some(id);
        self.client
            .wire
            .notify("session/cancel", r#"{"sessionId":"a"}"#);
        let came = self.wire().await.receive().await.expect("the cancellation");
        assert_eq!(came.method.as_deref(), Some("session/cancel"));
    }

    /// The agent's connection, once it has started.
    async fn wire(&mut self) -> &mut Wire {
        if self.running.is_none() {
            self.running = Some(self.agent.started(&self.transcript).await);
        }
        &mut self.running.as_mut().expect("a started agent").1
    }

    fn ask(&mut self, method: &'static str, params: &str) -> String {
        let id = self.client.wire.ask(method, params);
        self.open.push((id.clone(), method));
        id
    }

    /// A request reaches the agent, and its answer reaches the client.
    async fn passes(&mut self, method: &str, params: &str, result: &str) {
        let id = self.client.wire.ask(method, params);
        let wire = self.wire().await;
        let came = wire.receive().await.expect("the request");
        wire.send_all(came.result(result));
        let answer = self.client.wire.response(&id).await;
        assert!(answer.result.is_some(), "{}", answer.line);
    }

    async fn comes_to_the_agent(&mut self, method: &'static str, params: &str) -> String {
        let id = self.ask(method, params);
        let came = self.wire().await.receive().await.expect("the request");
        assert_eq!(came.method.as_deref(), Some(method));
        self.at_agent.push(came);
        id
    }

    /// Sends the request of the stage, as far as the case demands.
    async fn gets_far(&mut self, params: &str) {
        let method = self.case.stage.request().expect("a stage with a request");
        if !self.case.in_hand {
            self.comes_to_the_agent(method, params).await;
            return;
        }
        let kept = self.keeps(method);
        self.ask(method, params);
        in_time(method, kept).await.expect("the message");
        // The agent has started, though it has received nothing.
        self.wire().await;
    }

    /// Makes the native proxy that is to be killed keep a message.
    fn keeps(&self, method: &'static str) -> oneshot::Receiver<()> {
        match self.case.part {
            Part::Behind => self.behind.keep(method),
            _ => self.before.keep(method),
        }
    }

    pub(crate) async fn kill(&mut self) {
        match self.case.part {
            Part::Client => self.client.wire.hang_up(),
            Part::Host => self.client.signal(Signal::KILL).expect("still running"),
            Part::Told => self.client.signal(Signal::TERM).expect("still running"),
            Part::Before => kill(self.before.process().await).expect("still running"),
            Part::Behind => kill(self.behind.process().await).expect("still running"),
            Part::Natives => {
                for process in [self.before.process().await, self.behind.process().await] {
                    kill(process).expect("still running");
                }
            }
            Part::Agent => {
                let running = self.running.as_ref().expect("a started agent");
                kill(running.0).expect("still running");
            }
            Part::Component => {
                self.ask("test/hold", "{}");
                self.ask("test/trap", "{}");
            }
        }
    }
}
