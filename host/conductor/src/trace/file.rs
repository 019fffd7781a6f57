//! The file of a trace. Several of us may write to it at once: who does has it locked, so that lines are whole, and
//! nobody writes while it begins anew.
//!
//! No name is looked up once it is open, for the right to do that is given up: what stood in it is copied into a
//! file beside it, which is open too, and it is cut.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use acp_chain_system::files;
use acp_chain_trace::{Line, Sink, kept};

/// The file begins anew past so many bytes.
const LONGEST: u64 = 64 << 20;

/// A file with the traces of connections.
#[derive(Debug)]
pub struct TraceFile {
    file: File,
    /// The line that says that the connection begins.
    heading: Vec<u8>,
    /// Where what stood in it is kept, if it can be cut.
    kept: Option<File>,
    /// Whether it can be cut: a terminal or a pipe has no length.
    is_regular: bool,
    /// Where we wrote last, if we did.
    end: Option<u64>,
}

impl TraceFile {
    /// Opens a file, and the one beside it that [keeps](acp_chain_trace::kept) what stood in it when it grows too
    /// long. Where they are not there, they are made for their owner alone: they will hold what is said.
    ///
    /// # Errors
    ///
    /// When they cannot be.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = files::append_shared(path)?;
        let is_regular = file.metadata()?.is_file();
        let kept = is_regular.then(|| files::append_shared(&kept(path)));
        Ok(Self {
            file,
            heading: Vec::new(),
            kept: kept.transpose()?,
            is_regular,
            end: None,
        })
    }

    /// Appends whole lines, behind the heading if we have not written here yet, or what we wrote is gone. If that
    /// fails, what is there stays as it was.
    fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        if !self.is_regular {
            if self.end.is_none() {
                self.end = Some(0);
                self.file.write_all(&self.heading)?;
            }
            return self.file.write_all(lines);
        }
        // There are file systems without locks. Then two of us may begin it anew at once, and lose lines.
        let is_locked = self.file.lock().is_ok();
        let written = self.append_here(lines);
        if is_locked {
            self.file.unlock()?;
        }
        written
    }

    fn append_here(&mut self, lines: &[u8]) -> io::Result<()> {
        let mut length = self.file.seek(SeekFrom::End(0))?;
        if length > LONGEST && self.begin_anew(length)? {
            length = 0;
        }
        let mut text = Vec::new();
        if length > 0 && !self.ends_whole()? {
            text.push(b'\n');
        }
        if self.end.is_none_or(|end| length < end) {
            text.extend_from_slice(&self.heading);
        }
        text.extend_from_slice(lines);
        match self.file.write_all(&text) {
            Ok(()) => {
                self.end = Some(length + text.len() as u64);
                Ok(())
            }
            Err(error) => {
                // Lines that are there in part would be nobody's.
                let _ = self.file.set_len(length);
                Err(error)
            }
        }
    }

    /// Whether the last line is whole: another of us may have been killed.
    fn ends_whole(&mut self) -> io::Result<bool> {
        self.file.seek(SeekFrom::End(-1))?;
        let mut last = [0];
        self.file.read_exact(&mut last)?;
        Ok(last == *b"\n")
    }

    fn begin_anew(&mut self, length: u64) -> io::Result<bool> {
        let Some(kept) = &mut self.kept else {
            return Ok(false);
        };
        kept.set_len(0)?;
        kept.seek(SeekFrom::Start(0))?;
        self.file.seek(SeekFrom::Start(0))?;
        io::copy(&mut (&self.file).take(length), kept)?;
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0))?;
        Ok(true)
    }
}

impl Sink for TraceFile {
    fn write(&mut self, lines: &[Line]) -> io::Result<()> {
        let mut text = Vec::new();
        for line in lines {
            // It is written with the first that happens, and where the file begins anew.
            let onto = match line.version {
                Some(_) => &mut self.heading,
                None => &mut text,
            };
            serde_json::to_writer(&mut *onto, line)?;
            onto.push(b'\n');
        }
        match text.is_empty() {
            true => Ok(()),
            false => self.append(&text),
        }
    }
}
