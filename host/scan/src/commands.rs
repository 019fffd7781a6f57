//! The commands in what agents have recorded, without a chain.

use std::io::{self, BufReader, Read as _};
use std::path::Path;

use acp_chain_hooks::{Kind, Moment};

use crate::event::Event;
use crate::find::Recording;
use crate::lines::{LONGEST, Line};
use crate::readers::opencode::{Database, Opencode};
use crate::readers::{self, Reader};
use crate::run::{CHUNK, open};

/// Why the commands of a recording are not known, or not all of them.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// The file cannot be read, or not to its end.
    #[error(transparent)]
    File(#[from] io::Error),
    /// The database cannot be read, or not to its end.
    #[error(transparent)]
    Database(#[from] rusqlite::Error),
    /// The file is compressed.
    #[error("it is compressed")]
    Compressed,
    /// It is not a database of opencode's, or of a newer version.
    #[error("it is no database of opencode that is known")]
    NoDatabase,
}

/// Calls `take` for each tool that runs commands, in the order of the recording, with the number of the line, or of the
/// part of a database, counted from 1, and with the tool's input: JSON text. Lines and parts that are damaged or too
/// long are passed over.
///
/// # Errors
/// If the recording cannot be read.
pub fn commands(recording: &Recording, take: &mut dyn FnMut(u64, &str)) -> Result<(), Unreadable> {
    if recording.is_compressed() {
        return Err(Unreadable::Compressed);
    }
    match readers::reader(recording.format, &recording.path) {
        Some(reader) => of_lines(recording, reader, take),
        None => of_database(&recording.path, take),
    }
}

fn of_lines(
    recording: &Recording,
    mut reader: Box<dyn Reader>,
    take: &mut dyn FnMut(u64, &str),
) -> Result<(), Unreadable> {
    // What is written from now on is not read.
    let file = open(&recording.path)?.take(recording.size);
    let from = BufReader::with_capacity(CHUNK, file);
    let mut lines = readers::lines(recording.format, &recording.path, from, LONGEST);
    let mut events = Vec::new();
    while let Some(line) = lines.advance()? {
        if line == Line::Whole {
            // What precedes a flaw counts.
            drop(readers::read(&mut *reader, lines.text(), &mut events));
        }
        take_all(&mut events, lines.number, take);
    }
    Ok(())
}

fn of_database(path: &Path, take: &mut dyn FnMut(u64, &str)) -> Result<(), Unreadable> {
    let database = Database::open(path)?.ok_or(Unreadable::NoDatabase)?;
    let mut reader = Opencode::default();
    let mut events = Vec::new();
    let mut number = 0;
    for session in database.sessions()? {
        for part in database.parts(&session)? {
            number += 1;
            if let Ok(Some(row)) = database.part(part) {
                drop(reader.read(&session, &row, &mut events));
            }
            take_all(&mut events, number, take);
        }
    }
    Ok(())
}

fn take_all(events: &mut Vec<Event>, number: u64, take: &mut dyn FnMut(u64, &str)) {
    for event in events.drain(..) {
        if let Event::Tool(run) = event
            && run.moment == Moment::BeforeTool
            && run.kind == Kind::Execute
        {
            take(number, &run.input);
        }
    }
}
