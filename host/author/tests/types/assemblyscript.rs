//! The interface for `AssemblyScript`, which has no generator of bindings: `wit.ts` has its types with their layouts in
//! memory, and the imported functions; `exports.ts` has the exported functions.
//!
//! Sizes and the way of passing values are from `wit-parser`. Code for a type is generated only in the direction in
//! which it is passed: a proxy never receives an action, for example.

mod functions;
mod lift;
mod lower;
mod types;

use std::fmt::Write as _;

use anyhow::{Context, Result, bail};
use heck::ToLowerCamelCase;
use wit_bindgen_core::wit_parser::abi::WasmType;
use wit_bindgen_core::wit_parser::{Docs, InterfaceId, Resolve};

use self::types::Writer;

pub const HEAD: &str = "\
// @ts-nocheck: editors take this for TypeScript, which it is not quite.
// The interface between acp-chain and a proxy. Made by `cargo xtask types` from wit/proxy.wit; not to be edited.

import * as abi from \"./abi\";
";

pub const EXPORTS: &str = "\
// @ts-nocheck: editors take this for TypeScript, which it is not quite.
// What the host calls. Made by `cargo xtask types` from wit/proxy.wit; not to be edited.
//
// `acp-chain build` exports those of them that the world of the project has, under the names of the interface.

import * as proxy from \"../assembly/proxy\";
import * as abi from \"./abi\";
import * as failure from \"./failure\";
import * as passing from \"./passing\";
import * as wit from \"./wit\";
";

/// The types of an interface, and wrappers of its functions if they are imported.
pub fn interface(
    resolve: &Resolve,
    id: InterfaceId,
    exported: bool,
    text: &mut String,
) -> Result<()> {
    let interface = &resolve.interfaces[id];
    let name = interface.name.as_deref().context("it has a name")?;
    let mut write = Writer::new(resolve, "");
    for id in interface.types.values() {
        write.definition(*id)?;
    }
    let full = resolve.id_of(id).context("it has a name")?;
    if !exported && !interface.functions.is_empty() {
        let functions = interface.functions.values();
        for function in functions.clone() {
            write.declaration(&full, function)?;
        }
        let docs = docs(&interface.docs, "");
        let _ = write!(write.text, "\n{docs}export namespace {} {{", camel(name));
        for function in functions {
            write.import(function)?;
        }
        write.text += "}\n";
    }
    *text += &write.text;
    Ok(())
}

/// The exported functions of an interface.
pub fn exports(
    resolve: &Resolve,
    id: InterfaceId,
    exported: bool,
    text: &mut String,
) -> Result<()> {
    let interface = &resolve.interfaces[id];
    if !exported {
        return Ok(());
    }
    let name = interface.name.as_deref().context("it has a name")?;
    let mut write = Writer::new(resolve, "wit.");
    for function in interface.functions.values() {
        write.export(name, function)?;
    }
    *text += &write.text;
    Ok(())
}

/// A type of WebAssembly.
fn core(of: WasmType) -> Result<&'static str> {
    Ok(match of {
        // As wide as an address, which the value may be.
        WasmType::I32 | WasmType::Pointer | WasmType::Length => "usize",
        WasmType::I64 => "u64",
        WasmType::F64 => "f64",
        other => bail!("there is no mapping of {other:?}"),
    })
}

fn camel(name: &str) -> String {
    match name {
        // A keyword, which names no parameter.
        "of" => "whose".to_owned(),
        name => name.to_lower_camel_case(),
    }
}

fn docs(docs: &Docs, indent: &str) -> String {
    let said = docs.contents.as_deref().unwrap_or_default();
    super::docs(said, indent, None)
}
