//! Programs for macOS (Mach-O). What a signature covers ends with the last segment, `__LINKEDIT`, and a signature
//! cannot be made of a program with anything behind that. So what is appended to an unsigned program becomes a part of
//! this segment: as the end of its table of strings, which the tools for signing want to be last. The signature follows
//! later.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

/// The first bytes of a 64-bit program, the only kind that is known.
const MAGIC: u32 = 0xfeed_facf;

/// The kinds of load commands.
const SYMTAB: u32 = 0x2;
const SEGMENT: u32 = 0x19;
const CODE_SIGNATURE: u32 = 0x1d;

/// The name of the last segment, in the field for names.
const LINKEDIT: &[u8; 16] = b"__LINKEDIT\0\0\0\0\0\0";

/// The length of the header, and the maximum of the load commands, in bytes.
const HEADER: usize = 32;
const COMMANDS: u32 = 1 << 20;

/// The size of a page, of any machine.
const PAGE: u64 = 0x4000;

/// The alignment of a signature.
const ALIGNMENT: u64 = 16;

/// Where a program has what matters here.
#[derive(Debug, Default)]
pub struct Layout {
    /// The place of the command of `__LINKEDIT`, and the segment's place.
    linkedit: Option<(u64, u64)>,
    /// The place of the command of the symbols, and the place of the strings.
    symtab: Option<(u64, u64)>,
    /// The place of the signature.
    signature: Option<u64>,
}

/// The layout of a program; `None` if it is not for macOS.
pub fn layout(file: &mut File) -> io::Result<Option<Layout>> {
    let mut header = [0; HEADER];
    file.rewind()?;
    match file.read_exact(&mut header) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    if number(&header, 0) != Some(MAGIC) {
        return Ok(None);
    }
    let damaged = || io::Error::other("the program's load commands are damaged");
    let (Some(count), Some(length)) = (number(&header, 16), number(&header, 20)) else {
        return Err(damaged());
    };
    if length > COMMANDS {
        return Err(damaged());
    }
    let mut commands = vec![0; length as usize];
    file.read_exact(&mut commands)?;
    let mut layout = Layout::default();
    let mut at = 0;
    for _ in 0..count {
        let rest = commands.get(at..).ok_or_else(damaged)?;
        let size = number(rest, 4).ok_or_else(damaged)? as usize;
        let command = rest.get(..size).filter(|command| command.len() >= 8);
        let command = command.ok_or_else(damaged)?;
        let place = (HEADER + at) as u64;
        match number(command, 0) {
            Some(SEGMENT) if command.get(8..24) == Some(&LINKEDIT[..]) => {
                let begin = long(command, 40).ok_or_else(damaged)?;
                layout.linkedit = Some((place, begin));
            }
            Some(SYMTAB) => {
                let strings = number(command, 16).ok_or_else(damaged)?;
                layout.symtab = Some((place, strings.into()));
            }
            Some(CODE_SIGNATURE) => {
                let begin = number(command, 8).ok_or_else(damaged)?;
                layout.signature = Some(begin.into());
            }
            _ => {}
        }
        at += size;
    }
    Ok(Some(layout))
}

impl Layout {
    /// Where what precedes the signature ends, at the earliest and at the latest: it is padded with zeros. `None`
    /// without a signature.
    pub fn signed(&self) -> Option<std::ops::RangeInclusive<u64>> {
        let end = self.signature?;
        Some(end.saturating_sub(ALIGNMENT - 1)..=end)
    }

    /// Whether what begins at this place, behind the program itself, is what a signature covers, or would cover.
    pub fn covers(&self, place: u64) -> bool {
        self.signature.is_none_or(|begin| begin > place)
    }

    pub fn is_signed(&self) -> bool {
        self.signature.is_some()
    }

    /// Makes all of a file a part of the last segment, and its end that of the strings.
    pub fn stretch(&self, file: &mut File) -> io::Result<()> {
        let length = file.seek(SeekFrom::End(0))?;
        let unknown = || io::Error::other("the program has no segment that can be signed");
        let (segment, begin) = self.linkedit.ok_or_else(unknown)?;
        let (symtab, strings) = self.symtab.ok_or_else(unknown)?;
        let size = length.checked_sub(begin).ok_or_else(unknown)?;
        let table = length.checked_sub(strings).ok_or_else(unknown)?;
        let table = u32::try_from(table).map_err(io::Error::other)?;
        for (place, bytes) in [
            // In memory, and in the file.
            (segment + 32, &size.next_multiple_of(PAGE).to_le_bytes()[..]),
            (segment + 48, &size.to_le_bytes()[..]),
            (symtab + 20, &table.to_le_bytes()[..]),
        ] {
            file.seek(SeekFrom::Start(place))?;
            file.write_all(bytes)?;
        }
        Ok(())
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let field = bytes.get(at..at + 4)?;
    Some(u32::from_le_bytes(field.try_into().ok()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    let field = bytes.get(at..at + 8)?;
    Some(u64::from_le_bytes(field.try_into().ok()?))
}

/// A program with a segment, strings and nothing else, for tests.
#[cfg(test)]
pub mod tests;
