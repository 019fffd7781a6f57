//! C++: the bindings of C, wrapped in types of the standard library, compiled by `zig c++` without exceptions.
//!
//! wit-bindgen's own C++ bindings corrupt lists: they write a record over itself.

use std::fs;
use std::path::Path;
use std::process::Command;

use include_dir::{Dir, include_dir};

use super::{Language, Site, add_sdk, c, zig};
use crate::Error;
use crate::component::{self, Imports};
use crate::toolchain::run;

pub(super) static CPP: Language = Language {
    name: "cpp",
    aliases: &["c++"],
    title: "C++",
    manifest: "extension.toml",
    entry: "src/proxy.cpp",
    reserved: "\
        alignas alignof and asm auto bitand bitor bool break case catch char class compl concept const \
        consteval constexpr constinit continue decltype default delete do double else enum explicit export \
        extern false float for friend goto if inline int long mutable namespace new noexcept not nullptr \
        operator or private protected public register requires return short signed sizeof static struct \
        switch template this throw true try typedef typeid typename union unsigned using virtual void \
        volatile while xor acp acp_chain json std wit",
    layers: &["wit", "cpp"],
    sdk: |files| add_sdk(files, "sdk", &SDK),
    tools: &[&zig::COMPILER],
    imports: Imports::Channel,
    has_drafts: false,
    make,
};

static SDK: Dir = include_dir!("$CARGO_MANIFEST_DIR/sdk/cpp");

const OPTIONS: [&str; 6] = [
    "-std=c++23",
    // Exceptions need support by the WebAssembly runtime.
    "-fno-exceptions",
    "-fno-rtti",
    // With `assert`, which Zig disables in optimized code, and whose message goes to our log.
    "-UNDEBUG",
    "-D__assert_fail=acp_chain_assert_fail",
    "-Wno-missing-designated-field-initializers",
];

fn make(site: &Site) -> Result<Vec<u8>, Error> {
    let (wit, world) = site.wit()?;
    let zig = site.tool(&zig::COMPILER)?;
    let (headers, module) = (site.made.join("bindings"), site.made.join("_module.wasm"));
    let bindings = c::bindings(&wit, &world, &headers)?;
    let sdk = site.folder.join("sdk");
    let mut sources = Vec::new();
    for bindings in bindings {
        // They are in C, to which the options below do not apply.
        sources.push(match bindings.extension() {
            Some(extension) if extension == "c" => {
                let object = bindings.with_extension("o");
                let mut cc = Command::new(&zig);
                cc.args(["cc", "-c"]);
                run(c::compile(&mut cc, &[], &[bindings], &object))?;
                object
            }
            _ => bindings,
        });
    }
    let own = site.folder.join("src");
    for folder in [&own, &sdk] {
        sources.extend(c::all_in(folder, "cpp")?);
    }
    let mut cc = Command::new(&zig);
    cc.arg("c++").args(OPTIONS);
    let folders: [&Path; 3] = [&headers, &sdk, &own];
    run(c::compile(&mut cc, &folders, &sources, &module))?;
    let module = fs::read(&module).map_err(Error::disk(&module))?;
    component::encode(&module)
}
