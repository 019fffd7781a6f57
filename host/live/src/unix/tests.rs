//! A chain and its listeners, in one process.

use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use acp_chain_trace::{Line, Sink, State};

use super::find::{Found, in_folder};
use super::listeners::MOST;
use super::offer::Offer;
use super::place;

/// A running chain, which reports each new listener.
struct Chain {
    offer: Offer,
    listeners: Arc<AtomicUsize>,
    joined: mpsc::Receiver<()>,
    acceptor: thread::JoinHandle<()>,
}

impl Chain {
    fn begin(folder: &Path) -> Self {
        let mut offer = Offer::open_in(folder).unwrap();
        let acceptor = offer.acceptor().unwrap();
        let (joins, joined) = mpsc::channel();
        Self {
            listeners: offer.listener_count(),
            offer,
            joined,
            acceptor: thread::spawn(move || acceptor.keep(|| joins.send(()).unwrap())),
        }
    }

    fn join(&self, found: &Found) -> Lines<BufReader<UnixStream>> {
        let stream = found.connect().unwrap();
        self.joined.recv().unwrap();
        BufReader::new(stream).lines()
    }

    fn end(self) {
        drop(self.offer);
        self.acceptor.join().unwrap();
    }
}

fn heading() -> Line {
    Line {
        version: Some(1),
        ..Line::default()
    }
}

fn state(proxy: &str, state: State) -> Line {
    Line {
        proxy: Some(proxy.to_owned()),
        state: Some(state),
        ..Line::default()
    }
}

fn method(name: &str) -> Line {
    Line {
        method: Some(name.to_owned()),
        ..Line::default()
    }
}

#[test]
fn a_late_listener_first_gets_the_heading_and_the_last_state_of_each_proxy() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("own");
    let mut chain = Chain::begin(&folder);
    let lines = [
        heading(),
        state("a", State::Running),
        state("b", State::Running),
        method("early"),
        state("a", State::Failed),
    ];
    chain.offer.write(&lines).unwrap();
    assert_eq!(chain.listeners.load(Ordering::Relaxed), 0);
    let found = in_folder(&folder).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].process, std::process::id());
    let lines = chain.join(&found[0]);
    assert_eq!(chain.listeners.load(Ordering::Relaxed), 1);
    chain.offer.write(&[method("late")]).unwrap();
    chain.end();
    let lines: Vec<_> = lines.map(Result::unwrap).collect();
    let expected = [
        r#"{"version":1}"#,
        r#"{"proxy":"a","state":"failed"}"#,
        r#"{"proxy":"b","state":"running"}"#,
        r#"{"method":"late"}"#,
    ];
    assert_eq!(lines, expected);
    assert!(in_folder(&folder).unwrap().is_empty());
}

/// A line of a connection.
fn of(connection: &str, line: Line) -> Line {
    Line {
        connection: connection.to_owned(),
        ..line
    }
}

#[test]
fn each_connection_has_its_own_states_until_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("own");
    let mut chain = Chain::begin(&folder);
    let end = Line {
        ended: Some(true),
        ..Line::default()
    };
    let lines = [
        of("x", heading()),
        of("x", state("a", State::Running)),
        of("y", heading()),
        of("y", state("a", State::Running)),
        of("z", heading()),
        of("z", state("a", State::Running)),
        of("x", state("a", State::Failed)),
        of("y", end),
    ];
    chain.offer.write(&lines).unwrap();
    let found = in_folder(&folder).unwrap();
    let lines = chain.join(&found[0]);
    chain.end();
    let lines: Vec<_> = lines.map(Result::unwrap).collect();
    let expected = [
        r#"{"connection":"x","version":1}"#,
        r#"{"connection":"x","proxy":"a","state":"failed"}"#,
        r#"{"connection":"z","version":1}"#,
        r#"{"connection":"z","proxy":"a","state":"running"}"#,
    ];
    assert_eq!(lines, expected);
}

#[test]
fn a_slow_listener_gets_a_count_of_lost_lines_and_others_lose_none() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("own");
    let mut chain = Chain::begin(&folder);
    chain.offer.write(&[heading()]).unwrap();
    let found = in_folder(&folder).unwrap().remove(0);
    let (mut slow, mut quick) = (chain.join(&found), chain.join(&found));
    let count = 64;
    let long = method(&"x".repeat(100_000));
    assert!(quick.next().unwrap().unwrap().contains("version"));
    for _ in 0..count {
        chain.offer.write(std::slice::from_ref(&long)).unwrap();
        assert!(quick.next().unwrap().unwrap().contains("xxx"));
    }
    assert!(slow.next().unwrap().unwrap().contains("version"));
    let mut got = 0;
    // The acceptor sends the rest; the next line finds the room.
    let dropped = loop {
        let line = slow.next().unwrap().unwrap();
        let line: Line = serde_json::from_str(&line).unwrap();
        match line.dropped {
            Some(dropped) => break dropped,
            None if line.method.as_deref() == Some("more") => {}
            None => got += 1,
        }
        chain.offer.write(&[method("more")]).unwrap();
    };
    assert!(
        dropped > 0 && got < count,
        "{got} arrived, {dropped} did not"
    );
    chain.end();
}

#[test]
fn disconnected_listeners_are_removed_and_excess_ones_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("own");
    let mut chain = Chain::begin(&folder);
    chain.offer.write(&[heading()]).unwrap();
    let found = in_folder(&folder).unwrap().remove(0);
    let mut all: Vec<_> = (0..MOST).map(|_| chain.join(&found)).collect();
    let rejected = BufReader::new(found.connect().unwrap()).lines();
    assert_eq!(rejected.count(), 0);
    all.clear();
    // The acceptor notices that they disconnect.
    while chain.listeners.load(Ordering::Relaxed) > 0 {
        thread::yield_now();
    }
    let mut again = chain.join(&found);
    assert!(again.next().unwrap().unwrap().contains("version"));
    chain.end();
}

#[test]
fn sockets_of_dead_processes_are_removed_and_others_stay() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("own");
    place::make(&folder).unwrap();
    // No process id is that high.
    for name in ["999999999-dead.sock", "999999999-dead.new", "1-other"] {
        drop(UnixListener::bind(folder.join(name)).unwrap());
    }
    let _other_space = UnixListener::bind(folder.join("999999998-alive.sock")).unwrap();
    let found = in_folder(&folder).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].process, 999_999_998);
    let mut left: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    left.sort();
    assert_eq!(left, ["1-other", "999999998-alive.sock"]);
    // Its process id has been reused.
    let reused = folder.join(format!("{}-dead.sock", std::process::id()));
    drop(UnixListener::bind(&reused).unwrap());
    let found = in_folder(&folder).unwrap();
    let dead = found.iter().find(|found| found.path == reused).unwrap();
    dead.connect().unwrap_err();
    assert!(!reused.exists());
}
