//! What the process does, over the socket that it is asked by.

use std::fs::File;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::thread::{self, JoinHandle};

use super::wire::Received;
use super::*;

/// A supervisor that is a thread.
struct Here {
    socket: UnixStream,
    thread: JoinHandle<io::Result<()>>,
}

impl Here {
    fn start() -> Self {
        let (socket, theirs) = UnixStream::pair().unwrap();
        let thread = thread::spawn(|| service::run(theirs.into()));
        Self { socket, thread }
    }

    /// One that may start these shell scripts.
    fn of(scripts: &[&str]) -> Self {
        let mut here = Self::start();
        here.ask(&allow(scripts)).unwrap();
        here
    }

    fn ask(&mut self, request: &Request) -> io::Result<Received> {
        wire::ask(&mut self.socket, request)
    }

    /// Starts one of them: gives its output and its life.
    fn run(&mut self, number: usize) -> (File, UnixStream) {
        let started = self.ask(&Request::Start(number)).unwrap();
        let (_, [_, output, _, life]) = started.parts().unwrap();
        rustix::io::ioctl_fionbio(&output, false).unwrap();
        (File::from(output), UnixStream::from(life))
    }

    /// The host is gone.
    fn end(self) {
        drop(self.socket);
        self.thread.join().unwrap().unwrap();
    }
}

fn allow(scripts: &[&str]) -> Request {
    let command = |script: &&str| CommandLine {
        program: "sh".into(),
        args: vec!["-c".into(), script.into()],
        env: Vec::new(),
    };
    Request::Allow(scripts.iter().map(command).collect())
}

fn text(mut from: impl Read) -> String {
    let mut text = String::new();
    from.read_to_string(&mut text).unwrap();
    text
}

/// How a program ended, by what its life says.
fn status(life: &mut UnixStream) -> ExitStatus {
    let mut bytes = [0; 4];
    life.read_exact(&mut bytes).unwrap();
    ExitStatus::from_raw(i32::from_ne_bytes(bytes))
}

#[test]
fn it_starts_what_it_was_told_of_first_and_nothing_else() {
    let mut here = Here::start();
    let refused = |asked: io::Result<Received>| asked.unwrap_err().to_string();
    let unknown = "no such program may be started";
    assert_eq!(refused(here.ask(&Request::Start(0))), unknown);
    here.ask(&allow(&["echo one", "exit 3"])).unwrap();
    assert_eq!(
        refused(here.ask(&allow(&["echo another"]))),
        "what may be started was said before"
    );
    assert_eq!(refused(here.ask(&Request::Start(2))), unknown);
    assert_eq!(text(here.run(0).0), "one\n");
    assert_eq!(status(&mut here.run(1).1).code(), Some(3));
    here.end();
}

#[test]
fn a_program_that_cannot_be_started_is_told_as_the_system_tells_it() {
    let mut here = Here::start();
    here.ask(&Request::Allow(vec![CommandLine {
        program: "/no/such/program".into(),
        args: Vec::new(),
        env: Vec::new(),
    }]))
    .unwrap();
    let error = here.ask(&Request::Start(0)).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
    here.end();
}

#[test]
fn a_program_gets_no_descriptor_but_its_streams() {
    let list = "ls /proc/self/fd";
    let mut here = Here::of(&["sleep 1000", list]);
    let (_output, _life) = here.run(0);
    // Whoever started us may have left some that everybody gets.
    let plain = Command::new("sh").args(["-c", list]).output().unwrap();
    assert_eq!(text(here.run(1).0), text(&*plain.stdout));
    here.end();
}

#[test]
fn what_a_program_started_goes_when_its_life_is_closed() {
    let mut here = Here::of(&["sleep 1000 & wait"]);
    let (output, life) = here.run(0);
    drop(life);
    // Both had it open.
    assert_eq!(text(output), "");
    here.end();
}

#[test]
fn a_program_is_asked_to_end_and_says_how_it_did() {
    let mut here = Here::of(&["trap 'exit 5' TERM; echo ready; sleep 1000 & wait"]);
    let (mut output, mut life) = here.run(0);
    output.read_exact(&mut [0; 6]).unwrap();
    life.shutdown(Shutdown::Write).unwrap();
    assert_eq!(status(&mut life).code(), Some(5));
    assert_eq!(text(life), "");
    here.end();
}

#[test]
fn everything_ends_with_the_host() {
    let mut here = Here::of(&["trap '' TERM HUP; echo ready; sleep 1000 & wait"]);
    let (mut output, mut life) = here.run(0);
    output.read_exact(&mut [0; 6]).unwrap();
    let opened = here.ask(&Request::Socket("supervisor-test".to_owned()));
    let (Reply::Socket(path), [_socket, away]) = opened.unwrap().parts().unwrap() else {
        panic!("no socket");
    };
    let path = PathBuf::from(path);
    assert!(path.exists());
    here.end();
    assert_eq!(status(&mut life).signal(), Some(9));
    assert_eq!(text(output), "");
    assert_eq!(text(UnixStream::from(away)), "");
    assert!(!path.parent().unwrap().exists());
}

#[test]
fn a_socket_is_away_when_its_life_is_closed() {
    let mut here = Here::start();
    let opened = here.ask(&Request::Socket("supervisor-gone".to_owned()));
    let (Reply::Socket(path), [_socket, life]) = opened.unwrap().parts().unwrap() else {
        panic!("no socket");
    };
    let life = UnixStream::from(life);
    life.shutdown(Shutdown::Write).unwrap();
    assert_eq!(text(life), "");
    assert!(!PathBuf::from(path).exists());
    here.end();
}

#[test]
fn it_opens_one_socket_in_its_own_place_and_one_port() {
    let mut here = Here::start();
    here.ask(&Request::Port).unwrap();
    let again = here.ask(&Request::Port).unwrap_err().to_string();
    assert_eq!(again, "it was opened before");
    let elsewhere = here.ask(&Request::Socket("x/../../elsewhere".to_owned()));
    let refused = elsewhere.unwrap_err().to_string();
    assert_eq!(refused, "that is not a name for a socket");
    let again = here.ask(&Request::Socket("supervisor-other".to_owned()));
    assert_eq!(again.unwrap_err().to_string(), "it was opened before");
    here.end();
}

#[test]
fn half_a_request_is_none() {
    let mut here = Here::of(&["echo started"]);
    here.socket.write_all(br#"{"Start":0}"#).unwrap();
    here.end();
}
