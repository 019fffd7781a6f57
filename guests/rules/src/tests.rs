use acp_chain_proxy::testing::{Host, SentKind, SentMessage};
use acp_chain_proxy::{Error, Level, MessageId, Peer};
use serde_json::{Value, json};

use super::Rules;
use super::mark::marked;

mod replay;
mod titles;

/// The powers in the README.
const LEAST: &[&str] = &[
    "capabilities.read",
    "session-setup.read",
    "prompts.read",
    "prompts.change",
    "answers.read",
    "answers.change",
    "answers.send",
    "titles.read",
    "titles.change",
    "turns.read",
    "files.read",
];

/// A host whose client reads files, with the session `s` in `/proj`.
fn host(config: Value) -> Host {
    host_in("/proj", config)
}

/// The same with this working directory.
fn host_in(cwd: &str, config: Value) -> Host {
    let mut host = Host::start::<Rules>(config).expect("the configuration is right");
    host.powers(LEAST);
    let reads = json!({ "fs": { "readTextFile": true } });
    host.request(
        Peer::Client,
        "initialize",
        json!({ "clientCapabilities": reads }),
    );
    open(&mut host, cwd);
    host
}

fn open(host: &mut Host, cwd: &str) {
    let id = host.request(
        Peer::Client,
        "session/new",
        json!({ "cwd": cwd, "mcpServers": [] }),
    );
    host.answer(id, json!({ "sessionId": "s" }));
    host.sent();
}

fn prompt(host: &mut Host, text: &str) -> MessageId {
    let block = json!({ "type": "text", "text": text });
    host.request(
        Peer::Client,
        "session/prompt",
        json!({ "sessionId": "s", "prompt": [block] }),
    )
}

/// Answers every read from these files, until there are no more requests. Returns what was passed on to the agent, and
/// the requested paths.
fn serve(host: &mut Host, files: &[(&str, &str)]) -> (Vec<SentMessage>, Vec<String>) {
    let (mut prompts, mut asked) = (Vec::new(), Vec::new());
    loop {
        let sent = host.sent();
        if sent.is_empty() {
            return (prompts, asked);
        }
        for message in sent {
            if message.method == "fs/read_text_file" {
                let path: String = message.get("/path").expect("a path");
                match files.iter().find(|(name, _)| path == *name) {
                    Some((_, content)) => host.answer(message.id, json!({ "content": content })),
                    None => host.fail(message.id, Error::new(-32002, "Resource not found")),
                }
                asked.push(path);
            } else {
                prompts.push(message);
            }
        }
    }
}

fn texts(sent: &SentMessage) -> Vec<String> {
    let blocks: Vec<Value> = sent.get("/prompt").expect("a prompt");
    blocks
        .iter()
        .map(|block| block["text"].as_str().expect("text").to_owned())
        .collect()
}

const AGENTS: (&str, &str) = ("/proj/AGENTS.md", "Use tabs.\n");
const CLAUDE: (&str, &str) = ("/proj/CLAUDE.md", "Use spaces.\n");

/// The addition for `AGENTS`, as text.
fn tabs() -> String {
    let text = "The rules of this project, from its file `AGENTS.md`:\n\nUse tabs.\n\n\
                (End of `AGENTS.md`.)";
    format!("\n\n{}", marked(text))
}

#[test]
fn the_first_prompt_of_a_session_gets_the_rules_and_no_other() {
    let mut host = host(json!({}));
    prompt(&mut host, "hi");
    let (prompts, asked) = serve(&mut host, &[AGENTS, CLAUDE]);
    assert_eq!(texts(&prompts[0]), ["hi", &tabs()]);
    assert_eq!(asked, ["/proj/AGENTS.md"]);
    prompt(&mut host, "again");
    let (prompts, asked) = serve(&mut host, &[AGENTS]);
    assert_eq!(
        (texts(&prompts[0]), asked.len()),
        (vec!["again".to_owned()], 0)
    );
}

#[test]
fn the_names_are_tried_in_order() {
    let mut host = host(json!({ "files": ["docs/RULES.md", "AGENTS.md", "CLAUDE.md"] }));
    prompt(&mut host, "hi");
    let (prompts, asked) = serve(&mut host, &[CLAUDE]);
    assert_eq!(
        asked,
        ["/proj/AGENTS.md", "/proj/docs/RULES.md", "/proj/CLAUDE.md"]
    );
    assert!(texts(&prompts[0])[1].contains("`CLAUDE.md`:\n\nUse spaces."));
}

#[test]
fn where_a_directory_has_no_rules_those_of_the_nearest_folder_up_to_the_root_of_the_repository_count()
 {
    const WINDOWS: (&str, &str) = (r"C:\proj\AGENTS.md", "Use tabs.\n");
    let nearer = ("/proj/src/CLAUDE.md", "Use spaces.\n");
    let head = ("/proj/.git/HEAD", "ref: refs/heads/main\n");
    let outside = ("/AGENTS.md", "Obey me.\n");
    for (cwd, files, expected) in [
        (
            "/proj/src/pkg",
            &[head, AGENTS, outside][..],
            Some("`../../AGENTS.md`:\n\nUse tabs."),
        ),
        (
            "/proj/src/pkg",
            &[head, AGENTS, nearer],
            Some("`../CLAUDE.md`:\n\nUse spaces."),
        ),
        (
            "/proj/src/",
            &[("/proj/.git", "gitdir: /other\n"), AGENTS],
            Some("`../AGENTS.md`"),
        ),
        (
            r"C:\proj\src",
            &[(r"C:\proj\.git\HEAD", "ref: x\n"), WINDOWS],
            Some("`../AGENTS.md`"),
        ),
        // Nothing above the root of a repository is read, and nothing above a directory in none.
        ("/proj", &[head, outside], None),
        ("/proj/src", &[AGENTS, outside], None),
        ("/proj/../src", &[head, AGENTS], None),
    ] {
        let mut host = host_in(cwd, json!({}));
        prompt(&mut host, "hi");
        let (prompts, asked) = serve(&mut host, files);
        let texts = texts(&prompts[0]);
        assert_eq!(
            texts.len(),
            1 + usize::from(expected.is_some()),
            "{cwd}: {texts:?}"
        );
        if let Some(expected) = expected {
            assert!(texts[1].contains(expected), "{cwd}: {texts:?}");
        }
        let strays = asked.iter().any(|path| path == "/AGENTS.md");
        assert!(!strays, "{cwd}: {asked:?}");
    }
}

#[test]
fn all_files_are_taken_on_demand() {
    let mut host = host(json!({ "all": true }));
    prompt(&mut host, "hi");
    let (prompts, asked) = serve(&mut host, &[AGENTS, CLAUDE]);
    assert_eq!(asked.len(), 5);
    let texts = texts(&prompts[0]);
    assert_eq!((texts.len(), &*texts[0]), (2, "hi"));
    let places = [texts[1].find("Use tabs."), texts[1].find("Use spaces.")];
    assert!(places[0].is_some() && places[0] < places[1]);
}

#[test]
fn the_rules_follow_a_text_without_a_block() {
    let mut host = host(json!({}));
    let say = |host: &mut Host, prompt: Value| {
        let params = json!({ "sessionId": "s", "prompt": prompt });
        host.request(Peer::Client, "session/prompt", params);
    };
    // The rules wait for a prompt that they can follow.
    for alone in [json!("/init"), json!({ "text": "hi" }), json!(7)] {
        say(&mut host, alone.clone());
        let (prompts, asked) = serve(&mut host, &[AGENTS]);
        assert_eq!((prompts[0].at("/prompt"), asked.len()), (alone, 0));
    }
    say(&mut host, json!("hi"));
    let (prompts, _) = serve(&mut host, &[AGENTS]);
    let prompt: String = prompts[0].get("/prompt").expect("a text");
    assert_eq!(prompt, format!("hi{}", tabs()));
    say(&mut host, json!("again"));
    let (prompts, asked) = serve(&mut host, &[AGENTS]);
    assert_eq!((prompts[0].at("/prompt"), asked.len()), (json!("again"), 0));
}

#[test]
fn a_prompt_without_rules_goes_on_as_it_was() {
    let mut host = host(json!({}));
    prompt(&mut host, "hi");
    let (prompts, _) = serve(&mut host, &[("/proj/AGENTS.md", " \n")]);
    assert_eq!(texts(&prompts[0]), ["hi"]);
    prompt(&mut host, "again");
    assert_eq!(
        serve(&mut host, &[AGENTS]).1.len(),
        0,
        "it was looked for once"
    );
}

#[test]
fn a_long_file_is_cut_between_two_characters_with_a_note() {
    for (limit, kept) in [(4, "äö"), (5, "äö"), (6, "äöü"), (7, "äöü")] {
        let mut host = host(json!({ "limit": limit }));
        prompt(&mut host, "hi");
        let (prompts, _) = serve(&mut host, &[("/proj/AGENTS.md", "äöü!")]);
        let text = &texts(&prompts[0])[1];
        assert_eq!(
            text.contains("is cut here: it has 7 bytes"),
            limit < 7,
            "{text}"
        );
        assert!(text.contains(&format!("\n\n{kept}")), "{text}");
    }
}

#[test]
fn the_limit_is_for_all_files_together() {
    let mut host = host(json!({ "all": true, "limit": 15 }));
    prompt(&mut host, "hi");
    let (prompts, _) = serve(&mut host, &[AGENTS, CLAUDE]);
    let text = &texts(&prompts[0])[1];
    assert!(text.contains("Use tabs.\n\n(End"));
    assert!(text.contains("\n\nUse s\n\n(`CLAUDE.md` is cut here"));
}

#[test]
fn an_agent_that_takes_resources_gets_the_rules_as_one_that_is_meant_for_the_model() {
    for (capabilities, version) in [
        (
            json!({ "agentCapabilities": { "promptCapabilities": { "embeddedContext": true } } }),
            1,
        ),
        (
            json!({ "capabilities": { "session": { "prompt": { "embeddedContext": {} } } } }),
            2,
        ),
    ] {
        let mut host = Host::start::<Rules>(json!({})).expect("right");
        host.powers(LEAST);
        let reads = json!({ "clientCapabilities": { "fs": { "readTextFile": true } } });
        let id = host.request(Peer::Client, "initialize", reads);
        let mut agreed = capabilities;
        agreed["protocolVersion"] = version.into();
        host.answer(id, agreed);
        open(&mut host, "/proj");
        prompt(&mut host, "hi");
        let (prompts, _) = serve(&mut host, &[AGENTS]);
        let expected = json!({
            "type": "resource",
            "resource": {
                "uri": super::mark::uri(),
                "mimeType": "text/markdown",
                "text": tabs().trim_start(),
            },
            "annotations": { "audience": ["assistant"] },
        });
        assert_eq!(prompts[0].at("/prompt/0/text"), "hi");
        assert_eq!(prompts[0].at("/prompt/1"), expected);
        assert_eq!(prompts[0].at("/prompt/2"), Value::Null);
    }
}

#[test]
fn if_the_client_gives_no_content_the_user_is_notified_once() {
    for content in [
        json!(null),
        json!({}),
        json!({ "content": null }),
        json!("a"),
    ] {
        let mut host = host(json!({}));
        let mut received = Vec::new();
        for words in ["hi", "again"] {
            prompt(&mut host, words);
            loop {
                let sent = host.sent();
                if sent.is_empty() {
                    break;
                }
                for message in sent {
                    if message.method == "fs/read_text_file" {
                        host.answer(message.id, content.clone());
                    } else {
                        received.push(message);
                    }
                }
            }
        }
        let [notice, prompts @ ..] = &received[..] else {
            panic!("{content}: nothing is sent")
        };
        let notice: String = notice.get("/update/content/text").expect("a text");
        assert!(notice.contains("answers without the content"), "{notice}");
        let words: Vec<_> = prompts.iter().map(texts).collect();
        assert_eq!(words, [["hi"], ["again"]], "{content}");
    }
}

#[test]
fn if_the_client_reads_no_files_the_user_is_notified_once() {
    for (capabilities, version) in [
        (json!({}), 1),
        (
            json!({ "clientCapabilities": { "fs": { "readTextFile": false } } }),
            1,
        ),
        (json!({ "capabilities": {}, "protocolVersion": 2 }), 2),
    ] {
        let mut host = Host::start::<Rules>(json!({})).expect("right");
        host.powers(LEAST);
        let id = host.request(Peer::Client, "initialize", capabilities);
        host.answer(id, json!({ "protocolVersion": version }));
        open(&mut host, "/proj");
        prompt(&mut host, "hi");
        let sent = host.sent();
        let notice: String = match version {
            1 => sent[0].get("/update/content/text"),
            _ => sent[0].get("/update/title"),
        }
        .expect("a text");
        assert_eq!(sent[0].to, Peer::Client);
        assert!(
            notice.contains("this project's rules are not added"),
            "{notice}"
        );
        assert_eq!(texts(&sent[1]), ["hi"]);
        prompt(&mut host, "again");
        assert_eq!(texts(&host.sent()[0]), ["again"]);
        let warnings = host
            .log()
            .into_iter()
            .filter(|(level, _)| *level == Level::Warn);
        assert_eq!(warnings.count(), 1);
    }
}

#[test]
fn a_session_with_a_history_gets_no_rules() {
    let mut host = host(json!({}));
    let id = host.request(
        Peer::Client,
        "session/load",
        json!({ "sessionId": "s", "cwd": "/proj" }),
    );
    host.answer(id, json!({}));
    host.sent();
    prompt(&mut host, "hi");
    assert_eq!(texts(&host.sent()[0]), ["hi"]);
}

#[test]
fn a_slash_command_stays_first_and_the_rules_wait() {
    let mut host = host(json!({}));
    prompt(&mut host, "/compact");
    assert_eq!(texts(&host.sent()[0]), ["/compact"]);
    prompt(&mut host, "hi");
    let (prompts, _) = serve(&mut host, &[AGENTS]);
    assert_eq!(texts(&prompts[0]), ["hi", &tabs()]);
}

#[test]
fn a_very_long_prompt_goes_on_and_the_rules_wait() {
    let mut host = host(json!({}));
    let long = "x".repeat(17 * 1024 * 1024);
    prompt(&mut host, &long);
    assert_eq!(texts(&host.sent()[0]), [long]);
    prompt(&mut host, "hi");
    let (prompts, _) = serve(&mut host, &[AGENTS]);
    assert_eq!(texts(&prompts[0]), ["hi", &tabs()]);
}

#[test]
fn prompts_that_come_while_reading_wait_for_their_turn() {
    let mut host = host(json!({}));
    let first = prompt(&mut host, "first");
    let second = prompt(&mut host, "second");
    assert_eq!(host.held(), [first, second]);
    let (prompts, asked) = serve(&mut host, &[AGENTS]);
    assert_eq!(asked.len(), 1);
    assert_eq!(texts(&prompts[0]), ["first", &tabs()]);
    assert_eq!(texts(&prompts[1]), ["second"]);
}

#[test]
fn a_prompt_that_is_cancelled_while_reading_leaves_the_rules_to_the_next() {
    let mut host = host(json!({}));
    let first = prompt(&mut host, "first");
    prompt(&mut host, "second");
    let reading = host.sent().remove(0);
    host.cancel(first);
    let sent = host.sent();
    assert_eq!((sent[0].what, sent[0].id), (SentKind::Cancel, reading.id));
    assert_eq!(
        (sent[1].id, &sent[1].body),
        (first, &Err(Error::cancelled()))
    );
    // The second prompt reads the files again.
    assert_eq!(sent[2].method, "fs/read_text_file");
    host.answer(sent[2].id, json!({ "content": "Use tabs." }));
    assert_eq!(texts(&host.sent()[0]), ["second", &tabs()]);
}

#[test]
fn a_prompt_that_the_agent_rejected_leaves_the_rules_to_the_next() {
    let mut host = host(json!({}));
    let first = prompt(&mut host, "first");
    serve(&mut host, &[AGENTS]);
    host.fail(first, Error::new(-32000, "Authentication required"));
    host.sent();
    let second = prompt(&mut host, "second");
    let (prompts, _) = serve(&mut host, &[AGENTS]);
    assert_eq!(texts(&prompts[0]), ["second", &tabs()]);
    host.answer(second, json!({ "stopReason": "end_turn" }));
    let third = prompt(&mut host, "third");
    host.sent();
    host.fail(third, Error::new(-32603, "Internal error"));
    prompt(&mut host, "fourth");
    assert_eq!(
        serve(&mut host, &[AGENTS]).1.len(),
        0,
        "the second prompt had them"
    );
}

#[test]
fn a_new_instance_knows_the_client_its_sessions_and_which_have_the_rules() {
    let mut host = host(json!({}));
    host.restart().expect("restores the saved state");
    let first = prompt(&mut host, "first");
    let (prompts, _) = serve(&mut host, &[AGENTS]);
    assert_eq!(texts(&prompts[0]), ["first", &tabs()]);

    host.restart().expect("restores the saved state");
    prompt(&mut host, "second");
    assert_eq!(serve(&mut host, &[AGENTS]).1.len(), 0);

    host.restart().expect("restores the saved state");
    host.fail(first, Error::new(-32000, "Authentication required"));
    host.sent();
    prompt(&mut host, "third");
    let (prompts, _) = serve(&mut host, &[AGENTS]);
    assert_eq!(texts(&prompts[0]), ["third", &tabs()]);
}

#[test]
fn a_session_that_is_being_opened_when_the_proxy_breaks_gets_its_rules() {
    let mut host = host(json!({}));
    let id = host.request(Peer::Client, "session/new", json!({ "cwd": "/other" }));
    host.restart().expect("restores the saved state");
    host.answer(id, json!({ "sessionId": "s" }));
    host.sent();
    prompt(&mut host, "hi");
    let (_, asked) = serve(&mut host, &[]);
    assert_eq!(asked[0], "/other/AGENTS.md");
}

#[test]
fn files_that_were_being_read_when_the_proxy_broke_are_read_again() {
    let mut host = host(json!({}));
    prompt(&mut host, "first");
    host.restart().expect("restores the saved state");
    host.sent();
    prompt(&mut host, "second");
    let (prompts, _) = serve(&mut host, &[AGENTS]);
    assert_eq!(texts(&prompts[0]), ["second", &tabs()]);
}

#[test]
fn nothing_is_saved_where_nothing_changed() {
    let mut host = host(json!({}));
    let first = prompt(&mut host, "first");
    serve(&mut host, &[AGENTS]);
    assert!(host.saved().is_some());
    host.answer(first, json!({ "stopReason": "end_turn" }));
    prompt(&mut host, "second");
    assert_eq!(host.saved(), None);
}

#[test]
fn windows_paths_are_joined_in_their_own_style() {
    let mut host = host(json!({ "files": [".github/copilot-instructions.md"] }));
    open(&mut host, r"C:\proj");
    prompt(&mut host, "hi");
    let (_, asked) = serve(&mut host, &[]);
    assert_eq!(
        asked,
        [
            r"C:\proj\AGENTS.md",
            r"C:\proj\.github\copilot-instructions.md",
            // Whether it is the root of a repository.
            r"C:\proj\.git\HEAD",
            r"C:\proj\.git",
            r"C:\.git\HEAD",
            r"C:\.git"
        ]
    );
}

#[test]
fn what_is_wrong_with_the_configuration_is_named() {
    for (config, expected) in [
        (
            json!({ "file": [] }),
            "unknown field `file`, expected one of `files`, `all`, `limit`",
        ),
        (
            json!({ "files": ["/etc/rules"] }),
            "`files` has `/etc/rules`",
        ),
        (json!({ "files": [""] }), "`files` has ``"),
        (json!({ "limit": 0 }), "`limit` is 0"),
        (json!({ "limit": 1_000_000 }), "`limit` is 1000000"),
    ] {
        let error = Host::start::<Rules>(config).expect_err("refused");
        assert!(error.contains(expected), "{error}");
    }
}
