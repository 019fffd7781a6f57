//! Native proxies that send bad input, or nothing, under every failure policy. Mistakes that do not keep a
//! proxy from working do not count as its failure: the proxy gets an error, or the log an entry with the
//! proxy's name.

use acp_chain::channel::{Failure, FailurePolicy};
use acp_chain_tests::chain::{Chain, error_of};
use acp_chain_tests::envelope::{Message, request};
use acp_chain_tests::host::{InProcess, played};
use acp_chain_tests::passing::PassingProxy;
use acp_chain_tests::process::gone;
use acp_chain_tests::stand_in::StandIn;
use acp_chain_tests::transcript::Transcript;
use acp_chain_tests::wire::Wire;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::sync::mpsc;

use crate::native::{AGENT, program};

const STAND_IN: &str = env!("CARGO_BIN_EXE_stand-in");

const POLICIES: [&str; 3] = ["refuse", "bypass", "restart"];

/// The policies for a chain in this process.
const ALL: [FailurePolicy; 3] = [
    FailurePolicy::Refuse,
    FailurePolicy::Bypass,
    FailurePolicy::Restart,
];

/// A chain of one native proxy, which the test plays.
struct NativeChain {
    chain: Chain,
    place: StandIn,
    pid: Pid,
    wire: Wire,
    passing: PassingProxy,
    _folder: TempDir,
}

impl NativeChain {
    /// Starts a chain whose proxy runs and has not received the client's `initialize` yet. Also returns the
    /// id of that request.
    async fn start(policy: &str) -> (Self, String) {
        let folder = tempfile::tempdir().unwrap();
        let place = StandIn::new(folder.path(), "proxy").unwrap();
        let [program, socket] = place.command(STAND_IN);
        let (program, socket) = (program.display(), socket.display());
        let manifest = format!(
            "[[proxy]]\nid = 'bad'\ncommand = '{program}'\nargs = ['{socket}']\non-failure = '{policy}'\n"
        );
        let mut chain = Chain::granted(&manifest, &[AGENT]);
        let begin = chain.client.wire.ask("initialize", "{}");
        let (pid, wire) = place.started(&Transcript::new()).await;
        let bad = Self {
            chain,
            place,
            pid,
            wire,
            passing: PassingProxy::new(false, true),
            _folder: folder,
        };
        (bad, begin)
    }

    /// A chain with a bad proxy, after `initialize`.
    async fn begun(policy: &str) -> Self {
        let (mut bad, begin) = Self::start(policy).await;
        let answer = bad.response(&begin).await;
        assert!(answer.result.is_some(), "{}", answer.line);
        bad
    }

    /// The answer to a request of the client; meanwhile the proxy forwards what it receives.
    async fn response(&mut self, id: &str) -> Message {
        let (wire, passing) = (&mut self.wire, &mut self.passing);
        let passes_on = async {
            while let Some(line) = wire.line().await {
                let message = Message::parse(line).expect("a message");
                wire.send_all(passing.pass(&message).expect("a valid message"));
            }
            // The proxy may have ended, and the answer still be to come.
            std::future::pending::<()>().await;
        };
        tokio::select! {
            answer = self.chain.client.wire.response(id) => answer,
            () = passes_on => unreachable!("it is pending"),
        }
    }

    /// The error message of a request, through the proxy if the proxy forwards it.
    async fn refused(&mut self, method: &str) -> String {
        let id = self.chain.client.wire.ask(method, "{}");
        error_of(&self.response(&id).await)
    }

    /// The proxy forwards everything.
    async fn works(&mut self) {
        let before = self.wire.transcript().received("proxy").len();
        self.is_passed_by().await;
        assert!(self.wire.transcript().received("proxy").len() > before);
    }

    /// A request of the client reaches the agent.
    async fn is_passed_by(&mut self) {
        let error = self.refused("test/any").await;
        assert_eq!(error, "Method not found: test/any");
    }

    /// The next message to the proxy.
    async fn line(&mut self) -> Message {
        let line = self.wire.line().await.expect("a line");
        Message::parse(line).expect("a message")
    }

    /// After the proxy broke, the policy is applied.
    async fn is_kept_to(&mut self, policy: &str) {
        match policy {
            "refuse" => {
                let error = self.refused("test/any").await;
                let start = "acp-chain: the proxy `bad` failed on test/any: it broke before: ";
                assert!(error.starts_with(start), "{error}");
            }
            "bypass" => self.is_passed_by().await,
            _ => {
                let (pid, wire) = self.place.started(&Transcript::new()).await;
                assert_ne!(pid, self.pid);
                (self.wire, self.passing) = (wire, PassingProxy::new(false, true));
                self.works().await;
            }
        }
    }
}

/// Lines of the proxy that have no effect, and their entries in the log.
const HARMLESS: [(&str, &str); 12] = [
    ("garbage", "a line: the message is not JSON"),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"#,
        "a line: the message is not JSON",
    ),
    ("[]", "a line: "),
    ("{}", "a line: "),
    (r#"{"jsonrpc":"1.0","method":"test/old"}"#, "a line: "),
    (
        r#"{"jsonrpc":"2.0","method":"proxy/successor","params":{"params":{}}}"#,
        "a proxy/successor must have a method in its params",
    ),
    (
        r#"{"jsonrpc":"2.0","method":"proxy/successor","params":{"method":7}}"#,
        "a proxy/successor must have a method in its params",
    ),
    (
        r#"{"jsonrpc":"2.0","method":"proxy/successor"}"#,
        "a proxy/successor must have a method in its params",
    ),
    (
        r#"{"jsonrpc":"2.0","method":"proxy/successor","params":{"method":"proxy/successor","params":{"method":"test/any"}}}"#,
        "proxy/successor is not a message for a proxy/successor",
    ),
    (
        r#"{"jsonrpc":"2.0","id":99999,"result":{}}"#,
        "a response to no open request: id 99999",
    ),
    (
        r#"{"jsonrpc":"2.0","id":"own-0","error":{"code":1,"message":""}}"#,
        r#"a response to no open request: id "own-0""#,
    ),
    (
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{}}"#,
        "a $/cancel_request that names no request",
    ),
];

#[tokio::test]
async fn what_makes_no_sense_is_logged_under_its_name_and_it_goes_on() {
    for policy in POLICIES {
        for (line, logged) in HARMLESS {
            let mut bad = NativeChain::begun(policy).await;
            bad.wire.send(line);
            bad.works().await;
            let (log, _) = tokio::join!(bad.chain.finish(), bad.wire.serve());
            let logged = format!("dropped what the proxy `bad` sent: {logged}");
            assert!(log.contains(&logged), "{policy}: {line}: {logged}:\n{log}");
            assert!(!log.contains("`bad` broke"), "{policy}: {line}:\n{log}");
        }
    }
}

#[tokio::test]
async fn in_version_1_the_answers_in_its_batch_arrive_and_a_request_there_is_refused() {
    let mut bad = NativeChain::begun("refuse").await;
    let id = bad.chain.client.wire.ask("test/any", "{}");
    let asked = bad.line().await.id.expect("an id");
    bad.wire.send(format!(
        r#"[{{"jsonrpc":"2.0","id":"q","method":"test/own"}},{{"id":{asked},"result":{{"a":1}}}}]"#
    ));
    let answer = bad.chain.client.wire.response(&id).await;
    assert_eq!(answer.result.as_deref(), Some(r#"{"a":1}"#));
    let refusal = bad.line().await;
    assert_eq!(refusal.id.as_deref(), Some("\"q\""));
    assert!(error_of(&refusal).contains("has no batches"));
    bad.works().await;
}

#[tokio::test]
async fn requests_that_make_no_sense_are_answered_with_what_is_wrong() {
    let ask = |method, params| request("\"x\"", method, params);
    for (line, code, words) in [
        (
            ask("proxy/successor", "{}"),
            -32602,
            "a proxy/successor must have a method in its params",
        ),
        (
            ask("proxy/successor", r#"{"method":null}"#),
            -32602,
            "a proxy/successor must have a method in its params",
        ),
        (
            ask("proxy/initialize", "{}"),
            -32600,
            "proxy/initialize is the host's own to send",
        ),
        (
            ask("proxy/successor", r#"{"method":"proxy/initialize"}"#),
            -32601,
            "proxy/initialize is not a message for a proxy/successor",
        ),
        (
            request(&format!("\"{}\"", "x".repeat(2000)), "test/any", "{}"),
            -32600,
            "an id may have at most 1024 bytes",
        ),
    ] {
        for policy in POLICIES {
            let mut bad = NativeChain::begun(policy).await;
            bad.wire.send(&*line);
            let answer = bad.line().await;
            let error = answer.error.unwrap_or_default();
            assert!(error.contains(&code.to_string()), "{policy}: {error}");
            assert!(error.contains(words), "{policy}: {error}");
            bad.works().await;
        }
    }
}

#[tokio::test]
async fn an_answer_that_is_no_message_is_an_error_that_names_it() {
    for policy in POLICIES {
        for answer in [
            r#"{"jsonrpc":"2.0","id":ID,"result":}"#,
            r#"{"jsonrpc":"2.0","id":ID,"result":1e}"#,
            r#"{"jsonrpc":"2.0","id":ID,"level":"info"}"#,
            r#"{"jsonrpc":"2.0","id":ID,"result":{},"error":{"code":1,"message":""}}"#,
        ] {
            let mut bad = NativeChain::begun(policy).await;
            let id = bad.chain.client.wire.ask("test/lost", "{}");
            let asked = bad.line().await.id.expect("an id");
            bad.wire.send(answer.replace("ID", &asked));
            let error = error_of(&bad.response(&id).await);
            let start = "acp-chain: the answer of the proxy `bad` is lost: ";
            assert!(error.starts_with(start), "{policy}: {answer}: {error}");
            bad.works().await;
        }
    }
}

/// What the proxy sends last before it ends: nothing, or half a line.
const ENDINGS: [&str; 2] = ["", r#"{"jsonrpc":"2.0","id":"#];

#[tokio::test]
async fn one_that_ends_in_service_perhaps_within_a_line_goes_the_way_of_its_policy() {
    for policy in POLICIES {
        for last in ENDINGS {
            let mut bad = NativeChain::begun(policy).await;
            let id = bad.chain.client.wire.ask("test/open", "{}");
            bad.line().await;
            bad.wire.send_bytes(last);
            bad.wire.close();
            let error = error_of(&bad.response(&id).await);
            assert_eq!(
                error, "acp-chain: the proxy `bad` failed on test/open: it exited with code 0",
                "{policy}: {last}"
            );
            bad.is_kept_to(policy).await;
            let log = bad.chain.finish().await;
            let logged = "the proxy `bad` broke: it exited with code 0";
            assert!(log.contains(logged), "{policy}:\n{log}");
        }
    }
}

#[tokio::test]
async fn one_that_ends_before_it_begins_goes_the_way_of_its_policy() {
    for policy in POLICIES {
        for last in ENDINGS {
            let (mut bad, begin) = NativeChain::start(policy).await;
            bad.line().await;
            bad.wire.send_bytes(last);
            bad.wire.close();
            let answer = bad.response(&begin).await;
            match policy {
                // The proxy had not forwarded `initialize`.
                "bypass" => assert!(answer.result.is_some(), "{}", answer.line),
                _ => assert_eq!(
                    error_of(&answer),
                    "acp-chain: the proxy `bad` failed on initialize: it exited with code 0"
                ),
            }
            bad.is_kept_to(policy).await;
        }
    }
}

#[tokio::test]
async fn one_that_ends_whenever_it_is_started_is_given_up() {
    for policy in ["restart", "restart-then-bypass"] {
        let terms = format!("on-failure = '{policy}'");
        let manifest = program("bad", &["--exit", "7"], &terms);
        let mut chain = Chain::granted(&manifest, &[AGENT]);
        let error = chain.refused("initialize").await;
        let failed = "acp-chain: the proxy `bad` failed on ";
        assert!(
            error.starts_with(&format!("{failed}initialize: ")),
            "{error}"
        );
        // The request waits until the proxy is given up.
        let error = chain.refused("test/any").await;
        match policy {
            "restart" => assert_eq!(
                error,
                format!("{failed}test/any: it broke before: it exited with code 7")
            ),
            _ => assert_eq!(error, "Method not found: test/any"),
        }
        let log = chain.finish().await;
        assert_eq!(log.matches("the proxy `bad` is restarted").count(), 3);
    }
}

#[tokio::test]
async fn one_that_is_stopped_in_a_turn_keeps_nobody_from_leaving() {
    for policy in POLICIES {
        let mut bad = NativeChain::begun(policy).await;
        kill_process(bad.pid, Signal::STOP).unwrap();
        bad.chain.client.wire.ask("test/open", "{}");
        let transcript = bad.chain.client.wire.transcript().clone();
        bad.chain.client.wire.hang_up();
        let exit = bad.chain.client.exited().await.unwrap();
        assert!(exit.success(), "{exit}");
        let pid = u32::try_from(bad.pid.as_raw_nonzero().get()).unwrap();
        gone(&transcript, pid).await.unwrap();
    }
}

#[tokio::test]
async fn one_that_refuses_to_begin_is_named_if_nobody_answers_for_it() {
    for policy in POLICIES {
        let (mut bad, begin) = NativeChain::start(policy).await;
        for method in ["proxy/initialize", "_proxy/initialize"] {
            let asked = bad.line().await;
            assert_eq!(asked.method.as_deref(), Some(method));
            let unknown = r#"{"code":-32601,"message":"Method not found"}"#;
            bad.wire.send_all(asked.error(unknown));
        }
        let answer = bad.response(&begin).await;
        match policy {
            "bypass" => assert!(answer.result.is_some(), "{}", answer.line),
            _ => assert_eq!(
                error_of(&answer),
                "acp-chain: the proxy `bad` failed on initialize: it does not support \
                 `_proxy/initialize`, so it is not a proxy, or one of another `dialect`"
            ),
        }
        // A restarted process would be no proxy either.
        if policy != "restart" {
            bad.is_kept_to(policy).await;
        }
    }
}

#[tokio::test]
async fn a_flood_of_requests_is_refused_from_a_number_on_and_it_goes_on() {
    const OPEN: usize = 65_536;
    for policy in POLICIES {
        let mut bad = NativeChain::begun(policy).await;
        for number in 0..OPEN + 10 {
            let id = format!("\"flood-{number}\"");
            bad.wire.send(request(&id, "test/flood", "0"));
        }
        let mut refused = 0;
        while refused < 10 {
            let answer = bad.line().await;
            let error = answer.error.expect("a refusal");
            assert!(error.contains("65536 requests are open already"), "{error}");
            refused += 1;
        }
        for _ in 0..OPEN {
            let asked = bad.chain.client.wire.receive().await.expect("a request");
            bad.chain.client.wire.send_all(asked.result("0"));
        }
        bad.works().await;
        let peak = bad.chain.client.peak_memory().expect("still running");
        assert!(peak < 256 << 20, "{peak} bytes");
    }
}

#[tokio::test]
async fn a_line_without_an_end_is_lost_from_a_size_on_and_it_goes_on() {
    for policy in POLICIES {
        let mut bad = NativeChain::begun(policy).await;
        bad.wire.send_repeated(b'x', 65 << 20);
        bad.wire.send_bytes("\n");
        bad.works().await;
        let (log, _) = tokio::join!(bad.chain.finish(), bad.wire.serve());
        let logged = "dropped what the proxy `bad` sent: a line: ";
        assert!(log.contains(logged), "{policy}:\n{log}");
    }
}

/// A chain in this process of one native proxy, and the wires of the proxies that replace it.
fn in_process(
    policy: FailurePolicy,
    transcript: &Transcript,
) -> (InProcess, Wire, mpsc::UnboundedReceiver<Wire>) {
    let (mut native, wire) = played("proxy", transcript);
    native.on_failure = policy;
    let (tell, others) = mpsc::unbounded_channel();
    let record = transcript.clone();
    if let Some(program) = &mut native.program {
        program.launch = Box::new(move || {
            let (next, wire) = played("another", &record);
            let _ = tell.send(wire);
            let program = next.program.ok_or_else(|| Failure::new("there is none"))?;
            Ok(program.io)
        });
    }
    (InProcess::of(vec![native.into()], transcript), wire, others)
}

/// After the proxy of a chain in this process broke, the policy is applied.
async fn is_kept_to(
    policy: FailurePolicy,
    chain: &mut InProcess,
    others: &mut mpsc::UnboundedReceiver<Wire>,
) {
    let id = chain.client.ask("test/any", "{}");
    match policy {
        FailurePolicy::Refuse => {
            let error = error_of(&chain.client.response(&id).await);
            assert!(error.contains("it broke before: "), "{error}");
        }
        FailurePolicy::Bypass => {
            let asked = chain.agent.receive().await.expect("the request");
            assert_eq!(asked.method.as_deref(), Some("test/any"));
        }
        _ => {
            let mut another = others.recv().await.expect("another proxy");
            let begin = another.receive().await.expect("a first message");
            assert_eq!(begin.method.as_deref(), Some("proxy/initialize"));
            another.send_all(begin.result("{}"));
            let asked = another.receive().await.expect("the request");
            assert_eq!(asked.method.as_deref(), Some("test/any"));
        }
    }
}

/// The clock is the test's, so no real time passes.
#[tokio::test(start_paused = true)]
async fn one_that_never_answers_its_first_message_goes_the_way_of_its_policy() {
    for policy in ALL {
        let transcript = Transcript::new();
        let (mut chain, mut wire, mut others) = in_process(policy, &transcript);
        let begin = chain.client.ask("initialize", "{}");
        wire.line().await;
        if policy == FailurePolicy::Bypass {
            let asked = chain
                .agent
                .receive()
                .await
                .expect("the bypassed `initialize`");
            chain.agent.send_all(asked.result("{}"));
            assert!(chain.client.response(&begin).await.result.is_some());
        } else {
            let error = error_of(&chain.client.response(&begin).await);
            assert_eq!(
                error,
                "acp-chain: the proxy `proxy` failed on initialize: it did not answer \
                 `proxy/initialize` within 30 s"
            );
        }
        assert!(wire.line().await.is_none(), "it is cut off");
        is_kept_to(policy, &mut chain, &mut others).await;
    }
}

#[tokio::test(start_paused = true)]
async fn one_that_takes_nothing_goes_the_way_of_its_policy() {
    for policy in ALL {
        let transcript = Transcript::new();
        let (mut chain, mut wire, mut others) = in_process(policy, &transcript);
        let begin = chain.client.ask("initialize", "{}");
        wire.line().await;
        wire.send(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
        chain.client.response(&begin).await;
        let long = format!(r#"{{"text":"{}"}}"#, "x".repeat(2 << 20));
        let id = chain.client.ask("test/long", &long);
        assert_eq!(
            error_of(&chain.client.response(&id).await),
            "acp-chain: the proxy `proxy` failed on test/long: it does not read what it is sent"
        );
        is_kept_to(policy, &mut chain, &mut others).await;
    }
}
