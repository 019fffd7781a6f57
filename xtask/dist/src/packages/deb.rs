//! The package for Debian: two archives in an `ar` archive.

use std::fmt::Write as _;

use anyhow::Result;

use super::Package;
use super::product::{DESCRIPTION, LICENCE, Product};
use super::tree::{File, tar_gz};

pub fn pack(product: &Product) -> Result<Package> {
    let mut files = product.installed("deb", "usr/share/zsh/vendor-completions")?;
    files.push(copyright(product)?);
    let about = [File::new("control", control(product, &files))];
    let (about, files) = (tar_gz(&about, "")?, tar_gz(&files, "")?);
    let mut archive = ar::Builder::new(Vec::new());
    for (name, bytes) in [
        ("debian-binary", &b"2.0\n"[..]),
        ("control.tar.gz", &about),
        ("data.tar.gz", &files),
    ] {
        let mut header = ar::Header::new(name.into(), bytes.len() as u64);
        header.set_mode(0o100_644);
        archive.append(&header, bytes)?;
    }
    let (version, arch) = (product.version, product.platform.debian);
    let file = format!("acp-chain_{version}_{arch}.deb");
    Ok(Package(file, archive.into_inner()?))
}

/// The description for `dpkg`.
fn control(product: &Product, files: &[File]) -> String {
    let Product {
        version,
        platform,
        glibc: (major, minor),
        ..
    } = product;
    let size: usize = files
        .iter()
        .map(|file| file.content.len().div_ceil(1024))
        .sum();
    format!(
        "Package: acp-chain\n\
         Version: {version}\n\
         Architecture: {}\n\
         Maintainer: The acp-chain authors\n\
         Section: devel\n\
         Priority: optional\n\
         Installed-Size: {size}\n\
         Depends: libc6 (>= {major}.{minor}), libgcc-s1\n\
         Description: {DESCRIPTION}\n \
         An editor launches acp-chain as if it were its coding agent. It launches the\n \
         real agent, and puts a chain of proxies between the two.\n",
        platform.debian
    )
}

fn copyright(product: &Product) -> Result<File> {
    let mut text = format!("Copyright: the acp-chain authors\nLicense: {LICENCE}\n");
    for licence in product.licences() {
        write!(text, "\n{}", String::from_utf8(licence.content.to_vec())?)?;
    }
    Ok(File::new("usr/share/doc/acp-chain/copyright", text))
}
