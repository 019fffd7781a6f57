//! The packages for npm: one with the program for each platform, and one that makes npm install the right one, and runs
//! it. Installing them runs no scripts.

use anyhow::Result;
use serde_json::{Value, json};

use super::Package;
use super::product::{DESCRIPTION, LICENCE, Product, installed_by};
use super::tree::{File, tar_gz};

/// The script that runs the program.
const LAUNCHER: &str = include_str!("launcher.js");

/// The package that users install by name.
pub fn launcher(product: &Product) -> Result<Package> {
    let about = json!({
        "name": "acp-chain",
        "version": product.version,
        "description": DESCRIPTION,
        "license": LICENCE,
        "bin": { "acp-chain": "acp-chain.js" },
        "engines": { "node": ">=18" },
        "optionalDependencies": { scoped(product): product.version },
    });
    let mut launcher = File::new("acp-chain.js", LAUNCHER);
    launcher.is_program = true;
    let file = format!("acp-chain-{}.tgz", product.version);
    pack(product, file, &about, [launcher])
}

/// The package with the program for this platform.
pub fn program(product: &Product) -> Result<Package> {
    let about = json!({
        "name": scoped(product),
        "version": product.version,
        "description": format!("The program of acp-chain for Linux on {}", product.platform.npm),
        "license": LICENCE,
        "os": ["linux"],
        "cpu": [product.platform.npm],
        "libc": ["glibc"],
    });
    let (arch, version) = (product.platform.npm, product.version);
    let file = format!("acp-chain-linux-{arch}-{version}.tgz");
    let program = [product.program("acp-chain"), installed_by("npm", "")];
    pack(product, file, &about, program)
}

fn scoped(product: &Product) -> String {
    format!("@acp-chain/linux-{}", product.platform.npm)
}

fn pack<const COUNT: usize>(
    product: &Product,
    file: String,
    about: &Value,
    program: [File; COUNT],
) -> Result<Package> {
    let about = serde_json::to_string_pretty(about)?;
    let mut files = vec![File::new("package.json", about)];
    files.extend(program);
    files.extend(product.texts.iter().cloned());
    Ok(Package(file, tar_gz(&files, "package")?))
}
