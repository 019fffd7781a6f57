use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::SystemTime;

use acp_chain_rpc::Message;
use acp_chain_trace::{Decision, Line, Sink};

use super::writer::SinkEntry;
use super::{Beginning, Event, Observer, OnFailure, Recorder, Role, State, Trace, Tracer, wait};
use crate::shared::{SharedState, WAITING, slow};
use crate::writer::Entry;

/// A sink that keeps the lines.
#[derive(Clone, Default)]
struct MemorySink(Arc<Mutex<Vec<Line>>>);

impl MemorySink {
    fn lines(&self) -> Vec<Line> {
        self.0.lock().unwrap().clone()
    }

    /// The lines of a connection.
    fn of(&self, recorder: &Recorder) -> Vec<Line> {
        let mut lines = self.lines();
        lines.retain(|line| *line.connection == *recorder.name);
        lines
    }
}

impl Sink for MemorySink {
    fn write(&mut self, lines: &[Line]) -> io::Result<()> {
        self.0.lock().unwrap().extend_from_slice(lines);
        Ok(())
    }
}

fn begin(tracer: &Tracer, proxies: &[&str]) -> Recorder {
    tracer.clone().connection(Beginning {
        role: Role::Agent,
        proxies: proxies.iter().map(|&id| id.to_owned()).collect(),
        agent: None,
        chain: None,
    })
}

fn became(state: State, why: Option<&str>) -> Event {
    Event::Became {
        proxy: "redact".to_owned(),
        state,
        restarts: 0,
        memory: None,
        process: None,
        why: why.map(str::to_owned),
    }
}

fn written(tracer: &Tracer) {
    wait(&tracer.process.queue, Entry::Flush);
}

#[test]
fn each_connection_of_a_process_has_a_beginning_an_end_and_lines_of_its_own() {
    let book = MemorySink::default();
    let tracer = Trace::default().to(book.clone()).tracer();
    let own = begin(&tracer, &["redact"]);
    let anns = begin(&tracer.of_user("ann"), &["redact"]);
    own.record(became(State::Running, None));
    anns.record(became(State::Failed, Some("it broke")));
    let name = anns.name.clone();
    drop(anns);
    own.record(became(State::Ended, None));
    written(&tracer);
    let lines = book.of(&own);
    assert_eq!(lines.len(), 3);
    assert_eq!((lines[0].version, &lines[0].user), (Some(1), &None));
    assert_eq!(lines[1].state, Some(State::Running));
    let anns: Vec<_> = book
        .lines()
        .into_iter()
        .filter(|line| *line.connection == *name)
        .collect();
    assert_eq!(anns.len(), 3);
    assert_eq!(anns[0].user.as_deref(), Some("ann"));
    assert_eq!(anns[1].why.as_deref(), Some("it broke"));
    assert!(anns[2].is_end());
}

#[test]
fn later_listeners_get_the_reasons_of_failures_on_open_connections() {
    let book = MemorySink::default();
    let mut trace = Trace::default();
    trace.sinks.push(SinkEntry {
        sink: Box::new(book.clone()),
        always: false,
    });
    let tracer = trace.tracer();
    let [stays, goes] = [begin(&tracer, &["redact"]), begin(&tracer, &["redact"])];
    for recorder in [&stays, &goes] {
        recorder.record(became(State::Failed, Some("it broke")));
    }
    drop(goes);
    written(&tracer);
    let reasons = |book: &MemorySink| {
        book.lines()
            .iter()
            .filter(|line| line.why.is_some())
            .count()
    };
    // Without listeners, reasons are not searched for secrets.
    assert_eq!((book.lines().len(), reasons(&book)), (5, 0));
    tracer.process.sink_count.fetch_add(1, Ordering::Relaxed);
    written(&tracer);
    let lines = book.of(&stays);
    assert_eq!(lines.last().unwrap().why.as_deref(), Some("it broke"));
    assert_eq!(reasons(&book), 1);
}

/// A sink that blocks until it is released.
struct SlowSink(MemorySink, Receiver<()>);

impl Sink for SlowSink {
    fn write(&mut self, lines: &[Line]) -> io::Result<()> {
        // The sink continues once the sender is dropped.
        let _ = self.1.recv();
        self.0.write(lines)
    }
}

#[test]
fn events_that_do_not_fit_are_counted_for_their_connection() {
    let book = MemorySink::default();
    let (goes_on, may) = mpsc::channel();
    let tracer = Trace::default().to(SlowSink(book.clone(), may)).tracer();
    let [floods, other] = [begin(&tracer, &[]), begin(&tracer, &[])];
    let event = || became(State::Running, None);
    for _ in 0..=WAITING / event().cost() {
        floods.record(event());
    }
    drop(goes_on);
    written(&tracer);
    other.record(event());
    written(&tracer);
    let dropped = |recorder| {
        book.of(recorder)
            .iter()
            .filter_map(|line| line.dropped)
            .sum()
    };
    let (of_flood, of_other): (u64, u64) = (dropped(&floods), dropped(&other));
    assert!(of_flood > 0 && of_other == 0, "{of_flood}, {of_other}");
}

#[test]
fn dropping_the_last_handle_of_a_trace_waits_until_it_is_written() {
    let book = MemorySink::default();
    let recorder = begin(&Trace::default().to(book.clone()).tracer(), &[]);
    recorder.record(became(State::Running, None));
    drop(recorder);
    assert_eq!(book.lines().len(), 3);
}

#[test]
fn a_failed_trace_is_reported_to_the_owner_of_the_process_only() {
    struct FullSink;
    impl Sink for FullSink {
        fn write(&mut self, _: &[Line]) -> io::Result<()> {
            Err(io::ErrorKind::StorageFull.into())
        }
    }
    for (user, told) in [(None, 1), (Some(""), 0), (Some("ann"), 0)] {
        let tracer = Trace::default().to(FullSink).tracer();
        let tracer = user.map_or(tracer.clone(), |user| tracer.of_user(user));
        let recorder = begin(&tracer, &[]);
        written(&tracer);
        assert!(recorder.has_sinks());
        assert_eq!(recorder.failures().len(), told);
        assert!(!recorder.has_sinks());
    }
}

/// An observer that counts what it gets, and fails at the first event if it is to. It needs leave for each event.
struct CountingObserver {
    count: Arc<AtomicUsize>,
    leave: Option<Receiver<()>>,
    fails: bool,
}

impl Observer for CountingObserver {
    fn passes_over(method: &str, _: &Message, decision: Option<Decision>) -> bool {
        method == "aside" && decision.is_none()
    }

    fn began(&mut self, _: &Line, chain: Option<&str>) -> io::Result<()> {
        assert_eq!(chain, Some("{}"));
        Ok(())
    }

    fn happened(&mut self, _: &str, _: SystemTime, _: &Event) -> io::Result<()> {
        if self.fails {
            return Err(io::ErrorKind::StorageFull.into());
        }
        if let Some(leave) = &self.leave {
            leave.recv().map_err(io::Error::other)?;
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn ended(&mut self, _: &str, _: SystemTime) -> io::Result<()> {
        Ok(())
    }

    fn settle(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn observed(observer: CountingObserver, on_failure: OnFailure) -> Recorder {
    let tracer = Trace::default().observed(observer, on_failure).tracer();
    tracer.connection(Beginning {
        role: Role::Agent,
        proxies: Vec::new(),
        agent: None,
        chain: Some("{}".into()),
    })
}

#[test]
fn an_observer_gets_every_event_and_messages_wait_for_it() {
    let (count, (go, leave)) = (Arc::default(), mpsc::channel());
    let observer = CountingObserver {
        count: Arc::clone(&count),
        leave: Some(leave),
        fails: false,
    };
    let recorder = observed(observer, OnFailure::Halt);
    let event = || became(State::Running, None);
    let all = 2 * WAITING / event().cost();
    let records = thread::spawn(move || {
        (0..all).for_each(|_| recorder.record(event()));
        recorder.settle();
        recorder
    });
    (0..all).for_each(|_| go.send(()).unwrap());
    let recorder = records.join().unwrap();
    assert_eq!(count.load(Ordering::Relaxed), all);
    assert!(recorder.is_observed() && recorder.failures().is_empty());
}

#[test]
fn what_an_observer_passes_over_is_only_for_others() {
    let observer = CountingObserver {
        count: Arc::default(),
        leave: None,
        fails: false,
    };
    let recorder = observed(observer, OnFailure::Halt);
    let message = Message::notification("aside", "{}");
    let passes = |method, decision| recorder.passes_over(method, &message, decision);
    assert!(passes("aside", None));
    assert!(!passes("aside", Some(Decision::Forward)) && !passes("other", None));
    assert!(recorder.is_only_observed());
    recorder.sink_count.fetch_add(1, Ordering::Relaxed);
    assert!(!recorder.is_only_observed());
}

#[test]
fn turns_are_stopped_once_an_observer_has_failed_if_they_must_not_go_on() {
    for (on_failure, halts) in [(OnFailure::Halt, true), (OnFailure::GoOn, false)] {
        let observer = CountingObserver {
            count: Arc::default(),
            leave: None,
            fails: true,
        };
        let mut recorder = observed(observer, on_failure);
        assert!(recorder.has_sinks() && recorder.is_observed() && !recorder.has_halted());
        recorder.record(became(State::Running, None));
        recorder.settle();
        assert!(!recorder.is_observed());
        assert_eq!(recorder.failures().len(), 1);
        assert!(recorder.failures().is_empty());
        assert_eq!(recorder.has_halted(), halts);
        assert_eq!((recorder.halts(), recorder.halts()), (halts, false));
        // Where turns are stopped, events go on to say so on each connection.
        assert_eq!(recorder.has_sinks(), halts);
        recorder.record(became(State::Running, None));
    }
}

#[test]
fn an_observer_that_has_failed_gets_nothing_more() {
    for on_failure in [OnFailure::Halt, OnFailure::GoOn] {
        let count = Arc::default();
        let observer = CountingObserver {
            count: Arc::clone(&count),
            leave: None,
            fails: false,
        };
        let recorder = observed(observer, on_failure);
        recorder.record(became(State::Running, None));
        recorder.settle();
        // As after ten seconds in which it took nothing.
        recorder.tracer.process.shared.fail_observer(&slow());
        recorder.record(became(State::Running, None));
        assert_eq!(recorder.failures().len(), 1);
        drop(recorder);
        assert_eq!(count.load(Ordering::Relaxed), 1);
    }
}

#[test]
fn small_events_do_not_pass_a_large_one_that_waits_for_an_observer() {
    let shared = Arc::new(SharedState {
        waiting: WAITING.into(),
        is_observed: true.into(),
        ..SharedState::default()
    });
    let (done, order) = mpsc::channel();
    for (before, cost) in [WAITING, 1].into_iter().enumerate() {
        let (shared_too, done) = (shared.clone(), done.clone());
        thread::spawn(move || {
            assert!(shared_too.reserve(cost));
            done.send(cost).unwrap();
        });
        while shared.room.waiters() == before {
            thread::yield_now();
        }
    }
    // There is room for the small one only, and then for one of them.
    shared.waiting.fetch_sub(1, Ordering::Relaxed);
    shared.room.free();
    for cost in [WAITING, 1] {
        shared.waiting.store(0, Ordering::Relaxed);
        shared.room.free();
        assert_eq!(order.recv(), Ok(cost));
    }
}
