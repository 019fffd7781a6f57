//! `acp-chain edit-lines`: lets a user edit lines in the terminal, for the process that starts it. It ends with its
//! input, also while a line is being edited, and leaves the terminal as it was.

use std::env;
use std::io::{self, BufRead, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use rustyline::Behavior;
use rustyline::config::Config;
use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;

use super::editor::{Order, Reply};
use super::history::{History, LINES};
use acp_chain_app::{Error, beside, home};
use acp_chain_system::terminal::OurTerminal;

/// Values of `TERM` for terminals in which lines cannot be edited.
const PLAIN: [&str; 4] = ["", "dumb", "cons25", "emacs"];

type LineEditor = rustyline::Editor<(), MemHistory>;

/// Serves the process that starts this. Returns whether that succeeded; errors are in the log.
pub fn main() -> bool {
    beside::work("the editor of lines", edit)
}

fn edit() -> Result<(), Error> {
    let terminal = OurTerminal::open().map_err(Error::Io)?;
    let (sender, orders) = channel();
    let server = thread::Builder::new().spawn(move || serve(&orders));
    server.map_err(Error::Io)?;
    let outcome = read(&sender);
    terminal.restore().map_err(Error::Io)?;
    outcome
}

/// Reads orders until the input ends.
fn read(sender: &Sender<Order>) -> Result<(), Error> {
    for line in io::stdin().lock().lines() {
        let order = serde_json::from_str(&line.map_err(Error::Io)?);
        let misused = |_| Error::Misused("acp-chain edit-lines", "");
        // If lines cannot be edited, the other process has been told so, and ends this one.
        let _ = sender.send(order.map_err(misused)?);
    }
    Ok(())
}

fn serve(orders: &Receiver<Order>) {
    let history = History::new(home::history());
    let Some(mut editor) = editor(history.load()) else {
        return reply(&Reply::Unusable);
    };
    reply(&Reply::Ready);
    for order in orders {
        match order {
            Order::Read(invitation) => reply(&line(&mut editor, &invitation)),
            Order::Keep(line) => {
                let may_keep = history.may_have(&line);
                if may_keep && editor.add_history_entry(line.as_str()).unwrap_or(false) {
                    history.keep(line);
                }
            }
        }
    }
}

/// An editor with this history; `None` if it cannot work in this terminal.
fn editor(lines: Vec<String>) -> Option<LineEditor> {
    let kind = env::var("TERM").unwrap_or_default();
    if PLAIN.iter().any(|plain| plain.eq_ignore_ascii_case(&kind)) {
        return None;
    }
    // Our standard streams lead to the other process.
    let config = Config::builder().max_history_size(LINES).ok()?;
    let config = config.behavior(Behavior::PreferTerm).build();
    let history = MemHistory::with_config(&config);
    let mut editor = LineEditor::with_history(config, history).ok()?;
    for line in lines {
        editor.add_history_entry(line).ok()?;
    }
    Some(editor)
}

fn line(editor: &mut LineEditor, invitation: &str) -> Reply {
    loop {
        match editor.readline(invitation) {
            Ok(line) => return Reply::Line(line),
            Err(ReadlineError::Interrupted) => return Reply::Interrupted,
            // The terminal has another size.
            Err(ReadlineError::Signal(_)) => {}
            Err(_) => return Reply::Ended,
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "another process of ours reads it"
)]
fn reply(reply: &Reply) {
    if let Ok(line) = serde_json::to_string(reply) {
        // If the other process has ended, so does our input.
        let _ = writeln!(io::stdout(), "{line}");
    }
}
