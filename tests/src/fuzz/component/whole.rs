//! A valid component, made from the current interface.

use std::fmt::Write;

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::abi::{AbiVariant, WasmSignature, WasmType};
use wit_parser::{Function, Resolve, WorldId, WorldItem};

const WIT: &str = include_str!("../../../../wit/proxy.wit");

/// The address of the zeros that it returns, behind the results of its own calls.
const ZEROS: usize = 1024;

/// The start of the memory for the arguments that it receives.
const FREE: usize = 2048;

/// A small proxy that compiles quickly. Each exported function calls each imported one with zeros
/// only, and returns zeros: an empty list, no error, and the first of all choices, which is to
/// forward.
pub fn whole() -> Vec<u8> {
    let mut resolve = Resolve::default();
    let package = resolve.push_str("proxy.wit", WIT).expect("valid WIT");
    let world = resolve.select_world(&[package], Some("proxy"));
    let world = world.expect("the world `proxy`");
    let mut module = wat::parse_str(text(&resolve, world)).expect("a valid module");
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)
        .expect("the module takes the world");
    ComponentEncoder::default()
        .module(&module)
        .and_then(|mut encoder| encoder.encode())
        .expect("the module fits the world")
}

/// The text of the component's core module.
fn text(resolve: &Resolve, world: WorldId) -> String {
    let world = &resolve.worlds[world];
    let (mut imports, mut calls, mut exports) = (String::new(), String::new(), String::new());
    for (interface, function) in functions(resolve, world.imports.values()) {
        let signature = resolve.wasm_signature(AbiVariant::GuestImport, function);
        let (name, types) = (&function.name, types(&signature));
        let _ = write!(
            imports,
            r#"(import "{interface}" "{name}" (func ${name} {types}))"#
        );
        for kind in &signature.params {
            let _ = write!(calls, "({}.const 0)", spelt(*kind));
        }
        let _ = write!(calls, "(call ${name})");
        calls.extend(signature.results.iter().map(|_| "(drop)"));
    }
    for (interface, function) in functions(resolve, world.exports.values()) {
        let signature = resolve.wasm_signature(AbiVariant::GuestExport, function);
        let (name, types) = (&function.name, types(&signature));
        let _ = write!(
            exports,
            r#"(func (export "{interface}#{name}") {types} {calls} (i32.const {ZEROS}))"#
        );
    }
    format!(
        r#"(module
            {imports}
            (memory (export "memory") 1)
            (global $free (mut i32) (i32.const {FREE}))
            (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
                (global.get $free)
                (global.set $free (i32.add (global.get $free)
                    (i32.and (i32.add (local.get 3) (i32.const 15)) (i32.const -16)))))
            {exports})"#
    )
}

fn functions<'r>(
    resolve: &'r Resolve,
    items: impl Iterator<Item = &'r WorldItem>,
) -> impl Iterator<Item = (String, &'r Function)> {
    let interfaces = items.filter_map(|item| match item {
        WorldItem::Interface { id, .. } => Some((resolve.id_of(*id)?, &resolve.interfaces[*id])),
        _ => None,
    });
    interfaces.flat_map(|(name, interface)| {
        let functions = interface.functions.values();
        functions.map(move |function| (name.clone(), function))
    })
}

fn types(signature: &WasmSignature) -> String {
    let params = signature
        .params
        .iter()
        .map(|kind| format!("(param {})", spelt(*kind)));
    let results = signature
        .results
        .iter()
        .map(|kind| format!("(result {})", spelt(*kind)));
    params.chain(results).collect()
}

fn spelt(kind: WasmType) -> &'static str {
    match kind {
        WasmType::I64 | WasmType::PointerOrI64 => "i64",
        WasmType::F32 => "f32",
        WasmType::F64 => "f64",
        WasmType::I32 | WasmType::Pointer | WasmType::Length => "i32",
    }
}
