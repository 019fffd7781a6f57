//! The wheel for Python, with the program as a script, like a wheel of maturin's `bin` bindings. maturin builds the
//! program that it packs, but ours gets its extensions after the build.

use std::fmt::Write as _;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use super::Package;
use super::product::{DESCRIPTION, LICENCE, Product, installed_by};
use super::tree::{File, made};

/// A script that archives files under their paths, which `python3 -m zipfile` does not.
const ZIP: &str = "\
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED) as archive:
    for path in sys.argv[2:]:
        archive.write(path)
";

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

    Ok(Package {
        bytes: zip(&files).context("python3 cannot pack the wheel")?,
        file: format!("{name}-{tag}.whl"),
    })
}

/// An archive of these files, made by Python, which is needed for wheels anyway.
fn zip(files: &[File]) -> Result<Vec<u8>> {
    let folder = tempfile::tempdir()?;
    let content = folder.path().join("content");
    for file in files {
        let path = content.join(&file.path);
        fs::create_dir_all(path.parent().unwrap_or(&content))?;
        fs::write(&path, &file.content)?;
        fs::set_permissions(&path, Permissions::from_mode(file.mode()))?;
        fs::File::options()
            .append(true)
            .open(&path)?
            .set_modified(made())?;
    }
    let archive = folder.path().join("archive");
    let mut python = Command::new("python3");
    python.args(["-c", ZIP]).arg(&archive);
    python.args(files.iter().map(|file| &file.path));
    let output = python.current_dir(&content).output()?;
    ensure!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(fs::read(archive)?)
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
