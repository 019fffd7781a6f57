//! The process, asked by a client. What becomes of calls is tested with both engines (`tests/tests/serving/store`).

use std::io::BufReader;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;

use tempfile::TempDir;

use super::*;

/// A client of a process, which is a thread here.
fn begin(path: &Path) -> Client {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let place = Place::Embedded(path.to_owned());
    thread::spawn(move || {
        let requests = BufReader::new(theirs.try_clone().unwrap());
        serve(requests, theirs, &place).unwrap();
    });
    ours.set_nonblocking(true).unwrap();
    let ours = tokio::net::UnixStream::from_std(ours).unwrap();
    let (replies, requests) = ours.into_split();
    Client::start(replies, requests)
}

fn register(name: &str) -> Call {
    Call::Register {
        replica: name.to_owned(),
        lease: 60_000,
        seen: 0,
    }
}

fn path(folder: &TempDir) -> std::path::PathBuf {
    folder.path().join("state/serve.db")
}

#[tokio::test]
async fn calls_are_answered_and_what_they_store_outlasts_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let client = begin(&path(&folder));
    let Answer::Registered { generation } = client.ask(register("a")).await.unwrap() else {
        panic!("it is the first")
    };
    drop(client);
    let other = begin(&path(&folder));
    let answer = other.ask(register("a")).await.unwrap();
    assert!(
        matches!(answer, Answer::NameTaken { again } if again > 0),
        "{answer:?}"
    );
    let holder = Holder {
        replica: "a".to_owned(),
        generation,
    };
    assert_eq!(other.ask(Call::Leave { holder }).await, Ok(Answer::Done));
    let answer = other.ask(register("a")).await.unwrap();
    assert!(matches!(answer, Answer::Registered { .. }), "{answer:?}");
}

#[tokio::test]
async fn texts_that_are_no_columns_are_refused_before_they_are_sent() {
    let folder = tempfile::tempdir().unwrap();
    let client = begin(&path(&folder));
    let long = client.ask(register(&"a".repeat(5000))).await;
    assert_eq!(long, Err(LimitError::Long.into()));
    let long = Call::Budgets {
        account: Some("a".repeat(1025)),
    };
    let error = client.ask(long).await.unwrap_err().to_string();
    assert!(error.contains("1024 bytes"), "{error}");
    let zero = client.ask(register("a\0")).await;
    assert_eq!(zero, Err(LimitError::Zero.into()));
    let large = client.ask(Call::Revoked { since: u64::MAX }).await;
    assert_eq!(large, Err(LimitError::Large.into()));
    let none = Answer::Replicas(Vec::new());
    assert_eq!(client.ask(Call::Replicas).await, Ok(none));
}

#[tokio::test]
async fn a_store_of_a_newer_program_and_other_files_are_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let path = path(&folder);
    drop(Embedded::open(&path).unwrap());
    let raw = rusqlite::Connection::open(&path).unwrap();
    raw.execute("UPDATE acp_chain_schema SET version = 1000", ())
        .unwrap();
    drop(raw);
    let client = begin(&path);
    let newer = client.ask(Call::Replicas).await.unwrap_err().to_string();
    assert!(newer.contains("newer acp-chain"), "{newer}");
    std::fs::write(&path, "no database at all, but a text of some length").unwrap();
    let other = client.ask(Call::Replicas).await.unwrap_err().to_string();
    assert!(other.contains("serve.db: "), "{other}");
}

#[tokio::test]
async fn a_store_that_another_program_has_locked_is_an_error_until_that_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let path = path(&folder);
    let mut store = Embedded::open(&path).unwrap();
    let raw = rusqlite::Connection::open(&path).unwrap();
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = store.carry_out(&Call::Replicas).await.unwrap_err();
    let told = error.to_string();
    assert!(told.contains("another program has locked it"), "{told}");
    raw.execute_batch("ROLLBACK").unwrap();
    let answer = store.carry_out(&Call::Replicas).await;
    assert_eq!(answer, Ok(Answer::Replicas(Vec::new())));
}

#[tokio::test]
async fn the_end_of_the_process_is_an_error() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    let ours = tokio::net::UnixStream::from_std(ours).unwrap();
    let (replies, requests) = ours.into_split();
    let client = Client::start(replies, requests);
    drop(theirs);
    assert_eq!(client.ask(Call::Replicas).await, Err(StoreError::Gone));
}
