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
