//! Zig: a module made by `zig build-exe`, as long as a project has no `build.zig` of its own: the build system of Zig
//! takes minutes to compile itself. The compiler derives the ABI from the types of the interface; no bindings are
//! generated.

use std::ffi::OsString;
use std::fs;
use std::process::Command;

use include_dir::{Dir, include_dir};
use semver::Version;

use super::{Language, Site, add_sdk};
use crate::Error;
use crate::component::{self, Imports};
use crate::toolchain::{Origin, Tool, VersionSource, run};

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
    sdk: |files| add_sdk(files, "sdk", &SDK),
    tools: &[&COMPILER],
    imports: Imports::Channel,
    has_drafts: false,
    make,
};

/// The compiler, which also compiles C and C++.
pub(super) const COMPILER: Tool = Tool {
    // The Python package has the second name.
    names: &["zig", "python-zig"],
    version: VersionSource::Given("version"),
    lowest: Version::new(0, 17, 0),
    origin: Origin::Pip("ziglang"),
};

static SDK: Dir = include_dir!("$CARGO_MANIFEST_DIR/sdk/zig");

const OPTIONS: &str = "\
    -target wasm32-freestanding -OReleaseSafe -fno-entry -rdynamic --stack 262144";

/// The modules of a build. The root imports the SDK and the proxy, which imports the SDK.
const MODULES: &str = "\
    --dep acp_chain --dep proxy -Mroot=sdk/main.zig -Macp_chain=sdk/acp_chain.zig --dep acp_chain \
    -Mproxy=src/proxy.zig";

fn make(site: &Site) -> Result<Vec<u8>, Error> {
    let (wit, world) = site.wit()?;
    let mut zig = Command::new(site.tool(&COMPILER)?);
    let module = if site.folder.join("build.zig").exists() {
        zig.args(["build", "--prefix"]).arg(site.made);
        site.made.join("bin/proxy.wasm")
    } else {
        let module = site.made.join("_module.wasm");
        let mut output = OsString::from("-femit-bin=");
        output.push(&module);
        zig.arg("build-exe").args(OPTIONS.split(' '));
        zig.arg(output).args(MODULES.split(' '));
        module
    };
    run(zig.current_dir(site.folder))?;
    let module = fs::read(&module).map_err(Error::disk(&module))?;
    component::encode(&component::embed(module, &wit, &world)?)
}
