//! `shout`, the same small proxy in four languages, behaves the same in each.

use std::fs;
use std::path::PathBuf;

use acp_chain_tests::client::chunks;
use acp_chain_tests::envelope::{self, Message, quoted};
use acp_chain_tests::host;
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::OnceCell;

const AGENT: &str = env!("CARGO_BIN_EXE_wild-agent");

/// A configuration with a file.
const FILE: &str = "file = '/notes'";

macro_rules! languages {
    ($($language:ident)* : $promises:tt) => {
        const LANGUAGES: &[&str] = &[$(stringify!($language)),*];
        $(promises!($language $promises);)*
    };
}

macro_rules! promises {
    ($language:ident { $($promise:ident)* }) => {
        mod $language {
            $(
                #[tokio::test]
                async fn $promise() {
                    super::$promise(stringify!($language)).await;
                }
            )*
        }
    };
}

languages!(rust javascript python c: {
    letters_of_ascii_are_upper_cased_in_blocks_of_text_and_nothing_else_is
    without_a_file_the_client_is_asked_nothing
    the_file_is_added_to_the_prompt_that_waits_for_it
    without_the_file_the_prompt_goes_on_as_it_is
    chunks_are_counted_from_answer_to_answer
    errors_pass_as_they_are
    an_error_ends_a_count_as_any_answer_does
    a_prompt_that_waits_can_be_withdrawn
    sessions_do_not_get_into_each_others_way
});

#[test]
fn every_language_is_tested() {
    let components = host::component("pass");
    let found = fs::read_dir(components.parent().unwrap()).unwrap();
    let mut found: Vec<_> = found
        .filter_map(|file| file.unwrap().file_name().into_string().ok())
        .filter_map(|name| {
            Some(
                name.strip_prefix("shout-")?
                    .strip_suffix(".wasm")?
                    .to_owned(),
            )
        })
        .collect();
    found.sort_unstable();
    let mut tested = LANGUAGES.to_vec();
    tested.sort_unstable();
    assert_eq!(found, tested);
}

/// `shout` in one language, in front of an agent that copies what it receives to a file.
struct Shout {
    client: Process,
    folder: TempDir,
}

impl Shout {
    async fn start(language: &str, config: &str) -> Self {
        compile().await;
        let folder = tempfile::tempdir().unwrap();
        let shout = host::component(&format!("shout-{language}"));
        let manifest = host::manifest(folder.path(), &[("shout", &shout, config)]).unwrap();
        let agent = host::recorded(&folder.path().join("received"), [AGENT]);
        let log = folder.path().join("log");
        let options = [
            "--manifest".as_ref(),
            manifest.as_os_str(),
            "--log-file".as_ref(),
            log.as_os_str(),
        ];
        let command = host::run_with(options, agent);
        let mut client = Process::start("client", &Transcript::new(), command).unwrap();
        client.initialize().await;
        Self { client, folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Prompts a session with these blocks; returns the id.
    fn prompt(&mut self, session: &str, blocks: &Value) -> String {
        let params = json!({"sessionId": session, "prompt": blocks});
        self.client.wire.ask("session/prompt", &params.to_string())
    }

    /// The next request that the client receives.
    async fn asks(&mut self) -> Message {
        loop {
            let message = self.client.wire.receive().await.unwrap();
            if message.is_request() {
                return message;
            }
        }
    }

    /// The client's next request, which must be for the file.
    async fn asks_for_the_file(&mut self, session: &str) -> Message {
        let asked = self.asks().await;
        assert_eq!(asked.method.as_deref(), Some("fs/read_text_file"));
        let expected = json!({"sessionId": session, "path": "/notes"});
        assert_eq!(value(asked.params.as_deref().unwrap()), expected);
        asked
    }

    /// Sends the first line.
    fn answer(&mut self, lines: &[String]) {
        self.client.wire.send(&lines[0]);
    }

    /// Ends the connection. Returns the methods that the agent received after `initialize`, and their parameters.
    async fn received(self) -> Vec<(String, Value)> {
        let file = self.path("received");
        let exit = self.client.finish().await.unwrap();
        assert!(exit.status.success() && exit.stderr.is_empty(), "{exit:?}");
        let lines = fs::read_to_string(file).unwrap();
        let messages = lines
            .lines()
            .skip(1)
            .map(Message::parse)
            .map(Result::unwrap);
        let messages = messages.map(|message| (message.method.unwrap_or_default(), message.params));
        messages
            .map(|(method, params)| (method, params.map_or(Value::Null, |params| value(&params))))
            .collect()
    }
}

/// Compiles the components in each language once: the interpreters compile slowly, and tests that start at the same
/// time would each compile them.
pub async fn compile() {
    static COMPILED: OnceCell<()> = OnceCell::const_new();
    let compile = async || {
        let folder = tempfile::tempdir().unwrap();
        let shouts = LANGUAGES.iter().map(|language| format!("shout-{language}"));
        let names = shouts.chain(["words-python".to_owned()]);
        let components: Vec<_> = names.map(|name| (host::component(&name), name)).collect();
        let proxies: Vec<_> = components
            .iter()
            .map(|(path, id)| (id.as_str(), path.as_path(), ""))
            .collect();
        let manifest = host::manifest(folder.path(), &proxies).unwrap();
        let checked = host::check(&manifest).output().await.unwrap();
        assert!(checked.status.success(), "{checked:?}");
    };
    COMPILED.get_or_init(compile).await;
}

fn value(json: &str) -> Value {
    serde_json::from_str(json).unwrap()
}

/// A block that the proxy leaves unchanged, and that the agent still runs as a script.
fn script(text: &str) -> Value {
    json!({"type": "script", "text": text})
}

async fn letters_of_ascii_are_upper_cased_in_blocks_of_text_and_nothing_else_is(language: &str) {
    let mut shout = Shout::start(language, "").await;
    let params = r#"{"_meta":{"keep":"me"},"prompt":[
        {"type":"text","text":"Stra\u00dfe, caf\u00e9 \u0061\n\t\"q\" \\n \ud83d\ude00 z","annotations":{"audience":["user"]}},
        {"type":"image","data":"abc","mimeType":"image/png"},
        {"text":"type last","type":"text"},
        {"type":"resource_link","uri":"file:///a","name":"name","text":"stay"},
        {"type":"text","text":""}
    ],"sessionId":"s","more":[1,2]}"#.replace('\n', " ");
    shout.client.wire.request("session/prompt", &params).await;
    let received = shout.received().await;
    let expected = json!({
        "_meta": {"keep": "me"},
        "prompt": [
            {"type": "text", "text": "STRAßE, CAFé A\n\t\"Q\" \\N 😀 Z", "annotations": {"audience": ["user"]}},
            {"type": "image", "data": "abc", "mimeType": "image/png"},
            {"text": "TYPE LAST", "type": "text"},
            {"type": "resource_link", "uri": "file:///a", "name": "name", "text": "stay"},
            {"type": "text", "text": ""},
        ],
        "sessionId": "s",
        "more": [1, 2],
    });
    assert_eq!(received, [("session/prompt".to_owned(), expected)]);
}

async fn without_a_file_the_client_is_asked_nothing(language: &str) {
    let mut shout = Shout::start(language, "").await;
    let id = shout.prompt("s", &json!([{"type": "text", "text": "hello there"}]));
    let answer = shout.client.wire.response(&id).await;
    assert_eq!(
        value(&answer.result.unwrap()),
        json!({"stopReason": "end_turn", "_meta": {"acp-chain/shout": {"chunks": 3}}})
    );
    assert_eq!(shout.client.chunks(), ["HELL", "O TH", "ERE"]);
    let lines = shout.client.wire.transcript().received("client");
    assert_eq!(lines.len(), 4, "{lines:?}");
}

async fn the_file_is_added_to_the_prompt_that_waits_for_it(language: &str) {
    let mut shout = Shout::start(language, FILE).await;
    for blocks in [json!([{"type": "text", "text": "hello"}]), json!([])] {
        let id = shout.prompt("s", &blocks);
        let asked = shout.asks_for_the_file("s").await;
        // The prompt waits; later messages do not.
        shout.client.wire.request("session/list", "{}").await;
        let content = quoted("Rule 1: \"don't\"\n\tstraße \u{1}");
        shout.answer(&asked.result(&format!(r#"{{"content":{content},"_meta":{{}}}}"#)));
        let answer = shout.client.wire.response(&id).await;
        assert!(answer.result.is_some(), "{}", answer.line);
    }
    let received = shout.received().await;
    let methods: Vec<_> = received.iter().map(|(method, _)| &**method).collect();
    assert_eq!(
        methods,
        [
            "session/list",
            "session/prompt",
            "session/list",
            "session/prompt"
        ]
    );
    let file = json!({"type": "text", "text": "RULE 1: \"DON'T\"\n\tSTRAßE \u{1}"});
    assert_eq!(
        received[1].1["prompt"],
        json!([{"type": "text", "text": "HELLO"}, file])
    );
    assert_eq!(received[3].1["prompt"], json!([file]));
}

async fn without_the_file_the_prompt_goes_on_as_it_is(language: &str) {
    const ERROR: &str = r#"{"code":-32002,"message":"Resource not found","data":{"uri":"/notes"}}"#;
    let mut shout = Shout::start(language, FILE).await;
    for give in [
        |asked: &Message| asked.error(ERROR),
        |asked: &Message| asked.result("{}"),
    ] {
        let id = shout.prompt("s", &json!([{"type": "text", "text": "hello"}]));
        let asked = shout.asks_for_the_file("s").await;
        shout.answer(&give(&asked));
        let answer = shout.client.wire.response(&id).await;
        assert!(answer.result.is_some(), "{}", answer.line);
        let log = fs::read_to_string(shout.path("log")).unwrap();
        let warned = |line: &str| line.contains("WARN") && line.contains(r#"proxy="shout""#);
        assert!(log.lines().any(warned), "{log}");
    }
    let expected = json!({"sessionId": "s", "prompt": [{"type": "text", "text": "HELLO"}]});
    let expected = ("session/prompt".to_owned(), expected);
    assert_eq!(shout.received().await, [expected.clone(), expected]);
}

async fn chunks_are_counted_from_answer_to_answer(language: &str) {
    let mut shout = Shout::start(language, "").await;
    for (text, expected) in [
        (
            "stream 12",
            json!({"stopReason": "end_turn", "_meta": {"acp-chain/shout": {"chunks": 12}}}),
        ),
        (
            "echo a\nupdate {\"sessionUpdate\":\"plan\",\"entries\":[]}\ntell vendor/other\nstream 3\n\
             stop {\"stopReason\":\"refusal\",\"x\":{\"_meta\":2},\"_meta\":{\"kept\":{\"n\":1}},\"y\":null}",
            json!({
                "stopReason": "refusal",
                "x": {"_meta": 2},
                "_meta": {"kept": {"n": 1}, "acp-chain/shout": {"chunks": 4}},
                "y": null,
            }),
        ),
        (
            "stop {\"_meta\":null}",
            json!({"_meta": {"acp-chain/shout": {"chunks": 0}}}),
        ),
        (
            "stop {\"_meta\":{}}",
            json!({"_meta": {"acp-chain/shout": {"chunks": 0}}}),
        ),
        (
            "stop {}",
            json!({"_meta": {"acp-chain/shout": {"chunks": 0}}}),
        ),
    ] {
        let id = shout.prompt("s", &json!([script(text)]));
        let answer = shout.client.wire.response(&id).await;
        assert_eq!(value(&answer.result.unwrap()), expected);
    }
}

async fn errors_pass_as_they_are(language: &str) {
    let mut shout = Shout::start(language, "").await;
    let error = r#"{"code": 7,"message":"caf\u00e9","data":{"n":1e400}, "more":1}"#;
    let id = shout.prompt("s", &json!([script(&format!("stream 2\nfail {error}"))]));
    let answer = shout.client.wire.response(&id).await;
    assert_eq!(answer.line, envelope::error(&id, error));
}

async fn an_error_ends_a_count_as_any_answer_does(language: &str) {
    let mut shout = Shout::start(language, "").await;
    let id = shout.prompt("s", &json!([script("stream 2\nfail {}")]));
    shout.client.wire.response(&id).await;
    let id = shout.prompt("s", &json!([script("stream 3")]));
    let answer = shout.client.wire.response(&id).await;
    assert_eq!(
        value(&answer.result.unwrap())["_meta"],
        json!({"acp-chain/shout": {"chunks": 3}})
    );
}

async fn a_prompt_that_waits_can_be_withdrawn(language: &str) {
    let mut shout = Shout::start(language, FILE).await;
    let cancel =
        |id: &str| envelope::notification("$/cancel_request", &format!(r#"{{"requestId":{id}}}"#));
    for stop in [false, true] {
        let id = shout.prompt("s", &json!([{"type": "text", "text": "hello"}]));
        let asked = shout.asks_for_the_file("s").await;
        let expected = if stop {
            shout
                .client
                .wire
                .notify("session/cancel", r#"{"sessionId":"s"}"#);
            envelope::result(&id, r#"{"stopReason":"cancelled"}"#)
        } else {
            shout.client.wire.send(cancel(&id));
            envelope::error(&id, r#"{"code":-32800,"message":"Request cancelled"}"#)
        };
        let answer = shout.client.wire.response(&id).await;
        assert_eq!(answer.line, expected);
        let withdrawn = shout.client.wire.receive().await.unwrap();
        assert_eq!(withdrawn.line, cancel(asked.id.as_deref().unwrap()));
        shout.answer(&asked.result(r#"{"content":"too late"}"#));
    }

    let id = shout.prompt("s", &json!([{"type": "text", "text": "again"}]));
    let asked = shout.asks_for_the_file("s").await;
    shout.answer(&asked.result(r#"{"content":"in time"}"#));
    let answer = shout.client.wire.response(&id).await;
    assert!(answer.result.is_some(), "{}", answer.line);
    let mut received = shout.received().await;
    let stop = received.remove(0);
    assert_eq!(
        stop,
        ("session/cancel".to_owned(), json!({"sessionId": "s"}))
    );
    let expected = json!([{"type": "text", "text": "AGAIN"}, {"type": "text", "text": "IN TIME"}]);
    assert_eq!(received.len(), 1, "{received:?}");
    assert_eq!(received[0].1["prompt"], expected);
}

async fn sessions_do_not_get_into_each_others_way(language: &str) {
    let mut shout = Shout::start(language, FILE).await;
    let one = shout.prompt(
        "one",
        &json!([script("stream 2 one\nask vendor/wait\necho one")]),
    );
    let first = shout.asks_for_the_file("one").await;
    let two = shout.prompt("two", &json!([script("stream 5 two")]));
    let second = shout.asks_for_the_file("two").await;
    // Answered in reverse order; the first turn is still open when the second ends.
    shout.answer(&second.result(r#"{"content":"b"}"#));
    let answer = shout.client.wire.response(&two).await;
    // The content of the file, which the agent echoes, is the last chunk.
    assert_eq!(
        value(&answer.result.unwrap())["_meta"],
        json!({"acp-chain/shout": {"chunks": 6}})
    );
    shout.answer(&first.result(r#"{"content":"a"}"#));
    let asked = shout.asks().await;
    assert_eq!(asked.method.as_deref(), Some("vendor/wait"));
    shout.answer(&asked.result("{}"));
    let answer = shout.client.wire.response(&one).await;
    // Two chunks of the stream, the answer to `vendor/wait`, the echo, the file.
    assert_eq!(
        value(&answer.result.unwrap())["_meta"],
        json!({"acp-chain/shout": {"chunks": 5}})
    );
    let lines = shout.client.wire.transcript().received("client");
    let of = |session: &str| {
        let of = lines
            .iter()
            .filter(|line| line.contains(&format!(r#""sessionId":"{session}""#)));
        chunks(&of.cloned().collect::<Vec<_>>())
    };
    assert_eq!(of("one"), ["one 0", "one 1", "result {}", "one", "A"]);
    assert_eq!(
        of("two"),
        ["two 0", "two 1", "two 2", "two 3", "two 4", "B"]
    );
}
