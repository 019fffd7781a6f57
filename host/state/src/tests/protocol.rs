//! The host and the process that has the database, over a socket.

use std::io::{self, BufReader, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::thread::{self, JoinHandle};

use acp_chain_rpc::json_lines::{line, parse};
use acp_chain_rpc::worker::{Reply, Request};
use proptest::prelude::*;
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream as AsyncStream;
use tokio::task::spawn_blocking;

use super::*;
use crate::protocol::{Answer, Call, LINE};

/// A process of the database, as a thread.
fn start(path: PathBuf) -> (Keeper, JoinHandle<io::Result<()>>) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    let (replies, requests) = AsyncStream::from_std(ours).unwrap().into_split();
    let thread = thread::spawn(move || serve(BufReader::new(&theirs), &theirs, &path, Ok));
    (Keeper::start(replies, requests), thread)
}

/// What the process answers to this text, before it ends.
fn answered(text: &[u8]) -> (io::Result<()>, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let mut replies = Vec::new();
    let served = serve(text, &mut replies, &path(&folder), Ok);
    (served, replies)
}

#[tokio::test]
async fn values_are_loaded_and_stored_in_the_other_process() {
    let folder = tempfile::tempdir().unwrap();
    let (keeper, process) = start(path(&folder));
    let one = Namespace {
        user: Some("ann".to_owned()),
        project: Some("/work/\u{1}\"ä".into()),
        ..of("one")
    };
    // Not awaited one by one.
    let (before, stored, after) = (
        keeper.load(&one, "k"),
        keeper.store(&one, "k", 0, Some("v\n\0")),
        keeper.load(&one, "k"),
    );
    let loaded = after.await.unwrap();
    assert_eq!(loaded.value.as_deref(), Some("v\n\0"));
    assert!(loaded.since.is_some());
    let version = loaded.version;
    assert_eq!(stored.await, Ok(StoreOutcome::Stored { version }));
    assert_eq!(before.await, Ok(Loaded::default()));
    let conflict = StoreOutcome::Conflict(loaded);
    assert_eq!(keeper.store(&one, "k", 0, None).await, Ok(conflict));
    let removed = keeper.store(&one, "k", version, None).await;
    assert_eq!(removed, Ok(StoreOutcome::Stored { version: 0 }));
    drop(keeper);
    // The end of the stream has still to be sent.
    let ended = spawn_blocking(|| process.join().unwrap());
    ended.await.unwrap().unwrap();
}

#[tokio::test]
async fn values_in_memory_are_of_one_keeper_and_their_versions_begin_at_one() {
    let keeper = Keeper::in_memory().unwrap();
    let one = of("one");
    let (stored, loaded) = (
        keeper.store(&one, "k", 0, Some("v")),
        keeper.clone().load(&one, "k"),
    );
    assert_eq!(stored.await, Ok(StoreOutcome::Stored { version: 1 }));
    assert_eq!(loaded.await.unwrap().value.as_deref(), Some("v"));
    let long = "x".repeat(STORED_VALUE + 1);
    let too_long = keeper.store(&one, "k", 1, Some(&long)).await;
    assert_eq!(too_long, Err(LimitError::Value.into()));
    let another = Keeper::in_memory().unwrap();
    assert_eq!(another.load(&one, "k").await, Ok(Loaded::default()));
}

#[tokio::test]
async fn the_longest_texts_fit_into_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let (keeper, _process) = start(path(&folder));
    let text = |bytes| "\u{1}".repeat(bytes);
    let one = Namespace {
        extension: text(NAME),
        source: text(NAME),
        user: Some(text(NAME)),
        project: Some(text(NAME).into()),
    };
    let (key, value) = (text(STORED_KEY), text(STORED_VALUE));
    let stored = keeper.store(&one, &key, 0, Some(&value)).await;
    assert!(matches!(stored, Ok(StoreOutcome::Stored { .. })));
    assert_eq!(keeper.load(&one, &key).await.unwrap().value, Some(value));
}

#[tokio::test]
async fn limits_are_told_apart_from_a_database_that_cannot_be_used() {
    let folder = tempfile::tempdir().unwrap();
    let (keeper, _process) = start(path(&folder));
    let one = of("one");
    let long = "x".repeat(10 * LINE);
    let too_long = keeper.store(&one, "k", 0, Some(&long)).await;
    assert_eq!(too_long, Err(LimitError::Value.into()));
    let too_long = keeper.load(&one, &long).await;
    assert_eq!(too_long, Err(LimitError::Key.into()));
    // The process checks as well.
    let mut database = open(&path(&folder));
    database.put(&one, "k", Some("v"));
    let full = "UPDATE namespaces SET bytes = ?1";
    let updated = database.connection.execute(full, (STORED_IN_ALL,));
    assert_eq!(updated.unwrap(), 1);
    let refused = keeper.store(&of("two"), "k", 0, Some("v")).await;
    assert_eq!(refused, Err(LimitError::All.into()));
}

#[tokio::test]
async fn a_database_that_cannot_be_opened_is_tried_again_for_the_next_request() {
    let folder = tempfile::tempdir().unwrap();
    let path = path(&folder);
    drop(open(&path));
    fs::write(&path, "damaged").unwrap();
    let (keeper, _process) = start(path.clone());
    let one = of("one");
    match keeper.load(&one, "k").await.unwrap_err() {
        KeeperError::Unavailable(why) => assert!(why.contains("is damaged"), "{why}"),
        other => panic!("{other:?}"),
    }
    Database::reset(&path).unwrap();
    let stored = keeper.store(&one, "k", 0, Some("v")).await;
    assert!(matches!(stored, Ok(StoreOutcome::Stored { .. })));
    // Somebody removes the file: what is stored next is in another one, which others find.
    fs::remove_file(&path).unwrap();
    assert_eq!(keeper.load(&one, "k").await, Ok(Loaded::default()));
    let stored = keeper.store(&one, "k", 0, Some("again")).await;
    assert!(matches!(stored, Ok(StoreOutcome::Stored { .. })));
    assert_eq!(open(&path).get(&one, "k").as_deref(), Some("again"));
}

/// A keeper, and the other ends of its streams.
fn unanswered() -> (Keeper, AsyncStream) {
    let (ours, theirs) = AsyncStream::pair().unwrap();
    let (replies, requests) = ours.into_split();
    (Keeper::start(replies, requests), theirs)
}

#[tokio::test]
async fn all_requests_fail_when_the_process_has_ended() {
    let (keeper, process) = unanswered();
    let one = of("one");
    let waiting: Vec<_> = (0..10).map(|_| keeper.load(&one, "k")).collect();
    drop(process);
    for request in waiting {
        assert_eq!(request.await, Err(KeeperError::Gone));
    }
    let later = keeper.store(&one, "k", 0, None).await;
    assert_eq!(later, Err(KeeperError::Gone));
}

#[tokio::test]
async fn all_requests_fail_when_the_process_breaks_the_protocol() {
    let long = vec![b' '; 2 * LINE];
    let other = line(&Reply {
        id: 1,
        answer: Answer::Store(StoreOutcome::Stored { version: 1 }),
    });
    for answer in [b"no JSON\n".to_vec(), long, other.unwrap()] {
        let (ours, theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let (replies, requests) = AsyncStream::from_std(ours).unwrap().into_split();
        let keeper = Keeper::start(replies, requests);
        let request = keeper.load(&of("one"), "k");
        let process = thread::spawn(move || {
            // The rest of a line that is too long is not read.
            let _ = (&theirs).write_all(&answer);
            theirs
        });
        assert_eq!(request.await, Err(KeeperError::Gone));
        drop(keeper);
        drop(process.join().unwrap());
    }
}

#[tokio::test]
async fn requests_that_wait_are_bounded() {
    let (keeper, mut process) = unanswered();
    let one = of("one");
    let waiting: Vec<_> = (0..256).map(|_| keeper.load(&one, "k")).collect();
    assert_eq!(keeper.load(&one, "k").await, Err(KeeperError::Busy));
    // All are sent nevertheless, in their order; dropping a request changes nothing.
    drop((waiting, keeper));
    let mut sent = Vec::new();
    process.read_to_end(&mut sent).await.unwrap();
    let ids = sent.split_inclusive(|byte| *byte == b'\n').map(|sent| {
        let request: Request<Call> = parse(sent, LINE).unwrap().unwrap();
        request.id
    });
    assert!(ids.eq(1..=256));
}

#[test]
fn the_process_ends_with_its_input_and_fails_on_anything_but_requests() {
    let request = Request {
        id: 7,
        call: Call::Load {
            namespace: of("one"),
            key: "k".to_owned(),
        },
    };
    let text = line(&request).unwrap();
    let expected = concat!(
        r#"{"id":7,"load":{"namespace":{"extension":"one","source":"built-in"},"key":"k"}}"#,
        "\n"
    );
    assert_eq!(String::from_utf8(text.clone()).unwrap(), expected);
    let reply = concat!(
        r#"{"id":7,"load":{"value":null,"version":0,"since":null}}"#,
        "\n"
    );
    // The host may be killed while it writes.
    for cut in [0, 1, text.len() - 1] {
        let (served, replies) = answered(&[&text[..], &text[..cut]].concat());
        served.unwrap();
        assert_eq!(String::from_utf8(replies).unwrap(), reply);
    }
    let long = vec![b' '; LINE];
    for wrong in [&b"\n"[..], b"{}\n", b"{\"id\":1}\n", &long] {
        let (served, replies) = answered(wrong);
        assert!(served.is_err());
        assert_eq!(replies, b"");
    }
}

#[test]
fn a_process_ends_when_its_host_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs) = UnixStream::pair().unwrap();
    ours.shutdown(Shutdown::Write).unwrap();
    serve(BufReader::new(&theirs), &theirs, &path(&folder), Ok).unwrap();
    // There was no request.
    assert!(!path(&folder).exists());
}

#[test]
fn requests_are_about_the_namespace_that_is_meant_or_fail() {
    let folder = tempfile::tempdir().unwrap();
    let store = |id, extension| {
        let call = Call::Store {
            namespace: of(extension),
            key: "k".to_owned(),
            version: 0,
            value: Some("v".to_owned()),
        };
        line(&Request { id, call }).unwrap()
    };
    let requests = [store(1, "one"), store(2, "other")].concat();
    let resolve = |named: Namespace| match &*named.extension {
        "one" => Ok(of("two")),
        _ => Err("it has no values".to_owned()),
    };
    let mut replies = Vec::new();
    serve(&*requests, &mut replies, &path(&folder), resolve).unwrap();
    let replies = String::from_utf8(replies).unwrap();
    let refused = "{\"id\":2,\"unavailable\":\"it has no values\"}\n";
    assert!(replies.ends_with(refused), "{replies}");
    let database = open(&path(&folder));
    assert_eq!(database.get(&of("two"), "k").as_deref(), Some("v"));
    assert_eq!(database.namespaces().unwrap().len(), 1);
}

proptest! {
    #[test]
    fn any_bytes_are_served_or_rejected(text in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = answered(&text);
    }

    #[test]
    fn any_request_is_read_as_it_was_written(
        id in any::<u64>(),
        names in any::<(String, String, Option<String>, Option<String>)>(),
        call in any::<(String, Option<(u64, Option<String>)>)>(),
    ) {
        let (extension, source, user, project) = names;
        let namespace = Namespace { extension, source, user, project: project.map(PathBuf::from) };
        let (key, stored) = call;
        let call = match stored {
            None => Call::Load { namespace, key },
            Some((version, value)) => Call::Store { namespace, key, version, value },
        };
        let request = Request { id, call };
        let read: Option<Request<Call>> = parse(&line(&request).unwrap(), LINE).unwrap();
        prop_assert_eq!(read, Some(request));
    }
}
