//! The wheel for Python, with the program as a script, like a wheel of maturin's `bin` bindings. maturin builds the
//! program that it packs, but ours gets its extensions after the build.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use anyhow::Result;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;
use zip::{DateTime, ZipWriter};

use super::Package;
use super::product::{DESCRIPTION, LICENCE, Product, installed_by};
use super::tree::File;

pub fn pack(product: &Product) -> Result<Package> {
    let name = format!("acp_chain-{}", product.version);
    let tag = format!("py3-none-{}", product.platform.wheel(product.glibc));
    let about = format!("{name}.dist-info");
    let mut files = vec![
        product.program(&format!("{name}.data/scripts/acp-chain")),
        installed_by("pip", &format!("{name}.data/data/lib/acp-chain/")),
    ];
    for licence in product.licences() {
        files.push(licence.at(&format!("{about}/licenses/{}", licence.path)));
    }
    files.push(File::new(format!("{about}/METADATA"), metadata(product)?));
    let wheel = format!(
        "Wheel-Version: 1.0\nGenerator: acp-chain xtask\nRoot-Is-Purelib: false\nTag: {tag}\n"
    );
    files.push(File::new(format!("{about}/WHEEL"), wheel));
    files.push(record(&files, format!("{about}/RECORD")));

    Ok(Package(format!("{name}-{tag}.whl"), archive(&files)?))
}

/// An archive of these files.
fn archive(files: &[File]) -> Result<Vec<u8>> {
    // `TIME`, of which the format has no zone.
    let time = DateTime::from_date_and_time(1985, 10, 26, 8, 15, 0)?;
    let options = SimpleFileOptions::default().last_modified_time(time);
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for file in files {
        archive.start_file(file.path.as_str(), options.unix_permissions(file.mode()))?;
        archive.write_all(&file.content)?;
    }
    Ok(archive.finish()?.into_inner())
}

fn metadata(product: &Product) -> Result<String> {
    let mut text = format!(
        "Metadata-Version: 2.4\nName: acp-chain\nVersion: {}\nSummary: {DESCRIPTION}\nLicense-Expression: {LICENCE}\n",
        product.version
    );
    for licence in product.licences() {
        writeln!(text, "License-File: {}", licence.path)?;
    }
    text.push_str("Requires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n");
    if let Some(readme) = product.texts.last() {
        text.push_str(std::str::from_utf8(&readme.content)?);
    }
    Ok(text)
}

/// The files of the wheel with their checksums; the record itself has none.
fn record(files: &[File], path: String) -> File {
    let mut lines = String::new();
    for file in files {
        let sum = URL_SAFE_NO_PAD.encode(Sha256::digest(&file.content));
        let _ = writeln!(lines, "{},sha256={sum},{}", file.path, file.content.len());
    }
    let _ = writeln!(lines, "{path},,");
    File::new(path, lines)
}
