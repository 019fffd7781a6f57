//! `acp-chain watch-keys`, the process that reads tokens and fetches keys of users, and `acp-chain serve-token`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use acp_chain_tests::host;
use acp_chain_tests::wire::in_time;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};

use super::issuer::{Answer, KeyServer, Signer};

/// The process, as the server starts it.
struct WatchedServer {
    child: Child,
    asks: ChildStdin,
    keys: Lines<BufReader<ChildStdout>>,
    log: Lines<BufReader<ChildStderr>>,
}

impl WatchedServer {
    async fn start(watched: &Value) -> Self {
        let mut command = host::acp_chain("watch-keys");
        command.args(["--log", "error"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut asks = child.stdin.take().unwrap();
        asks.write_all(format!("{watched}\n").as_bytes())
            .await
            .unwrap();
        let keys = BufReader::new(child.stdout.take().unwrap()).lines();
        let log = BufReader::new(child.stderr.take().unwrap()).lines();
        Self {
            child,
            asks,
            keys,
            log,
        }
    }

    /// The next message of the process.
    async fn next(&mut self) -> Value {
        let line = in_time("keys", self.keys.next_line()).await.unwrap();
        serde_json::from_str(&line.expect("the process runs")).unwrap()
    }

    /// The names of the users whose tokens are in the next message.
    async fn users(&mut self) -> Vec<String> {
        let keys = self.next().await;
        let tokens = keys["tokens"].as_array().unwrap().iter();
        let names = tokens.map(|token| token.as_str().unwrap().split(' ').next().unwrap());
        names.map(str::to_owned).collect()
    }

    /// The next line of the log.
    async fn told(&mut self) -> String {
        let line = in_time("a line of the log", self.log.next_line()).await;
        line.unwrap().expect("the process runs")
    }
}

/// A line of a file of tokens, for this user.
fn line(user: &str) -> String {
    let number = user
        .bytes()
        .fold(0_u128, |number, byte| number << 8 | u128::from(byte));
    format!("{user} sha256:{number:064x}\n")
}

/// Replaces a file atomically.
fn replace(path: &Path, text: impl AsRef<[u8]>) {
    let next = path.with_extension("next");
    fs::write(&next, text).unwrap();
    fs::rename(next, path).unwrap();
}

#[tokio::test]
async fn a_file_of_tokens_is_read_when_it_changes_and_what_it_said_before_holds_while_it_is_wrong()
{
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens");
    replace(&path, line("ann"));
    let mut watching = WatchedServer::start(&json!({"tokens": path, "issuers": []})).await;
    assert_eq!(watching.users().await, ["ann"]);
    let shown = path.to_str().unwrap();
    let own = fs::metadata(&path).unwrap().modified().unwrap();
    // If the process dropped a user meanwhile, it would report that first.
    for (wrong, told) in [
        (
            format!("{}bob sha256:0\n", line("ann")).into_bytes(),
            ": line 2: expected `NAME sha256:HEX",
        ),
        (line("ann").repeat(2).into_bytes(), ": line 2: another line"),
        (b"\xff".to_vec(), "UTF-8"),
        (vec![b'#'; 2 << 20], "it has more than 1048576 bytes"),
    ] {
        replace(&path, wrong);
        let line = watching.told().await;
        assert!(line.contains(shown) && line.contains(told), "{line}");
        assert!(line.ends_with("its previous content stays valid"), "{line}");
    }
    fs::remove_file(&path).unwrap();
    assert!(watching.told().await.contains(shown));
    fs::create_dir(&path).unwrap();
    assert!(watching.told().await.contains(shown));
    fs::remove_dir(&path).unwrap();
    // For a moment, the path may be neither a file nor a folder.
    replace(&path, line("ann") + &line("bob"));
    assert_eq!(watching.users().await, ["ann", "bob"]);
    // A new file is read even if its length and time are those of the old one.
    let next = folder.path().join("next");
    replace(&next, line("bob") + &line("eve"));
    let opened = fs::File::options().write(true).open(&next).unwrap();
    opened.set_modified(own).unwrap();
    fs::rename(&next, &path).unwrap();
    assert_eq!(watching.users().await, ["bob", "eve"]);
    fs::write(&path, "").unwrap();
    assert!(watching.users().await.is_empty());
    // The process ends when its server disconnects.
    drop(watching.asks);
    let ended = in_time("its end", watching.child.wait()).await.unwrap();
    assert!(ended.success());
}

#[tokio::test]
async fn an_issuer_that_misbehaves_is_told_and_keeps_nobody_else_out() {
    let good = KeyServer::start(Answer::keys(&[&Signer::new("1")])).await;
    let moved = KeyServer::start(Answer::Moved(good.url.clone())).await;
    let long = |bytes, says_so| Answer::Long { bytes, says_so };
    let mut bad = Vec::new();
    for (answer, told) in [
        (Answer::Nothing, "does not answer|stopped sending"),
        (Answer::Drips, "stopped sending"),
        (Answer::Text("<html>".to_owned()), "not a JWK set"),
        (Answer::Text(r#"{"keys":[]}"#.to_owned()), "none of its 0"),
        (long(10 << 20, true), "1048576|1 MiB|more than"),
        (long(usize::MAX, false), "1048576|1 MiB|more than"),
        (Answer::Fails, "500"),
        (Answer::Moved("http://192.0.2.1/".to_owned()), "unencrypted"),
    ] {
        bad.push((KeyServer::start(answer).await, told));
    }
    let all = [&good, &moved]
        .into_iter()
        .chain(bad.iter().map(|(bad, _)| bad));
    let issuers: Vec<_> = all.map(|one| json!([one.url, {"url": one.url}])).collect();
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens");
    replace(&tokens, line("ann"));
    let mut watching = WatchedServer::start(&json!({"tokens": tokens, "issuers": issuers})).await;
    let first = watching.next().await;
    let known: Vec<_> = first["jwks"].as_object().unwrap().keys().collect();
    let mut expected = [&good.url, &moved.url];
    expected.sort();
    assert_eq!(known, expected);
    let mut lines = Vec::new();
    for _ in &bad {
        lines.push(watching.told().await);
    }
    for (bad, told) in &bad {
        let line = lines.iter().find(|line| line.contains(&bad.url));
        let line = line.unwrap_or_else(|| panic!("{} is not reported: {lines:#?}", bad.url));
        assert!(told.split('|').any(|told| line.contains(told)), "{line}");
        assert!(!line.contains('\x1b'), "{line}");
    }
    // While an issuer does not answer, files are still read.
    good.says(Answer::Nothing);
    watching.asks.write_all(b"\n").await.unwrap();
    replace(&tokens, line("bob"));
    assert_eq!(watching.users().await, ["bob"]);
}

#[tokio::test]
async fn keys_are_fetched_when_one_is_missing_and_those_of_before_hold_when_that_fails() {
    let published = KeyServer::start(Answer::keys(&[&Signer::new("1")])).await;
    let watched = json!({"issuers": [["a", {"url": published.url}]]});
    let mut watching = WatchedServer::start(&watched).await;
    assert_eq!(watching.next().await["jwks"]["a"][0]["kid"], "1");
    published.says(Answer::Text("garbage".to_owned()));
    watching.asks.write_all(b"\n").await.unwrap();
    let told = watching.told().await;
    assert!(
        told.contains(&published.url) && told.ends_with("the previous ones stay valid"),
        "{told}"
    );
    // A request that comes too early is delayed, not lost; missing keys would be reported first.
    published.says(Answer::keys(&[&Signer::new("1"), &Signer::new("2")]));
    watching.asks.write_all(b"\n\n\n").await.unwrap();
    assert_eq!(watching.next().await["jwks"]["a"][1]["kid"], "2");
}

async fn make(args: &[&str], file: &Path) -> (bool, String, String) {
    let mut command = host::acp_chain("serve-token");
    let output = command.args(args).arg("--file").arg(file).output();
    let output = in_time("its end", output).await.unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    (output.status.success(), out, err)
}

#[tokio::test]
async fn serve_token_appends_whole_lines_for_its_user_alone_and_none_that_would_break_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file: PathBuf = folder.path().join("tokens");
    let long = "a".repeat(65);
    for args in [
        &[""][..],
        &["a b"],
        &["a\nb"],
        &["#a"],
        &["a#b"],
        &["é"],
        &[&long],
        &["a", "--group", "g h"],
        &["a", "--group", "g\n"],
        &["a", "--group", ""],
    ] {
        let (is_made, out, err) = make(args, &file).await;
        assert!(!is_made && out.is_empty(), "{args:?}: {out}");
        assert!(err.contains("letters of ASCII"), "{args:?}: {err}");
        assert!(!file.exists(), "{args:?}");
    }
    // Many processes at once.
    let all = (0..16).map(|number| {
        let file = file.clone();
        tokio::spawn(async move { make(&[&format!("user-{number}")], &file).await.0 })
    });
    for one in all.collect::<Vec<_>>() {
        assert!(one.await.unwrap());
    }
    let mode = || fs::metadata(&file).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(), 0o600);
    // An editor may save the last line without a line break.
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.trim_end()).unwrap();
    let (is_made, secret, _) = make(&["ann", "--group", "ops"], &file).await;
    assert!(is_made && secret.starts_with("acp_"));
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!((text.lines().count(), mode()), (17, 0o600));
    assert!(!text.contains(secret.trim()));
    let mut watching = WatchedServer::start(&json!({"tokens": file, "issuers": []})).await;
    assert_eq!(watching.users().await.len(), 17);
    // A file with an invalid line is not changed.
    let wrong = format!("{text}bob\n");
    fs::write(&file, &wrong).unwrap();
    let (is_made, out, err) = make(&["eve"], &file).await;
    assert!(
        !is_made && out.is_empty() && err.contains("line 18"),
        "{err}"
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), wrong);
}
