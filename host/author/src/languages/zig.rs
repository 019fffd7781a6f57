//! Zig: a module made by `zig build`. Its own compiler derives the ABI from the types of the interface; no bindings are
//! generated.

use std::fs;
use std::process::Command;

use semver::Version;

use super::{Files, Language, Site, add_wit};
use crate::Error;
use crate::component::{self, Imports};
use crate::toolchain::{Origin, Says, Tool, run};

pub(super) static ZIG: Language = Language {
    name: "zig",
    aliases: &[],
    title: "Zig",
    manifest: "extension.toml",
    entry: "src/proxy.zig",
    reserved: "\
        addrspace align allowzero and anyframe anytype asm break callconv catch comptime const continue \
        defer else enum errdefer error export extern fn for if inline linksection noalias noinline \
        nosuspend opaque or orelse packed pub resume return struct suspend switch test threadlocal try \
        union unreachable var volatile while acp_chain std",
    layers: &["wit", "zig"],
    sdk,
    tools: &[&COMPILER],
    imports: Imports::Channel,
    has_drafts: false,
    make,
};

/// It also compiles C and C++.
pub(super) const COMPILER: Tool = Tool {
    // The Python package has the latter.
    names: &["zig", "python-zig"],
    version: Says::Given("version"),
    lowest: Version::new(0, 17, 0),
    origin: Origin::Pip("ziglang"),
};

const SDK: [(&str, &[u8]); 4] = [
    ("sdk/abi.zig", include_bytes!("../../sdk/zig/abi.zig")),
    (
        "sdk/acp_chain.zig",
        include_bytes!("../../sdk/zig/acp_chain.zig"),
    ),
    ("sdk/main.zig", include_bytes!("../../sdk/zig/main.zig")),
    ("sdk/wit.zig", include_bytes!("../../sdk/zig/wit.zig")),
];

fn sdk(files: &mut Files) {
    add_wit(files);
    files.extend(SDK.map(|(path, content)| (path.into(), content.into())));
}

fn make(site: &Site) -> Result<Vec<u8>, Error> {
    let (wit, world) = site.wit()?;
    run(Command::new(site.tool(&COMPILER)?)
        .args(["build", "--prefix"])
        .arg(site.made)
        .current_dir(site.folder))?;
    let module = site.made.join("bin/proxy.wasm");
    let module = fs::read(&module).map_err(Error::disk(&module))?;
    component::encode(&component::embed(module, &wit, &world)?)
}
