use std::io::BufReader;

use acp_chain_rpc::json_lines::line;
use acp_chain_store::{Embedded, Unusable, ValueAnswer, ValueCall, ValueStore};

use super::*;
use crate::protocol::StoreOutcome;

/// A store that is away.
struct Away;

impl ValueStore for Away {
    async fn values(&mut self, _: &ValueCall) -> Result<ValueAnswer, Unusable> {
        Err(Unusable(
            "the database at db.example.com: it is away".to_owned(),
        ))
    }
}

/// A stream of bytes that a test reads afterwards.
#[derive(Clone, Default)]
struct Sent(Rc<RefCell<Vec<u8>>>);

impl Write for Sent {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn store(id: u64, extension: &str, version: u64) -> Vec<u8> {
    let call = Call::Store {
        namespace: Namespace {
            extension: extension.to_owned(),
            source: "built-in".to_owned(),
            user: Some("ann".to_owned()),
            project: None,
        },
        key: "k".to_owned(),
        version,
        value: Some("v".to_owned()),
    };
    line(&Request { id, call }).unwrap()
}

/// The answers to these requests by one connection, and what was reported.
fn answers(store: impl ValueStore + 'static, requests: Vec<u8>) -> (Vec<Answer>, Vec<String>) {
    let (sent, reports) = (Sent::default(), Rc::new(RefCell::new(Vec::new())));
    let requests = BufReader::new(io::Cursor::new(requests));
    let resolve = |namespace: Namespace| match &*namespace.extension {
        "other" => Err("it has no values".to_owned()),
        _ => Ok(namespace),
    };
    let reported = Rc::clone(&reports);
    let report = move |error: &StateError| reported.borrow_mut().push(error.to_string());
    serve_by(
        vec![Shared::new(store)],
        requests,
        sent.clone(),
        resolve,
        report,
    )
    .unwrap();
    let bytes = sent.0.take();
    let mut replies = &bytes[..];
    let mut answers = Vec::new();
    while let Some(Reply { answer, .. }) = receive(&mut replies, LINE).unwrap() {
        answers.push(answer);
    }
    (answers, reports.take())
}

#[test]
fn requests_are_about_the_namespace_that_is_meant_or_fail() {
    let folder = tempfile::tempdir().unwrap();
    let embedded = Embedded::open(&folder.path().join("serve.db")).unwrap();
    let requests = [store(1, "one", 0), store(2, "other", 0), store(3, "one", 0)].concat();
    let (answers, reports) = answers(embedded, requests);
    let [
        Answer::Store(StoreOutcome::Stored { version }),
        Answer::Unavailable(why),
        Answer::Store(StoreOutcome::Conflict(found)),
    ] = &answers[..]
    else {
        panic!("{answers:?}")
    };
    assert_eq!(why, "it has no values");
    assert_eq!(found.version, *version);
    assert_eq!(found.value.as_deref(), Some("v"));
    assert!(reports.is_empty());
}

#[test]
fn users_are_not_told_where_the_store_is_and_operators_once() {
    let requests = [store(1, "one", 0), store(2, "one", 0)].concat();
    let (answers, reports) = answers(Away, requests);
    assert_eq!(answers.len(), 2);
    for answer in answers {
        assert_eq!(answer, Answer::Unavailable(UNUSABLE.to_owned()));
    }
    assert_eq!(reports, ["the database at db.example.com: it is away"]);
}
