//! Archives that real programs make, and hostile ones.

use std::fs;
use std::io::{Seek, Write};

use tar::EntryType;
use tempfile::TempDir;

use super::unpacker::{CONTENTS, NOTES};
use super::*;

/// An entry of a tar file, with any name.
fn entry(kind: EntryType, name: &str, link: &str, content: &[u8]) -> Vec<u8> {
    let mut header = tar::Header::new_gnu();
    header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
    header.as_gnu_mut().unwrap().linkname[..link.len()].copy_from_slice(link.as_bytes());
    header.set_entry_type(kind);
    header.set_mode(0o644);
    header.set_size(content.len() as u64);
    header.set_cksum();
    let mut bytes = header.as_bytes().to_vec();
    bytes.extend(content);
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    bytes
}

/// Unpacks a tar file with these entries. Returns the result, and the folder.
fn unpacked(entries: &[Vec<u8>]) -> (Result<Vec<String>, String>, TempDir) {
    let outer = tempfile::tempdir().unwrap();
    let room = outer.path().join("room");
    fs::create_dir(&room).unwrap();
    let mut file = tempfile::tempfile().unwrap();
    let level = flate2::Compression::fast();
    let mut packed = flate2::write::GzEncoder::new(&mut file, level);
    packed.write_all(&entries.concat()).unwrap();
    packed.write_all(&[0; 1024]).unwrap();
    packed.finish().unwrap();
    file.rewind().unwrap();
    let from = Location::File("it.tar.gz".into());
    let done = unpack(file, &from, Path::new("x"), &room);
    (done.map_err(|error| error.to_string()), outer)
}

fn file(name: &str) -> Vec<u8> {
    entry(EntryType::Regular, name, "", b"content")
}

fn link(name: &str, to: &str) -> Vec<u8> {
    entry(EntryType::Symlink, name, to, b"")
}

/// A file of this size, of which the archive has nothing.
fn sparse(name: &str, size: u64) -> Vec<u8> {
    let octal = |number: u64| {
        let digits = format!("{number:011o}\0").into_bytes();
        <[u8; 12]>::try_from(digits).unwrap()
    };
    let mut header = tar::Header::new_gnu();
    let gnu = header.as_gnu_mut().unwrap();
    gnu.name[..name.len()].copy_from_slice(name.as_bytes());
    gnu.realsize = octal(size);
    gnu.sparse[0].offset = octal(size);
    gnu.sparse[0].numbytes = octal(0);
    header.set_entry_type(EntryType::GNUSparse);
    header.set_mode(0o644);
    header.set_size(0);
    header.set_cksum();
    header.as_bytes().to_vec()
}

/// A hole could have 2^63 bytes, which would be read to their end.
#[test]
fn a_hole_in_a_file_that_is_left_out_is_limited() {
    let (done, outer) = unpacked(&[file("a"), sparse("a/b", 1 << 20), file("c")]);
    let [note] = &done.unwrap()[..] else {
        panic!("one entry is left out");
    };
    assert!(note.contains("`a/b`"), "{note}");
    assert!(outer.path().join("room/c").is_file());
    let (done, _outer) = unpacked(&[file("a"), sparse("a/b", 7 << 30)]);
    assert!(done.unwrap_err().contains("more than 4 GiB"));
}

#[test]
fn a_table_of_contents_is_limited() {
    let mut entry = b"PK\x01\x02".to_vec();
    entry.resize(46, 0);
    // The length of its name.
    entry[28..30].copy_from_slice(&u16::MAX.to_le_bytes());
    entry.resize(46 + usize::from(u16::MAX), b'a');
    let count = u16::try_from(CONTENTS / entry.len() as u64 + 1).unwrap();
    let contents = entry.repeat(count.into());
    let length = u32::try_from(contents.len()).unwrap();
    let mut end = b"PK\x05\x06\0\0\0\0".to_vec();
    end.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
    end.extend([length.to_le_bytes(), [0; 4]].concat());
    end.extend([0; 2]);

    let room = tempfile::tempdir().unwrap();
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&contents).unwrap();
    file.write_all(&end).unwrap();
    file.rewind().unwrap();
    let from = Location::File("it.zip".into());
    let error = unpack(file, &from, Path::new("x"), room.path()).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("too much in its table of contents"),
        "{error}"
    );
}

#[test]
fn nothing_gets_outside_of_its_folder() {
    for entries in [
        vec![file("../x")],
        vec![file("a/../../x")],
        vec![file("/tmp/acp-chain-agents-x")],
    ] {
        let (done, outer) = unpacked(&entries);
        assert!(done.is_err(), "{entries:?}");
        let left = fs::read_dir(outer.path()).unwrap().count();
        assert_eq!(left, 1, "{done:?}");
        assert!(!Path::new("/tmp/acp-chain-agents-x").exists());
    }
}

#[test]
fn a_link_that_leads_out_of_the_folder_or_nowhere_is_left_out() {
    let hard = |name: &str, to: &str| entry(EntryType::Link, name, to, b"");
    for (entries, left_out) in [
        (vec![link("a", "..")], &["a"][..]),
        (vec![link("a", "/etc/passwd")], &["a"]),
        (vec![link("a", "../room/../..")], &["a"]),
        (
            vec![link("node_modules/.bin/a", "../a/cli.js")],
            &["node_modules/.bin/a"],
        ),
        (vec![link("a", "a")], &["a"]),
        (vec![link("a", "")], &["a"]),
        // One link leads through another, which is removed first or last.
        (vec![link("a", "."), link("b", "a/../..")], &["b"]),
        (
            vec![
                link("a", ".."),
                link("b", "a/room/c"),
                link("c", "b"),
                file("d"),
            ],
            &["a", "b", "c"],
        ),
        (
            vec![file("d/y"), link("a", "d"), link("b", "a/../../.")],
            &["b"],
        ),
        (vec![hard("a", "../x")], &["a"]),
        (vec![hard("a", "/etc/passwd")], &["a"]),
        (vec![hard("a", "b")], &["a"]),
        (vec![hard("a", "b"), hard("b", "a")], &["a", "b"]),
        (vec![entry(EntryType::Fifo, "a", "", b"")], &["a"]),
        (vec![entry(EntryType::Char, "a", "", b"")], &["a"]),
    ] {
        let (done, outer) = unpacked(&entries);
        let notes = done.unwrap();
        assert_eq!(notes.len(), left_out.len(), "{notes:?}");
        for name in left_out {
            let named = format!("left out: `{name}` in it ");
            assert!(
                notes.iter().any(|note| note.starts_with(&named)),
                "{notes:?}"
            );
            let place = outer.path().join("room").join(name);
            assert!(fs::symlink_metadata(place).is_err(), "{name}");
        }
        assert_eq!(fs::read_dir(outer.path()).unwrap().count(), 1);
    }
}

#[test]
fn nothing_is_written_through_a_link() {
    let hard = |name: &str, to: &str| entry(EntryType::Link, name, to, b"");
    for (entries, expected) in [
        // The file keeps its place, and the link would have to take it.
        (vec![link("a", ".."), file("a/x")], "a/x"),
        (
            vec![link("a", "/tmp"), file("a/acp-chain-agents-x")],
            "a/acp-chain-agents-x",
        ),
        (vec![file("a/x"), link("a", "..")], "a/x"),
        // The later entry replaces the earlier one.
        (vec![link("a", "../x"), file("a")], "a"),
        (vec![file("b"), hard("a", "b"), file("a")], "a"),
        (vec![file("a"), file("a/b")], "a"),
        (vec![file("a/b"), file("a")], "a/b"),
    ] {
        let (done, outer) = unpacked(&entries);
        assert!(done.is_ok(), "{done:?}");
        let place = outer.path().join("room").join(expected);
        assert_eq!(fs::read_to_string(&place).unwrap(), "content");
        assert!(place.symlink_metadata().unwrap().is_file());
        assert_eq!(fs::read_dir(outer.path()).unwrap().count(), 1);
        assert!(!Path::new("/tmp/acp-chain-agents-x").exists());
    }
}

#[test]
fn a_later_entry_replaces_an_earlier_one() {
    let old = |name: &str| entry(EntryType::Regular, name, "", b"old");
    let hard = |name: &str, to: &str| entry(EntryType::Link, name, to, b"");
    for (entries, names) in [
        (vec![old("a"), file("a")], &["a"][..]),
        (vec![file("b"), old("a"), link("a", "b")], &["a"]),
        (vec![hard("a", "b"), file("b")], &["a", "b"]),
        (
            vec![hard("a", "b"), hard("b", "c"), file("c")],
            &["a", "b", "c"],
        ),
        (vec![file("a"), hard("a", "a")], &["a"]),
        // Another name of a link.
        (
            vec![link("d/b", "../a"), hard("d/c", "d/b"), file("a")],
            &["d/c"],
        ),
    ] {
        let (done, outer) = unpacked(&entries);
        assert_eq!(done.unwrap(), Vec::<String>::new());
        for name in names {
            let text = fs::read_to_string(outer.path().join("room").join(name)).unwrap();
            assert_eq!(text, "content", "{name}");
        }
    }
}

#[test]
fn many_notes_are_counted() {
    let links: Vec<_> = (0..30)
        .map(|at| link(&format!("{at:02}"), "/etc"))
        .collect();
    let notes = unpacked(&links).0.unwrap();
    assert_eq!(notes.len(), NOTES + 1);
    assert_eq!(notes[NOTES], "22 more entries were left out");
}

#[test]
fn an_entry_that_cannot_be_unpacked_is_named() {
    // Longer than file systems allow.
    let long = "a".repeat(300);
    let name = entry(EntryType::GNULongName, "x", "", long.as_bytes());
    let error = unpacked(&[name, file("x")]).0.unwrap_err();
    let named = format!("`{long}` in it cannot be unpacked: ");
    assert!(error.contains(&named), "{error}");
}

/// A zip file as Windows makes it: no entry has a mode of Unix.
fn zip_of_windows(entries: &[(&str, &[u8])]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    let mut archive = zip::ZipWriter::new(&mut file);
    let options = zip::write::SimpleFileOptions::default().system(zip::System::Dos);
    for (name, content) in entries {
        archive.start_file(*name, options).unwrap();
        archive.write_all(content).unwrap();
    }
    archive.finish().unwrap();
    file.rewind().unwrap();
    file
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).unwrap().permissions().mode() & 0o111 != 0
}

#[cfg(unix)]
#[test]
fn programs_are_executable_where_no_entry_has_a_mode() {
    let folder = tempfile::tempdir().unwrap();
    let files: [(&str, &[u8]); 5] = [
        ("tools\\rg", b"\x7fELF\x02\x01\x01"),
        ("tools/helper", b"\xcf\xfa\xed\xfe\x07\0\0\x01"),
        ("run.sh", b"#!/bin/sh\n"),
        ("Main.class", b"\xca\xfe\xba\xbe\0\0\0\x41"),
        ("README", b"Read me"),
    ];
    let from = Location::File("it.zip".into());
    let notes = unpack(zip_of_windows(&files), &from, Path::new("x"), folder.path());
    assert_eq!(notes.unwrap(), Vec::<String>::new());
    for (name, expected) in [
        ("tools/rg", true),
        ("tools/helper", true),
        ("run.sh", true),
        ("Main.class", false),
        ("README", false),
    ] {
        assert_eq!(is_executable(&folder.path().join(name)), expected, "{name}");
    }
}

#[cfg(unix)]
#[test]
fn modes_are_respected_where_there_are_any() {
    let script = |name: &str, mode: u32| {
        let mut entry = entry(EntryType::Regular, name, "", b"#!/bin/sh\n");
        let mut header = tar::Header::from_byte_slice(&entry[..512]).clone();
        header.set_mode(mode);
        header.set_cksum();
        entry[..512].copy_from_slice(header.as_bytes());
        entry
    };
    let (done, outer) = unpacked(&[script("run", 0o755), script("sample", 0o644)]);
    done.unwrap();
    let room = outer.path().join("room");
    assert!(is_executable(&room.join("run")) && !is_executable(&room.join("sample")));
    // As packed on Windows.
    let (done, outer) = unpacked(&[script("run", 0o644)]);
    done.unwrap();
    assert!(is_executable(&outer.path().join("room/run")));
}

#[test]
fn links_within_the_folder_stay() {
    let (done, outer) = unpacked(&[
        link("bin/run", "../lib/run"),
        file("lib/run"),
        entry(EntryType::Link, "lib/also", "lib/run", b""),
    ]);
    done.unwrap();
    for path in ["bin/run", "lib/also"] {
        let text = fs::read_to_string(outer.path().join("room").join(path)).unwrap();
        assert_eq!(text, "content", "{path}");
    }
}

#[test]
fn no_part_of_a_path_leads_to_another_drive_or_a_device_of_windows() {
    for path in [
        "a/D:evil.exe",
        "a.txt:stream",
        "a\\b",
        "C:",
        "a/NUL",
        "con.txt/b",
        "a./b",
    ] {
        assert_eq!(inside_on(Path::new(path), true), None, "{path}");
    }
    let fit = Path::new("a/b.exe");
    assert_eq!(inside_on(fit, true).as_deref(), Some(fit));
}

#[test]
fn a_name_may_be_long_but_is_bounded() {
    let named = |length: usize| {
        let name = entry(EntryType::GNULongName, "x", "", &vec![b'a'; length]);
        unpacked(&[name, file("x")])
    };
    let (done, outer) = named(200);
    done.unwrap();
    assert!(outer.path().join("room").join("a".repeat(200)).exists());
    let (done, _) = named(1 << 20);
    let error = done.unwrap_err();
    assert!(error.contains("too much before an entry"), "{error}");
}

#[test]
fn folders_that_no_entry_names_are_counted() {
    let deep = |at: usize| file(&format!("{at}/{}x", "d/".repeat(45)));
    let entries: Vec<_> = (0..3).map(deep).collect();
    let folder = tempfile::tempdir().unwrap();
    let mut few = Unpacker::new(folder.path());
    few.files = 100;
    let error = few.tar(&*entries.concat()).unwrap_err().to_string();
    assert!(error.contains("more than"), "{error}");
}

#[test]
fn all_parts_of_a_compressed_file_are_read() {
    let outer = tempfile::tempdir().unwrap();
    let mut file = tempfile::tempfile().unwrap();
    let tar = [
        entry(EntryType::Regular, "a", "", &[7; 4096]),
        vec![0; 1024],
    ]
    .concat();
    for part in tar.chunks(1000) {
        let level = flate2::Compression::fast();
        let mut packed = flate2::write::GzEncoder::new(&mut file, level);
        packed.write_all(part).unwrap();
        packed.finish().unwrap();
    }
    file.rewind().unwrap();
    let from = Location::File("it.tgz".into());
    unpack(file, &from, Path::new("x"), outer.path()).unwrap();
    let length = fs::metadata(outer.path().join("a")).unwrap().len();
    assert_eq!(length, 4096);
}

#[test]
fn unsupported_archives_are_not_taken_for_the_program() {
    for name in ["a.tar.xz", "a.tar.zst", "a.tar", "a.7z", "a.gz", "A.XZ"] {
        let outer = tempfile::tempdir().unwrap();
        let file = tempfile::tempfile().unwrap();
        let from = Location::Web(format!("https://host/{name}?x=.zip"));
        let error = unpack(file, &from, Path::new("x"), outer.path()).unwrap_err();
        assert!(error.to_string().contains("cannot unpack it"), "{error}");
    }
}
