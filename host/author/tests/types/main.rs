//! `cargo xtask types` generates the types of the interface for TypeScript, Zig and `AssemblyScript` and the bindings
//! for Rust, from the WIT, and the types of the protocol's messages for TypeScript and Python, from its schemas.
//!
//! The interface's types for TypeScript are those of componentize-qjs, which differ from jco's: a `u64` is a number,
//! and a missing option is `null`. A kind of type that the interface does not have yet is an error, never a guess. The
//! generated files are checked in, for authors who have only Node or Zig.

mod acp;
mod assemblyscript;
mod python;
mod rust;
mod zig;

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context, Result, bail};
use heck::{ToLowerCamelCase, ToUpperCamelCase};
use wit_bindgen_core::wit_parser::{
    Docs, Function, Interface, InterfaceId, Resolve, Type, TypeDef, TypeDefKind, TypeOwner,
    WorldItem,
};

const HEAD: &str = "\
// Made by `cargo xtask types` from wit/proxy.wit; not to be edited.
// What componentize-qjs passes to a component in JavaScript, and takes from it.
";

/// Generates the code for an interface, which is imported or exported.
type Maker = fn(&Resolve, InterfaceId, bool, &mut String) -> Result<()>;

/// For each language, the file with its types, the beginning of the file, and the generator of the rest.
const LANGUAGES: [(&str, &str, Maker); 4] = [
    ("host/author/sdk/javascript/wit.d.ts", HEAD, interface),
    ("host/author/sdk/zig/wit.zig", zig::HEAD, zig::interface),
    (
        "host/author/sdk/assemblyscript/wit.ts",
        assemblyscript::HEAD,
        assemblyscript::interface,
    ),
    (
        "host/author/sdk/assemblyscript/exports.ts",
        assemblyscript::EXPORTS,
        assemblyscript::exports,
    ),
];

/// Generates the code for a schema of the protocol.
type Messages = fn(&str) -> Result<String>;

/// The files with types of the protocol's messages, and their schemas.
const MESSAGES: [(&str, &str, Messages); 2] = [
    (
        "host/author/sdk/javascript/acp.d.ts",
        "host/messages/schema/v1.json",
        acp::declarations,
    ),
    (
        "host/author/sdk/python/acp_chain/acp.py",
        "host/messages/schema/v1.json",
        python::module,
    ),
];

/// The variable that makes the test below write the files instead of comparing them.
const WRITE: &str = "ACP_CHAIN_TYPES";

fn checkout(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}

/// The files, with their expected contents.
fn all() -> Result<Vec<(PathBuf, String)>> {
    let languages = LANGUAGES.iter();
    let made = languages.map(|(file, head, interface)| {
        let types = declarations(head, *interface)?;
        Ok((checkout(file), types))
    });
    let messages = MESSAGES.iter().map(|(file, schema, types)| {
        let schema = checkout(schema);
        let text = fs::read_to_string(&schema).with_context(|| schema.display().to_string())?;
        Ok((checkout(file), types(&text)?))
    });
    let bindings = rust::files()?.into_iter();
    let bindings = bindings.map(|(file, text)| Ok((checkout(&file), text)));
    made.chain(messages).chain(bindings).collect()
}

fn declarations(head: &str, interface: Maker) -> Result<String> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(checkout("wit"))?;
    let mut text = head.to_owned();
    let mut known = HashSet::new();
    for (name, world) in &resolve.packages[package].worlds {
        let world = &resolve.worlds[*world];
        for (items, exported) in [(&world.imports, false), (&world.exports, true)] {
            for item in items.values() {
                let WorldItem::Interface { id, .. } = item else {
                    bail!("the world {name} has more than interfaces");
                };
                if known.insert(*id) {
                    interface(&resolve, *id, exported, &mut text)?;
                }
            }
        }
    }
    Ok(text)
}

/// The module of an interface. An exported interface has only types.
fn interface(resolve: &Resolve, id: InterfaceId, exported: bool, text: &mut String) -> Result<()> {
    let interface = &resolve.interfaces[id];
    let name = resolve.id_of(id).context("an interface has no name")?;
    write!(
        text,
        "\n{}declare module \"{name}\" {{",
        docs(text_of(&interface.docs), "", None)
    )?;
    for (name, id) in &interface.types {
        let def = &resolve.types[*id];
        let _ = write!(
            text,
            "\n{}  export {}\n",
            docs(text_of(&def.docs), "  ", None),
            definition(resolve, interface, name, def)?
        );
    }
    if exported {
        let name = interface.name.as_deref().unwrap_or_default();
        let _ = write!(
            text,
            "\n  export interface {} {{\n",
            name.to_upper_camel_case()
        );
    }
    for function in interface.functions.values() {
        let (params, result, throws) = signature(resolve, function)?;
        let name = function.name.to_lower_camel_case();
        let _ = match (exported, throws) {
            (true, throws) => {
                let docs = docs(text_of(&function.docs), "    ", throws.as_deref());
                writeln!(text, "{docs}    {name}({params}): {result};")
            }
            (false, throws) => {
                let throws =
                    throws.map(|error| format!("globalThis.Error & {{ payload: {error} }}"));
                let docs = docs(text_of(&function.docs), "  ", throws.as_deref());
                write!(
                    text,
                    "\n{docs}  export function {name}({params}): {result};\n"
                )
            }
        };
    }
    *text += if exported { "  }\n}\n" } else { "}\n" };
    Ok(())
}

/// The parameters of a function, its result, and its error.
fn signature(resolve: &Resolve, function: &Function) -> Result<(String, String, Option<String>)> {
    let params: Result<Vec<_>> = function
        .params
        .iter()
        .map(|param| {
            let name = param.name.to_lower_camel_case();
            Ok(format!("{name}: {}", of(resolve, &param.ty)?))
        })
        .collect();
    let params = params?.join(", ");
    if let Some(Type::Id(id)) = function.result
        && let TypeDefKind::Result(result) = &resolve.types[id].kind
    {
        let throws = result.err.as_ref().map(|err| of(resolve, err));
        return Ok((params, returned(resolve, result.ok)?, throws.transpose()?));
    }
    Ok((params, returned(resolve, function.result)?, None))
}

fn returned(resolve: &Resolve, ty: Option<Type>) -> Result<String> {
    ty.map_or_else(|| Ok("void".to_owned()), |ty| of(resolve, &ty))
}

/// The definition of a named type, as a statement.
fn definition(resolve: &Resolve, within: &Interface, name: &str, def: &TypeDef) -> Result<String> {
    let name = name.to_upper_camel_case();
    let mut text = String::new();
    match &def.kind {
        TypeDefKind::Record(record) => {
            let _ = writeln!(text, "interface {name} {{");
            for field in &record.fields {
                let (key, ty) = (field.name.to_lower_camel_case(), of(resolve, &field.ty)?);
                let _ = writeln!(
                    text,
                    "{}    {key}: {ty};",
                    docs(text_of(&field.docs), "    ", None)
                );
            }
            text += "  }";
        }
        // Flags that are left out are false.
        TypeDefKind::Flags(flags) => {
            let _ = writeln!(text, "interface {name} {{");
            for flag in &flags.flags {
                let key = flag.name.to_lower_camel_case();
                let _ = writeln!(
                    text,
                    "{}    {key}?: boolean;",
                    docs(text_of(&flag.docs), "    ", None)
                );
            }
            text += "  }";
        }
        TypeDefKind::Enum(cases) => {
            let _ = write!(text, "type {name} =");
            for case in &cases.cases {
                let docs = docs(text_of(&case.docs), "    ", None);
                let _ = write!(text, "\n{docs}    | \"{}\"", case.name);
            }
            text.push(';');
        }
        TypeDefKind::Variant(variant) => {
            let _ = write!(text, "type {name} =");
            for case in &variant.cases {
                let docs = docs(text_of(&case.docs), "    ", None);
                let tagged = tagged(resolve, &case.name, case.ty.as_ref())?;
                let _ = write!(text, "\n{docs}    | {tagged}");
            }
            text.push(';');
        }
        // A type that is used from another interface.
        TypeDefKind::Type(Type::Id(id))
            if resolve.types[*id].name.as_deref() == def.name.as_deref() =>
        {
            let original = &resolve.types[*id];
            let owner = match original.owner {
                TypeOwner::Interface(id) => resolve.id_of(id),
                _ => None,
            };
            let owner = owner.with_context(|| format!("{name} has no interface"))?;
            let _ = write!(text, "type {name} = import(\"{owner}\").{name};");
        }
        TypeDefKind::Type(ty) => {
            let _ = write!(text, "type {name} = {};", of(resolve, ty)?);
        }
        other => bail!(
            "{}.{name}: there is no mapping of a {}",
            within.name.as_deref().unwrap_or_default(),
            other.as_str()
        ),
    }
    Ok(text)
}

/// A reference to a type.
fn of(resolve: &Resolve, ty: &Type) -> Result<String> {
    let id = match ty {
        Type::Bool => return Ok("boolean".to_owned()),
        Type::String => return Ok("string".to_owned()),
        Type::S32 | Type::U32 | Type::U64 | Type::F64 => return Ok("number".to_owned()),
        Type::Id(id) => *id,
        other => bail!("there is no mapping of {other:?}"),
    };
    let def = &resolve.types[id];
    if let Some(name) = &def.name {
        return Ok(name.to_upper_camel_case());
    }
    Ok(match &def.kind {
        TypeDefKind::Option(ty) => format!("{} | null", of(resolve, ty)?),
        TypeDefKind::List(ty) => format!("Array<{}>", of(resolve, ty)?),
        TypeDefKind::Result(result) => format!(
            "{} | {}",
            tagged(resolve, "ok", result.ok.as_ref())?,
            tagged(resolve, "err", result.err.as_ref())?
        ),
        other => bail!("there is no mapping of a {}", other.as_str()),
    })
}

fn tagged(resolve: &Resolve, tag: &str, val: Option<&Type>) -> Result<String> {
    Ok(match val {
        Some(ty) => format!("{{ tag: \"{tag}\"; val: {} }}", of(resolve, ty)?),
        None => format!("{{ tag: \"{tag}\" }}"),
    })
}

fn text_of(docs: &Docs) -> &str {
    docs.contents.as_deref().unwrap_or_default()
}

/// A documentation comment, if there is documentation.
fn docs(said: &str, indent: &str, throws: Option<&str>) -> String {
    let said = said.trim_end();
    let throws = throws.map(|error| format!("@throws {{{error}}}"));
    let lines: Vec<_> = said.lines().chain(throws.as_deref()).collect();
    match &lines[..] {
        [] => String::new(),
        [line] => format!("{indent}/** {} */\n", plain(line)),
        lines => {
            let lines = lines.iter().fold(String::new(), |all, line| {
                all + format!("{indent} * {}", plain(line)).trim_end() + "\n"
            });
            format!("{indent}/**\n{lines}{indent} */\n")
        }
    }
}

/// A line that does not close its comment.
fn plain(line: &str) -> String {
    line.trim().replace("*/", "* /")
}

#[test]
fn the_checked_in_types_match_the_interface() {
    let writes = env::var_os(WRITE).is_some();
    for (file, made) in all().unwrap() {
        if writes {
            fs::write(&file, made).unwrap();
            continue;
        }
        assert!(
            fs::read_to_string(&file).is_ok_and(|found| found == made),
            "{} does not match the WIT or the schema: run `cargo xtask types`",
            file.display()
        );
    }
}
