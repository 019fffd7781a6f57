//! The platform of a program, by its name in each kind of package.

use std::env::consts::{ARCH, OS};

use anyhow::{Context, Result, bail};
use object::elf::FileHeader64;
use object::read::elf::{FileHeader, SectionTable};
use object::{Endianness, FileKind};

/// A platform with packages.
#[derive(Clone, Copy)]
pub struct Platform {
    /// As Rust and RPM name it.
    pub arch: &'static str,
    pub debian: &'static str,
    pub npm: &'static str,
}

const PLATFORMS: [Platform; 2] = [
    Platform {
        arch: "x86_64",
        debian: "amd64",
        npm: "x64",
    },
    Platform {
        arch: "aarch64",
        debian: "arm64",
        npm: "arm64",
    },
];

impl Platform {
    /// The platform that programs are built for here.
    pub fn here() -> Result<Self> {
        let known = PLATFORMS.iter().find(|platform| platform.arch == ARCH);
        match known {
            Some(platform) if cfg!(all(target_os = "linux", target_env = "gnu")) => Ok(*platform),
            _ => bail!(
                "there are packages only for Linux with glibc on x86_64 and aarch64, and this is {OS} on {ARCH}; \
                 `cargo xtask install` builds the program for use here"
            ),
        }
    }

    /// The platform of this target, as Rust names it.
    pub fn of(target: &str) -> Result<Self> {
        let known = PLATFORMS.iter();
        let names: Vec<_> = known.clone().map(|platform| platform.triple()).collect();
        let mut found = known.filter(|platform| platform.triple() == target);
        let platform = found.next().with_context(|| {
            format!(
                "there are packages only for {}, not for {target}",
                names.join(" and ")
            )
        })?;
        Ok(*platform)
    }

    pub fn triple(self) -> String {
        format!("{}-unknown-linux-gnu", self.arch)
    }

    /// The name of the target in GNU's compilers.
    pub fn gnu(self) -> String {
        format!("{}-linux-gnu", self.arch)
    }

    /// The tag of a wheel for systems with this glibc or a later one.
    pub fn wheel(self, (major, minor): (u32, u32)) -> String {
        format!("manylinux_{major}_{minor}_{}", self.arch)
    }
}

/// The oldest glibc that a program runs with: the latest version that its symbols need.
pub fn glibc(program: &[u8]) -> Result<(u32, u32)> {
    let kind = FileKind::parse(program).context("it is not a program")?;
    anyhow::ensure!(
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
