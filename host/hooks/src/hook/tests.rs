use std::os::unix::net::UnixStream;
use std::process::{Output, Stdio};

use acp_chain_system::blocking;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use tokio::task::spawn_blocking;

use super::*;
use crate::dialect;
use crate::server::{Arrival, Reports, Server};

/// The program that `build.rs` compiled.
const PROGRAM: &str = concat!(env!("OUT_DIR"), "/hook.bin");

fn server() -> Reports {
    let server = Server::open(dialect("claude").unwrap(), None).unwrap();
    server.begin().unwrap()
}

fn call(server: &Reports, token: &str) -> Call {
    Call {
        dialect: "claude".to_owned(),
        event: "PreToolUse".to_owned(),
        socket: server.path().to_owned(),
        token: token.to_owned(),
    }
}

fn refusal() -> Answer {
    Answer {
        code: 2,
        stdout: "{}".to_owned(),
        stderr: "no\n".to_owned(),
    }
}

/// The exit code, and what is printed.
fn ended(answer: Result<Answer, NoAnswer>) -> (u8, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let code = end(answer, &mut out, &mut err);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (code, text(out), text(err))
}

#[tokio::test]
async fn the_client_ends_as_the_host_answers() {
    let mut server = server();
    let call = call(&server, server.token());
    let asked = spawn_blocking(move || call.ask(&b"{\"a\":1}"[..], blocking::connect));
    let Arrival::Report(report) = server.next().await else {
        panic!("a withdrawal");
    };
    assert_eq!((&*report.event, &*report.text), ("PreToolUse", "{\"a\":1}"));
    server.answer(report.number, refusal());
    let answer = asked.await.unwrap();
    assert_eq!(ended(answer), (2, "{}".to_owned(), "no\n".to_owned()));
}

#[tokio::test]
async fn whatever_fails_refuses_with_one_line_on_standard_error() {
    let server = server();
    let forged = call(&server, "forged");
    let rejected = spawn_blocking(move || forged.ask(&b"{}"[..], blocking::connect));
    let too_long = io::repeat(b' ').take(LONGEST_REPORT as u64 + 1);
    let gone = Call {
        socket: "/nonexistent/socket".into(),
        ..call(&server, server.token())
    };
    let no_connection = |_: &Path| -> io::Result<UnixStream> { panic!("it is too long") };
    for (answer, expected) in [
        // The host disconnects, perhaps before it has read all.
        (rejected.await.unwrap(), "`acp-chain run`"),
        (
            call(&server, server.token()).ask(too_long, no_connection),
            "longer than 16777216 bytes",
        ),
        (
            gone.ask(&b"{}"[..], blocking::connect),
            "/nonexistent/socket cannot be asked: ",
        ),
        (
            Call::new([OsString::from("claude")]).and(Ok(Answer::default())),
            "a dialect and an event",
        ),
    ] {
        let (code, out, err) = ended(answer);
        assert_eq!((code, &*out), (2, ""));
        assert!(
            err.starts_with("acp-chain: no decision, refused: "),
            "{err}"
        );
        assert!(err.contains(expected), "{err}");
        assert_eq!(err.find('\n'), Some(err.len() - 1), "{err}");
    }
}

#[test]
fn a_cut_answer_refuses_and_none_of_it_is_printed() {
    let (ours, mut hosts) = UnixStream::pair().unwrap();
    hosts.write_all(b"0 9 0\n{\"cut\"").unwrap();
    hosts.shutdown(std::net::Shutdown::Write).unwrap();
    let call = Call {
        dialect: "claude".to_owned(),
        event: "PreToolUse".to_owned(),
        socket: PathBuf::new(),
        token: "t".to_owned(),
    };
    let (code, out, _) = ended(call.ask(&b"{}"[..], |_| Ok(ours)));
    assert_eq!((code, &*out), (2, ""));
}

#[test]
fn an_answer_that_cannot_be_written_refuses() {
    let mut err = Vec::new();
    // It has no room.
    let mut out: &mut [u8] = &mut [];
    assert_eq!(end(Ok(refusal()), &mut out, &mut err), 2);
    let err = String::from_utf8(err).unwrap();
    assert!(err.contains("the answer cannot be written"), "{err}");
}

#[test]
fn what_takes_too_long_is_an_error() {
    let (_sender, receiver) = mpsc::channel::<()>();
    let late = within(Duration::ZERO, move || receiver.recv());
    assert_eq!(late.unwrap_err().kind(), io::ErrorKind::TimedOut);
    assert_eq!(within(PATIENCE, || 1).unwrap(), 1);
}

/// Runs the program for an event.
async fn run(socket: &Path, token: &str, report: &str) -> Output {
    let mut program = Command::new(PROGRAM)
        .args(["claude", "PreToolUse"])
        .env_clear()
        .env(SOCKET, socket)
        .env(TOKEN, token)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = program.stdin.take().unwrap();
    stdin.write_all(report.as_bytes()).await.unwrap();
    drop(stdin);
    program.wait_with_output().await.unwrap()
}

#[tokio::test]
async fn the_program_that_is_embedded_does_so_too() {
    assert!(crate::client().is_some());
    let mut server = server();
    let (path, token) = (server.path().to_owned(), server.token().to_owned());
    // Longer than pipes and sockets hold.
    let long = format!("{{\"a\":\"{}\"}}", "x".repeat(1 << 20));
    let answered = async {
        let Arrival::Report(report) = server.next().await else {
            panic!("a withdrawal");
        };
        assert_eq!(report.text.len(), long.len());
        server.answer(report.number, refusal());
    };
    let (output, ()) = tokio::join!(run(&path, &token, &long), answered);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        (&*output.stdout, &*output.stderr),
        (&b"{}"[..], &b"no\n"[..])
    );
    drop(server);
    let output = run(&path, &token, "{}").await;
    assert_eq!((output.status.code(), &*output.stdout), (Some(2), &b""[..]));
    assert!(
        output
            .stderr
            .starts_with(b"acp-chain: no decision, refused: ")
    );
}
