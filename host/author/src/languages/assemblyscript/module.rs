//! Adds the names of the interface and line tables to the module from `asc`.

use wasm_encoder::{CustomSection, ExportKind, ExportSection, Module, RawSection};
use wasmparser::{ExternalKind, Parser, Payload};

use super::{identifier, lines};
use crate::Error;
use crate::component::OURS;

/// The section in which browsers look for the source map.
const MAP: &str = "sourceMappingURL";

/// Finishes the module: exports its functions as the ABI requires, and adds its lines as DWARF.
pub fn finish(made: &[u8], map: &[u8], functions: &[(String, String)]) -> Result<Vec<u8>, Error> {
    let wrong = |wrong: wasmparser::BinaryReaderError| Error::component(wrong);
    let mut module = Module::new();
    let mut code = 0;
    for payload in Parser::new(0).parse_all(made) {
        let payload = payload.map_err(wrong)?;
        match &payload {
            Payload::ExportSection(exports) => {
                let mut named = Vec::new();
                for export in exports.clone() {
                    named.push(export.map_err(wrong)?);
                }
                module.section(&renamed(&named, functions));
                continue;
            }
            Payload::ImportSection(imports) => {
                for import in imports.clone().into_imports() {
                    let import = import.map_err(wrong)?;
                    if !import.module.starts_with(OURS) {
                        let (module, name) = (import.module, import.name);
                        return Err(Error::component(format_args!(
                            "it imports {name:?} of {module:?}, which proxies cannot import: `console`, `trace` and \
                             `Math.random` do so; `log` of the SDK writes to the log of acp-chain"
                        )));
                    }
                }
            }
            Payload::CustomSection(section) if section.name() == MAP => continue,
            Payload::CodeSectionStart { range, .. } => code = range.start,
            _ => {}
        }
        if let Some((id, range)) = payload.as_section()
            && let Some(data) = made.get(range)
        {
            module.section(&RawSection { id, data });
        }
    }
    let lines = lines::of(map, code)?;
    module.section(&CustomSection {
        name: ".debug_line".into(),
        data: lines.into(),
    });
    Ok(module.finish())
}

/// The exports: each function of an interface under its name, and its post-return function.
fn renamed(exports: &[wasmparser::Export], functions: &[(String, String)]) -> ExportSection {
    let mut section = ExportSection::new();
    let index = |name: &str| {
        let found = exports.iter().find(|export| export.name == name);
        found.map(|export| export.index)
    };
    for (interface, function) in functions {
        let name = format!("{interface}#{function}");
        if let Some(index) = index(&identifier(interface, function)) {
            section.export(&name, ExportKind::Func, index);
        }
        if let Some(post) = index("cabi_post") {
            section.export(&format!("cabi_post_{name}"), ExportKind::Func, post);
        }
    }
    for export in exports {
        let kind = match export.kind {
            ExternalKind::Func if matches!(export.name, "_initialize" | "cabi_realloc") => {
                ExportKind::Func
            }
            ExternalKind::Memory => ExportKind::Memory,
            _ => continue,
        };
        section.export(export.name, kind, export.index);
    }
    section
}
