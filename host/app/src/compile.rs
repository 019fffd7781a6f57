//! Compiles a component in a separate process, with bounds: the compiler reads untrusted input.
//!
//! That process is `acp-chain compile`. It reads the component from standard input, its length first, gives up its
//! rights, compiles, and writes one `Outcome` to standard output. If the process ends without an outcome, it has
//! exceeded a bound. Its input stays open until then: when it ends, the process that waits for the code has ended, and
//! this one ends, too.

use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use acp_chain_channel::limits::{COMPONENT, Quantity};
use acp_chain_rpc::Mutex;
use acp_chain_rpc::untrusted::quote;
use acp_chain_sandbox::{ComponentError, Engine};
use acp_chain_system::{process, programs, rights};

/// The maximum memory for compiling, in bytes, beyond that of the program and the component. A proxy in Python takes a
/// quarter of it.
const MEMORY: u64 = 2 << 30;

/// The maximum processor time, summed over all processors.
const TIME: Duration = Duration::from_mins(2);

/// The maximum duration, for systems that do not bound processor time.
const WAIT: Duration = Duration::from_mins(10);

/// The maximum size of the compiled code, in bytes.
const CODE: u64 = 4 << 30;

/// How much of its standard error is read, in bytes.
const STDERR: u64 = 4 << 10;

/// The first byte that the process writes. The code, or the reason, follows.
#[repr(u8)]
enum Outcome {
    Code = b'c',
    Invalid = b'i',
    TooDeep = b'd',
}

/// Compiles a component for [`apart`].
#[expect(clippy::disallowed_methods, reason = "a program reads it")]
pub fn serve() -> io::Result<()> {
    process::bound(MEMORY, TIME);
    let wasm = component()?;
    let engine = Engine::new(None).map_err(io::Error::other)?;
    // From here on, untrusted input is processed.
    let _ = rights::give_up(&[], None);
    // A thread that started earlier would have kept its rights.
    thread::Builder::new().spawn(end_with_input)?;
    let (outcome, rest) = match engine.code(&wasm) {
        Ok(code) => (Outcome::Code, code),
        Err(ComponentError::TooDeep) => (Outcome::TooDeep, Vec::new()),
        Err(ComponentError::Invalid(why)) => (Outcome::Invalid, why.into_bytes()),
        Err(error) => (Outcome::Invalid, error.to_string().into_bytes()),
    };
    let mut out = io::stdout();
    out.write_all(&[outcome as u8])?;
    out.write_all(&rest)?;
    out.flush()
}

/// The component, from standard input.
fn component() -> io::Result<Vec<u8>> {
    let mut input = io::stdin().lock();
    let mut prefix = [0; size_of::<u64>()];
    input.read_exact(&mut prefix)?;
    let length = u64::from_le_bytes(prefix).min(COMPONENT as u64);
    let mut wasm = Vec::new();
    let read = input.take(length).read_to_end(&mut wasm)?;
    if (read as u64) < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(wasm)
}

/// Ends this process when its input ends.
fn end_with_input() {
    // An error is an end, too.
    let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
    std::process::exit(1);
}

/// The code of a component, compiled in a separate process.
pub fn apart(wasm: &[u8]) -> Result<Vec<u8>, ComponentError> {
    let failed = |error: io::Error| {
        ComponentError::Uncompiled(format!("the compiling process cannot be started: {error}"))
    };
    let mut child = std::env::current_exe()
        .and_then(|program| {
            let mut command = Command::new(program);
            programs::hide(&mut command)
                .arg("compile")
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
        })
        .map_err(failed)?;
    let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let child = Mutex::new(child);
    let (mut out, mut printed) = (Vec::new(), Vec::new());
    let is_late = thread::scope(|scope| {
        let written = scope.spawn(move || {
            let mut open = input?;
            let length = (wasm.len() as u64).to_le_bytes();
            // The process may end before it has read the whole component.
            let _ = open.write_all(&length).and_then(|()| open.write_all(wasm));
            Some(open)
        });
        scope.spawn(|| errors.map(|errors| errors.take(STDERR).read_to_end(&mut printed)));
        let (done, is_done) = channel();
        let late = scope.spawn(|| is_late(&child, is_done));
        let _ = output.map(|output| output.take(CODE).read_to_end(&mut out));
        drop((written.join(), done));
        late.join().unwrap_or(false)
    });
    let status = child.lock().wait().map_err(failed)?;
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
        _ => bound(status, &String::from_utf8_lossy(&printed)),
    };
    Err(ComponentError::Uncompiled(why))
}

/// Kills the process if it runs longer than [`WAIT`]. Returns whether it did.
fn is_late(child: &Mutex<Child>, is_done: Receiver<()>) -> bool {
    let is_late = is_done.recv_timeout(WAIT) == Err(RecvTimeoutError::Timeout);
    if is_late {
        // The process may have ended meanwhile.
        let _ = child.lock().kill();
    }
    is_late
}

/// Why the process failed: the bound that it exceeded, or its last message.
fn bound(status: ExitStatus, printed: &str) -> String {
    if process::has_computed_too_long(status) {
        let time = Quantity::Time.show(millis(TIME));
        return format!("that takes more than {time} of processor time");
    }
    if printed.contains("memory allocation") {
        let memory = Quantity::Size.show(MEMORY);
        return format!("that takes more than {memory} of memory");
    }
    if printed.contains("overflowed its stack") {
        return "it is nested too deep for the compiler".to_owned();
    }
    let last = printed.lines().last().unwrap_or_default();
    format!(
        "the process that compiles it ended with {status}: {}",
        quote(last, 200)
    )
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
