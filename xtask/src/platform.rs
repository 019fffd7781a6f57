//! The platforms that the program is packed for, by their names in each kind of package.

use std::env::consts::{ARCH, OS};

use anyhow::{Context, Result, bail};

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
