//! `wild-agent`: an ACP agent with the habits that agents in the wild have, for tests that ask
//! what acp-chain makes of them.
//!
//! Its flags (`wild-agent --help`) choose how it behaves as a process and on the wire; they can
//! be combined. To ignore SIGTERM too, start it as `sh -c 'trap "" TERM; exec wild-agent'`.
//!
//! What it does within a turn, the prompt says. A text block whose first word is a command is a
//! script, one command a line; every other block is echoed in up to three
//! `agent_message_chunk` updates. Blocks are worked off in order. After the last one the turn is
//! answered with `{"stopReason":"end_turn"}`, unless a command says otherwise:
//!
//! | Command | What the agent does |
//! |---|---|
//! | `echo TEXT` | sends TEXT in one chunk, however long it is |
//! | `show` | sends the `session/prompt` line in one chunk, just as it was received |
//! | `stream N [TEXT]` | sends N chunks, `TEXT 0`, `TEXT 1`, … |
//! | `update JSON` | sends that as the `update` of a `session/update` |
//! | `line N` | sends an `available_commands_update` whose line is N bytes long, most of it `_meta` |
//! | `garbage` | writes a line to stdout that is not JSON |
//! | `raw TEXT` | writes TEXT to stdout as a line, with the id of the turn's request in place of `{id}` |
//! | `latin1 TEXT` | the same in Latin-1, which is not UTF-8 |
//! | `stderr N` | writes N bytes to stderr |
//! | `read PATH` | asks for `fs/read_text_file`, and echoes the content |
//! | `permission KIND TITLE PATH` | asks for `session/request_permission`, and sends the outcome (`selected allow-once`, `cancelled`) in a chunk; the title may have spaces |
//! | `ask METHOD [JSON]` | sends the client any request, and the answer in a chunk: `result …` or `error …`, spelt as it came |
//! | `withdraw METHOD [JSON]` | the same, with a `$/cancel_request` sent at once behind it |
//! | `tell METHOD [JSON]` | sends the client any notification |
//! | `stop JSON` | answers the turn with that result |
//! | `fail JSON` | answers the turn with that error |
//! | `bulk N` | answers the turn with a result N bytes long, most of it `_meta` |
//! | `wait` | goes on only when it is cancelled |
//! | `never` | never answers the turn, cancelled or not |
//! | `twice` | answers the turn twice |
//! | `unknown` | answers a request that nobody sent, then goes on |
//! | `exit CODE` | exits in the middle of the turn |
//! | `abort` | dies of a signal in the middle of the turn |
//!
//! A request of the agent's own that fails is told as `error …` in a chunk. The agent's requests
//! are answered in any order; each turn waits for its own.
//!
//! On `$/cancel_request` it sends the chunk `cancel_request ID` with the id that it was given,
//! and answers that turn with -32800, if it is one that waits (but not for `never`). On
//! `session/cancel` it answers the session's turns with `{"stopReason":"cancelled"}`.

mod agent;
mod habits;
mod params;
mod script;

use std::io::{self, BufRead, Write};
use std::process::{Command, Stdio};

use clap::Parser;

use agent::Agent;
use habits::Habits;

fn main() -> io::Result<()> {
    let habits = Habits::parse();
    if habits.sleep {
        sleep();
    }
    if let Some(path) = &habits.child {
        let child = Command::new(std::env::current_exe()?)
            .arg("--sleep")
            .stdin(Stdio::null())
            .spawn()?;
        // Whoever reads the file reads it only once this process has answered something.
        std::fs::write(path, child.id().to_string())?;
    }
    if let Some(count) = habits.stderr {
        noise(count)?;
    }
    if let Some(code) = habits.exit {
        std::process::exit(code);
    }
    let survives = habits.survive_eof;
    let mut agent = Agent::new(habits, io::stdout().lock());
    agent.start()?;
    let mut stdin = io::stdin().lock();
    let mut line = Vec::new();
    while stdin.read_until(b'\n', &mut line)? > 0 {
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        agent.receive(&String::from_utf8_lossy(&line))?;
        line.clear();
    }
    if survives {
        agent.live_on()?;
        sleep();
    }
    Ok(())
}

/// Lives until it is killed.
fn sleep() -> ! {
    loop {
        std::thread::park();
    }
}

/// Writes that many bytes to stderr, in lines.
fn noise(count: usize) -> io::Result<()> {
    const LINE: &[u8] = b"wild-agent: something that nobody asked for, at some length......\n";
    let mut noise = LINE.repeat(count.div_ceil(LINE.len()));
    noise.truncate(count);
    io::stderr().lock().write_all(&noise)
}
