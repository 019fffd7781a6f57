//! The package for RPM: a lead, then two lists of tagged values, the signature and the header, then a `cpio` archive.
//!
//! It is written here since the crate `rpm` would bring twenty others, some in versions that nothing else has, to be
//! built for every `cargo xtask install`. The signature has digests alone.

use std::collections::BTreeMap;
use std::io::Write as _;

use anyhow::{Context, Result};
use data_encoding::HEXLOWER;
use flate2::{Compression, GzBuilder};
use sha2::{Digest, Sha256};

use super::Package;
use super::product::{DESCRIPTION, LICENCE, Product};
use super::tree::{File, TIME};

/// Where each completion script belongs, by its name.
const COMPLETIONS: [(&str, &str); 3] = [
    ("acp-chain", "usr/share/bash-completion/completions"),
    ("_acp-chain", "usr/share/zsh/site-functions"),
    ("acp-chain.fish", "usr/share/fish/vendor_completions.d"),
];

/// The release of the package, which has no other.
const RELEASE: &str = "1";

/// The types of values.
const SHORT: u32 = 3;
const NUMBER: u32 = 4;
const TEXT: u32 = 6;
const BINARY: u32 = 7;
const TEXTS: u32 = 8;
const TRANSLATED: u32 = 9;

/// The tags that span the values of the signature and of the header.
const SIGNATURE: u32 = 62;
const HEADER: u32 = 63;

/// The number of SHA-256 among the digests.
const SHA256: u32 = 8;

/// How a dependency compares versions.
const AT_MOST: u32 = 2 | 8;
const AT_LEAST: u32 = 4 | 8;
const EXACTLY: u32 = 8;

/// That a dependency is on a feature of `rpm`.
const OF_RPM: u32 = 1 << 24;

/// A list of tagged values.
#[derive(Default)]
struct Values {
    /// By their tags: the type, how many there are, and their bytes.
    values: BTreeMap<u32, (u32, usize, Vec<u8>)>,
}

/// A file of the package, or a folder of its own.
struct Entry<'a> {
    /// From the root, without a slash at the beginning.
    path: &'a str,
    /// With the type of the file.
    mode: u16,
    /// That of a folder is `None`.
    content: Option<&'a [u8]>,
}

pub fn pack(product: &Product) -> Result<Package> {
    let mut files = product.installed("rpm", &COMPLETIONS)?;
    for licence in product.licences() {
        files.push(licence.at(&format!("usr/share/licenses/acp-chain/{}", licence.path)));
    }
    let entries = entries(&files);
    let archive = cpio(&entries)?;
    let mut payload = GzBuilder::new().write(Vec::new(), Compression::default());
    payload.write_all(&archive)?;
    let payload = payload.finish()?;
    // A hyphen separates the release.
    let version = product.version.replace('-', "~");
    let header = header(product, &version, &entries, &payload)?.encode(HEADER)?;
    let mut signature = Values::default();
    signature.text(273, &digest(&header));
    signature.numbers(1000, [size(header.len() + payload.len())?]);
    signature.numbers(1007, [size(archive.len())?]);
    let mut signature = signature.encode(SIGNATURE)?;
    signature.resize(signature.len().next_multiple_of(8), 0);
    let name = format!("acp-chain-{version}-{RELEASE}");
    Ok(Package {
        file: format!("{name}.{}.rpm", product.platform.arch),
        bytes: [lead(&name), signature, header, payload].concat(),
    })
}

/// The first 96 bytes. Only the magic number, the version of the format, and the kind of signature are still read.
fn lead(name: &str) -> Vec<u8> {
    let mut lead = vec![0xed_u8, 0xab, 0xee, 0xdb, 3, 0, 0, 0, 0, 1];
    lead.extend(name.bytes().take(65));
    lead.resize(76, 0);
    lead.extend([0, 1, 0, 5]);
    lead.resize(96, 0);
    lead
}

/// The files, and the folders that belong to this package alone, by their paths.
fn entries(files: &[File]) -> Vec<Entry<'_>> {
    let mut entries = BTreeMap::new();
    for file in files {
        let kind = if file.is_program { 0o755 } else { 0o644 };
        let entry = Entry {
            path: &file.path,
            mode: 0o100_000 | kind,
            content: Some(&*file.content),
        };
        entries.insert(&*file.path, entry);
        if let Some((folder, _)) = file.path.rsplit_once('/')
            && folder.ends_with("/acp-chain")
        {
            let entry = Entry {
                path: folder,
                mode: 0o040_755,
                content: None,
            };
            entries.insert(folder, entry);
        }
    }
    entries.into_values().collect()
}

/// The archive, in the format `newc`.
fn cpio(entries: &[Entry<'_>]) -> Result<Vec<u8>> {
    let mut archive: Vec<u8> = Vec::new();
    let mut put = |number: u32, mode: u16, time: u32, name: &str, content: &[u8]| -> Result<()> {
        let (length, named) = (size(content.len())?, size(name.len() + 1)?);
        let fields = [
            number,
            u32::from(mode),
            0,
            0,
            1,
            time,
            length,
            0,
            0,
            0,
            0,
            named,
            0,
        ];
        archive.extend(b"070701");
        for field in fields {
            write!(archive, "{field:08x}")?;
        }
        archive.extend(name.as_bytes());
        // The name ends with a zero.
        archive.resize((archive.len() + 1).next_multiple_of(4), 0);
        archive.extend(content);
        archive.resize(archive.len().next_multiple_of(4), 0);
        Ok(())
    };
    for (entry, number) in entries.iter().zip(1..) {
        let name = format!("./{}", entry.path);
        let content = entry.content.unwrap_or_default();
        put(number, entry.mode, time()?, &name, content)?;
    }
    put(0, 0, 0, "TRAILER!!!", &[])?;
    Ok(archive)
}

/// The description of the package.
fn header(
    product: &Product,
    version: &str,
    entries: &[Entry<'_>],
    payload: &[u8],
) -> Result<Values> {
    let (major, minor) = product.glibc;
    let mut values = Values::default();
    values.texts(100, ["C"]);
    let source = format!("acp-chain-{version}-{RELEASE}.src.rpm");
    for (tag, text) in [
        (1000, "acp-chain"),
        (1001, version),
        (1002, RELEASE),
        (1007, "acp-chain"),
        (1014, LICENCE),
        (1021, "linux"),
        (1022, product.platform.arch),
        // A package without its source's name would be one of sources.
        (1044, &*source),
        (1124, "cpio"),
        (1125, "gzip"),
        (1126, "6"),
    ] {
        values.text(tag, text);
    }
    values.translated(1004, DESCRIPTION);
    values.translated(
        1005,
        "An editor launches acp-chain as if it were its coding agent. It launches the\n\
         real agent, and puts a chain of proxies between the two.",
    );
    values.translated(1016, "Development/Tools");
    values.numbers(1006, [time()?]);
    values.texts(5092, [digest(payload)]);
    values.numbers(5093, [SHA256]);

    values.texts(1047, ["acp-chain"]);
    values.numbers(1112, [EXACTLY]);
    values.texts(1113, [format!("{version}-{RELEASE}")]);
    let glibc = format!("{major}.{minor}");
    let needs = [
        ("glibc", AT_LEAST, &*glibc),
        ("libgcc_s.so.1()(64bit)", 0, ""),
        ("rpmlib(CompressedFileNames)", OF_RPM | AT_MOST, "3.0.4-1"),
        ("rpmlib(FileDigests)", OF_RPM | AT_MOST, "4.6.0-1"),
        ("rpmlib(PayloadFilesHavePrefix)", OF_RPM | AT_MOST, "4.0-1"),
    ];
    values.numbers(1048, needs.map(|(_, how, _)| how));
    values.texts(1049, needs.map(|(what, _, _)| what));
    values.texts(1050, needs.map(|(_, _, version)| version));
    list(&mut values, entries)?;
    Ok(values)
}

/// What the header says about each file.
fn list(values: &mut Values, entries: &[Entry<'_>]) -> Result<()> {
    let time = time()?;
    let sizes = entries
        .iter()
        .map(|entry| entry.content.map_or(0, <[u8]>::len));
    let all = sizes.clone().sum::<usize>();
    values.numbers(1009, [size(all)?]);
    values.numbers(1028, sizes.map(size).collect::<Result<Vec<_>>>()?);
    values.shorts(1030, entries.iter().map(|entry| entry.mode));
    values.shorts(1033, entries.iter().map(|_| 0));
    values.numbers(1034, entries.iter().map(|_| time));
    let digests = entries.iter().map(|entry| entry.content.map(digest));
    values.texts(1035, digests.map(Option::unwrap_or_default));
    // Targets of links, and languages: there are none.
    for tag in [1036, 1097] {
        values.texts(tag, entries.iter().map(|_| ""));
    }
    // Flags: none. Checked by `rpm --verify`: everything.
    values.numbers(1037, entries.iter().map(|_| 0));
    values.numbers(1045, entries.iter().map(|_| u32::MAX));
    for tag in [1039, 1040] {
        values.texts(tag, entries.iter().map(|_| "root"));
    }
    values.numbers(1095, entries.iter().map(|_| 1));
    values.numbers(1096, entries.iter().zip(1..).map(|(_, number)| number));
    values.numbers(5011, [SHA256]);

    let mut folders: Vec<&str> = Vec::new();
    let mut numbers = Vec::new();
    let mut names = Vec::new();
    for entry in entries {
        let (folder, name) = entry
            .path
            .rsplit_once('/')
            .context("a file has no folder")?;
        let at = folders.iter().position(|known| *known == folder);
        let at = at.unwrap_or_else(|| {
            folders.push(folder);
            folders.len() - 1
        });
        numbers.push(size(at)?);
        names.push(name);
    }
    values.numbers(1116, numbers);
    values.texts(1117, names);
    values.texts(1118, folders.iter().map(|folder| format!("/{folder}/")));
    Ok(())
}

impl Values {
    fn text(&mut self, tag: u32, text: &str) {
        self.put(tag, TEXT, [text]);
    }

    fn translated(&mut self, tag: u32, text: &str) {
        self.put(tag, TRANSLATED, [text]);
    }

    fn texts<T: AsRef<str>>(&mut self, tag: u32, texts: impl IntoIterator<Item = T>) {
        self.put(tag, TEXTS, texts);
    }

    /// Puts texts, each of which ends with a zero.
    fn put<T: AsRef<str>>(&mut self, tag: u32, kind: u32, texts: impl IntoIterator<Item = T>) {
        let (mut count, mut bytes) = (0, Vec::<u8>::new());
        for text in texts {
            count += 1;
            bytes.extend(text.as_ref().as_bytes());
            bytes.push(0);
        }
        self.values.insert(tag, (kind, count, bytes));
    }

    fn numbers(&mut self, tag: u32, numbers: impl IntoIterator<Item = u32>) {
        let numbers = numbers.into_iter().map(u32::to_be_bytes);
        let numbers: Vec<_> = numbers.collect();
        let value = (NUMBER, numbers.len(), numbers.concat());
        self.values.insert(tag, value);
    }

    fn shorts(&mut self, tag: u32, numbers: impl IntoIterator<Item = u16>) {
        let numbers = numbers.into_iter().map(u16::to_be_bytes);
        let numbers: Vec<_> = numbers.collect();
        let value = (SHORT, numbers.len(), numbers.concat());
        self.values.insert(tag, value);
    }

    /// The index of the values, and the values. The first in the index is `region`, which spans the others.
    fn encode(&self, region: u32) -> Result<Vec<u8>> {
        let (mut index, mut store) = (Vec::<u8>::new(), Vec::<u8>::new());
        for (tag, (kind, count, bytes)) in &self.values {
            let aligned_to = match *kind {
                SHORT => 2,
                NUMBER => 4,
                _ => 1,
            };
            store.resize(store.len().next_multiple_of(aligned_to), 0);
            let (at, many) = (size(store.len())?, size(*count)?);
            index.extend([*tag, *kind, at, many].map(u32::to_be_bytes).concat());
            store.extend(bytes);
        }
        let count = size(self.values.len() + 1)?;
        let at = size(store.len())?;
        // Where the index begins, seen from its end.
        let back = 0_u32.wrapping_sub(16 * count);
        store.extend([region, BINARY, back, 16].map(u32::to_be_bytes).concat());
        let mut encoded = vec![0x8e_u8, 0xad, 0xe8, 1, 0, 0, 0, 0];
        let head = [count, size(store.len())?, region, BINARY, at, 16];
        encoded.extend(head.map(u32::to_be_bytes).concat());
        encoded.extend(index);
        encoded.extend(store);
        Ok(encoded)
    }
}

fn time() -> Result<u32> {
    u32::try_from(TIME).context("the time of the files is too late for a package")
}

fn size(bytes: usize) -> Result<u32> {
    u32::try_from(bytes).context("a package for RPM has less than 4 GiB")
}

fn digest(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}
