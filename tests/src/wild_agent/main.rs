//! `wild-agent`: an ACP agent with the habits of agents in the wild, for tests of how acp-chain
//! copes with them.
//!
//! Its flags (`wild-agent --help`) choose how it behaves as a process and on the wire; they can
//! be combined. To ignore SIGTERM too, start it as `sh -c 'trap "" TERM; exec wild-agent'`.
//!
//! The prompt says what the agent does within a turn. A text block whose first word is a command is a
//! script, one command a line; every other block is echoed in up to three
//! `agent_message_chunk` updates. Blocks are executed in order. After the last one the turn is
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
//! | `withdraw METHOD [JSON]` | the same, with a `$/cancel_request` sent right after it |
//! | `tell METHOD [JSON]` | sends the client any notification |
//! | `stop JSON` | answers the turn with that result |
//! | `fail JSON` | answers the turn with that error |
//! | `bulk N` | answers the turn with a result N bytes long, most of it `_meta` |
//! | `wait` | leaves the turn open until it is cancelled |
//! | `never` | never answers the turn, cancelled or not |
//! | `twice` | answers the turn twice |
//! | `unknown` | answers a request that was never sent, then continues |
//! | `exit CODE` | exits in the middle of the turn |
//! | `abort` | is killed by a signal in the middle of the turn |
//!
//! The agent reports a failed request of its own as `error …` in a chunk. The client may answer
//! the agent's requests in any order; each turn waits for its own answer.
//!
//! On `$/cancel_request` the agent sends the chunk `cancel_request ID` with the cancelled id, and
//! answers that turn with -32800 if the turn waits (but not for `never`). On `session/cancel` it
//! answers the session's turns with `{"stopReason":"cancelled"}`.

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
        // Tests read the file only after an answer from this process.
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

/// Sleeps until the process is killed.
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
