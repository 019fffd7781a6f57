//! Finds the sections of a component and its modules that concern lines. Other sections are skipped: the component was
//! validated before.

use std::io::{self, Read, Seek};

use super::Module;
use acp_chain_channel::limits::LINE_TABLES;

/// The maximum number of modules whose tables are kept.
const MODULES: usize = 64;

/// The magic number and the version.
const PREAMBLE: u64 = 8;

/// The maximum length of a relevant section's name.
const LONGEST: u64 = 15;

/// Finds the code of modules, and their line tables.
pub fn find(component: impl Read + Seek, modules: &mut Vec<Module>) -> io::Result<()> {
    let mut input = Input {
        from: component,
        at: 0,
    };
    let mut left = LINE_TABLES as u64;
    // The end of the current module. Modules do not nest; components may, and their sections still follow one another.
    let mut end = 0;
    input.skip(PREAMBLE)?;
    loop {
        let id = input.byte()?;
        let size = input.number()?;
        let next = input.at + size;
        let full = modules.len() == MODULES;
        match (id, input.at < end, modules.last_mut()) {
            (1, false, last) => {
                end = next;
                match last {
                    Some(last) if last.tables.is_empty() => *last = Module::default(),
                    _ if full => return Ok(()),
                    _ => modules.push(Module::default()),
                }
                input.skip(PREAMBLE)?;
                continue;
            }
            (4, false, _) => {
                input.skip(PREAMBLE)?;
                continue;
            }
            (10, true, Some(module)) => module.code = input.at..next,
            (0, true, Some(module)) => {
                let length = input.number()?;
                let name = if length <= LONGEST {
                    input.take(length)?
                } else {
                    Vec::new()
                };
                let kept = match &*name {
                    b".debug_line" => Some(&mut module.tables),
                    b".debug_line_str" => Some(&mut module.names),
                    _ => None,
                };
                let size = next.saturating_sub(input.at);
                if let Some(kept) = kept.filter(|_| size <= left) {
                    left -= size;
                    *kept = input.take(size)?;
                }
            }
            _ => {}
        }
        let rest = next.checked_sub(input.at);
        input.skip(rest.ok_or(io::ErrorKind::InvalidData)?)?;
    }
}

struct Input<R> {
    from: R,
    at: u64,
}

impl<R: Read + Seek> Input<R> {
    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.from.read_exact(&mut byte)?;
        self.at += 1;
        Ok(byte[0])
    }

    /// A number of 32 bits (LEB128).
    fn number(&mut self) -> io::Result<u64> {
        let mut number = 0;
        for shift in [0, 7, 14, 21, 28] {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(io::ErrorKind::InvalidData.into())
    }

    fn take(&mut self, size: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.from.by_ref().take(size).read_to_end(&mut bytes)?;
        self.at += bytes.len() as u64;
        if bytes.len() as u64 == size {
            Ok(bytes)
        } else {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
    }

    fn skip(&mut self, size: u64) -> io::Result<()> {
        self.from.seek_relative(size.cast_signed())?;
        self.at += size;
        Ok(())
    }
}
