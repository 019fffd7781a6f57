//! Places in a component's source, from its line tables (DWARF, `.debug_line`).
//!
//! The tables are as untrusted as the component. They are kept unparsed, up to [`LINE_TABLES`], and read once from
//! beginning to end after a failure, with bounded work and memory per byte. The trees of DWARF, where a few bytes can
//! cause any amount of work, are not read. The engine does not read them, as it would at each trap.

mod sections;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::{Read, Seek};
use std::ops::Range;
use std::sync::Arc;

use gimli::{
    AttributeValue, DebugLine, DebugLineOffset, EndianSlice, IncompleteLineProgram,
    LineInstruction, LineProgramHeader, LittleEndian, Reader,
};

#[cfg(doc)]
use acp_chain_channel::limits::LINE_TABLES;

type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// A table with a longer header, which consists mostly of file names, is skipped: each byte there takes a hundred bytes
/// of memory.
const HEADER: usize = 64 << 10;

/// How many bytes of the name of a file, or of a directory, are shown.
const NAME: usize = 200;

/// The size of an address if the table does not give it.
const ADDRESS: u8 = 4;

/// The line tables of a component. Cloning it shares them.
#[derive(Clone, Debug, Default)]
pub struct Lines(Arc<[Module]>);

/// The line tables of a module.
#[derive(Debug, Default)]
struct Module {
    /// The range of the module's code in the file; addresses are relative to its start.
    code: Range<u64>,
    tables: Vec<u8>,
    /// Names that the tables refer to (`.debug_line_str`).
    names: Vec<u8>,
}

impl Lines {
    /// Finds the tables in a component. Tables over the limit, and those after a malformed section, are ignored.
    pub fn find(component: impl Read + Seek) -> Self {
        let mut modules = Vec::new();
        let _ = sections::find(component, &mut modules);
        modules.retain(|module| !module.tables.is_empty());
        Self(modules.into())
    }

    /// The file and line of each of these places in the component, where known.
    pub fn of(&self, places: &[usize]) -> BTreeMap<usize, String> {
        let mut found = BTreeMap::new();
        for module in &*self.0 {
            let address = |place: &usize| {
                let place = u64::try_from(*place).ok()?;
                let within = module.code.contains(&place);
                within.then(|| (place - module.code.start, None))
            };
            let mut wanted: BTreeMap<u64, Option<String>> =
                places.iter().filter_map(address).collect();
            if !wanted.is_empty() {
                // Entries before a malformed one are still valid.
                let _ = module.look_up(&mut wanted);
            }
            found.extend(wanted.into_iter().filter_map(|(address, line)| {
                let place = usize::try_from(module.code.start + address).ok()?;
                Some((place, line?))
            }));
        }
        found
    }
}

impl Module {
    /// Reads one table after the other.
    fn look_up(&self, wanted: &mut BTreeMap<u64, Option<String>>) -> gimli::Result<()> {
        let tables = DebugLine::new(&self.tables, LittleEndian);
        let mut offset = 0;
        while offset < self.tables.len() {
            let (table, header) = lengths(&self.tables[offset..])?;
            if header <= HEADER
                && let Ok(program) = tables.program(DebugLineOffset(offset), ADDRESS, None, None)
            {
                let _ = self.run(program, wanted);
            }
            offset = offset.saturating_add(table);
        }
        Ok(())
    }

    /// Records each address at its first occurrence.
    fn run(
        &self,
        program: IncompleteLineProgram<Slice>,
        wanted: &mut BTreeMap<u64, Option<String>>,
    ) -> gimli::Result<()> {
        if makes_files(program.header())? {
            return Ok(());
        }
        let mut rows = program.rows();
        // The address at which a line of a file begins.
        let mut last: Option<(u64, u64, u64)> = None;
        while let Some((header, row)) = rows.next_row()? {
            let next = row.address();
            // The linker has removed functions that begin at 0.
            if let Some((from, file, line)) = last.filter(|(from, ..)| (1..next).contains(from)) {
                let within = wanted.range_mut(from..next);
                for (_, place) in within.filter(|(_, place)| place.is_none()) {
                    *place = self.spell(header, file, line);
                }
            }
            let line = row.line().filter(|_| !row.end_sequence());
            last = line.map(|line| (next, row.file_index(), line.get()));
        }
        Ok(())
    }

    /// `directory/file:line`, without the directory in which the compiler ran.
    fn spell(&self, header: &LineProgramHeader<Slice>, file: u64, line: u64) -> Option<String> {
        let file = header.file(file)?;
        let name = self.text(&file.path_name())?;
        let directory = file
            .directory(header)
            .filter(|_| file.directory_index() > 0);
        Some(
            match directory.and_then(|directory| self.text(&directory)) {
                Some(directory) => format!("{directory}/{name}:{line}"),
                None => format!("{name}:{line}"),
            },
        )
    }

    fn text(&self, value: &AttributeValue<Slice>) -> Option<String> {
        let text = match value {
            AttributeValue::String(text) => text.slice(),
            AttributeValue::DebugLineStrRef(offset) => self.names.get(offset.0..)?,
            _ => return None,
        };
        let text = text.split(|byte| *byte == 0).next()?;
        Some(String::from_utf8_lossy(&text[..text.len().min(NAME)]).into_owned())
    }
}

/// The length of a table, and that of its header (DWARF 4 and 5, §6.2.4).
fn lengths(table: &[u8]) -> gimli::Result<(usize, usize)> {
    let mut input = EndianSlice::new(table, LittleEndian);
    let (length, format) = input.read_initial_length()?;
    let all = usize::from(format.initial_length_size()).saturating_add(length);
    // DWARF 5 gives the size of addresses first.
    let sizes = if input.read_u16()? >= 5 { 2 } else { 0 };
    input.skip(sizes)?;
    Ok((all, input.read_length(format)?))
}

/// Whether the line program defines files. No compiler does that, and such files would take memory.
fn makes_files(header: &LineProgramHeader<Slice>) -> gimli::Result<bool> {
    let mut instructions = header.instructions();
    while let Some(instruction) = instructions.next_instruction(header)? {
        if let LineInstruction::DefineFile(_) = instruction {
            return Ok(true);
        }
    }
    Ok(false)
}
