//! Compiling a component in a process of its own, with bounds: the compiler reads what anybody may have written.
//!
//! That process is `acp-chain compile`. It reads the component from standard input, gives up its rights, compiles, and
//! writes one [`Outcome`] to standard output. If it ends before, it went beyond a bound.

use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::limits::{COMPONENT, Quantity};
use crate::sandbox::{ComponentError, Engine};
use crate::system::{process, rights};
use crate::untrusted::quote;

/// The memory that it may take, in bytes, beside that of the program and the component. What a proxy in Python takes is
/// a quarter of it.
const MEMORY: u64 = 2 << 30;

/// The processor time that it may take, on all processors together.
const TIME: Duration = Duration::from_mins(2);

/// How long it may take in all, for systems that do not bound its processor time.
const WAIT: Duration = Duration::from_mins(10);

/// The most code that is taken of it, in bytes.
const CODE: u64 = 4 << 30;

/// How much of what it says on standard error is looked at, in bytes.
const WORDS: u64 = 4 << 10;

/// What it writes: one byte for what it is, and the rest.
#[repr(u8)]
enum Outcome {
    Code = b'c',
    Invalid = b'i',
    TooDeep = b'd',
}

/// Compiles a component for [`apart`].
#[expect(clippy::disallowed_methods, reason = "a program reads it")]
pub fn main() -> ExitCode {
    process::bound(MEMORY, TIME);
    let mut wasm = Vec::new();
    let read = io::stdin().take(COMPONENT as u64).read_to_end(&mut wasm);
    let (Ok(_), Ok(engine)) = (read, Engine::new(None)) else {
        return ExitCode::FAILURE;
    };
    // From here on, what came in decides what is done.
    let _ = rights::give_up(&[], None);
    let compiled = engine.code(&wasm);
    let (outcome, rest) = match compiled {
        Ok(code) => (Outcome::Code, code),
        Err(ComponentError::TooDeep) => (Outcome::TooDeep, Vec::new()),
        Err(ComponentError::Invalid(why)) => (Outcome::Invalid, why.into_bytes()),
        Err(error) => (Outcome::Invalid, error.to_string().into_bytes()),
    };
    let mut out = io::stdout();
    let written = out.write_all(&[outcome as u8]);
    match written
        .and_then(|()| out.write_all(&rest))
        .and_then(|()| out.flush())
    {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// The code of a component, compiled in a process of its own.
pub fn apart(wasm: &[u8]) -> Result<Vec<u8>, ComponentError> {
    let failed = |error: io::Error| {
        ComponentError::Uncompiled(format!("no process can be started for that: {error}"))
    };
    let mut child = std::env::current_exe()
        .and_then(|program| {
            Command::new(program)
                .arg("compile")
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
        })
        .map_err(failed)?;
    let (input, output, words) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let child = Mutex::new(child);
    let (mut out, mut said) = (Vec::new(), Vec::new());
    let is_late = thread::scope(|scope| {
        // It may end before it has read everything.
        scope.spawn(move || input.map(|mut input| input.write_all(wasm)));
        scope.spawn(|| words.map(|words| words.take(WORDS).read_to_end(&mut said)));
        let (done, is_done) = channel();
        let late = scope.spawn(|| is_late(&child, is_done));
        let _ = output.map(|output| output.take(CODE).read_to_end(&mut out));
        drop(done);
        late.join().unwrap_or(false)
    });
    let status = lock(&child).wait().map_err(failed)?;
    let why = match (out.first(), status.success()) {
        (Some(b'c'), true) => {
            out.remove(0);
            return Ok(out);
        }
        (Some(b'i'), true) => {
            let why = String::from_utf8_lossy(&out[1..]).into_owned();
            return Err(ComponentError::Invalid(why));
        }
        (Some(b'd'), true) => return Err(ComponentError::TooDeep),
        _ if is_late => format!(
            "that takes longer than {}",
            Quantity::Time.show(millis(WAIT))
        ),
        _ => bound(status, &String::from_utf8_lossy(&said)),
    };
    Err(ComponentError::Uncompiled(why))
}

/// Ends a process that goes on for too long; whether it did.
fn is_late(child: &Mutex<Child>, is_done: Receiver<()>) -> bool {
    let is_late = is_done.recv_timeout(WAIT) == Err(RecvTimeoutError::Timeout);
    if is_late {
        // It may have ended by now.
        let _ = lock(child).kill();
    }
    is_late
}

/// Which bound it went beyond, as far as its end tells.
fn bound(status: ExitStatus, said: &str) -> String {
    if process::has_computed_too_long(status) {
        let time = Quantity::Time.show(millis(TIME));
        return format!("that takes more than {time} of processor time");
    }
    if said.contains("memory allocation") {
        let memory = Quantity::Size.show(MEMORY);
        return format!("that takes more than {memory} of memory");
    }
    if said.contains("overflowed its stack") {
        return "it is nested too deep for the compiler".to_owned();
    }
    let words = said.lines().last().unwrap_or_default();
    format!(
        "the process that compiles it ended with {status}: {}",
        quote(words, 200)
    )
}

fn lock(child: &Mutex<Child>) -> std::sync::MutexGuard<'_, Child> {
    child.lock().unwrap_or_else(PoisonError::into_inner)
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
