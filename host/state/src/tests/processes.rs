//! Several processes at once, killed ones, and a disk that is full.

use std::env;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;

use super::*;

/// Set in another process: what it does, and the path of the database.
const TASK: &str = "ACP_CHAIN_TEST_STATE";
const DATABASE: &str = "ACP_CHAIN_TEST_STATE_DATABASE";

/// The test that is another process.
const PROCESS: &str = "tests::processes::process";

/// The arguments for it. With two threads, the test harness prints nothing in front of its lines.
const ARGS: [&str; 5] = [
    "--exact",
    PROCESS,
    "--ignored",
    "--nocapture",
    "--test-threads=2",
];

/// How often each of those who count does.
const COUNTS: u64 = 50;

#[test]
#[ignore = "the other tests start it as another process"]
fn process() {
    let (Some(task), Some(path)) = (env::var_os(TASK), env::var_os(DATABASE)) else {
        return;
    };
    let path = PathBuf::from(path);
    match task.to_str() {
        Some("count") => count(&path),
        Some("write") => write_on(&path),
        Some("fill") => fill(&path),
        _ => panic!("{}", task.display()),
    }
}

/// Prints a line for the test that has started this process.
#[expect(clippy::disallowed_methods, reason = "the other process reads it")]
fn report(line: &str) {
    let mut output = std::io::stdout();
    writeln!(output, "{line}").unwrap();
}

/// A command with what makes this test binary another process.
fn command(mut program: Command, task: &str, path: &Path) -> Command {
    program.args(ARGS).env(TASK, task).env(DATABASE, path);
    program.stdout(Stdio::piped());
    program
}

fn start(task: &str, path: &Path) -> (Child, BufReader<ChildStdout>) {
    let program = Command::new(env::current_exe().unwrap());
    let mut process = command(program, task, path).spawn().unwrap();
    let output = process.stdout.take().unwrap();
    (process, BufReader::new(output))
}

/// Counts up under one key, as others do at the same time.
fn count(path: &Path) {
    let mut database = open(path);
    let counter = of("counter");
    let mut done = 0;
    while done < COUNTS {
        let loaded = database.load(&counter, "count").unwrap();
        let count: u64 = loaded.value.map_or(0, |value| value.parse().unwrap());
        let next = (count + 1).to_string();
        let outcome = database.store(&counter, "count", loaded.version, Some(&next));
        if let StoreOutcome::Stored { .. } = outcome.unwrap() {
            done += 1;
        }
    }
}

#[test]
fn no_count_of_several_processes_and_threads_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = path(&folder);
    // All of them find no database, and create one.
    let mut processes = [start("count", &path), start("count", &path)];
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| count(&path));
        }
    });
    for (process, _) in &mut processes {
        assert!(process.wait().unwrap().success());
    }
    let total = open(&path).get(&of("counter"), "count").unwrap();
    assert_eq!(total, (4 * COUNTS).to_string());
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
}

/// A value from which its number is known, of any length.
fn numbered(number: usize) -> String {
    format!("{number} {}", "x".repeat(number * 7919 % 60_000))
}

/// Stores the next number until this process is killed.
fn write_on(path: &Path) {
    let mut database = Database::open(path).unwrap();
    for number in number(&database) + 1.. {
        database.put(&of("writer"), "number", Some(&numbered(number)));
        report(&format!("stored {number}"));
    }
}

/// The number that is stored, with its whole value.
fn number(database: &Database) -> usize {
    let Some(value) = database.get(&of("writer"), "number") else {
        return 0;
    };
    let number = value.split(' ').next().unwrap().parse().unwrap();
    assert_eq!(value, numbered(number));
    number
}

#[test]
fn a_killed_writer_leaves_all_that_it_has_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = path(&folder);
    let mut before = 0;
    for round in 1..=8 {
        let (mut process, mut output) = start("write", &path);
        let mut printed = String::new();
        while printed.matches("stored ").count() < round {
            assert_ne!(output.read_line(&mut printed).unwrap(), 0);
        }
        process.kill().unwrap();
        process.wait().unwrap();
        output.read_to_string(&mut printed).unwrap();
        let mut reports = printed.lines().rev();
        let last = reports.find_map(|line| line.strip_prefix("stored "));
        let last: usize = last.unwrap().parse().unwrap();
        let found = number(&Database::open(&path).unwrap());
        assert!(found == last || found == last + 1, "{found} after {last}");
        assert!(last > before);
        before = found;
    }
}

#[test]
fn a_database_that_is_locked_for_too_long_is_an_error() {
    let (folder, mut database) = database();
    let one = of("one");
    database.put(&one, "k", Some("v"));
    let other = open(&path(&folder));
    other.connection.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let brief = "PRAGMA busy_timeout = 1";
    database.connection.execute_batch(brief).unwrap();
    let error = database.store(&one, "k", 0, None).unwrap_err();
    assert!(matches!(error, StateError::Locked { .. }), "{error}");
    let error = database.load(&one, "k").unwrap_err();
    assert!(matches!(error, StateError::Locked { .. }), "{error}");
    other.connection.execute_batch("ROLLBACK").unwrap();
    assert_eq!(database.get(&one, "k").as_deref(), Some("v"));
}

#[test]
fn on_a_full_disk_the_earlier_value_stays() {
    let (_folder, mut database) = database();
    let one = of("one");
    let first = database.put(&one, "k", Some("first"));
    // As many as there are.
    let full = "PRAGMA max_page_count = 1";
    database.connection.execute_batch(full).unwrap();
    let long = "x".repeat(STORED_VALUE);
    let error = database.store(&one, "k", first, Some(&long)).unwrap_err();
    assert!(matches!(error, StateError::Full { .. }), "{error}");
    assert_eq!(database.get(&one, "k").as_deref(), Some("first"));
    assert_eq!(database.load(&one, "k").unwrap().version, first);
    database.put(&one, "k", Some("2"));
    let free = "PRAGMA max_page_count = 1000";
    database.connection.execute_batch(free).unwrap();
    database.put(&one, "k", Some(&long));
}

/// Stores values until that fails.
fn fill(path: &Path) {
    let mut database = match Database::open(path) {
        Ok(database) => database,
        Err(error) => return report(&format!("not opened: {error}")),
    };
    let value = "x".repeat(4000);
    for number in 0.. {
        let stored = database.store(&of("one"), &number.to_string(), 0, Some(&value));
        if let Err(error) = stored {
            return report(&format!("stored {number}: {error}"));
        }
    }
}

/// Fills a database as far as files may have this many blocks. Returns what is reported.
fn fill_within(blocks: u32, path: &Path) -> String {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).arg(env::current_exe().unwrap());
    let output = command(shell, "fill", path).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}");
    printed
}

#[test]
fn a_file_that_cannot_grow_keeps_all_that_was_stored() {
    let folder = tempfile::tempdir().unwrap();
    let path = path(&folder);
    let printed = fill_within(256, &path);
    let (_, reported) = printed.split_once("stored ").unwrap();
    let (count, error) = reported.split_once(": ").unwrap();
    assert!(error.contains("The stored values are as before"), "{error}");
    let count: u64 = count.parse().unwrap();
    let mut database = Database::open(&path).unwrap();
    assert_eq!(database.namespaces().unwrap()[0].count, count);
    for number in 0..count {
        let value = database.get(&of("one"), &number.to_string()).unwrap();
        assert_eq!(value.len(), 4000);
    }
    database.put(&of("one"), &count.to_string(), Some("v"));
}

#[test]
fn a_database_that_cannot_be_created_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = path(&folder);
    let printed = fill_within(8, &path);
    assert!(printed.contains("not opened: "), "{printed}");
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 0);
    open(&path);
}
