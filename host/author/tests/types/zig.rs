//! The interface for Zig: its types, its imported functions, and the code that exports the others.
//!
//! Zig's compiler derives the way of passing values from these types (`host/author/sdk/zig/abi.zig`). Only the
//! parameters of exports are counted here, since Zig cannot define functions with computed parameters.

use std::fmt::Write as _;

use anyhow::{Result, bail};
use heck::{ToLowerCamelCase, ToSnakeCase, ToUpperCamelCase};
use wit_bindgen_core::wit_parser::abi::{AbiVariant, WasmType};
use wit_bindgen_core::wit_parser::{
    Docs, Function, Interface, InterfaceId, Resolve, Type, TypeDef, TypeDefKind, TypeOwner,
};

pub const HEAD: &str = "\
//! The interface between acp-chain and a proxy. Made by `cargo xtask types` from wit/proxy.wit; not to be edited.

const abi = @import(\"abi.zig\");

/// What a function gives that can fail.
pub const Result = abi.Result;
";

/// A struct with the types of an interface, and its functions or the code that exports them.
pub fn interface(
    resolve: &Resolve,
    id: InterfaceId,
    exported: bool,
    text: &mut String,
) -> Result<()> {
    let interface = &resolve.interfaces[id];
    let (name, full) = (
        interface.name.as_deref().unwrap_or_default(),
        resolve.id_of(id).unwrap_or_default(),
    );
    write!(
        text,
        "\n{}pub const {} = struct {{\n",
        docs(&interface.docs, ""),
        snake(name)
    )?;
    if !interface.functions.is_empty() {
        writeln!(text, "    const interface = \"{full}\";")?;
    }
    for (name, id) in &interface.types {
        let def = &resolve.types[*id];
        write!(text, "\n{}", docs(&def.docs, "    "))?;
        definition(resolve, name, def, text)?;
    }
    if exported {
        *text += "\n    /// Exports what a proxy declares:\n";
        for function in interface.functions.values() {
            let (params, result) = signature(resolve, function)?;
            let name = function.name.to_lower_camel_case();
            writeln!(text, "    ///\n    ///     fn {name}({params}) {result}")?;
            let said = function.docs.contents.as_deref().unwrap_or_default();
            for line in said.trim_end().lines() {
                writeln!(text, "    /// {}", line.trim())?;
            }
        }
        *text += "    pub fn serve(comptime Proxy: type) void {\n";
        for function in interface.functions.values() {
            export(resolve, function, text)?;
        }
        *text += "    }\n";
    } else {
        for function in interface.functions.values() {
            import(resolve, interface, function, text)?;
        }
    }
    *text += "};\n";
    Ok(())
}

fn import(
    resolve: &Resolve,
    within: &Interface,
    function: &Function,
    text: &mut String,
) -> Result<()> {
    // Zig forbids shadowing of names.
    let named = |name: &str| {
        if within.functions.contains_key(name) {
            format!("{}_", snake(name))
        } else {
            snake(name)
        }
    };
    let (mut params, mut passed) = (Vec::new(), Vec::new());
    for param in &function.params {
        let name = named(&param.name);
        params.push(format!("{name}: {}", of(resolve, &param.ty)?));
        passed.push(name);
    }
    let (_, result) = signature(resolve, function)?;
    let given = match &passed[..] {
        [] => ".{}".to_owned(),
        [one] => format!(".{{{one}}}"),
        all => format!(".{{ {} }}", all.join(", ")),
    };
    write!(
        text,
        "\n{}    pub fn {}({}) {result} {{\n        \
         return abi.call(interface, \"{}\", {result}, {given});\n    }}\n",
        docs(&function.docs, "    "),
        function.name.to_lower_camel_case(),
        params.join(", "),
        function.name,
    )?;
    Ok(())
}

fn export(resolve: &Resolve, function: &Function, text: &mut String) -> Result<()> {
    let core = resolve.wasm_signature(AbiVariant::GuestExport, function);
    if core.indirect_params || core.results.len() != 1 {
        bail!("{} is passed in a way that Zig has not", function.name);
    }
    let params = core.params.iter().map(|core| match core {
        WasmType::I64 | WasmType::PointerOrI64 => "u64",
        WasmType::F32 | WasmType::F64 => "f64",
        WasmType::I32 | WasmType::Pointer | WasmType::Length => "u32",
    });
    let params = params.enumerate();
    let (params, names): (Vec<_>, Vec<_>) = params
        .map(|(i, core)| (format!("a{i}: {core}"), format!("a{i}")))
        .unzip();
    let (_, result) = signature(resolve, function)?;
    let given = match &names[..] {
        [one] => format!(".{{{one}}}"),
        all => format!(".{{ {} }}", all.join(", ")),
    };
    write!(
        text,
        "        abi.serve(interface, \"{}\", struct {{\n            \
         fn call({}) callconv(.c) [*]u8 {{\n                \
         return abi.answer({result}, Proxy.{}, {given});\n            }}\n        }}.call);\n",
        function.name,
        params.join(", "),
        function.name.to_lower_camel_case(),
    )?;
    Ok(())
}

fn signature(resolve: &Resolve, function: &Function) -> Result<(String, String)> {
    let params = function.params.iter();
    let params = params.map(|param| {
        Ok(format!(
            "{}: {}",
            snake(&param.name),
            of(resolve, &param.ty)?
        ))
    });
    let params: Result<Vec<_>> = params.collect();
    let result = function.result.as_ref();
    let result = result.map_or_else(|| Ok("void".to_owned()), |ty| of(resolve, ty))?;
    Ok((params?.join(", "), result))
}

/// The definition of a named type.
fn definition(resolve: &Resolve, name: &str, def: &TypeDef, text: &mut String) -> Result<()> {
    let name = name.to_upper_camel_case();
    match &def.kind {
        TypeDefKind::Record(record) => {
            writeln!(text, "    pub const {name} = struct {{")?;
            for field in &record.fields {
                let default = default(resolve, &field.ty);
                let (key, ty) = (snake(&field.name), of(resolve, &field.ty)?);
                writeln!(
                    text,
                    "{}        {key}: {ty}{default},",
                    docs(&field.docs, "        ")
                )?;
            }
            *text += "    };\n";
        }
        TypeDefKind::Flags(flags) if flags.flags.len() <= 8 => {
            writeln!(text, "    pub const {name} = packed struct(u8) {{")?;
            for flag in &flags.flags {
                let key = snake(&flag.name);
                writeln!(
                    text,
                    "{}        {key}: bool = false,",
                    docs(&flag.docs, "        ")
                )?;
            }
            let rest = 8 - flags.flags.len();
            writeln!(text, "        _: u{rest} = 0,\n    }};")?;
        }
        TypeDefKind::Enum(cases) => {
            writeln!(text, "    pub const {name} = enum {{")?;
            for case in &cases.cases {
                writeln!(
                    text,
                    "{}        {},",
                    docs(&case.docs, "        "),
                    snake(&case.name)
                )?;
            }
            *text += "    };\n";
        }
        TypeDefKind::Variant(variant) => {
            writeln!(text, "    pub const {name} = union(enum) {{")?;
            for case in &variant.cases {
                write!(
                    text,
                    "{}        {}",
                    docs(&case.docs, "        "),
                    snake(&case.name)
                )?;
                if let Some(ty) = &case.ty {
                    write!(text, ": {}", of(resolve, ty)?)?;
                }
                *text += ",\n";
            }
            *text += "    };\n";
        }
        // A type that is used from another interface.
        TypeDefKind::Type(Type::Id(id))
            if resolve.types[*id].name.as_deref() == def.name.as_deref() =>
        {
            let TypeOwner::Interface(owner) = resolve.types[*id].owner else {
                bail!("{name} has no interface");
            };
            let owner = resolve.interfaces[owner]
                .name
                .as_deref()
                .unwrap_or_default();
            writeln!(text, "    pub const {name} = {}.{name};", snake(owner))?;
        }
        TypeDefKind::Type(ty) => writeln!(text, "    pub const {name} = {};", of(resolve, ty)?)?,
        other => bail!("{name}: there is no mapping of a {}", other.as_str()),
    }
    Ok(())
}

/// The default of a field.
fn default(resolve: &Resolve, ty: &Type) -> &'static str {
    match ty {
        Type::Bool => " = false",
        Type::Id(id) => match &resolve.types[*id].kind {
            TypeDefKind::Option(_) => " = null",
            TypeDefKind::List(_) => " = &.{}",
            _ => "",
        },
        _ => "",
    }
}

/// A reference to a type.
fn of(resolve: &Resolve, ty: &Type) -> Result<String> {
    let id = match ty {
        Type::Bool => return Ok("bool".to_owned()),
        Type::String => return Ok("[]const u8".to_owned()),
        Type::S32 => return Ok("i32".to_owned()),
        Type::U32 => return Ok("u32".to_owned()),
        Type::U64 => return Ok("u64".to_owned()),
        Type::F64 => return Ok("f64".to_owned()),
        Type::Id(id) => *id,
        other => bail!("there is no mapping of {other:?}"),
    };
    let def = &resolve.types[id];
    if let Some(name) = &def.name {
        return Ok(name.to_upper_camel_case());
    }
    let part = |ty: &Option<Type>| {
        let ty = ty.as_ref();
        ty.map_or_else(|| Ok("void".to_owned()), |ty| of(resolve, ty))
    };
    Ok(match &def.kind {
        TypeDefKind::Option(ty) => format!("?{}", of(resolve, ty)?),
        TypeDefKind::List(ty) => format!("[]const {}", of(resolve, ty)?),
        TypeDefKind::Result(result) => {
            format!("Result({}, {})", part(&result.ok)?, part(&result.err)?)
        }
        other => bail!("there is no mapping of a {}", other.as_str()),
    })
}

fn snake(name: &str) -> String {
    match name {
        "error" => "@\"error\"".to_owned(),
        name => name.to_snake_case(),
    }
}

fn docs(docs: &Docs, indent: &str) -> String {
    let said = docs.contents.as_deref().unwrap_or_default().trim_end();
    said.lines().fold(String::new(), |all, line| {
        all + format!("{indent}/// {}", line.trim()).trim_end() + "\n"
    })
}
