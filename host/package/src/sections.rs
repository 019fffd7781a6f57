//! Iterates over the outermost sections of a component.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

use crate::PackageError;

/// The magic number, and the version and layer of components.
const PREAMBLE: [u8; 8] = [0, b'a', b's', b'm', 0x0d, 0, 1, 0];

/// The magic number, and the version and layer of core modules.
const MODULE: [u8; 8] = [0, b'a', b's', b'm', 1, 0, 0, 0];

/// The maximum number of sections read.
const MOST: usize = 100_000;

/// The maximum length of a relevant name, in bytes.
const NAME: u64 = 64;

/// The id of a custom section.
pub const CUSTOM: u8 = 0;

/// Reads the sections, skipping their contents unless requested.
pub struct Sections<R> {
    from: R,
    at: u64,
    end: u64,
    seen: usize,
    current: Range<u64>,
}

impl<R: Read + Seek> Sections<R> {
    pub fn begin(mut from: R) -> Result<Self, PackageError> {
        let end = from.seek(SeekFrom::End(0))?;
        from.rewind()?;
        let mut preamble = [0; PREAMBLE.len()];
        match from.read_exact(&mut preamble) {
            Ok(()) if preamble == PREAMBLE => {}
            Ok(()) if preamble == MODULE => return Err(PackageError::CoreModule),
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => return Err(error.into()),
            _ => return Err(PackageError::NoComponent),
        }
        let at = PREAMBLE.len() as u64;
        Ok(Self {
            from,
            at,
            end,
            seen: 0,
            current: 0..at,
        })
    }

    /// Advances to the next section, and returns its id; `None` at the end.
    pub fn next(&mut self) -> Result<Option<u8>, PackageError> {
        let rest = self.current.end - self.at;
        self.from.seek_relative(rest.cast_signed())?;
        self.at += rest;
        if self.at == self.end {
            return Ok(None);
        }
        self.seen += 1;
        if self.seen > MOST {
            let wrong = format!("it has more than {MOST} sections");
            return Err(PackageError::Damaged(wrong));
        }
        let begin = self.at;
        // Its header may be as long as the rest.
        self.current = begin..self.end;
        let id = self.byte()?;
        let size = self.number()?;
        let end = self.at + size;
        if end > self.end {
            return Err(cut_off());
        }
        self.current = begin..end;
        Ok(Some(id))
    }

    /// The range of the current section, from its id to its end.
    pub fn range(&self) -> Range<u64> {
        self.current.clone()
    }

    /// The name of a custom section.
    pub fn name(&mut self) -> Result<String, PackageError> {
        let length = self.number()?;
        let name = match length {
            0..=NAME => self.take(length)?,
            _ => Vec::new(),
        };
        Ok(String::from_utf8_lossy(&name).into_owned())
    }

    /// The rest of the current section, up to this many bytes.
    pub fn rest(&mut self, most: u64) -> Result<Vec<u8>, PackageError> {
        let size = self.current.end - self.at;
        if size > most {
            Err(PackageError::Damaged(format!(
                "a section has {size} bytes, more than the maximum of {most}"
            )))
        } else {
            self.take(size)
        }
    }

    fn byte(&mut self) -> Result<u8, PackageError> {
        let byte = self.take(1)?;
        byte.first().copied().ok_or_else(cut_off)
    }

    /// A number of 32 bits (LEB128).
    fn number(&mut self) -> Result<u64, PackageError> {
        let mut number = 0;
        for shift in [0, 7, 14, 21, 28] {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(PackageError::Damaged("a size is too long".into()))
    }

    fn take(&mut self, size: u64) -> Result<Vec<u8>, PackageError> {
        if self.at + size > self.current.end {
            return Err(cut_off());
        }
        let mut bytes = Vec::new();
        self.from.by_ref().take(size).read_to_end(&mut bytes)?;
        self.at += bytes.len() as u64;
        if bytes.len() as u64 == size {
            Ok(bytes)
        } else {
            Err(cut_off())
        }
    }
}

fn cut_off() -> PackageError {
    PackageError::Damaged("it is truncated".into())
}
