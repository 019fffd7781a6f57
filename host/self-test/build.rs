//! Makes the component of the self-test: the module in `component.wat`, with the interface.

#![expect(clippy::disallowed_macros, reason = "cargo reads it")]

use std::path::PathBuf;
use std::{env, fs};

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

const MODULE: &str = "component.wat";

const WIT: &str = "../../wit/proxy.wit";

fn main() {
    for path in [MODULE, WIT] {
        println!("cargo:rerun-if-changed={path}");
    }
    let mut module = wat::parse_file(MODULE).expect("a module");
    let wit = fs::read_to_string(WIT).expect("the interface is readable");
    let mut resolve = Resolve::default();
    let package = resolve.push_str(WIT, &wit).expect("the interface");
    let world = resolve.select_world(&[package], Some("tool-proxy"));
    let world = world.expect("the world");
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).expect("metadata");
    let encoder = ComponentEncoder::default().validate(true).module(&module);
    let component = encoder.expect("a module with its world").encode();
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(
        out.join("component.wasm"),
        component.expect("a proxy with tools"),
    )
    .expect("the folder is writable");
}
