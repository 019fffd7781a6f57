//! The content of the page in a real browser, which all tests share since it starts slowly.

use std::path::Path;

use acp_chain_tests::host;
use serde_json::json;

use super::browser::Browser;
use super::{Inspector, traces};

#[tokio::test]
async fn the_page_shows_what_each_proxy_made_of_messages_and_runs_nothing_that_they_say() {
    let folder = tempfile::tempdir().unwrap();
    let mut browser = Browser::start();
    a_redacted_prompt_is_found_and_its_difference_shown(&mut browser, folder.path()).await;
    nothing_runs_that_a_trace_says(&mut browser, folder.path()).await;
    states_of_proxies_are_told_apart(&mut browser, folder.path()).await;
    rows_say_what_they_hold_and_how_long_it_took(&mut browser, folder.path()).await;
    chains_whose_lines_were_dropped_say_so(&mut browser).await;
    notifications_are_joined_with_what_became_of_them(&mut browser, folder.path()).await;
    a_chain_that_runs_is_shown_and_does_not_move_what_is_read(&mut browser).await;
}

/// The text of the selected message.
const DETAIL: &str = "document.getElementById('detail').innerText";

async fn a_redacted_prompt_is_found_and_its_difference_shown(browser: &mut Browser, folder: &Path) {
    let trace = traces::recorded(folder).await;
    let inspector = Inspector::start(&[&trace]).await;
    browser.open(&inspector.address).await;
    let lines = std::fs::read_to_string(&trace).unwrap().lines().count();
    browser
        .wait(&format!("globalThis.inspector?.model.count === {lines}"))
        .await;
    // The lanes are those of one chain, here of the last.
    browser.wait("inspector.list.chain === 1").await;
    let shown = browser.run("inspector.list.lanes.list").await;
    let expected: Vec<_> = ["client"]
        .into_iter()
        .chain(traces::PROXIES)
        .chain(["acp-chain", "agent"])
        .collect();
    assert_eq!(shown, json!(expected));
    // With keys alone: search for a text, open the first match, and go on to the change.
    browser.keys(&["/"]).await;
    browser.types(&traces::SECRET.to_lowercase()).await;
    browser
        .wait("inspector.shown === 2 && !inspector.isSearching")
        .await;
    browser.keys(&["Enter", "j", "j"]).await;
    browser
        .wait(&format!("{DETAIL}.includes('What redact made of it')"))
        .await;
    let removed = browser
        .run("document.querySelector('.difference .old').innerText")
        .await;
    let added = browser
        .run("document.querySelector('.difference .new').innerText")
        .await;
    assert!(
        removed.as_str().unwrap().contains(traces::SECRET),
        "{removed}"
    );
    assert!(
        added
            .as_str()
            .unwrap()
            .contains("[redacted: aws-access-token]"),
        "{added}"
    );
    // The whole line can be copied.
    browser
        .click("#detail h3 button:text('Copy the line')")
        .await;
    let copied = browser.run("navigator.clipboard.readText()").await;
    let text = std::fs::read_to_string(&trace).unwrap();
    assert!(text.lines().any(|line| copied == line), "{copied}");
    // The prompt names a turn, which filters the list.
    browser.keys(&["Escape", "Escape", "Escape"]).await;
    browser
        .wait(&format!(
            "inspector.shown > 20 && inspector.model.count === {lines}"
        ))
        .await;
    browser.click(":nth-match(#side li button, 2)").await;
    browser
        .wait("inspector.shown > 5 && inspector.shown < inspector.model.count / 2")
        .await;
    its_conversation_has_what_redact_made_of_it(browser).await;
    // The export is one file, which shows the same from disk without any request.
    browser.keys(&["e"]).await;
    let report = folder.join("report.html");
    browser
        .saves(".formats button:text('One file for a bug report')", &report)
        .await;
    // A transcript covers one chain.
    browser.keys(&["Escape"]).await;
    browser.click(":nth-match(#side li button, 2)").await;
    browser.keys(&["e"]).await;
    for (label, begins) in [
        ("The lines of the trace", "{\"time\":"),
        ("A transcript", "client: "),
        ("Chrome", ""),
        ("An HTTP Archive", "{"),
        ("Spans for OpenTelemetry", "{\"resourceSpans\":"),
    ] {
        let file = folder.join("exported");
        browser
            .saves(&format!(".formats button:text('{label}')"), &file)
            .await;
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(
            !text.is_empty() && text.starts_with(begins),
            "{label}: {text:.200}"
        );
    }
    assert_eq!(browser.told().await, json!([]));
    drop(inspector);
    browser.open(&format!("file://{}", report.display())).await;
    browser.wait("globalThis.inspector?.shown > 20").await;
    browser.keys(&["/"]).await;
    browser.types(traces::SECRET).await;
    browser.wait("inspector.shown === 2").await;
    browser.keys(&["Enter", "j", "j"]).await;
    browser
        .wait(&format!(
            "{DETAIL}.includes('[redacted: aws-access-token]')"
        ))
        .await;
    assert_eq!(browser.told().await, json!([]));
}

/// As a conversation, the prompt has in its margin what redact made of it.
async fn its_conversation_has_what_redact_made_of_it(browser: &mut Browser) {
    browser.click(":nth-match(#side li button, 1)").await;
    browser.keys(&["v"]).await;
    let note = "#conversation .is-prompt .note.is-change";
    browser
        .wait(&format!("document.querySelector('{note}')"))
        .await;
    browser
        .click(&format!("{note}:has-text('redact') button[aria-expanded]"))
        .await;
    let said = browser
        .run("document.querySelector('#conversation .is-prompt').innerText")
        .await;
    for text in [traces::SECRET, "[redacted: aws-access-token]", "redact"] {
        assert!(said.as_str().unwrap().contains(text), "{said}");
    }
    browser
        .wait("document.querySelector('#conversation .is-message pre')")
        .await;
    browser.keys(&["v"]).await;
    browser.click(":nth-match(#side li button, 1)").await;
}

async fn nothing_runs_that_a_trace_says(browser: &mut Browser, folder: &Path) {
    let trace = traces::hostile(folder);
    let inspector = Inspector::start(&[&trace]).await;
    let report = folder.join("hostile.html");
    let file = format!("file://{}", report.display());
    for address in [&inspector.address, &file] {
        browser.open(address).await;
        browser
            .wait("globalThis.inspector?.model.count === 55 && document.querySelector('.row')")
            .await;
        for kind in ["", "kind:decision"] {
            browser.keys(&["Escape", "Escape", "/"]).await;
            if !kind.is_empty() {
                browser.types(kind).await;
                browser.wait("inspector.shown === 6").await;
            }
            browser.keys(&["Enter", "g"]).await;
            let shown = browser.run("inspector.shown").await.as_u64().unwrap();
            for _ in 0..shown {
                browser
                    .wait("document.querySelector('#detail .json, #detail pre')")
                    .await;
                browser.keys(&["j"]).await;
            }
        }
        browser.keys(&["/", "Escape", "p"]).await;
        browser
            .wait("!document.getElementById('plots').hidden")
            .await;
        browser.keys(&["v"]).await;
        browser
            .wait("document.querySelector('#conversation .item')")
            .await;
        if address == &inspector.address {
            browser.keys(&["e"]).await;
            browser
                .saves(".formats button:text('One file for a bug report')", &report)
                .await;
        }
        assert_eq!(browser.run("String(globalThis.canary)").await, "undefined");
        assert_eq!(
            browser
                .run("document.querySelectorAll('img, svg, iframe, object').length")
                .await,
            0
        );
        assert_eq!(browser.told().await, json!([]));
    }
}

async fn states_of_proxies_are_told_apart(browser: &mut Browser, folder: &Path) {
    let trace = folder.join("states.jsonl");
    let states = [
        r#""state":"running","restarts":0"#,
        r#""state":"failed","restarts":0,"why":"it broke""#,
        r#""state":"running","restarts":1"#,
        r#""state":"running","restarts":1,"memory":65536"#,
        r#""state":"asleep","restarts":1"#,
        r#""state":"ended","restarts":1"#,
    ];
    let lines = states.map(|state| format!("{{\"connection\":\"c\",\"proxy\":\"p\",{state}}}\n"));
    // The start of the other proxy was not recorded.
    let late = r#"{"connection":"c","proxy":"q","state":"running","restarts":3}"#;
    std::fs::write(&trace, lines.concat() + late + "\n").unwrap();
    let inspector = Inspector::start(&[&trace]).await;
    browser.open(&inspector.address).await;
    browser
        .wait("globalThis.inspector?.model.count === 7")
        .await;
    let told = browser
        .run("[0, 1, 2, 3, 4, 5, 6].map((at) => inspector.model.stateOf(at))")
        .await;
    assert_eq!(
        told,
        json!([
            "runs",
            "has failed",
            "was restarted (1)",
            "runs",
            "sleeps",
            "ended",
            "runs"
        ])
    );
    browser.keys(&["/"]).await;
    browser.types("status:restarted").await;
    browser.wait("inspector.shown === 1").await;
    assert_eq!(browser.told().await, json!([]));
}

async fn rows_say_what_they_hold_and_how_long_it_took(browser: &mut Browser, folder: &Path) {
    let trace = folder.join("took.jsonl");
    let at = |second: u64, mut line: serde_json::Value| {
        line["time"] = format!("2026-01-01T00:00:0{second}.000000Z").into();
        line["connection"] = "c".into();
        line["session"] = "s".into();
        format!("{line}\n")
    };
    let prompt = json!({
        "from": "client", "to": "agent", "kind": "request", "id": 1, "request": 1, "method": "session/prompt",
        "params": {"prompt": [{"type": "text", "text": "go on"}]},
    });
    let tool = json!({
        "from": "agent", "to": "client", "kind": "notification", "method": "session/update",
        "params": {"update": {"sessionUpdate": "tool_call", "toolCallId": "1", "title": "ls"}},
    });
    // A report of a hook has no answer in a trace.
    let hook = json!({
        "from": "agent", "to": "client", "kind": "request", "request": 2, "method": "_acp-chain/hook/before_tool",
    });
    let answer = json!({
        "from": "agent", "to": "client", "kind": "response", "request": 1, "method": "session/prompt",
        "result": {"stopReason": "end_turn"},
    });
    let lines = [at(1, prompt), at(3, tool), at(4, hook), at(7, answer)];
    std::fs::write(&trace, lines.concat()).unwrap();
    let inspector = Inspector::start(&[&trace]).await;
    browser.open(&inspector.address).await;
    browser
        .wait("globalThis.inspector?.model.count === 4 && document.querySelectorAll('.row').length === 4")
        .await;
    let rows = browser
        .run("[...document.querySelectorAll('.row')].map((row) => row.innerText)")
        .await;
    for (row, texts) in [
        (0, ["go on", "6.00 s"]),
        (1, ["tool_call", "ls"]),
        (3, ["end_turn", "6.00 s"]),
    ] {
        for text in texts {
            assert!(rows[row].as_str().unwrap().contains(text), "{rows}");
        }
    }
    let unanswered = browser
        .run("inspector.model.marks.some((marks) => marks & 16)")
        .await;
    assert_eq!(unanswered, false);
    let turn = browser
        .run("inspector.model.turns.map(({ speaks, over }) => [speaks, over])")
        .await;
    assert_eq!(turn, json!([[1, 3]]));
    browser.keys(&["v"]).await;
    browser
        .wait("document.querySelector('.facts')?.innerText.includes('took 6.00 s · first output after 2.00 s')")
        .await;
    assert_eq!(browser.told().await, json!([]));
}

/// The page that is open has another model; this one gets its frames here.
async fn chains_whose_lines_were_dropped_say_so(browser: &mut Browser) {
    let lost = browser
        .run(
            "(() => {
                const model = new inspector.model.constructor();
                const connection = (first) => ({ source: 0, name: `${first}`, proxies: [], first });
                model.take({ names: [''], sources: [{ name: 's', is_live: true }], connections: [0, 5, 12].map(connection) });
                const rows = Array.from({ length: 16 }, () => [0, 0]);
                rows[2] = [1, 2];
                model.take({ first: 11, oldest: 11, rows, said: ['', ''], turns: [], speaks: [], ends: [] });
                return [0, 1, 2].map((connection) => model.lost(connection));
            })()",
        )
        .await;
    assert_eq!(lost, json!(["all", "some", ""]));
}

async fn notifications_are_joined_with_what_became_of_them(browser: &mut Browser, folder: &Path) {
    let trace = folder.join("joined.jsonl");
    let hop = |from: &str, to: &str, body: u64| {
        json!({
            "connection": "c", "from": from, "to": to, "kind": "notification", "message": body, "method": "m",
            "params": [body],
        })
    };
    let decision = |decision: &str, took: &str, message: u64| {
        let mut line = json!({
            "connection": "c", "proxy": "p", "decision": decision, "message": message, "method": "m",
        });
        line[took] = 5.into();
        line
    };
    let lines = [
        hop("agent", "p", 1),
        // The proxy's own message precedes its decision, since it is sent within the call.
        hop("p", "client", 8),
        decision("forward", "worked", 1),
        hop("p", "client", 1),
        hop("agent", "p", 2),
        decision("hold", "worked", 2),
        hop("agent", "p", 3),
        hop("p", "client", 9),
        decision("forward", "worked", 3),
        hop("p", "client", 3),
        decision("forward", "held", 2),
        hop("p", "client", 2),
    ];
    let state = r#"{"connection":"c","proxy":"p","state":"running","restarts":0,"memory":65536}"#;
    let lines = lines.map(|line| format!("{line}\n"));
    std::fs::write(&trace, format!("{state}\n{}", lines.concat())).unwrap();
    let inspector = Inspector::start(&[&trace]).await;
    browser.open(&inspector.address).await;
    browser
        .wait("globalThis.inspector?.model.count === 13")
        .await;
    let came = browser
        .run("[2, 4, 8, 10, 12].map((at) => inspector.model.came[at])")
        .await;
    assert_eq!(came, json!([-1, 1, -1, 7, 5]));
    browser.keys(&["/"]).await;
    browser.types("status:changed").await;
    browser.wait("inspector.shown === 0").await;
    assert_eq!(browser.told().await, json!([]));
}

async fn a_chain_that_runs_is_shown_and_does_not_move_what_is_read(browser: &mut Browser) {
    let mut chain = traces::Chain::open();
    let mut command = host::acp_chain("inspect");
    let inspector = Inspector::of(&mut command).await;
    browser.open(&inspector.address).await;
    chain.heard();
    chain.says(200);
    // Other chains of this user may run at the same time.
    browser.keys(&["/"]).await;
    browser.types("method:live/told").await;
    browser.wait("inspector.shown === 200").await;
    browser.keys(&["Enter"]).await;
    browser.keys(&["g", "j", "j", "j"]).await;
    let top = "document.querySelector('.row.current').innerText + document.querySelector('.scroller').scrollTop";
    browser.wait("document.querySelector('.row.current')").await;
    let before = browser.run(top).await;
    chain.says(100);
    browser.wait("inspector.shown === 300").await;
    browser.wait("document.querySelector('.news')").await;
    assert_eq!(browser.run(top).await, before);
    browser.click(".news").await;
    browser
        .wait("inspector.list.isAtEnd && !document.querySelector('.news')")
        .await;
    // The chains of a server differ by their users.
    browser.keys(&["/"]).await;
    browser.types("method:live/told user:bob").await;
    browser.wait("inspector.shown === 0").await;
    browser.keys(&["Enter", "/"]).await;
    browser.types("method:live/told user:ann").await;
    browser.wait("inspector.shown === 300").await;
    browser.keys(&["Enter"]).await;
    // A chain that ends stays, and is marked.
    drop(chain);
    browser
        .wait("document.querySelector('#side .chip.ended')")
        .await;
    assert_eq!(browser.run("inspector.shown").await, 300);
    assert_eq!(browser.told().await, json!([]));
}
