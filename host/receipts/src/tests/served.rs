use std::fs;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;
use std::thread;

use crate::client::Client;
use crate::service::{Reply, Start};
use crate::{Evidence, ServiceError, serve, verify};

/// A client, and the thread of its service, whose log is in this folder.
fn served(folder: &Path) -> io::Result<(Client, thread::JoinHandle<bool>)> {
    let (records, to_service) = io::pipe().unwrap();
    let (replies, to_client) = io::pipe().unwrap();
    let service = thread::spawn(move || serve(records, to_client).is_ok());
    let start = Start {
        folder: folder.to_owned(),
        keep: None,
    };
    let client = Client::start(to_service, BufReader::new(replies), &start)?;
    Ok((client, service))
}

#[test]
fn records_are_on_disk_when_the_host_has_waited() {
    let folder = tempfile::tempdir().unwrap();
    let (mut client, service) = served(folder.path()).unwrap();
    assert_eq!(client.last().line(), None);
    for _ in 0..3 {
        client.send(b"{\"time\":\"\",\"what\":\"stop\"}\n").unwrap();
    }
    client.sync().unwrap();
    let verified = verify(folder.path(), &Evidence::default()).unwrap();
    assert_eq!(verified.checkpoint.size, 3);
    let line = client.last().line().unwrap();
    assert_eq!(line, verified.checkpoint.to_string());
    // What comes after is written when the host ends.
    client.send(b"{\"time\":\"\",\"what\":\"end\"}\n").unwrap();
    drop(client);
    assert!(service.join().unwrap());
    let verified = verify(folder.path(), &Evidence::default()).unwrap();
    assert_eq!(verified.checkpoint.size, 4);
}

#[test]
fn a_host_is_told_why_nothing_can_be_written() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let error = served(folder.path()).err().unwrap().to_string();
    assert!(error.contains("name an empty folder"), "{error}");

    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let (mut client, service) = served(&log).unwrap();
    client.send(b"{\"time\":\"\",\"what\":\"stop\"}\n").unwrap();
    client.sync().unwrap();
    fs::remove_dir_all(&log).unwrap();
    client.send(b"{\"time\":\"\",\"what\":\"stop\"}\n").unwrap();
    let error = client.sync().unwrap_err().to_string();
    assert!(error.contains("log"), "{error}");
    drop(client);
    assert!(!service.join().unwrap());
}

/// Removes a folder before it is read, and fails at its end.
struct AfterRemoval<'a>(&'a Path, &'a [u8]);

impl Read for AfterRemoval<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.1.is_empty() {
            return Err(io::Error::other("nobody writes more, as the host waits"));
        }
        fs::remove_dir_all(self.0)?;
        self.1.read(buffer)
    }
}

#[test]
fn a_host_that_waits_already_is_told_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let start = Start {
        folder: log.clone(),
        keep: None,
    };
    let mut first = serde_json::to_vec(&start).unwrap();
    first.push(b'\n');
    let rest = AfterRemoval(&log, b"{\"time\":\"\",\"what\":\"stop\"}\nsync\n");
    let mut replies = Vec::new();
    let served = serve((&first[..]).chain(rest), &mut replies);
    assert!(matches!(served, Err(ServiceError::Log(_))), "{served:?}");
    let last = replies
        .trim_ascii_end()
        .split(|byte| *byte == b'\n')
        .next_back();
    let reply: Reply = serde_json::from_slice(last.unwrap()).unwrap();
    assert!(matches!(reply, Reply::Failed { .. }), "{reply:?}");
}

#[test]
fn anything_but_a_start_is_refused() {
    for text in [&b""[..], b"\n", b"{}\n", b"sync\n"] {
        let mut replies = Vec::new();
        let served = serve(text, &mut replies);
        assert!(matches!(served, Err(ServiceError::Misused)), "{served:?}");
        assert!(replies.is_empty());
    }
}

#[test]
fn a_line_that_is_too_long_ends_the_service() {
    let folder = tempfile::tempdir().unwrap();
    let start = Start {
        folder: folder.path().to_owned(),
        keep: None,
    };
    let mut text = serde_json::to_vec(&start).unwrap();
    text.push(b'\n');
    text.write_all(&vec![b' '; 1 << 20]).unwrap();
    let mut replies = Vec::new();
    let served = serve(&text[..], &mut replies);
    assert!(
        matches!(served, Err(ServiceError::Streams(_))),
        "{served:?}"
    );
    let reply: Reply = serde_json::from_slice(&replies).unwrap();
    assert!(matches!(reply, Reply::Open { .. }), "{reply:?}");
}
