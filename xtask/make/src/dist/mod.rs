//! `cargo xtask dist`: packs the program as an archive, and for Debian, RPM, npm and Python, and lists what is in it.
//!
//! All packages carry the same finished program, and packing it again gives the same bytes.

mod cross;
mod deb;
mod npm;
mod platform;
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

use self::platform::Platform;
use self::product::Product;
use self::tree::tar_gz;
use crate::guests;
use xtask::program::{EXTENSIONS, PROGRAM, bundle};
use xtask::progress::Progress;
use xtask::workspace::Workspace;

#[derive(clap::Args)]
pub struct Options {
    /// Pack this program unchanged, instead of a new build
    #[arg(long, value_name = "PROGRAM")]
    from: Option<PathBuf>,
    /// The folder for the packages, instead of `target/dist/packages`
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Pack for this target, as Rust names it, instead of for this machine; the program is never run
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
}

/// A package, and the name of its file.
pub struct Package {
    pub file: String,
    pub bytes: Vec<u8>,
}

/// Builds the program unless one is given, and packs it in all formats.
pub fn run(workspace: &Workspace, options: Options) -> Result<()> {
    let here = Platform::here();
    let target = options.target.as_deref().map(Platform::of).transpose()?;
    let platform = target.map_or(here, Ok)?;
    let folder = workspace.target("dist/packages");
    let out = options.out.unwrap_or(folder);
    let progress = Progress::new(workspace);
    let (program, native) = match (options.from, target) {
        (Some(program), None) => (program.clone(), program),
        (None, None) => {
            let program = build(workspace, &progress)?;
            (program.clone(), program)
        }
        (from, Some(platform)) => {
            let native = cross::native(workspace, &progress)?;
            let built = || cross::build(workspace, &progress, platform, &native);
            (from.map_or_else(built, Ok)?, native)
        }
    };
    let product = Product::of(workspace, platform, &program, &native)?;
    let list = progress.step("list of what is in the program", |_| {
        sbom::pack(workspace, &product, &program)
    })?;
    fs::create_dir_all(&out).with_context(|| format!("{} cannot be created", out.display()))?;
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
    let packages = progress.step("packages", |_| {
        thread::scope(|scope| {
            let packing = packs.map(|pack| scope.spawn(move || pack(product)));
            let packed =
                packing.map(|pack| pack.join().map_err(|_| anyhow!("packing panicked"))?);
            packed.into_iter().collect::<Result<Vec<_>>>()
        })
    })?;
    for Package { file, bytes } in packages.into_iter().chain([list]) {
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

/// Builds the program with its extensions.
fn build(workspace: &Workspace, progress: &Progress) -> Result<PathBuf> {
    let extensions = guests::build_with(workspace, progress, &EXTENSIONS.map(str::to_owned))?;
    let built = build_alone(workspace, progress)?;
    let folder = workspace.target("dist/bundled");
    fs::create_dir_all(&folder)?;
    let program = folder.join(PROGRAM);
    bundle(&built, &extensions, &program)?;
    Ok(program)
}

/// Builds the program without extensions.
pub fn build_alone(workspace: &Workspace, progress: &Progress) -> Result<PathBuf> {
    progress.step("acp-chain, with the profile dist", |step| {
        let mut build = workspace.distributed();
        step.run(build.args(["build", "--locked", "--profile", "dist"]))
    })?;
    Ok(workspace.target("dist").join(PROGRAM))
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
    for (file, script) in &product.completions {
        files.push(script.at(&format!("completions/{file}")));
    }
    for page in &product.pages {
        files.push(page.at(&format!("man/man1/{}", page.path)));
    }
    Ok(Package {
        bytes: tar_gz(&files, &name)?,
        file: format!("{name}.tar.gz"),
    })
}
