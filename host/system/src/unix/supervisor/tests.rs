//! The supervisor's behaviour, over its sockets. It waits for all children of its process, so it runs in a separate
//! one: this test binary again, with one test and a variable.

use std::env;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::wire::{Event, ReceivedReply};
use super::*;

/// Set in the supervisor's process.
const VARIABLE: &str = "ACP_CHAIN_TEST_SUPERVISOR";

/// The test that is the supervisor.
const PROCESS: &str = "unix::supervisor::tests::process";

#[test]
#[ignore = "the other tests start it as their supervisor"]
fn process() {
    if env::var_os(VARIABLE).is_some() {
        assert_eq!(main(), ExitCode::SUCCESS);
    }
}

/// A running supervisor.
struct TestSupervisor {
    socket: UnixStream,
    events: BufReader<UnixStream>,
    process: Child,
    numbers: u64,
}

struct RunningProgram {
    number: u64,
    output: File,
}

impl TestSupervisor {
    fn start() -> Self {
        let (socket, asked) = UnixStream::pair().unwrap();
        let (events, their_events) = UnixStream::pair().unwrap();
        let process = Command::new(env::current_exe().unwrap())
            .args([
                "--exact",
                PROCESS,
                "--ignored",
                "--nocapture",
                "--test-threads=2",
            ])
            .env(VARIABLE, "")
            .stdin(Stdio::from(OwnedFd::from(asked)))
            .stdout(Stdio::from(OwnedFd::from(their_events)))
            .spawn()
            .unwrap();
        let mut events = BufReader::new(events);
        let mut line = String::new();
        // The first output of the test harness.
        while line != "running 1 test\n" {
            line.clear();
            assert_ne!(events.read_line(&mut line).unwrap(), 0);
        }
        Self {
            socket,
            events,
            process,
            numbers: 0,
        }
    }

    fn of(scripts: &[&str]) -> Self {
        let mut here = Self::start();
        here.ask(&allow(scripts)).unwrap();
        here
    }

    fn ask(&mut self, request: &Request) -> io::Result<ReceivedReply> {
        wire::ask(&mut self.socket, request)
    }

    fn ask_to_start(&mut self, program: usize, streams: Streams) -> io::Result<ReceivedReply> {
        self.ask_to_start_with(program, streams, None)
    }

    fn ask_to_start_with(
        &mut self,
        program: usize,
        streams: Streams,
        hook_token: Option<&str>,
    ) -> io::Result<ReceivedReply> {
        self.numbers += 1;
        let number = self.numbers;
        self.ask(&Request::Start {
            program,
            number,
            streams,
            hook_token: hook_token.map(str::to_owned),
        })
    }

    fn run(&mut self, program: usize) -> RunningProgram {
        let started = self.ask_to_start(program, Streams::Pipes).unwrap();
        let (_, [_, output]) = started.started().unwrap();
        self.running(output)
    }

    fn running(&self, output: OwnedFd) -> RunningProgram {
        RunningProgram {
            number: self.numbers,
            output: File::from(output),
        }
    }

    fn end_program(&mut self, program: &RunningProgram) {
        wire::say(&mut self.socket, &Request::End(program.number)).unwrap();
    }

    fn event(&mut self) -> Event {
        let mut line = String::new();
        self.events.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// How a program ended, by its events.
    fn status(&mut self, program: &RunningProgram) -> ExitStatus {
        loop {
            if let Event::Ended(number, status) = self.event()
                && number == program.number
            {
                return ExitStatus::from_raw(status);
            }
        }
    }

    /// Closes the sockets, as the end of the host does.
    fn end(mut self) {
        drop(self.socket);
        assert!(self.process.wait().unwrap().success());
    }
}

fn allow(scripts: &[&str]) -> Request {
    let command = |script: &&str| CommandLine {
        program: "sh".into(),
        args: vec!["-c".into(), script.into()],
        env: Vec::new(),
    };
    Request::Allow {
        programs: scripts.iter().map(command).collect(),
        connections: 2,
    }
}

fn text(mut from: impl Read) -> String {
    let mut text = String::new();
    from.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn it_starts_only_the_programs_of_the_first_request() {
    let mut here = TestSupervisor::start();
    let refused = |asked: io::Result<ReceivedReply>| asked.unwrap_err().to_string();
    let unknown = "no such program may be started";
    assert_eq!(refused(here.ask_to_start(0, Streams::Pipes)), unknown);
    here.ask(&allow(&["echo one", "exit 3"])).unwrap();
    assert_eq!(
        refused(here.ask(&allow(&["echo another"]))),
        "the programs were allowed before"
    );
    assert_eq!(refused(here.ask_to_start(2, Streams::Pipes)), unknown);
    assert_eq!(text(here.run(0).output), "one\n");
    let three = here.run(1);
    assert_eq!(here.status(&three).code(), Some(3));
    here.end();
}

#[test]
fn a_start_adds_nothing_to_the_environment_but_a_token_for_hooks() {
    let mut here = TestSupervisor::of(&["env"]);
    let mut start = |token: Option<&str>| {
        let started = here.ask_to_start_with(0, Streams::Pipes, token)?;
        let (_, [_, output]) = started.started()?;
        Ok::<_, io::Error>(text(File::from(output)))
    };
    let without = start(None).unwrap();
    let with = start(Some("aZ-_09")).unwrap();
    let mut added: Vec<_> = with.lines().collect();
    added.retain(|line| !without.lines().any(|other| other == *line));
    assert_eq!(added, ["ACP_CHAIN_HOOK_TOKEN=aZ-_09"]);
    assert_eq!(with.lines().count(), without.lines().count() + 1);
    for token in [
        "",
        "a b",
        "a=b",
        "a\nLD_PRELOAD=/tmp/x.so",
        "a\0LD_PRELOAD=/tmp/x.so",
        "\u{e9}",
        &*"x".repeat(65),
    ] {
        let refused = start(Some(token)).unwrap_err().to_string();
        assert_eq!(refused, "not a valid token for hooks", "{token:?}");
    }
    here.end();
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_is_compared_with_the_running_program_that_has_the_token() {
    let mut here = TestSupervisor::of(&["echo $$; cat; :"]);
    let started = here.ask_to_start_with(0, Streams::Pipes, Some("token"));
    let (_, [input, output]) = started.unwrap().started().unwrap();
    let mut line = String::new();
    let mut output = BufReader::new(File::from(output));
    output.read_line(&mut line).unwrap();
    let process: u32 = line.trim().parse().unwrap();
    let mut descent = |hook_token: &str, process: u32| {
        let request = Request::Descent {
            hook_token: hook_token.to_owned(),
            process,
            command: String::new(),
        };
        let (Reply::Descent(descent), []) = here.ask(&request).unwrap().parts().unwrap() else {
            panic!("another reply");
        };
        descent
    };
    let Descent::Below(found) = descent("token", process) else {
        panic!("it is the program itself");
    };
    let found: Vec<_> = found.iter().map(|ancestor| ancestor.id).collect();
    assert_eq!(found, [process]);
    assert_eq!(descent("other", process), Descent::Apart);
    assert_eq!(descent("token", std::process::id()), Descent::Apart);
    drop(input);
    // The program has ended once its output has.
    text(output);
    here.end();
}

#[test]
fn a_failed_start_is_reported_with_the_systems_error() {
    let mut here = TestSupervisor::start();
    let programs = vec![CommandLine {
        program: "/no/such/program".into(),
        args: Vec::new(),
        env: Vec::new(),
    }];
    here.ask(&Request::Allow {
        programs,
        connections: 1,
    })
    .unwrap();
    let error = here.ask_to_start(0, Streams::Pipes).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
    here.end();
}

#[test]
fn a_program_gets_no_descriptor_but_its_streams() {
    let list = "ls /proc/self/fd";
    let mut here = TestSupervisor::of(&["sleep 1000", list]);
    let _other = here.run(0);
    // Our parent may have left some descriptors that every child gets.
    let plain = Command::new("sh").args(["-c", list]).output().unwrap();
    assert_eq!(text(here.run(1).output), text(&*plain.stdout));
    let started = here.ask_to_start(1, Streams::Socket).unwrap();
    let (_, [socket]) = started.started().unwrap();
    assert_eq!(text(File::from(socket)), text(&*plain.stdout));
    here.end();
}

#[test]
fn a_program_can_use_one_socket_for_both_streams() {
    let mut here = TestSupervisor::of(&["cat; echo over; exit 4"]);
    let started = here.ask_to_start(0, Streams::Socket).unwrap();
    let (_, [socket]) = started.started().unwrap();
    let mut socket = UnixStream::from(socket);
    socket.write_all(b"said\n").unwrap();
    socket.shutdown(Shutdown::Write).unwrap();
    let program = here.running(socket.into());
    assert_eq!(text(&program.output), "said\nover\n");
    assert_eq!(here.status(&program).code(), Some(4));
    here.end();
}

#[test]
fn standard_error_is_reported_to_its_end() {
    let mut here = TestSupervisor::of(&["printf 'one\\ntwo' >&2"]);
    let program = here.run(0);
    let mut printed = Vec::new();
    loop {
        match here.event() {
            Event::Printed(number, bytes) if number == program.number => {
                printed.extend(STANDARD.decode(bytes).unwrap());
            }
            Event::Silent(number) if number == program.number => break,
            Event::Ended(..) => {}
            event => panic!("{event:?}"),
        }
    }
    assert_eq!(printed, b"one\ntwo");
    here.end();
}

#[test]
fn children_of_a_program_end_with_it() {
    let mut here = TestSupervisor::of(&["sleep 1000 & wait"]);
    let program = here.run(0);
    here.end_program(&program);
    // Both had it open.
    assert_eq!(text(&program.output), "");
    assert_eq!(here.status(&program).signal(), Some(15));
    here.end();
}

#[test]
fn programs_end_unless_the_host_says_something_in_time() {
    let mut here = TestSupervisor::of(&["sleep 1000 & wait"]);
    let watch = |here: &mut TestSupervisor, within| {
        wire::say(&mut here.socket, &Request::Watch(within)).unwrap();
    };
    watch(&mut here, Some(3_600_000));
    watch(&mut here, None);
    let first = here.run(0);
    watch(&mut here, Some(0));
    assert_eq!(here.status(&first).signal(), Some(15));
    assert_eq!(text(&first.output), "");
    // Those that are started later run.
    let second = here.run(0);
    here.end_program(&second);
    assert_eq!(here.status(&second).signal(), Some(15));
    here.end();
}

#[test]
fn a_program_is_ended_with_a_signal_and_its_status_is_reported() {
    let mut here = TestSupervisor::of(&["trap 'exit 5' TERM; echo ready; sleep 1000 & wait"]);
    let mut program = here.run(0);
    program.output.read_exact(&mut [0; 6]).unwrap();
    here.end_program(&program);
    assert_eq!(here.status(&program).code(), Some(5));
    // Its end has been reported already.
    here.end_program(&program);
    here.end();
}

#[test]
fn each_of_many_programs_has_its_own_status() {
    let scripts: Vec<_> = (0..20).map(|code| format!("exit {code}")).collect();
    let mut here = TestSupervisor::of(&scripts.iter().map(String::as_str).collect::<Vec<_>>());
    let running: Vec<_> = (0..20).map(|program| here.run(program)).collect();
    let mut ended = vec![None; running.len()];
    while ended.contains(&None) {
        if let Event::Ended(number, status) = here.event() {
            let which = running.iter().position(|one| one.number == number);
            ended[which.unwrap()] = ExitStatus::from_raw(status).code();
        }
    }
    let codes: Vec<_> = (0..20).map(Some).collect();
    assert_eq!(ended, codes);
    here.end();
}

#[test]
fn everything_ends_with_the_host() {
    let mut here = TestSupervisor::of(&["trap '' TERM HUP; echo ready; sleep 1000 & wait"]);
    let mut program = here.run(0);
    program.output.read_exact(&mut [0; 6]).unwrap();
    let opened = here.ask(&Request::Socket("supervisor-test".to_owned()));
    let (Reply::Socket(path), [_socket, away]) = opened.unwrap().parts().unwrap() else {
        panic!("no socket");
    };
    let path = PathBuf::from(path);
    assert!(path.exists());
    here.socket.shutdown(Shutdown::Both).unwrap();
    assert_eq!(here.status(&program).signal(), Some(9));
    assert_eq!(text(program.output), "");
    assert_eq!(text(UnixStream::from(away)), "");
    assert!(!path.parent().unwrap().exists());
    assert!(here.process.wait().unwrap().success());
}

#[test]
fn a_socket_is_removed_when_its_lifeline_is_closed() {
    let mut here = TestSupervisor::start();
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
fn once_programs_are_allowed_each_connection_can_have_a_socket_and_a_port() {
    let mut here = TestSupervisor::start();
    let socket = |name: &str| Request::Socket(name.to_owned());
    for name in ["supervisor-1", "supervisor-2", "supervisor-3"] {
        here.ask(&socket(name)).unwrap();
    }
    let elsewhere = here.ask(&socket("x/../../elsewhere"));
    let refused = elsewhere.unwrap_err().to_string();
    assert_eq!(refused, "not a valid name for a socket");
    here.ask(&allow(&[])).unwrap();
    let port = |here: &mut TestSupervisor| {
        let opened = here.ask(&Request::Port)?.parts::<2>();
        opened.map(|(_, [_port, life])| UnixStream::from(life))
    };
    let first = port(&mut here).unwrap();
    let _second = port(&mut here).unwrap();
    let third = port(&mut here).unwrap_err().to_string();
    assert_eq!(third, "each connection has opened one");
    first.shutdown(Shutdown::Write).unwrap();
    assert_eq!(text(first), "");
    port(&mut here).unwrap();
    let _open = ["supervisor-4", "supervisor-5"].map(|name| here.ask(&socket(name)).unwrap());
    let third = here.ask(&socket("supervisor-6")).unwrap_err().to_string();
    assert_eq!(third, "each connection has opened one");
    here.end();
}

#[test]
fn an_incomplete_request_is_ignored() {
    let mut here = TestSupervisor::of(&["echo started"]);
    here.socket
        .write_all(br#"{"Start":{"program":0,"number":1,"streams":"Pipes","hook_token":null}}"#)
        .unwrap();
    here.end();
}
