use acp_chain_system::HOOK_TOKEN;
use tokio::net::UnixStream;

use super::*;
use crate::{TOKEN, dialect};

fn server() -> Server {
    Server::open(dialect("pi").unwrap(), None).unwrap()
}

async fn connected(path: &Path) -> UnixStream {
    loop {
        // The queue of connections to be accepted may be full for a moment.
        match UnixStream::connect(path).await {
            Ok(stream) => return stream,
            Err(_) => tokio::task::yield_now().await,
        }
    }
}

async fn hook(path: &Path, header: &str, report: &str) -> UnixStream {
    let mut stream = connected(path).await;
    let bytes = format!("{header}\n{report}");
    stream.write_all(bytes.as_bytes()).await.unwrap();
    stream
}

fn header(of: &Reports) -> String {
    format!("{} pi before_tool 2", of.token())
}

/// A hook of a run, with the report `{}`.
async fn hook_of(run: &Reports) -> UnixStream {
    hook(run.path(), &header(run), "{}").await
}

async fn all(mut stream: UnixStream) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    text
}

async fn report(of: &mut Reports) -> Report {
    match of.next().await {
        Arrival::Report(report) => report,
        Arrival::Withdrawn(number) => panic!("report {number} was withdrawn"),
    }
}

#[test]
fn the_token_is_in_the_variable_that_the_supervisor_sets() {
    assert_eq!(TOKEN, HOOK_TOKEN);
}

#[tokio::test]
async fn a_report_arrives_and_its_hook_gets_the_answer() {
    let mut run = server().begin().unwrap();
    let stream = hook_of(&run).await;
    let expected = Report {
        number: 1,
        event: "before_tool".to_owned(),
        text: "{}".to_owned(),
    };
    assert_eq!(run.next().await, Arrival::Report(expected));
    let answer = Answer {
        stdout: "no".to_owned(),
        ..Answer::default()
    };
    run.answer(1, answer);
    assert_eq!(all(stream).await, "0 2 0\nno");
}

#[tokio::test]
async fn a_hook_that_disconnects_withdraws_its_report() {
    let mut run = server().begin().unwrap();
    let stream = hook_of(&run).await;
    assert_eq!(report(&mut run).await.number, 1);
    drop(stream);
    assert_eq!(run.next().await, Arrival::Withdrawn(1));
    // Too late: the hook has disconnected.
    run.answer(1, Answer::default());
}

#[tokio::test]
async fn a_forged_or_malformed_report_never_arrives_and_gets_no_answer() {
    let mut run = server().begin().unwrap();
    let token = run.token().to_owned();
    for header in [
        "x pi before_tool 2".to_owned(),
        format!("{}x pi before_tool 2", &token[1..]),
        format!("{token} claude PreToolUse 2"),
        format!("{token} pi before_tool 99999999999"),
        format!("{token} pi before_tool"),
        "x".repeat(LONGEST_LINE + 1),
    ] {
        let stream = hook(run.path(), &header, "{}").await;
        assert_eq!(all(stream).await, "", "{header}");
    }
    let stream = hook_of(&run).await;
    let report = report(&mut run).await;
    assert_eq!((report.number, &*report.text), (1, "{}"));
    drop(run);
    assert_eq!(all(stream).await, "");
}

#[tokio::test]
async fn a_report_reaches_the_run_whose_token_it_has_and_so_does_its_answer() {
    let server = server();
    let [mut one, mut other] = [server.begin().unwrap(), server.begin().unwrap()];
    assert_ne!(one.token(), other.token());
    let of_one = hook(one.path(), &header(&one), "{1").await;
    let of_other = hook(other.path(), &header(&other), "{2").await;
    for (run, text) in [(&mut one, "{1"), (&mut other, "{2")] {
        let report = report(run).await;
        // Each run counts its own.
        assert_eq!((report.number, &*report.text), (1, text));
        let answer = Answer {
            stdout: report.text,
            ..Answer::default()
        };
        run.answer(report.number, answer);
    }
    assert_eq!(all(of_one).await, "0 2 0\n{1");
    assert_eq!(all(of_other).await, "0 2 0\n{2");
}

#[tokio::test]
async fn the_end_of_a_run_refuses_its_reports_and_none_of_another() {
    let server = server();
    let [mut ended, mut other] = [server.begin().unwrap(), server.begin().unwrap()];
    let header = header(&ended);
    let taken = hook_of(&ended).await;
    assert_eq!(report(&mut ended).await.number, 1);
    let waiting = hook_of(&ended).await;
    let of_other = hook_of(&other).await;
    drop(ended);
    let late = hook(server.path(), &header, "{}").await;
    for stream in [taken, waiting, late] {
        assert_eq!(all(stream).await, "");
    }
    let number = report(&mut other).await.number;
    other.answer(number, Answer::default());
    assert_eq!(all(of_other).await, "0 0 0\n");
}

#[tokio::test]
async fn a_run_with_as_many_reports_as_it_may_have_holds_up_no_other() {
    let server = server();
    let [busy, mut other] = [server.begin().unwrap(), server.begin().unwrap()];
    let mut held = Vec::new();
    for _ in 0..HOOK_CONNECTIONS {
        held.push(hook_of(&busy).await);
    }
    let of_other = hook_of(&other).await;
    let number = report(&mut other).await.number;
    other.answer(number, Answer::default());
    assert_eq!(all(of_other).await, "0 0 0\n");
}

#[tokio::test]
async fn connections_that_show_no_token_hold_up_no_hook() {
    let mut run = server().begin().unwrap();
    let mut silent = VecDeque::new();
    for _ in 0..HOOK_STRANGERS + 8 {
        silent.push_back(connected(run.path()).await);
    }
    let stream = hook_of(&run).await;
    let number = report(&mut run).await.number;
    run.answer(number, Answer::default());
    assert_eq!(all(stream).await, "0 0 0\n");
    // The oldest is closed first.
    assert_eq!(all(silent.pop_front().unwrap()).await, "");
}

#[tokio::test]
async fn the_folder_is_removed_after_the_last_run() {
    let server = server();
    let run = server.begin().unwrap();
    let folder = server.folder().unwrap().to_owned();
    drop(server);
    assert!(folder.exists());
    drop(run);
    assert!(!folder.exists());
}

#[tokio::test]
async fn ten_thousand_reports_at_once_are_all_answered() {
    let mut run = server().begin().unwrap();
    let header = header(&run);
    let path = run.path().to_owned();
    let mut hooks = JoinSet::new();
    for _ in 0..10_000 {
        let (header, path) = (header.clone(), path.clone());
        hooks.spawn(async move { all(hook(&path, &header, "{}").await).await });
    }
    let mut answered = 0;
    while answered < 10_000 {
        tokio::select! {
            arrival = run.next() => {
                let Arrival::Report(report) = arrival else { panic!("a withdrawal") };
                run.answer(report.number, Answer::default());
            }
            Some(text) = hooks.join_next() => {
                assert_eq!(text.unwrap(), "0 0 0\n");
                answered += 1;
            }
        }
    }
}
