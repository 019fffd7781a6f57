//! The times of a test run: of steps, programs, rooms (top modules) and tests, from the output of `cargo test`.
//!
//! The test harness prints when a test ends, not when it starts. But it starts tests in the order of their names, as
//! many at once as there are threads, and the next whenever one ends; so the starts follow from the ends.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::time::{Duration, Instant};

use console::strip_ansi_codes;

/// How many rooms, and how many tests, are shown.
const SHOWN: usize = 15;

/// Programs that take less are not listed.
const SHORT: Duration = Duration::from_secs(2);

pub struct Times {
    steps: Vec<(String, Duration)>,
    programs: Vec<Program>,
    /// How many tests run at once.
    threads: usize,
    /// The program whose output is being read, once it has printed its number of tests.
    running: Option<RunningTest>,
    /// The name of the next program.
    next: String,
}

struct RunningTest {
    since: Instant,
    /// The names of tests, with their ends.
    ended: Vec<(String, Duration)>,
}

struct Program {
    name: String,
    time: Duration,
    tests: Vec<(String, Duration)>,
    ignored: usize,
}

impl Times {
    /// The times of a run after these steps.
    pub fn new(steps: Vec<(String, Duration)>) -> Self {
        Self {
            steps,
            programs: Vec::new(),
            threads: 1,
            running: None,
            next: String::new(),
        }
    }

    /// Adds the programs of another run.
    pub fn add(&mut self, other: Self) {
        self.programs.extend(other.programs);
    }

    /// The next lines come from programs that run this many tests at once.
    pub fn begin(&mut self, threads: usize) {
        self.threads = threads;
        self.running = None;
    }

    /// Reads a line as it arrives.
    pub fn read(&mut self, line: &str) {
        let line = strip_ansi_codes(line);
        let line = line.trim();
        if let Some(program) = line.strip_prefix("Running ") {
            program.clone_into(&mut self.next);
        } else if let Some(package) = line.strip_prefix("Doc-tests ") {
            self.next = format!("examples of {package}");
        } else if line.starts_with("running ")
            && (line.ends_with(" tests") || line.ends_with(" test"))
        {
            self.running = Some(RunningTest {
                since: Instant::now(),
                ended: Vec::new(),
            });
        } else if let Some(running) = &mut self.running {
            if let Some((name, _)) = line
                .strip_prefix("test ")
                .and_then(|rest| rest.rsplit_once(" ... "))
            {
                let name = name.split(" - should panic").next().unwrap_or(name);
                running
                    .ended
                    .push((name.to_owned(), running.since.elapsed()));
            } else if let Some(result) = line.strip_prefix("test result: ") {
                let time = running.since.elapsed();
                let ended = std::mem::take(&mut running.ended);
                self.programs.push(Program {
                    name: called(&self.next),
                    time,
                    tests: lengths(&ended, self.threads),
                    ignored: ignored(result),
                });
                self.running = None;
            }
        }
    }
}

/// The length of each test, from the ends of all, in the order in which they ended.
fn lengths(ended: &[(String, Duration)], threads: usize) -> Vec<(String, Duration)> {
    let mut order: Vec<_> = ended.iter().map(|(name, _)| &**name).collect();
    order.sort_unstable();
    let begun: HashMap<_, _> = order
        .into_iter()
        .enumerate()
        .map(|(at, name)| {
            let made_room = at.checked_sub(threads).map(|before| ended[before].1);
            (name, made_room.unwrap_or_default())
        })
        .collect();
    let length = |(name, end): &(String, Duration)| {
        let begun = begun.get(&**name).copied().unwrap_or_default();
        (name.clone(), end.saturating_sub(begun))
    };
    ended.iter().map(length).collect()
}

/// The number of ignored tests, from the line with the result.
fn ignored(result: &str) -> usize {
    let mut parts = result.split(';').map(str::trim);
    let part = parts.find_map(|part| part.strip_suffix(" ignored"));
    part.and_then(|count| count.parse().ok())
        .unwrap_or_default()
}

/// A program's name without the folder and the number that cargo gives it: `tests/wire/main.rs
/// (target/debug/deps/wire-0123)` is `wire`.
fn called(running: &str) -> String {
    let file = running.rsplit(['/', '\\']).next().unwrap_or(running);
    let name = file.trim_end_matches(')').rsplit_once('-');
    let kind = if running.starts_with("unittests") {
        " (units)"
    } else {
        ""
    };
    match name {
        Some((name, _)) if running.ends_with(')') => format!("{name}{kind}"),
        _ => running.to_owned(),
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut rows = |title: &str, rows: &[(String, Duration)]| {
            writeln!(f, "\n{title}")?;
            rows.iter()
                .try_for_each(|(name, time)| writeln!(f, "{:>8.1} s  {name}", time.as_secs_f64()))
        };
        rows("Steps before the tests", &self.steps)?;
        let programs = self.programs.iter().filter(|program| program.time >= SHORT);
        let programs = programs.map(|program| {
            let count = program.tests.len();
            (format!("{}, {count} tests", program.name), program.time)
        });
        rows("Programs, slowest first", &slowest(programs))?;
        let mut rooms = BTreeMap::<_, (Duration, usize)>::new();
        let tests = || {
            let programs = self.programs.iter();
            programs.flat_map(|program| program.tests.iter().map(|test| (&*program.name, test)))
        };
        for (program, (name, time)) in tests() {
            let room = name.split_once("::").map_or("", |(room, _)| room);
            let (sum, count) = rooms.entry((program, room)).or_default();
            *sum += *time;
            *count += 1;
        }
        let rooms = rooms.into_iter().map(|((program, room), (time, count))| {
            (format!("{program} {room}, {count} tests"), time)
        });
        rows(
            "Rooms, slowest first; tests that ran side by side are added up",
            &slowest(rooms)[..],
        )?;
        let tests = tests().map(|(program, (name, time))| (format!("{program} {name}"), *time));
        rows("Tests, slowest first", &slowest(tests))?;
        let (mut count, mut ignored, mut time) = (0, 0, Duration::ZERO);
        for program in &self.programs {
            count += program.tests.len();
            ignored += program.ignored;
            time += program.time;
        }
        writeln!(
            f,
            "\n{count} tests in {} programs, {ignored} of them ignored; the times of the programs add up to {:.1} s",
            self.programs.len(),
            time.as_secs_f64()
        )
    }
}

/// The slowest of these rows.
fn slowest(rows: impl Iterator<Item = (String, Duration)>) -> Vec<(String, Duration)> {
    let mut rows: Vec<_> = rows.collect();
    rows.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    rows.truncate(SHOWN);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_begins_when_another_makes_room() {
        let seconds = Duration::from_secs;
        // With two threads: a and b begin; b ends, c begins; a ends, d begins.
        let ended = [("b", 2), ("a", 3), ("d", 4), ("c", 7)];
        let ended = ended.map(|(name, end)| (name.to_owned(), seconds(end)));
        let lengths = lengths(&ended, 2);
        let expected = [("b", 2), ("a", 3), ("d", 1), ("c", 5)];
        assert_eq!(
            lengths,
            expected.map(|(name, length)| (name.to_owned(), seconds(length)))
        );
    }

    #[test]
    fn what_cargo_prints_is_read() {
        let mut times = Times::new(Vec::new());
        times.begin(2);
        for line in [
            "\u{1b}[1m\u{1b}[92m     Running\u{1b}[0m tests/wire/main.rs (target/debug/deps/wire-01ab)",
            "",
            "running 3 tests",
            "test order::stays ... \u{1b}[32mok\u{1b}[m",
            "test cancel::ends - should panic ... ok",
            "test cancel::waits ... ignored, it needs a network",
            "test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s",
        ] {
            times.read(line);
        }
        let [program] = &times.programs[..] else {
            panic!("expected one program");
        };
        let names: Vec<_> = program.tests.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["order::stays", "cancel::ends", "cancel::waits"]);
        assert_eq!((&*program.name, program.ignored), ("wire", 1));
        assert!(
            times
                .to_string()
                .contains("3 tests in 1 programs, 1 of them ignored")
        );
    }
}
