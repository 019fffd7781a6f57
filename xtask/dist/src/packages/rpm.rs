//! The package for RPM, without a signature: it has digests alone.

use std::collections::BTreeSet;

use ::rpm::{BuildConfig, CompressionWithLevel, Dependency, FileOptions, PackageBuilder};
use anyhow::{Context, Result};

use super::Package;
use super::product::{DESCRIPTION, LICENCE, Product};
use super::tree::{File, TIME};

pub fn pack(product: &Product) -> Result<Package> {
    let mut files = product.installed("rpm", "usr/share/zsh/site-functions")?;
    for licence in product.licences() {
        files.push(licence.at(&format!("usr/share/licenses/acp-chain/{}", licence.path)));
    }
    // A hyphen separates the release.
    let version = product.version.replace('-', "~");
    let (major, minor) = product.glibc;
    // As fast as the other archives. The space would be for a signature that is added later.
    let config = BuildConfig::v4()
        .compression(CompressionWithLevel::Gzip(6))
        .reserved_space(None)
        .source_date(TIME);
    let arch = product.platform.arch;
    let mut builder = PackageBuilder::new("acp-chain", &version, LICENCE, arch, DESCRIPTION);
    builder
        .using_config(config)
        .description(
            "An editor launches acp-chain as if it were its coding agent. It launches the\n\
             real agent, and puts a chain of proxies between the two.",
        )
        .group("Development/Tools")
        .requires(Dependency::greater_eq("glibc", format!("{major}.{minor}")))
        .requires(Dependency::any("libgcc_s.so.1()(64bit)"));
    for folder in own_folders(&files) {
        builder.with_dir_entry(FileOptions::dir(format!("/{folder}")))?;
    }
    for file in &files {
        let mode = u16::try_from(file.mode()).context("a mode has 16 bits")?;
        let options = FileOptions::new(format!("/{}", file.path)).permissions(mode);
        builder.with_file_contents(&*file.content, options)?;
    }
    let package = builder.build()?;
    let mut bytes = Vec::new();
    package.write(&mut bytes)?;
    Ok(Package(package.canonical_filename()?, bytes))
}

/// The folders that belong to this package alone.
fn own_folders(files: &[File]) -> BTreeSet<&str> {
    let folders = files.iter().filter_map(|file| file.path.rsplit_once('/'));
    let folders = folders.map(|(folder, _)| folder);
    folders
        .filter(|folder| folder.ends_with("/acp-chain"))
        .collect()
}
