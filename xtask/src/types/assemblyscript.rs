//! The interface for `AssemblyScript`, which has no generator of bindings: `wit.ts` has its types, how each lies in
//! memory, and a function for each that is imported; `exports.ts` has what the host calls.
//!
//! How large things are, and how they are passed, `wit-parser` says. A type is written only in the direction in which
//! it goes: a proxy is never given an action, say.

use std::collections::{HashSet, VecDeque};
use std::fmt::Write as _;

use anyhow::{Context, Result, bail};
use heck::{ToLowerCamelCase, ToSnakeCase, ToUpperCamelCase};
use wit_bindgen_core::wit_parser::abi::{AbiVariant, FlatTypes, WasmType};
use wit_bindgen_core::wit_parser::{
    Docs, Function, Int, InterfaceId, Resolve, Result_, SizeAlign, Type, TypeDefKind, TypeId,
    TypeOwner, Variant, WorldItem,
};

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

/// The types of an interface, and what calls its functions if they are imported.
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

/// What the host calls of an interface, if it is exported.
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

/// What is written of an interface.
struct Writer<'a> {
    resolve: &'a Resolve,
    sizes: SizeAlign,
    /// What stands before the name of a type.
    within: &'static str,
    /// The types that the host is given: as parameters of what is imported, or results of what is exported.
    given: HashSet<TypeId>,
    text: String,
    /// So that each variable has a name of its own.
    variables: u32,
}

/// Where what is lifted is: in parameters, or in memory from here on.
enum From {
    Flat(VecDeque<(String, WasmType)>),
    Memory(usize),
}

impl<'a> Writer<'a> {
    fn new(resolve: &'a Resolve, within: &'static str) -> Self {
        let mut sizes = SizeAlign::default();
        sizes.fill(resolve);
        let mut writer = Self {
            resolve,
            sizes,
            within,
            given: HashSet::new(),
            text: String::new(),
            variables: 0,
        };
        let mut given = HashSet::new();
        for (_, world) in &resolve.worlds {
            for function in functions(resolve, world.imports.values()) {
                let params = function.params.iter();
                params.for_each(|param| writer.note(&param.ty, &mut given));
            }
            for function in functions(resolve, world.exports.values()) {
                let result = function.result.iter();
                result.for_each(|ty| writer.note(ty, &mut given));
            }
        }
        writer.given = given;
        writer
    }

    fn size(&self, ty: &Type) -> usize {
        self.sizes.size(ty).size_wasm32()
    }

    fn variable(&mut self, prefix: &str) -> String {
        self.variables += 1;
        format!("{prefix}{}", self.variables)
    }

    /// Where the value of an option, a result or a variant with these cases is.
    fn payload<'t>(&self, cases: impl IntoIterator<Item = Option<&'t Type>>) -> usize {
        self.sizes.payload_offset(Int::U8, cases).size_wasm32()
    }

    fn offsets(&self, id: TypeId) -> Vec<(usize, &'a str, Type, &'a Docs)> {
        let TypeDefKind::Record(record) = &self.resolve.types[id].kind else {
            return Vec::new();
        };
        let offsets = self
            .sizes
            .field_offsets(record.fields.iter().map(|field| &field.ty));
        let offsets = offsets.into_iter().zip(&record.fields);
        offsets
            .map(|((offset, ty), field)| (offset.size_wasm32(), &*field.name, *ty, &field.docs))
            .collect()
    }

    /// What is behind names that only stand for another type.
    fn plain(&self, ty: &Type) -> Type {
        match ty {
            Type::Id(id) => match &self.resolve.types[*id].kind {
                TypeDefKind::Type(ty) => self.plain(ty),
                _ => Type::Id(*id),
            },
            ty => *ty,
        }
    }

    fn kind(&self, ty: &Type) -> Option<(TypeId, &'a TypeDefKind)> {
        match self.plain(ty) {
            Type::Id(id) => Some((id, &self.resolve.types[id].kind)),
            _ => None,
        }
    }

    /// Whether its type has `null`.
    fn is_reference(&self, ty: &Type) -> bool {
        match self.kind(ty) {
            Some((_, TypeDefKind::Enum(_) | TypeDefKind::Flags(_) | TypeDefKind::Option(_))) => {
                false
            }
            Some(_) => true,
            None => self.plain(ty) == Type::String,
        }
    }

    /// The name of a type. Where two interfaces have one of that name, theirs stands before it.
    fn name(&self, id: TypeId) -> Result<String> {
        let original = self.original(id);
        let def = &self.resolve.types[original];
        let name = def.name.as_deref().context("a type has no name")?;
        let known = self.resolve.types.iter();
        let others = known.filter(|(other, def)| {
            def.name.as_deref() == Some(name) && self.original(*other) != original
        });
        let prefix = match (others.count(), def.owner) {
            (1.., TypeOwner::Interface(owner)) => self.resolve.interfaces[owner].name.as_deref(),
            _ => None,
        };
        let prefix = prefix.unwrap_or_default().to_upper_camel_case();
        Ok(format!("{prefix}{}", name.to_upper_camel_case()))
    }

    /// A type that is used from another interface is the one there.
    fn original(&self, id: TypeId) -> TypeId {
        let def = &self.resolve.types[id];
        match &def.kind {
            TypeDefKind::Type(Type::Id(other)) if self.resolve.types[*other].name == def.name => {
                self.original(*other)
            }
            _ => id,
        }
    }

    /// A type where it is used.
    fn of(&self, ty: &Type) -> Result<String> {
        let id = match ty {
            Type::Bool => return Ok("bool".to_owned()),
            Type::String => return Ok("string".to_owned()),
            Type::S32 => return Ok("i32".to_owned()),
            Type::U32 => return Ok("u32".to_owned()),
            Type::U64 => return Ok("u64".to_owned()),
            Type::F64 => return Ok("f64".to_owned()),
            Type::Id(id) => *id,
            other => bail!("there is no mapping of {other:?}"),
        };
        let def = &self.resolve.types[id];
        if def.name.is_some() {
            return Ok(format!("{}{}", self.within, self.name(id)?));
        }
        Ok(match &def.kind {
            TypeDefKind::Option(ty) if self.is_reference(ty) => format!("{} | null", self.of(ty)?),
            TypeDefKind::Option(ty) => format!("abi.Some<{}> | null", self.of(ty)?),
            TypeDefKind::List(ty) => format!("Array<{}>", self.of(ty)?),
            TypeDefKind::Result(result) => match (result.ok, result.err) {
                (Some(ok), Some(err)) => {
                    format!("abi.Result<{}, {}>", self.of(&ok)?, self.of(&err)?)
                }
                (None, Some(err)) => format!("{} | null", self.of(&err)?),
                _ => bail!("there is no mapping of a result that says no error"),
            },
            other => bail!("there is no mapping of a {}", other.as_str()),
        })
    }

    /// A type with a name, and how it lies in memory.
    fn definition(&mut self, id: TypeId) -> Result<()> {
        if self.original(id) != id {
            return Ok(());
        }
        let (def, name) = (&self.resolve.types[id], self.name(id)?);
        let said = docs(&def.docs, "");
        match &def.kind {
            TypeDefKind::Record(_) => {
                let _ = writeln!(self.text, "\n{said}export class {name} {{\n  constructor(");
                for (_, field, ty, said) in self.offsets(id) {
                    let (said, of) = (docs(said, "    "), self.of(&ty)?);
                    let default = self.default(id, field, &ty);
                    let _ = writeln!(
                        self.text,
                        "{said}    public {}: {of}{default},",
                        camel(field)
                    );
                }
                self.text += "  ) {}\n";
                self.put(id)?;
                self.text += "}\n";
            }
            TypeDefKind::Enum(cases) => {
                let _ = writeln!(self.text, "\n{said}export enum {name} {{");
                for case in &cases.cases {
                    let said = docs(&case.docs, "  ");
                    let _ = writeln!(self.text, "{said}  {},", case.name.to_upper_camel_case());
                }
                self.text += "}\n";
            }
            TypeDefKind::Flags(flags) if flags.flags.len() <= 8 => {
                let _ = writeln!(self.text, "\n{said}export enum {name} {{\n  None = 0,");
                for (bit, flag) in flags.flags.iter().enumerate() {
                    let (said, value) = (docs(&flag.docs, "  "), 1 << bit);
                    let name = flag.name.to_upper_camel_case();
                    let _ = writeln!(self.text, "{said}  {name} = {value},");
                }
                self.text += "}\n";
            }
            TypeDefKind::Variant(variant) => self.variant(id, variant)?,
            TypeDefKind::Type(ty) => {
                let of = self.of(ty)?;
                let _ = writeln!(self.text, "\n{said}export type {name} = {of};");
            }
            other => bail!("{name}: there is no mapping of a {}", other.as_str()),
        }
        Ok(())
    }

    /// A variant is made by a function for each case.
    fn variant(&mut self, id: TypeId, variant: &Variant) -> Result<()> {
        let (def, name) = (&self.resolve.types[id], self.name(id)?);
        let cases = variant.cases.iter();
        let tags: Vec<_> = cases
            .clone()
            .map(|case| case.name.to_upper_camel_case())
            .collect();
        let _ = write!(
            self.text,
            "\nexport enum {name}Tag {{\n  {},\n}}\n\n{}export class {name} {{\n",
            tags.join(",\n  "),
            docs(&def.docs, "")
        );
        for case in cases.clone() {
            if let Some(ty) = &case.ty {
                let of = self.of(ty)?;
                if !self.is_reference(ty) {
                    bail!(
                        "{name}.{}: there is no mapping of a case with a number",
                        case.name
                    );
                }
                let _ = writeln!(self.text, "  {}: {of} | null = null;", camel(&case.name));
            }
        }
        let _ = writeln!(self.text, "\n  constructor(readonly tag: {name}Tag) {{}}");
        for (case, tag) in cases.zip(tags) {
            let (said, key) = (docs(&case.docs, "  "), camel(&case.name));
            let _ = match &case.ty {
                Some(ty) => {
                    let of = self.of(ty)?;
                    write!(
                        self.text,
                        "\n{said}  static {key}(value: {of}): {name} {{\n    \
                         const it = new {name}({name}Tag.{tag});\n    it.{key} = value;\n    return it;\n  }}\n"
                    )
                }
                None => write!(
                    self.text,
                    "\n{said}  static {key}(): {name} {{\n    return new {name}({name}Tag.{tag});\n  }}\n"
                ),
            };
        }
        self.put(id)?;
        self.text += "}\n";
        Ok(())
    }

    /// What a field is that an author leaves out: only where all behind it can be left out too.
    fn default(&self, id: TypeId, field: &str, ty: &Type) -> &'static str {
        let of = |ty: &Type| match self.kind(ty) {
            Some((_, TypeDefKind::Option(_))) => Some(" = null"),
            _ if self.plain(ty) == Type::Bool => Some(" = false"),
            _ => None,
        };
        let fields = self.offsets(id);
        let from = fields.iter().skip_while(|(_, name, ..)| *name != field);
        let mut from = from.map(|(_, _, ty, _)| ty);
        match from.all(|ty| of(ty).is_some()) {
            true => of(ty).unwrap_or_default(),
            false => "",
        }
    }

    /// Notes all types in one.
    fn note(&self, ty: &Type, noted: &mut HashSet<TypeId>) {
        let Some((id, kind)) = self.kind(ty) else {
            return;
        };
        if !noted.insert(id) {
            return;
        }
        match kind {
            TypeDefKind::Record(record) => {
                let fields = record.fields.iter();
                fields.for_each(|field| self.note(&field.ty, noted));
            }
            TypeDefKind::Variant(variant) => {
                let cases = variant.cases.iter().filter_map(|case| case.ty.as_ref());
                cases.for_each(|ty| self.note(ty, noted));
            }
            TypeDefKind::Option(ty) | TypeDefKind::List(ty) => self.note(ty, noted),
            TypeDefKind::Result(result) => {
                let parts = result.ok.iter().chain(&result.err);
                parts.for_each(|ty| self.note(ty, noted));
            }
            _ => {}
        }
    }

    /// The method that puts a record or a variant into memory, if the host is given one.
    fn put(&mut self, id: TypeId) -> Result<()> {
        if !self.given.contains(&id) {
            return Ok(());
        }
        let mut body = String::new();
        if let TypeDefKind::Variant(variant) = &self.resolve.types[id].kind {
            let name = self.name(id)?;
            let payload = self.payload(variant.cases.iter().map(|case| case.ty.as_ref()));
            body += "    store<u8>(at, <u8>this.tag);\n";
            for case in &variant.cases {
                let Some(ty) = &case.ty else { continue };
                let (key, tag) = (camel(&case.name), case.name.to_upper_camel_case());
                let _ = writeln!(body, "    if (this.tag == {name}Tag.{tag}) {{");
                self.store(ty, &format!("this.{key}!"), payload, "      ", &mut body)?;
                body += "    }\n";
            }
        }
        for (offset, field, ty, _) in self.offsets(id) {
            let value = format!("this.{}", camel(field));
            self.store(&ty, &value, offset, "    ", &mut body)?;
        }
        let _ = write!(
            self.text,
            "\n  /** Puts it where the host reads it. */\n  put(at: usize): void {{\n{body}  }}\n"
        );
        Ok(())
    }

    /// What puts a value into memory.
    fn store(
        &mut self,
        ty: &Type,
        value: &str,
        offset: usize,
        indent: &str,
        body: &mut String,
    ) -> Result<()> {
        let there = match offset {
            0 => "at".to_owned(),
            offset => format!("at + {offset}"),
        };
        let offset_behind = match offset {
            0 => String::new(),
            offset => format!(", {offset}"),
        };
        let plain = match self.plain(ty) {
            Type::Bool => Some("u8"),
            Type::S32 => Some("i32"),
            Type::U32 => Some("u32"),
            Type::U64 => Some("u64"),
            Type::F64 => Some("f64"),
            Type::String => {
                let _ = writeln!(
                    body,
                    "{indent}abi.storeBlock({there}, abi.putText({value}));"
                );
                return Ok(());
            }
            Type::Id(_) => None,
            other => bail!("there is no mapping of {other:?}"),
        };
        if let Some(plain) = plain {
            let _ = writeln!(body, "{indent}store<{plain}>(at, {value}{offset_behind});");
            return Ok(());
        }
        let (_, kind) = self.kind(ty).context("it has a kind")?;
        match kind {
            TypeDefKind::Enum(_) | TypeDefKind::Flags(_) => {
                let _ = writeln!(body, "{indent}store<u8>(at, <u8>{value}{offset_behind});");
            }
            TypeDefKind::Record(_) | TypeDefKind::Variant(_) => {
                let _ = writeln!(body, "{indent}{value}.put({there});");
            }
            TypeDefKind::Option(some) => {
                let payload = offset + self.payload([None, Some(some)]);
                let part = self.variable("part");
                let given = self.unwrapped(some, &part);
                let inner = format!("{indent}  ");
                let _ = writeln!(body, "{indent}const {part} = {value};");
                let _ = writeln!(
                    body,
                    "{indent}store<u8>(at, <u8>({part} != null){offset_behind});"
                );
                let _ = writeln!(body, "{indent}if ({part} != null) {{");
                self.store(some, &given, payload, &inner, body)?;
                let _ = writeln!(body, "{indent}}}");
            }
            TypeDefKind::List(element) => {
                let list = self.list(element, value)?;
                let _ = writeln!(body, "{indent}abi.storeBlock({there}, {list});");
            }
            other => bail!("a proxy gives no {} yet", other.as_str()),
        }
        Ok(())
    }

    /// A value of an option that is there.
    fn unwrapped(&self, ty: &Type, value: &str) -> String {
        match self.is_reference(ty) {
            true => value.to_owned(),
            false => format!("{value}.value"),
        }
    }

    /// What puts a list into memory.
    fn list(&self, element: &Type, value: &str) -> Result<String> {
        let (of, size) = (self.of(element)?, self.size(element));
        match (self.kind(element), self.plain(element)) {
            (Some((_, TypeDefKind::Record(_) | TypeDefKind::Variant(_))), _)
            | (_, Type::String) => Ok(format!("abi.putList<{of}>({value}, {size})")),
            _ => bail!("a proxy gives no list of {of} yet"),
        }
    }

    /// A value out of what the host gave.
    fn lift(&mut self, ty: &Type, from: &mut From) -> Result<String> {
        let load = |core: &str, from: &mut From| match from {
            From::Memory(0) => Ok(format!("load<{core}>(at)")),
            From::Memory(offset) => Ok(format!("load<{core}>(at, {offset})")),
            From::Flat(params) => {
                let (name, _) = params.pop_front().context("there is a parameter")?;
                Ok(name)
            }
        };
        let (id, kind) = match self.plain(ty) {
            Type::Bool => return Ok(format!("{} != 0", load("u8", from)?)),
            Type::S32 => {
                let value = load("i32", from)?;
                return Ok(match from {
                    From::Memory(_) => value,
                    From::Flat(_) => format!("<i32>{value}"),
                });
            }
            Type::U32 => {
                let value = load("u32", from)?;
                return Ok(match from {
                    From::Memory(_) => value,
                    From::Flat(_) => format!("<u32>{value}"),
                });
            }
            Type::U64 => return load("u64", from),
            Type::F64 => return load("f64", from),
            Type::String => {
                let address = load("usize", from)?;
                let mut behind = match from {
                    From::Memory(offset) => From::Memory(*offset + 4),
                    From::Flat(_) => {
                        return Ok(format!("abi.textAt({address}, {})", load("usize", from)?));
                    }
                };
                let length = load("usize", &mut behind)?;
                return Ok(format!("abi.textAt({address}, {length})"));
            }
            Type::Id(id) => (id, &self.resolve.types[id].kind),
            other => bail!("there is no mapping of {other:?}"),
        };
        match kind {
            TypeDefKind::Enum(_) | TypeDefKind::Flags(_) => {
                Ok(format!("<{}>{}", self.of(ty)?, load("u8", from)?))
            }
            TypeDefKind::Record(_) => {
                let mut parts = Vec::new();
                let begin = match from {
                    From::Memory(begin) => Some(*begin),
                    From::Flat(_) => None,
                };
                for (offset, _, ty, _) in self.offsets(id) {
                    if let Some(begin) = begin {
                        *from = From::Memory(begin + offset);
                    }
                    parts.push(self.lift(&ty, from)?);
                }
                Ok(format!("new {}({})", self.of(ty)?, parts.join(", ")))
            }
            TypeDefKind::Option(some) => {
                let is = load("u8", from)?;
                if let From::Memory(offset) = from {
                    *offset += self.payload([None, Some(some)]);
                }
                let value = self.lift(some, from)?;
                Ok(match self.is_reference(some) {
                    true => format!("{is} != 0 ? {value} : null"),
                    false => format!(
                        "{is} != 0 ? new abi.Some<{}>({value}) : null",
                        self.of(some)?
                    ),
                })
            }
            TypeDefKind::Result(result) => self.lift_result(result, from),
            other => bail!("a proxy is given no {} yet", other.as_str()),
        }
    }

    fn lift_result(&mut self, result: &Result_, from: &mut From) -> Result<String> {
        let err = result.err.context("a result says its error")?;
        let payload = self.payload([result.ok.as_ref(), Some(&err)]);
        let (tag, mut cases) = match from {
            From::Memory(0) => ("load<u8>(at)".to_owned(), [payload; 2].map(From::Memory)),
            From::Memory(_) => bail!("a proxy is given no result within something yet"),
            From::Flat(params) => {
                let (tag, _) = params.pop_front().context("there is a parameter")?;
                let joined = std::mem::take(params);
                let of = |ty: Option<Type>| self.split(&joined, ty);
                (tag, [of(result.ok)?, of(Some(err))?].map(From::Flat))
            }
        };
        let error = self.lift(&err, &mut cases[1])?;
        let Some(ok) = result.ok else {
            return Ok(format!("{tag} != 0 ? {error} : null"));
        };
        let value = self.lift(&ok, &mut cases[0])?;
        let of = format!("<{}, {}>", self.of(&ok)?, self.of(&err)?);
        Ok(format!(
            "{tag} == 0 ? abi.ok{of}({value}) : abi.err{of}({error})"
        ))
    }

    /// The parameters that a case has of those that all cases share.
    fn split(
        &self,
        joined: &VecDeque<(String, WasmType)>,
        ty: Option<Type>,
    ) -> Result<VecDeque<(String, WasmType)>> {
        let own = ty.map_or_else(Vec::new, |ty| self.flat(&ty));
        let both = own.into_iter().zip(joined);
        both.map(|(own, (name, joined))| match core(own)? == core(*joined)? {
            true => Ok((name.clone(), own)),
            false => bail!("no cases of the interface share parameters of two types yet"),
        })
        .collect()
    }

    fn flat(&self, ty: &Type) -> Vec<WasmType> {
        let mut buffer = [WasmType::I32; 32];
        let mut flat = FlatTypes::new(&mut buffer);
        match self.resolve.push_flat(ty, &mut flat) {
            true => flat.to_vec(),
            false => Vec::new(),
        }
    }

    /// A value as parameters of a function of the host.
    fn lower(
        &mut self,
        ty: &Type,
        value: &str,
        indent: &str,
        body: &mut String,
    ) -> Result<Vec<String>> {
        let (id, kind) = match self.plain(ty) {
            Type::Bool => return Ok(vec![format!("<usize>{value}")]),
            Type::S32 | Type::U32 | Type::U64 | Type::F64 => return Ok(vec![value.to_owned()]),
            Type::String => {
                let text = self.variable("text");
                let _ = writeln!(body, "{indent}const {text} = abi.putText({value});");
                return Ok(vec![text.clone(), length(&text, indent, body)]);
            }
            Type::Id(id) => (id, &self.resolve.types[id].kind),
            other => bail!("there is no mapping of {other:?}"),
        };
        match kind {
            TypeDefKind::Enum(_) | TypeDefKind::Flags(_) => Ok(vec![format!("<usize>{value}")]),
            TypeDefKind::List(element) => {
                let (list, put) = (self.variable("list"), self.list(element, value)?);
                let _ = writeln!(body, "{indent}const {list} = {put};");
                Ok(vec![list.clone(), length(&list, indent, body)])
            }
            TypeDefKind::Record(_) => {
                let mut all = Vec::new();
                for (_, field, ty, _) in self.offsets(id) {
                    let value = format!("{value}.{}", camel(field));
                    all.extend(self.lower(&ty, &value, indent, body)?);
                }
                Ok(all)
            }
            TypeDefKind::Option(some) => {
                let part = self.variable("part");
                let _ = writeln!(body, "{indent}const {part} = {value};");
                let given = self.unwrapped(some, &part);
                let cases = [(format!("{part} != null"), given, *some)];
                let mut all = vec![format!("<usize>({part} != null)")];
                all.extend(self.lower_cases(ty, &cases, indent, body)?);
                Ok(all)
            }
            TypeDefKind::Variant(variant) => {
                let name = self.name(id)?;
                let cases = variant.cases.iter().filter_map(|case| {
                    let tag = case.name.to_upper_camel_case();
                    let (is, key) = (format!("{value}.tag == {name}Tag.{tag}"), camel(&case.name));
                    Some((is, format!("{value}.{key}!"), case.ty?))
                });
                let cases: Vec<_> = cases.collect();
                let mut all = vec![format!("<usize>{value}.tag")];
                all.extend(self.lower_cases(ty, &cases, indent, body)?);
                Ok(all)
            }
            other => bail!("a proxy gives no {} yet", other.as_str()),
        }
    }

    /// The parameters that the cases of a type share: each a condition, the value and its type.
    fn lower_cases(
        &mut self,
        ty: &Type,
        cases: &[(String, String, Type)],
        indent: &str,
        body: &mut String,
    ) -> Result<Vec<String>> {
        let joined: Vec<_> = self.flat(ty).into_iter().skip(1).collect();
        let names: Vec<_> = joined.iter().map(|_| self.variable("case")).collect();
        for (name, of) in names.iter().zip(&joined) {
            let _ = writeln!(body, "{indent}let {name}: {} = 0;", core(*of)?);
        }
        let inner = format!("{indent}  ");
        for (is, value, ty) in cases {
            let _ = writeln!(body, "{indent}if ({is}) {{");
            let own = self.flat(ty);
            let parts = self.lower(ty, value, &inner, body)?;
            for (((name, part), own), joined) in names.iter().zip(parts).zip(own).zip(&joined) {
                if core(own)? != core(*joined)? {
                    bail!("no cases of the interface share parameters of two types yet");
                }
                let _ = writeln!(body, "{inner}{name} = {part};");
            }
            let _ = writeln!(body, "{indent}}}");
        }
        Ok(names)
    }

    /// A function of the host as it is.
    fn declaration(&mut self, interface: &str, function: &Function) -> Result<()> {
        let signature = self
            .resolve
            .wasm_signature(AbiVariant::GuestImport, function);
        if signature.indirect_params || !signature.results.is_empty() {
            bail!(
                "{} is passed in a way that AssemblyScript has not yet",
                function.name
            );
        }
        let params: Result<Vec<_>> = signature
            .params
            .iter()
            .enumerate()
            .map(|(i, of)| Ok(format!("a{i}: {}", core(*of)?)))
            .collect();
        let name = &function.name;
        let _ = write!(
            self.text,
            "\n@external(\"{interface}\", \"{name}\")\n\
             declare function host_{}({}): void;\n",
            name.to_snake_case(),
            params?.join(", ")
        );
        Ok(())
    }

    /// A function of the host as authors have it.
    fn import(&mut self, function: &Function) -> Result<()> {
        self.variables = 0;
        let (mut params, mut passed, mut body) = (Vec::new(), Vec::new(), String::new());
        for param in &function.params {
            let name = camel(&param.name);
            params.push(format!("{name}: {}", self.of(&param.ty)?));
            passed.extend(self.lower(&param.ty, &name, "    ", &mut body)?);
        }
        let result = match &function.result {
            Some(ty) => self.of(ty)?,
            None => "void".to_owned(),
        };
        let mut end = String::new();
        if let Some(ty) = &function.result {
            let _ = writeln!(body, "    const at = abi.take({});", self.size(ty));
            passed.push("at".to_owned());
            let value = self.lift(ty, &mut From::Memory(0))?;
            let _ = writeln!(end, "    const given: {result} = {value};");
        }
        let returned = match function.result {
            Some(_) => "    return given;\n",
            None => "",
        };
        let (said, params, passed) = (
            docs(&function.docs, "  "),
            params.join(", "),
            passed.join(", "),
        );
        let (name, host) = (camel(&function.name), function.name.to_snake_case());
        let _ = write!(
            self.text,
            "\n{said}  export function {name}({params}): {result} {{\n    const mark = abi.mark();\n{body}    \
             host_{host}({passed});\n{end}    abi.release(mark);\n{returned}  }}\n"
        );
        Ok(())
    }

    /// What the host calls, which calls what the proxy has, or what passes messages in its place.
    fn export(&mut self, interface: &str, function: &Function) -> Result<()> {
        self.variables = 0;
        let signature = self
            .resolve
            .wasm_signature(AbiVariant::GuestExport, function);
        let result = function.result.context("it can fail")?;
        let Some((_, TypeDefKind::Result(result_type))) = self.kind(&result) else {
            bail!("{} cannot fail", function.name);
        };
        if signature.indirect_params || signature.results.len() != 1 {
            bail!(
                "{} is passed in a way that AssemblyScript has not yet",
                function.name
            );
        }
        let mut params = Vec::new();
        let mut flat = VecDeque::new();
        for (i, of) in signature.params.iter().enumerate() {
            params.push(format!("a{i}: {}", core(*of)?));
            flat.push_back((format!("a{i}"), *of));
        }
        let (mut body, mut given) = (String::new(), Vec::new());
        for param in &function.params {
            let name = camel(&param.name);
            let count = self.flat(&param.ty).len();
            let own = flat.drain(..count).collect();
            let value = self.lift(&param.ty, &mut From::Flat(own))?;
            let _ = writeln!(body, "  const {name}: {} = {value};", self.of(&param.ty)?);
            given.push(name);
        }
        let err = result_type.err.context("it says its error")?;
        let payload = self.payload([result_type.ok.as_ref(), Some(&err)]);
        let (name, given) = (camel(&function.name), given.join(", "));
        let call = match &result_type.ok {
            Some(ok) => {
                let of = self.of(ok)?;
                format!(
                    "  let done: {of};\n  if (isDefined(proxy.{name})) done = proxy.{name}({given});\n  \
                     else if (isDefined(passing.{name})) done = passing.{name}({given});\n  \
                     else ERROR(\"assembly/proxy.ts does not export the function {name}\");\n"
                )
            }
            None => format!(
                "  if (isDefined(proxy.{name})) proxy.{name}({given});\n  else passing.{name}({given});\n"
            ),
        };
        let mut stores = String::new();
        if let Some(ok) = &result_type.ok {
            self.store(ok, "done", payload, "    ", &mut stores)?;
        }
        let why = match self.plain(&err) {
            Type::String => "why.message",
            _ => "why",
        };
        let mut failed = String::new();
        self.store(&err, why, payload, "    ", &mut failed)?;
        let _ = write!(
            self.text,
            "\nexport function {}${}({}): usize {{\n{body}  abi.release(0);\n{call}  \
             const why = failure.take();\n  const at = abi.take({});\n  store<u8>(at, <u8>(why != null));\n  \
             if (why != null) {{\n{failed}  }} else {{\n{stores}  }}\n  return at;\n}}\n",
            interface.to_snake_case(),
            function.name.to_snake_case(),
            params.join(", "),
            self.size(&result),
        );
        Ok(())
    }
}

/// The functions of all interfaces among these.
fn functions<'a>(
    resolve: &'a Resolve,
    items: impl IntoIterator<Item = &'a WorldItem>,
) -> impl Iterator<Item = &'a Function> {
    let interfaces = items.into_iter().filter_map(|item| match item {
        WorldItem::Interface { id, .. } => Some(&resolve.interfaces[*id]),
        _ => None,
    });
    interfaces.flat_map(|interface| interface.functions.values())
}

/// How long what was put last is.
fn length(of: &str, indent: &str, body: &mut String) -> String {
    let length = format!("{of}Length");
    let _ = writeln!(body, "{indent}const {length} = abi.length;");
    length
}

/// A type of WebAssembly.
fn core(of: WasmType) -> Result<&'static str> {
    Ok(match of {
        // As wide as an address, which it may also be.
        WasmType::I32 | WasmType::Pointer | WasmType::Length => "usize",
        WasmType::I64 => "u64",
        WasmType::F64 => "f64",
        other => bail!("there is no mapping of {other:?}"),
    })
}

fn camel(name: &str) -> String {
    name.to_lower_camel_case()
}

fn docs(docs: &Docs, indent: &str) -> String {
    let said = docs.contents.as_deref().unwrap_or_default();
    super::docs(said, indent, None)
}
