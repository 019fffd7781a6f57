use std::io::Cursor;

use proptest::prelude::*;

use super::Lines;
use acp_chain_channel::limits::LINE_TABLES;

/// The offset of the code of [`component`]'s module.
const CODE: usize = 28;

/// A table in DWARF 4: lines 7 and 9 of `src/lib.rs`, from the addresses 3 and 5 on, up to 8.
fn table() -> Vec<u8> {
    let mut header = vec![1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1];
    header.extend(b"src\0\0lib.rs\0\x01\0\0\0");
    // To the address 3, the line 7; two further each; three further, the end.
    let lines = b"\0\x05\x02\x03\0\0\0\x03\x06\x01\x02\x02\x03\x02\x01\x02\x03\0\x01\x01";
    let mut table = 4_u16.to_le_bytes().to_vec();
    table.extend(u32::try_from(header.len()).unwrap().to_le_bytes());
    table.extend(header);
    table.extend(lines);
    let mut whole = u32::try_from(table.len()).unwrap().to_le_bytes().to_vec();
    whole.extend(table);
    whole
}

fn section(id: u8, content: &[u8]) -> Vec<u8> {
    let size = content.len();
    let mut section = vec![id];
    // In five bytes, so that places are known.
    let digits = (0..5).map(|digit| u8::try_from((size >> (7 * digit)) & 0x7f).unwrap());
    section.extend(
        digits
            .enumerate()
            .map(|(at, digit)| digit | if at < 4 { 0x80 } else { 0 }),
    );
    section.extend(content);
    section
}

/// A component of one module, which has eight bytes of code and these tables.
fn component(tables: &[u8]) -> Vec<u8> {
    let named = [b"\x0b.debug_line", tables].concat();
    let module = [
        b"\0asm\x01\0\0\0".to_vec(),
        section(10, &[0; 8]),
        section(0, &named),
    ]
    .concat();
    [b"\0asm\x0d\0\x01\0".to_vec(), section(1, &module)].concat()
}

fn line(tables: &[u8], address: usize) -> Option<String> {
    let lines = Lines::find(Cursor::new(component(tables)));
    let place = CODE + address;
    lines.of(&[place]).remove(&place)
}

#[test]
fn an_address_is_of_the_line_that_begins_before_it() {
    let found: Vec<_> = (0..10).map(|address| line(&table(), address)).collect();
    let (seven, nine) = (
        Some("src/lib.rs:7".to_owned()),
        Some("src/lib.rs:9".to_owned()),
    );
    let mut expected = vec![None; 10];
    expected[3..5].fill(seven);
    expected[5..8].fill(nine);
    assert_eq!(found, expected);
}

#[test]
fn a_malformed_table_does_not_hide_the_next() {
    // Of an unknown version, and one whose instructions have no length.
    let unknown = b"\x02\0\0\0\x09\0".to_vec();
    let mut odd = table();
    odd[10] = 0;
    for wrong in [unknown, odd] {
        let told = line(&[wrong, table()].concat(), 3);
        assert_eq!(told.as_deref(), Some("src/lib.rs:7"));
    }
}

#[test]
fn tables_over_the_limit_do_not_count() {
    let mut tables = table();
    tables.resize(LINE_TABLES, 0);
    assert!(line(&tables, 3).is_some());
    tables.push(0);
    assert_eq!(line(&tables, 3), None);
}

#[test]
fn names_of_files_among_the_lines_are_not_kept() {
    let mut tables = table();
    let define = b"\0\x06\x03a\0\0\0\0";
    tables.extend(define);
    tables[0] += u8::try_from(define.len()).unwrap();
    assert_eq!(line(&tables, 3), None);
}

proptest! {
    #[test]
    fn damaged_tables_are_read_without_a_panic(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut whole = component(&[table(), table()].concat());
        for (at, byte) in damage {
            *at.get_mut(&mut whole) = byte;
        }
        whole.truncate(cut.index(whole.len()) + 1);
        let places: Vec<_> = (0..whole.len()).collect();
        let found = Lines::find(Cursor::new(whole)).of(&places);
        prop_assert!(found.values().all(|line| line.len() < 500));
    }
}
