//! The format of transcripts, their results, and their updates.

use super::Folder;

const TURN: &str = r#"# A turn.
client: p1 session/prompt {"prompt": [{"type": "text", "text": "hello"}]}
agent gets: p1 session/prompt {"prompt": [{"text": "HELLO"}]}

# It ends.
agent: p1 result {"stopReason": "end_turn"}
client gets: p1 result {
  "stopReason": "end_turn"
}
"#;

#[tokio::test]
async fn what_is_as_written_stays_byte_for_byte() {
    let folder = Folder::of_shout(TURN);
    let before = folder.transcript();
    let (code, text) = folder.test(&["--update"]).await;
    assert_eq!((code, folder.transcript()), (0, before), "{text}");
}

#[tokio::test]
async fn a_difference_shows_as_one() {
    let folder = Folder::of_shout(
        &TURN
            .replace("HELLO", "hello")
            .replace("client gets", "agent gets: session/cancel\nclient gets"),
    );
    let (code, text) = folder.test(&[]).await;
    assert_eq!(code, 1);
    insta::assert_snapshot!(text, @r#"
    differs  tests/it.transcript:6
        client: p1 session/prompt {"prompt": [{"type": "text", "text": "hello"}]}
      - agent gets: p1 session/prompt {"prompt": [{"text": "hello"}]}
      + agent gets: p1 session/prompt {"prompt": [{"text": "HELLO"}]}
      … line 10
        agent: p1 result {"stopReason": "end_turn"}
      - agent gets: session/cancel
        client gets: p1 result {"stopReason": "end_turn"}

    1 transcript, 0 as written, 1 differs: `--update` writes the received messages into it
    "#);
}

#[tokio::test]
async fn an_update_writes_what_comes_and_leaves_the_rest() {
    let folder = Folder::of_shout(
        &TURN
            .replace("\"HELLO\"", "\"[..]O\", \"type\": \"x\"")
            .replace(
                "client gets: p1",
                "agent gets: session/cancel\nclient gets: p1",
            ),
    );
    let (code, text) = folder.test(&["--update"]).await;
    assert_eq!(code, 0, "{text}");
    // What it takes out of a test is shown.
    assert!(
        text.starts_with("updated  tests/it.transcript:6\n"),
        "{text}"
    );
    assert!(text.contains("- agent gets: session/cancel"), "{text}");
    let expected = TURN.replace("\"HELLO\"", "\"[..]O\", \"type\": \"text\"");
    assert!(
        folder.transcript().ends_with(&expected),
        "{}",
        folder.transcript()
    );
    assert_eq!(folder.test(&[]).await.0, 0);
}

#[tokio::test]
async fn from_what_is_said_alone_an_update_writes_all_that_comes() {
    let said: String = TURN
        .lines()
        .filter(|line| line.starts_with("client: "))
        .collect();
    let folder = Folder::of_shout(&said);
    assert_eq!(folder.test(&["--update"]).await.0, 0);
    let expected =
        "agent gets: p1 session/prompt {\"prompt\": [{\"type\": \"text\", \"text\": \"HELLO\"}]}\n";
    assert!(
        folder.transcript().ends_with(expected),
        "{}",
        folder.transcript()
    );
    assert_eq!(folder.test(&[]).await.0, 0);
}

#[tokio::test]
async fn what_an_end_never_got_it_cannot_answer() {
    let folder = Folder::of_shout(
        "client: p1 session/prompt {\"prompt\": []}\nagent gets: p1 session/prompt\nagent gets: p2 session/prompt\n\
         agent: p2 result {}\nclient gets: p1 result\n",
    );
    let (code, text) = folder.test(&["--update"]).await;
    assert_eq!(code, 1);
    assert!(text.contains("- agent gets: p2 session/prompt"), "{text}");
    assert!(
        text.contains("! the agent did not receive the request `p2`, and cannot answer it"),
        "{text}"
    );
}

#[tokio::test]
async fn what_cannot_be_played_is_told_with_its_place_and_what_to_do() {
    for (text, told) in [
        (
            "[[proxy]]\npath = 'gone.wasm'\n---\n",
            "it.transcript:1:1: ",
        ),
        (
            "[[proxy]]\npaht = 'gone.wasm'\n---\n",
            "it.transcript:2:1: unknown key `paht`; did you mean `path`?",
        ),
        (
            "manifest = 1\n---\n",
            "it.transcript:1: the head is either `manifest = \"FILE\"`, or all that",
        ),
        (
            "#\nclient gets nothing",
            "it.transcript:2: `client` does not begin a line",
        ),
    ] {
        let folder = Folder::with(text);
        let (code, output) = folder.test(&[]).await;
        assert_eq!(code, 2, "{output}");
        assert!(output.contains(told), "{text}: {output}");
    }
    let folder = Folder::of_shout("shuot fails\n");
    let (code, output) = folder.test(&[]).await;
    assert_eq!(code, 2);
    assert!(
        output.contains("it.transcript:4: the chain has no proxy `shuot`; it has `shout`"),
        "{output}"
    );
    let folder = Folder::of_shout(TURN);
    let wrong = folder.transcript().replace("---", "config.flie = 'x'\n---");
    std::fs::write(folder.path("tests/it.transcript"), wrong).unwrap();
    let (code, output) = folder.test(&[]).await;
    assert_eq!(code, 2);
    assert!(
        output.contains(
            "it.transcript:3:8: the config of `shout`: unknown key `flie`; did you mean `file`?"
        ),
        "{output}"
    );
    let (code, output) = folder.test(&["--filter", "nothing"]).await;
    assert_eq!(code, 2);
    assert!(
        output.contains("of the transcripts in tests, none has `nothing` in its path"),
        "{output}"
    );
}
