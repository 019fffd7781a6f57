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
pub mod tests {
    use super::*;

    /// The place of the segment, which has the strings.
    const BEGIN: u32 = 0x100;

    const STRINGS: &[u8] = b"\0_main\0";

    /// The program, with a signature if there is one. `more` stands before that.
    pub fn program(more: &[u8], signature: Option<&[u8]>) -> Vec<u8> {
        let mut commands = Vec::new();
        let strings = STRINGS.len() + more.len();
        let unpadded = BEGIN as usize + strings;
        let end = unpadded.next_multiple_of(16);
        commands.extend(SEGMENT.to_le_bytes());
        commands.extend(72u32.to_le_bytes());
        commands.extend(LINKEDIT);
        for field in [0x1_0000, PAGE, BEGIN.into(), strings as u64] {
            commands.extend(field.to_le_bytes());
        }
        commands.extend([0; 16]);
        commands.extend(SYMTAB.to_le_bytes());
        for field in [24, BEGIN, 0, BEGIN, u32::try_from(strings).unwrap()] {
            commands.extend(field.to_le_bytes());
        }
        let mut count: u32 = 2;
        if let Some(signature) = signature {
            count += 1;
            commands.extend(CODE_SIGNATURE.to_le_bytes());
            for field in [16, end, signature.len()] {
                commands.extend(u32::try_from(field).unwrap().to_le_bytes());
            }
        }
        let mut program = MAGIC.to_le_bytes().to_vec();
        program.extend([0; 12]);
        program.extend(count.to_le_bytes());
        program.extend(u32::try_from(commands.len()).unwrap().to_le_bytes());
        program.extend([0; 8]);
        program.extend(commands);
        program.resize(BEGIN as usize, 0);
        program.extend(STRINGS);
        program.extend(more);
        if let Some(signature) = signature {
            program.resize(end, 0);
            program.extend(signature);
        }
        program
    }

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    #[test]
    fn what_is_appended_becomes_a_part_of_what_can_be_signed() {
        let mut file = file(&[&program(b"", None)[..], b"appended"].concat());
        let layout = layout(&mut file).unwrap().unwrap();
        assert!(!layout.is_signed());
        layout.stretch(&mut file).unwrap();
        let mut bytes = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes, program(b"appended", None));
    }

    #[test]
    fn a_large_program_has_whole_pages_in_memory() {
        let mut file = file(&[&program(b"", None)[..], &vec![1; 0x5000]].concat());
        let layout = layout(&mut file).unwrap().unwrap();
        layout.stretch(&mut file).unwrap();
        let (segment, _) = layout.linkedit.unwrap();
        let mut size = [0; 8];
        file.seek(SeekFrom::Start(segment + 32)).unwrap();
        file.read_exact(&mut size).unwrap();
        assert_eq!(u64::from_le_bytes(size), 2 * PAGE);
    }

    #[test]
    fn other_and_damaged_programs_are_not_changed() {
        for other in [&b""[..], b"\x7fELF", &[0; 64]] {
            assert!(layout(&mut file(other)).unwrap().is_none());
        }
        let whole = program(b"", None);
        for (at, byte) in [(16, 9), (20, 0xff), (36, 0), (36, 0xff)] {
            let mut damaged = whole.clone();
            damaged[at] = byte;
            layout(&mut file(&damaged)).unwrap_err();
        }
    }
}
