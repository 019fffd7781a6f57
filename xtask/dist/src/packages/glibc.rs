//! Which glibc a program needs.

use anyhow::{Context, Result, ensure};
use object::elf::FileHeader64;
use object::read::elf::{FileHeader, SectionTable};
use object::{Endianness, FileKind};

/// The oldest glibc that a program runs with: the latest version that its symbols need.
pub fn oldest(program: &[u8]) -> Result<(u32, u32)> {
    let kind = FileKind::parse(program).context("it is not a program")?;
    ensure!(
        kind == FileKind::Elf64,
        "it is not a 64-bit program for Linux"
    );
    let header = FileHeader64::<Endianness>::parse(program)?;
    let endian = header.endian()?;
    let sections: SectionTable<_> = header.sections(endian, program)?;
    let mut latest = None;
    if let Some((mut files, link)) = sections.gnu_verneed(endian, program)? {
        let names = sections.strings(endian, program, link)?;
        while let Some((_, mut versions)) = files.next()? {
            while let Some(version) = versions.next()? {
                let name = String::from_utf8_lossy(version.name(endian, names)?).into_owned();
                let numbers = name.strip_prefix("GLIBC_").and_then(numbers);
                latest = latest.max(numbers);
            }
        }
    }
    latest.context(
        "it needs no version of glibc, so it is linked in another way than these packages declare",
    )
}

fn numbers(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}
