//! What readers make of the recordings of real agents, and of damage. `tests/tests/product/scan.rs` plays them.

mod commands;
mod damage;
mod golden;
mod pages;

use std::ffi::OsString;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use crate::event::Event;
use crate::find::{Recording, find};
use crate::format::{Format, Home};
use crate::lines::Line;
use crate::readers;

/// The home folder that an agent of this version has left.
fn home(version: &str) -> PathBuf {
    let recordings = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/recordings");
    recordings.join(version)
}

/// The recordings in a home folder.
fn found(format: Format, folder: &Path) -> Vec<Recording> {
    let variable = |_: &str| -> Option<OsString> { None };
    let home = Home {
        folder,
        variable: &variable,
    };
    find(format, &home)
}

/// The events in lines, and what is wrong with them by their numbers.
fn read(format: Format, path: &Path, bytes: &[u8]) -> (Vec<Event>, Vec<(u64, String)>) {
    let mut reader = readers::reader(format, path).expect("it has lines");
    let mut lines = readers::lines(format, path, BufReader::new(bytes), 1 << 20);
    let (mut events, mut wrong) = (Vec::new(), Vec::new());
    while let Some(line) = lines.advance().expect("bytes can be read") {
        if line == Line::TooLong {
            wrong.push((lines.number, "too long".to_owned()));
        } else if let Err(error) = readers::read(&mut *reader, lines.text(), &mut events) {
            let what = if error.is_eof() { "cut" } else { "damaged" };
            wrong.push((lines.number, what.to_owned()));
        }
    }
    (events, wrong)
}

/// An event in a line.
fn shown(event: &Event) -> String {
    match event {
        Event::Session { id, cwd } => format!("session {id} in {}", cwd.as_deref().unwrap_or("?")),
        Event::Prompt(texts) => format!("prompt {texts:?}"),
        Event::Tool(run) => {
            let (moment, tool, kind) = (run.moment, &run.tool, run.kind);
            let more = match &run.subagent {
                Some(subagent) => format!(" of {subagent}"),
                None => String::new(),
            };
            let output = &run.output;
            format!(
                "{moment:?} {tool} ({kind:?}){more} {} {output:?}",
                run.input
            )
        }
        Event::Used { model, tokens } => format!(
            "used {model} {} {} {} {}",
            tokens.input, tokens.output, tokens.cached_read, tokens.cached_write
        ),
        Event::Cost { currency, amount } => format!("cost {amount} {currency}"),
    }
}
