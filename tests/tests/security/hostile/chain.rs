//! The program with an attacker and a bystander in its chain, in front of an agent.
//!
//! The attacker stands next to the client. The bystander, next to the agent, sees everything and
//! forwards it. What the agent reads and writes is recorded.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use acp_chain_tests::client::prompt;
use acp_chain_tests::envelope::Message;
use acp_chain_tests::host;
use acp_chain_tests::powers;
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use hostile::{ATTACKED, Mode, NEIGHBOUR};
use tempfile::TempDir;

use crate::hostile::row::{By, Policy, Row};

const AGENT: &str = env!("CARGO_BIN_EXE_wild-agent");

/// A folder for one run: the manifest, and what is recorded.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The host's log.
    pub fn log(&self) -> PathBuf {
        self.path("acp-chain.log")
    }

    /// What the agent read.
    pub fn read(&self) -> PathBuf {
        self.path("read")
    }

    /// What the agent wrote.
    pub fn written(&self) -> PathBuf {
        self.path("written")
    }

    /// Writes the manifest: the attacker, then the bystander.
    fn manifest(&self, row: &Row, policy: Policy) -> PathBuf {
        let guest = host::component("hostile");
        let (component, mode) = match row.by {
            By::Guest(mode) => (guest.clone(), mode),
            By::Module(module) => {
                let path = self.path("hostile.wasm");
                fs::write(&path, module.component()).expect("a component");
                (path, Mode::None)
            }
        };
        let attacker = |id: &str| {
            let (path, policy) = (component.display(), policy.as_str());
            let mode = serde_json::to_string(&mode).expect("a name");
            let (config, grant, limits) = (row.config, row.grant, row.limits);
            let granted = match grant {
                "" => powers::everything(),
                granted => granted,
            };
            format!(
                "[[proxy]]\nid = '{id}'\npath = '{path}'\non-failure = '{policy}'\n{granted}\n\
                 [proxy.config]\nmode = {mode}\n{config}\n[proxy.limits]\n{limits}\n\n"
            )
        };
        let mut text = attacker("hostile");
        if row.accomplice {
            text += &attacker("hostile-too");
        } else {
            let path = guest.display();
            let _ = write!(text, "[[proxy]]\nid = 'bystander'\npath = '{path}'\n");
        }
        let path = self.path("acp-chain.toml");
        fs::write(&path, text).expect("a manifest");
        path
    }

    /// The agent's command, with all that it reads and writes copied to files.
    fn agent(&self) -> [OsString; 6] {
        let shell = r#"tee "$0" | "$2" | tee "$1""#;
        let (read, written) = (self.read().into(), self.written().into());
        let [sh, c, shell, agent] = ["sh", "-c", shell, AGENT].map(OsString::from);
        [sh, c, shell, read, written, agent]
    }
}

/// The client of a program that runs, and that was not initialized yet.
pub async fn start(folder: &Folder, row: &Row, policy: Policy) -> Process {
    let (manifest, log) = (folder.manifest(row, policy), folder.log());
    // Has everything compiled before anything is measured; some of it cannot be.
    let checked = host::check(&manifest).output().await;
    checked.expect("the program");
    let options: [&OsStr; 4] = [
        "--manifest".as_ref(),
        manifest.as_ref(),
        "--log-file".as_ref(),
        log.as_ref(),
    ];
    let command = host::run_with(options, folder.agent());
    let mut client = Process::start("client", &Transcript::new(), command).expect("the program");
    client.wire = client.wire.answering(answers);
    client
}

/// What the client answers at once. Files that are `kept` it answers when it likes to, and questions
/// of the attacker's own only where they are an echo.
fn answers(message: &Message) -> Vec<String> {
    let params = message.params.as_deref().unwrap_or_default();
    match message.method.as_deref() {
        Some("fs/read_text_file") if !params.contains("kept") => message.result(CONTENT),
        Some("session/request_permission") => {
            message.result(r#"{"outcome":{"outcome":"selected","optionId":"reject-once"}}"#)
        }
        Some("_hostile/echo") => message.result("{}"),
        _ => Vec::new(),
    }
}

const CONTENT: &str = r#"{"content":"the content"}"#;

/// A turn of the neighbour that has to wait for the client.
pub struct Turn {
    prompt: String,
    file: Message,
}

impl Turn {
    fn script(file: &str) -> String {
        let script =
            format!("echo first\nread {file}\nstream 20 chunk\npermission read Look /x\necho last");
        prompt(NEIGHBOUR, &script)
    }

    /// The texts that the client gets in a turn.
    pub fn texts() -> Vec<String> {
        let mut texts = vec!["first".to_owned(), "the content".to_owned()];
        texts.extend((0..20).map(|number| format!("chunk {number}")));
        texts.extend(["selected reject-once".to_owned(), "last".to_owned()]);
        texts
    }

    /// A whole turn.
    pub async fn whole(client: &mut Process) -> Message {
        let prompt = client.wire.ask("session/prompt", &Self::script("/file"));
        client.wire.response(&prompt).await
    }

    /// Begins a turn, and stops in the midst of it.
    pub async fn begin(client: &mut Process) -> Self {
        let prompt = client.wire.ask("session/prompt", &Self::script("/kept"));
        loop {
            let message = client.wire.receive().await.expect("the turn goes on");
            if message.method.as_deref() == Some("fs/read_text_file") {
                return Self {
                    prompt,
                    file: message,
                };
            }
        }
    }

    /// Lets it go on, to its end.
    pub async fn end(self, client: &mut Process) -> Message {
        for line in self.file.result(CONTENT) {
            client.wire.send(line);
        }
        client.wire.response(&self.prompt).await
    }
}

/// The parameters of a prompt of the attacked session.
pub fn attacked(text: &str) -> String {
    prompt(ATTACKED, text)
}
