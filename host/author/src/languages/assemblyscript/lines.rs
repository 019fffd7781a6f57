//! Converts a source map, the only line information of `asc`, into line tables of DWARF, which the host reads.

use std::collections::BTreeMap;
use std::path::Path;

use gimli::write::{
    Address, DebugLine, EndianVec, LineProgram, LineString, LineStringTable, StringTable,
};
use gimli::{Encoding, Format, LineEncoding, LittleEndian};
use serde_json::Value;

use crate::Error;
use crate::languages::javascript::places::fields;

/// The table for a module whose code begins at this offset in its file. Addresses are relative to that.
pub fn of(map: &[u8], code: usize) -> Result<Vec<u8>, Error> {
    let code = code as u64;
    let wrong = |wrong: &dyn std::fmt::Display| {
        Error::component(format_args!(
            "the source map of asc cannot be used: {wrong}"
        ))
    };
    let map: Value = serde_json::from_slice(map).map_err(|error| wrong(&error))?;
    let sources = map["sources"].as_array().into_iter().flatten();
    let sources: Vec<_> = sources.filter_map(Value::as_str).collect();
    let encoding = Encoding {
        format: Format::Dwarf32,
        version: 4,
        address_size: 4,
    };
    let text = |text: &str| LineString::String(text.into());
    let mut table = LineProgram::new(
        encoding,
        LineEncoding::default(),
        text(""),
        None,
        text("main.ts"),
        None,
    );
    let mut files = BTreeMap::new();
    table.begin_sequence(Some(Address::Constant(0)));
    let mut last = 0;
    for (offset, source, line) in places(map["mappings"].as_str().unwrap_or_default()) {
        let Some(address) = offset.checked_sub(code).filter(|at| *at > 0) else {
            continue;
        };
        let name = usize::try_from(source).ok().and_then(|at| sources.get(at));
        let Some(name) = name else { continue };
        let file = *files.entry(source).or_insert_with(|| {
            let path = Path::new(name);
            let folder = path.parent().and_then(Path::to_str).unwrap_or_default();
            let folder = table.add_directory(text(folder));
            let file = path.file_name().and_then(|name| name.to_str());
            table.add_file(text(file.unwrap_or(name)), folder, None)
        });
        let row = table.row();
        (row.address_offset, row.file, row.line) = (address, file, line);
        table.generate_row();
        last = address;
    }
    table.end_sequence(last + 1);
    let mut section = DebugLine(EndianVec::new(LittleEndian));
    let (mut names, mut strings) = (LineStringTable::default(), StringTable::default());
    let written = table.write(&mut section, encoding, &mut names, &mut strings);
    written.map_err(|error| wrong(&error))?;
    Ok(section.0.into_vec())
}

/// The source and line of the code from each byte on; the line is 0 for code without a source.
fn places(mappings: &str) -> Vec<(u64, i64, u64)> {
    let (mut offset, mut source, mut line) = (0, 0, 1);
    let mut places = Vec::new();
    for segment in mappings.split(',') {
        let fields = fields(segment);
        offset += fields.first().unwrap_or(&0);
        let shown = match fields[..] {
            [_, from, by, ..] => {
                (source, line) = (source + from, line + by);
                line
            }
            _ => 0,
        };
        if let (Ok(offset), Ok(line)) = (offset.try_into(), shown.try_into()) {
            places.push((offset, source, line));
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_without_a_source_has_no_line() {
        assert_eq!(places("kBAEA,E,CCDA"), [(18, 0, 3), (20, 0, 0), (21, 1, 2)]);
    }
}
