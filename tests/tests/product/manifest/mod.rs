//! A manifest's chain runs as written; `check` and the client of `run` receive each error with its location.

mod component;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use acp_chain_tests::client::prompt;
use acp_chain_tests::host;
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use acp_chain_tests::wire::in_time;
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Command;

const AGENT: &str = env!("CARGO_BIN_EXE_wild-agent");

/// A folder with a manifest and its files.
struct Project(TempDir);

impl Project {
    fn new(manifest: &str) -> Self {
        let project = Self(tempfile::tempdir().unwrap());
        fs::write(project.manifest(), manifest).unwrap();
        project
    }

    /// A project with one proxy, `guard`, which is a file with these bytes.
    fn with_component(bytes: &[u8]) -> Self {
        let project = Self::new("[[proxy]]\nid = 'guard'\npath = 'guard.wasm'\n");
        fs::write(project.path("guard.wasm"), bytes).unwrap();
        project
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn manifest(&self) -> PathBuf {
        self.path("acp-chain.toml")
    }

    fn client(&self) -> Process {
        client(host::run(Some(&self.manifest()), [AGENT]))
    }

    /// A client, and the file of its trace.
    fn traced(&self) -> (Process, PathBuf) {
        let (manifest, trace) = (self.manifest(), self.path("trace"));
        let options = [
            "--manifest".as_ref(),
            manifest.as_os_str(),
            "--trace".as_ref(),
            trace.as_os_str(),
        ];
        (client(host::run_with(options, [AGENT])), trace)
    }

    /// Expects that `check` and `run` refuse the manifest with these words, and that nothing is left to wait for.
    async fn is_refused(&self, why: &str) {
        let (valid, printed) = check(&self.manifest()).await;
        assert!(
            !valid && printed.contains(&format!("acp-chain: {why}")),
            "{printed}"
        );

        let mut client = self.client();
        let error = error(&mut client).await;
        assert!(
            error.contains(&format!("acp-chain: {why}")),
            "{error}\nlacks\n{why}"
        );
        let exit = client.finish().await.unwrap();
        assert_eq!((exit.status.code(), &*exit.stderr), (Some(1), ""));
    }

    /// The same for its proxy `guard`.
    async fn has_its_component_refused(&self, why: &str) {
        let (manifest, component) = (self.manifest(), self.path("guard.wasm"));
        let (manifest, component) = (manifest.display(), component.display());
        self.is_refused(&format!("{manifest}: proxy `guard` ({component}): {why}"))
            .await;
    }
}

fn client(command: Command) -> Process {
    Process::start("client", &Transcript::new(), command).unwrap()
}

/// The message of the error in answer to `initialize`.
async fn error(client: &mut Process) -> String {
    let answer = client.wire.request("initialize", "{}").await;
    let error: Value = serde_json::from_str(&answer.error.unwrap()).unwrap();
    assert_eq!(error["code"], -32603);
    error["message"].as_str().unwrap().to_owned()
}

/// Whether `check` accepts a manifest, and its output.
async fn check(manifest: &Path) -> (bool, String) {
    let output = host::check(manifest).output().await.unwrap();
    let printed = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(printed).unwrap())
}

#[tokio::test]
async fn check_prints_the_chain_and_runs_nothing() {
    let (pass, shout) = (host::component("pass"), host::component("shout-rust"));
    // If they were run, either proxy would refuse its config, and the agent would not be found.
    let project = Project::new(&format!(
        "agent = {{ command = 'no-such-agent', args = ['--acp', 'x'] }}\n\
         [[proxy]]\nid = 'first'\npath = '{}'\nconfig.nonsense = 1\n\
         [[proxy]]\nid = 'second'\npath = '{}'\nconfig.nonsense = 1\nlimits.memory = '99 MiB'\n\
         on-failure = 'bypass'\n\
         powers = ['prompts.read', 'permissions.answer', 'files.read']\n\
         methods = {{ '_vendor/*' = ['read', 'answer'] }}\n",
        pass.display(),
        shout.display()
    ));
    let (valid, printed) = check(&project.manifest()).await;
    assert!(valid, "{printed}");
    let (pass, shout) = (pass.display(), shout.display());
    let sizes = without_sizes(&printed);
    let expected = format!(
        "client
  │
first  {pass}
  │  has no powers: it sees nothing, and does nothing
  │  has no other way out: no files, network, clock or environment
  │  uses: memory 64 MiB, time 2s
  │  when it breaks: as it declares when it starts
  │
second  {shout}
  │  reads what you write to the agent (prompts.read)
  │  ! answers the agent's requests for permission in your place (permissions.answer): it can permit the agent anything
  │  ! reads files that your editor can open (files.read): any file, also outside of the project, if your editor lets it
  │  ! may read, answer _vendor/*, which is not in the protocol: this program cannot say what it is
  │  has no other way out: no files, network, clock or environment
  │  uses: memory 99 MiB, time 2s
  │  when it breaks: all messages bypass it
  │
agent  no-such-agent --acp x

While it runs, acp-chain itself opens only files in the directories of its proxies, starts no programs and connects to nothing.
"
    );
    assert_eq!(sizes, expected);
}

#[tokio::test]
async fn what_is_printed_need_not_be_read_to_its_end() {
    for subcommand in ["powers", "limits"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut program = host::acp_chain(subcommand);
        program.stdout(writer).stderr(Stdio::piped());
        let output = program.spawn().unwrap().wait_with_output().await.unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && errors.is_empty(), "{errors}");
    }
}

/// The output without the lines with the size of a component.
fn without_sizes(printed: &str) -> String {
    let is_size = |line: &&str| {
        let text = line.trim_start_matches([' ', '│']);
        text.starts_with(|first: char| first.is_ascii_digit()) && text.ends_with("iB\n")
    };
    let lines = printed.split_inclusive('\n');
    lines.filter(|line| !is_size(line)).collect()
}

#[tokio::test]
async fn check_tells_of_every_component_that_cannot_be_used() {
    let project = Project::new(
        "[[proxy]]\nid = 'one'\npath = '1.wasm'\n[[proxy]]\nid = 'two'\npath = '2.wasm'\n",
    );
    let (valid, printed) = check(&project.manifest()).await;
    assert!(!valid);
    assert!(
        printed.contains("proxy `one`") && printed.contains("proxy `two`"),
        "{printed}"
    );
}

#[tokio::test]
async fn an_unknown_key_is_named_with_its_line_and_the_nearest_known_one() {
    let project = Project::new("[[proxy]]\nid = 'guard'\npth = 'guard.wasm'\n");
    let manifest = project.manifest();
    project
        .is_refused(&format!(
            "{}:3:1: unknown key `pth`; did you mean `path`? Known here are `id`, `use`, `path`, `command`, `args`, `env`, `dialect`, `config`, `on-failure`, `limits`, `powers`, `methods`, `directories`, `sleeps`",
            manifest.display()
        ))
        .await;
}

#[tokio::test]
async fn a_manifest_that_is_not_toml_or_not_there_is_named() {
    let project = Project::new("[[proxy]\n");
    let manifest = project.manifest();
    project
        .is_refused(&format!("{}:1:9: ", manifest.display()))
        .await;
    fs::write(&manifest, r#"{ "proxy": [{ "use": "redact" }] }"#).unwrap();
    project
        .is_refused(&format!("{}:1:1: this is JSON, ", manifest.display()))
        .await;
    fs::remove_file(&manifest).unwrap();
    project
        .is_refused(&format!(
            "{}: the file cannot be read: No such file",
            manifest.display()
        ))
        .await;
}

#[tokio::test]
async fn a_pipe_is_not_waited_for_and_of_a_file_only_so_much_is_read() {
    let project = Project::new("");
    let manifest = project.manifest();
    let shown = manifest.display();
    fs::remove_file(&manifest).unwrap();
    let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR);
    rustix::fs::mknodat(rustix::fs::CWD, &manifest, kind, mode, 0).unwrap();
    let why = format!("{shown}: the file cannot be read: it is not a file");
    in_time("a pipe", project.is_refused(&why)).await;
    fs::remove_file(&manifest).unwrap();
    let file = fs::File::create(&manifest).unwrap();
    file.set_len(1 << 30).unwrap();
    let why = format!("{shown}: the file cannot be read: it is larger than 1 MiB");
    project.is_refused(&why).await;
}

#[tokio::test]
async fn an_id_is_used_once() {
    let project =
        Project::new("[[proxy]]\nid = 'a'\npath = 'p'\n[[proxy]]\nid = 'a'\npath = 'p'\n");
    let manifest = project.manifest();
    project
        .is_refused(&format!(
            "{}:5:6: two proxies have the id `a`; ids are unique",
            manifest.display()
        ))
        .await;
}

#[tokio::test]
async fn a_proxy_that_refuses_its_config_says_why_to_the_client() {
    let shout = host::component("shout-rust");
    let project = Project::new(&format!(
        "[[proxy]]\nid = 'shout'\npath = '{}'\nconfig.fiel = '/x'\n",
        shout.display()
    ));
    let mut client = project.client();
    let error = error(&mut client).await;
    let manifest = project.manifest();
    let start = format!(
        "acp-chain: {}: proxy `shout` ({}): it did not start: ",
        manifest.display(),
        shout.display()
    );
    assert!(
        error.starts_with(&start) && error.contains("unknown field `fiel`"),
        "{error}"
    );
    assert_eq!(client.finish().await.unwrap().status.code(), Some(1));
}

#[tokio::test]
async fn a_mistake_can_be_put_right_while_the_client_waits() {
    let project = Project::with_component(b"\0asm\x01\0\0\0");
    let mut client = project.client();
    assert!(error(&mut client).await.contains("core WebAssembly module"));
    fs::write(project.manifest(), "[[proxie]]\n").unwrap();
    assert!(error(&mut client).await.contains("did you mean `proxy`?"));
    host::manifest(project.0.path(), &[("guard", &host::component("pass"), "")]).unwrap();
    client.initialize().await;
    client.turn("echo works").await;
    assert_eq!(client.chunks(), ["works"]);
    let exit = client.finish().await.unwrap();
    assert!(exit.status.success() && exit.stderr.is_empty(), "{exit:?}");
}

#[tokio::test]
async fn paths_begin_at_the_manifest_wherever_the_program_is_started() {
    let project = Project::new(
        "agent.command = 'bin/agent'\n[[proxy]]\nid = 'shout'\npath = 'proxies/shout.wasm'\n\
         powers = ['prompts.read', 'prompts.change']\n",
    );
    for folder in ["bin", "proxies", "elsewhere"] {
        fs::create_dir(project.path(folder)).unwrap();
    }
    symlink(AGENT, project.path("bin/agent")).unwrap();
    symlink(
        host::component("shout-rust"),
        project.path("proxies/shout.wasm"),
    )
    .unwrap();
    for manifest in [project.manifest().as_os_str(), "../acp-chain.toml".as_ref()] {
        let none: [&OsStr; 0] = [];
        let mut command = host::run_with(["--manifest".as_ref(), manifest], none);
        command.current_dir(project.path("elsewhere"));
        let mut client = client(command);
        client.initialize().await;
        client.turn("hello there").await;
        assert_eq!(client.chunks().concat(), "HELLO THERE");
    }
}

#[tokio::test]
async fn the_command_line_names_the_agent_before_the_manifest_does() {
    let project = Project::new("[agent]\ncommand = 'no-such-agent'\n");
    let mut client = project.client();
    client.initialize().await;

    let none: [&OsStr; 0] = [];
    let mut client = self::client(host::run(Some(&project.manifest()), none));
    let error = error(&mut client).await;
    assert!(error.contains("`no-such-agent` was not found"), "{error}");
    assert_eq!(client.finish().await.unwrap().status.code(), Some(127));
}

#[tokio::test]
async fn without_any_agent_the_client_is_told_how_to_name_one() {
    let project = Project::new("");
    let none: [&OsStr; 0] = [];
    for manifest in [None, Some(project.manifest())] {
        let mut client = client(host::run(manifest.as_deref(), none));
        assert_eq!(
            error(&mut client).await,
            "acp-chain: no agent is named; give the name of one that `acp-chain agent list` shows, or a command after `--`, or a URL with `--connect`, or one in the manifest's `[agent]`"
        );
        assert_eq!(client.finish().await.unwrap().status.code(), Some(2));
    }
}

#[tokio::test]
async fn an_empty_manifest_is_a_chain_without_proxies() {
    let project = Project::new("");
    let mut client = project.client();
    client.initialize().await;
    client.turn("echo through").await;
    assert_eq!(client.chunks(), ["through"]);
}

#[tokio::test]
async fn the_trace_has_what_the_client_really_said_and_what_it_withdrew() {
    let project = Project::new("");
    let proxies = [("first", &*host::component("pass"), "")];
    host::manifest(project.0.path(), &proxies).unwrap();
    let (mut client, trace) = project.traced();
    client.initialize().await;
    let declares = r#"{"cwd":"/","mcpServers":[{"type":"acp","name":"mine","id":"my-own-id"}]}"#;
    client.wire.request("session/new", declares).await;
    let turn = client.prompt("never");
    let cancel = format!(r#"{{"requestId":{turn}}}"#);
    client.wire.notify("$/cancel_request", &cancel);
    // The agent confirms the cancellation.
    client.wire.receive().await.unwrap();
    client.wire.hang_up();
    client.exited().await.unwrap();
    let written = fs::read_to_string(&trace).unwrap();
    for expected in [
        r#""from":"client","to":"acp-chain","kind":"request","message":3,"id":2,"request":2,"method":"session/new","params":"#,
        &format!(r#""params":{declares}"#),
        r#","id":3,"request":3,"method":"$/cancel_request","session":"s","#,
    ] {
        assert!(written.contains(expected), "{expected}\n{written}");
    }
}

#[tokio::test]
async fn the_trace_has_each_leg_of_a_turn_in_order() {
    let project = Project::new("");
    let (pass, shout) = (host::component("pass"), host::component("shout-rust"));
    let proxies = [("first", &*pass, ""), ("second", &*shout, "")];
    host::manifest(project.0.path(), &proxies).unwrap();
    let (mut client, trace) = project.traced();
    client.initialize().await;
    client.turn("hi").await;
    client.finish().await.unwrap();
    let written = fs::read_to_string(&trace).unwrap();
    let of_turn = |line: &&str| line.contains(r#""session":"s""#);
    // The number of the request within the chain, and the client's own id of it.
    let [request, id] = [r#""request":2,"#, r#""id":2,"#];
    let leg = |from, to, kind, method, body: &str| {
        let about = match kind {
            "notification" => (String::new(), ""),
            _ => (id.to_owned(), request),
        };
        let (id, request) = about;
        format!(
            r#""from":"{from}","to":"{to}","kind":"{kind}",{id}{request}"method":"{method}","session":"s",{body}}}"#
        )
    };
    let asked = |text| format!(r#""params":{}"#, prompt("s", text));
    let told = |text| {
        format!(
            r#""params":{{"sessionId":"s","update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{text}"}}}}}}"#
        )
    };
    let answer = r#""result":{"stopReason":"end_turn"}"#;
    let shouted = r#""result":{"stopReason":"end_turn","_meta":{"acp-chain/second":{"chunks":2}}}"#;
    let (p, u) = ("session/prompt", "session/update");
    let expected = [
        leg("client", "first", "request", p, &asked("hi")),
        leg("first", "second", "request", p, &asked("hi")),
        leg("second", "agent", "request", p, &asked("HI")),
        leg("agent", "second", "notification", u, &told("H")),
        leg("second", "first", "notification", u, &told("H")),
        leg("first", "client", "notification", u, &told("H")),
        leg("agent", "second", "notification", u, &told("I")),
        leg("second", "first", "notification", u, &told("I")),
        leg("first", "client", "notification", u, &told("I")),
        leg("agent", "second", "response", p, answer),
        leg("second", "first", "response", p, shouted),
        leg("first", "client", "response", p, shouted),
    ];
    let mut numbers = BTreeSet::new();
    let lines = written.lines().filter(of_turn).map(|line| {
        let (time, _) = line.split_once(',').unwrap();
        let time = time
            .strip_prefix(r#"{"time":""#)
            .unwrap()
            .trim_end_matches('"');
        let example = "2026-11-22T12:00:00.000001Z";
        assert!(time.len() == example.len() && time.ends_with('Z'), "{time}");
        // Another test checks the members between the time and the sender.
        let whose = [r#""from":"#, r#""proxy":"#];
        let at = whose.iter().find_map(|member| line.find(member)).unwrap();
        let (before, numbered) = line[at..].split_once(r#""message":"#).unwrap();
        let (number, after) = numbered.split_once(',').unwrap();
        numbers.insert(number.to_owned());
        format!("{before}{after}")
    });
    let (decided, found): (Vec<_>, Vec<_>) = lines.partition(|line| line.starts_with(r#""proxy""#));
    // The prompt, two updates and the answer: each has one number on all hops.
    assert_eq!(numbers.len(), 4, "{written}");
    assert_eq!(found.len(), expected.len(), "{written}");
    let decision = |proxy, decision, request, method| {
        format!(
            r#""proxy":"{proxy}","decision":"{decision}",{request}"method":"{method}","session":"s"}}"#
        )
    };
    for (proxy, about) in [("first", "forward"), ("second", "change")] {
        for (request, method) in [(request, p), ("", u)] {
            let kind = if method == u { "forward" } else { about };
            let expected = decision(proxy, kind, request, method);
            assert!(decided.contains(&expected), "{expected}\n{decided:?}");
        }
    }
    // Two decisions for each request and its answer, and two for each update.
    assert_eq!(decided.len(), 8, "{written}");
    // Proxies work in parallel: the legs of one message are in order, those of two messages need not be.
    for legs in expected.chunks(3) {
        let place = |leg: &String| found.iter().position(|found| found == leg);
        let places: Vec<_> = legs.iter().map(place).collect();
        assert!(
            places.is_sorted() && places[0].is_some(),
            "{legs:?} in\n{written}"
        );
    }
}

#[tokio::test]
async fn what_a_manifest_says_cannot_pass_for_words_of_the_hosts() {
    let evil = "x\\n\\u001B[2J\\u202Eok\\u200B";
    for manifest in [
        format!("\"{evil}\" = 1\n"),
        format!("[[proxy]]\nid = \"{evil}\"\npath = 'p'\n"),
        format!("[[proxy]]\nid = 'a'\npath = \"{evil}\"\n"),
        format!("[[proxy]]\nid = 'a'\npath = 'p'\npowers = [\"{evil}\"]\n"),
        format!("[[proxy]]\nid = 'a'\npath = 'p'\nmethods = {{ \"{evil}\" = [] }}\n"),
        format!("[[proxy]]\nid = 'a'\npath = 'p'\nmethods = {{ _m = [\"{evil}\"] }}\n"),
        format!("[[proxy]]\nid = 'a'\npath = 'p'\nlimits = {{ \"{evil}\" = 1 }}\n"),
    ] {
        let project = Project::new(&manifest);
        let (valid, printed) = check(&project.manifest()).await;
        assert!(!valid, "{manifest}");
        let plain = |c: char| c == '\n' || !c.is_control() && !"\u{202e}\u{200b}".contains(c);
        assert!(printed.chars().all(plain), "{printed:?}");
        let lines = printed
            .lines()
            .filter(|line| line.starts_with("ok") || line.starts_with('['));
        assert_eq!(lines.count(), 0, "{printed}");
    }
}
