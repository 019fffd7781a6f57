//! Packages of the program: an archive, and for Debian, RPM, npm and Python, and a list of what is in it.
//!
//! All packages carry the same finished program, and packing it again gives the same bytes.

mod deb;
mod glibc;
mod npm;
pub mod product;
mod rpm;
mod sbom;
mod tree;
mod wheel;

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::thread;

use anyhow::{Context, Result, anyhow};
use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use xtask::platform::Platform;
use xtask::workspace::Workspace;

use self::product::Product;
use self::tree::tar_gz;

#[derive(clap::Args)]
pub struct Options {
    /// The program, which is packed unchanged
    program: PathBuf,
    /// The folder for the packages
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The program's target, as Rust names it, instead of this machine
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
    /// A program of the same version that runs here, unless the packed one does
    #[arg(long, value_name = "PROGRAM")]
    native: Option<PathBuf>,
}

/// The name of the file of a package, and its bytes.
pub struct Package(pub String, pub Vec<u8>);

/// Packs a program in all formats.
pub fn pack(workspace: &Workspace, options: Options) -> Result<()> {
    let (program, out) = (&options.program, &options.out);
    let target = options.target.as_deref().map(Platform::of);
    let platform = target.unwrap_or_else(Platform::here)?;
    let native = options.native.as_ref().unwrap_or(program);
    let product = Product::of(workspace, platform, program, native)?;
    let list = workspace.step("list of what is in the program", |_| {
        sbom::pack(workspace, &product, program)
    })?;
    fs::create_dir_all(out).with_context(|| format!("{} cannot be created", out.display()))?;
    let mut sums = String::new();
    let product = &product;
    let packs = [
        archive,
        deb::pack,
        rpm::pack,
        npm::launcher,
        npm::program,
        wheel::pack,
    ];
    // At once, as each takes seconds.
    let packages = workspace.step("packages", |_| {
        thread::scope(|scope| {
            let packing = packs.map(|pack| scope.spawn(move || pack(product)));
            let packed =
                packing.map(|pack| pack.join().map_err(|_| anyhow!("packing panicked"))?);
            packed.into_iter().collect::<Result<Vec<_>>>()
        })
    })?;
    for Package(file, bytes) in packages.into_iter().chain([list]) {
        let path = out.join(&file);
        fs::write(&path, &bytes)
            .with_context(|| format!("{} cannot be written", path.display()))?;
        writeln!(sums, "{}  {file}", HEXLOWER.encode(&Sha256::digest(&bytes)))?;
        println!("{}", path.display());
    }
    // In the format of `sha256sum --check`.
    fs::write(out.join("SHA256SUMS"), sums)?;
    Ok(())
}

/// The plain archive: the program, its licences, completions and manual pages.
fn archive(product: &Product) -> Result<Package> {
    let name = format!(
        "acp-chain-{}-{}",
        product.version,
        product.platform.triple()
    );
    let mut files = vec![product.program("acp-chain")];
    files.extend(product.texts.iter().cloned());
    for script in &product.completions {
        files.push(script.at(&format!("completions/{}", script.path)));
    }
    for page in &product.pages {
        files.push(page.at(&format!("man/man1/{}", page.path)));
    }
    Ok(Package(format!("{name}.tar.gz"), tar_gz(&files, &name)?))
}
