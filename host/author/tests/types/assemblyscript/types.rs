//! Types, and their layouts in memory.

use std::collections::HashSet;
use std::fmt::Write as _;

use anyhow::{Context, Result, bail};
use heck::ToUpperCamelCase;
use wit_bindgen_core::wit_parser::abi::{FlatTypes, WasmType};
use wit_bindgen_core::wit_parser::{
    Docs, Function, Int, Resolve, SizeAlign, Type, TypeDefKind, TypeId, TypeOwner, Variant,
    WorldItem,
};

use super::{camel, docs};

/// Generates the code of an interface.
pub(super) struct Writer<'a> {
    pub(super) resolve: &'a Resolve,
    pub(super) sizes: SizeAlign,
    /// The prefix of a type's name.
    pub(super) within: &'static str,
    /// The types that are passed to the host: in parameters of imports, or results of exports.
    pub(super) given: HashSet<TypeId>,
    pub(super) text: String,
    /// The number of the last variable, for unique names.
    pub(super) variables: u32,
}

impl<'a> Writer<'a> {
    pub(super) fn new(resolve: &'a Resolve, within: &'static str) -> Self {
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

    pub(super) fn size(&self, ty: &Type) -> usize {
        self.sizes.size(ty).size_wasm32()
    }

    pub(super) fn variable(&mut self, prefix: &str) -> String {
        self.variables += 1;
        format!("{prefix}{}", self.variables)
    }

    /// The offset of the payload of an option, a result or a variant with these cases.
    pub(super) fn payload<'t>(&self, cases: impl IntoIterator<Item = Option<&'t Type>>) -> usize {
        self.sizes.payload_offset(Int::U8, cases).size_wasm32()
    }

    pub(super) fn offsets(&self, id: TypeId) -> Vec<(usize, &'a str, Type, &'a Docs)> {
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

    /// Resolves aliases of types.
    pub(super) fn plain(&self, ty: &Type) -> Type {
        match ty {
            Type::Id(id) => match &self.resolve.types[*id].kind {
                TypeDefKind::Type(ty) => self.plain(ty),
                _ => Type::Id(*id),
            },
            ty => *ty,
        }
    }

    pub(super) fn kind(&self, ty: &Type) -> Option<(TypeId, &'a TypeDefKind)> {
        match self.plain(ty) {
            Type::Id(id) => Some((id, &self.resolve.types[id].kind)),
            _ => None,
        }
    }

    /// Whether its type has `null`.
    pub(super) fn is_reference(&self, ty: &Type) -> bool {
        match self.kind(ty) {
            Some((_, TypeDefKind::Enum(_) | TypeDefKind::Flags(_) | TypeDefKind::Option(_))) => {
                false
            }
            Some(_) => true,
            None => self.plain(ty) == Type::String,
        }
    }

    /// The name of a type, prefixed by its interface if another interface has the same name.
    pub(super) fn name(&self, id: TypeId) -> Result<String> {
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

    /// The original of a type that is used from another interface.
    fn original(&self, id: TypeId) -> TypeId {
        let def = &self.resolve.types[id];
        match &def.kind {
            TypeDefKind::Type(Type::Id(other)) if self.resolve.types[*other].name == def.name => {
                self.original(*other)
            }
            _ => id,
        }
    }

    /// A reference to a type.
    pub(super) fn of(&self, ty: &Type) -> Result<String> {
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

    /// The definition of a named type, with its layout in memory.
    pub(super) fn definition(&mut self, id: TypeId) -> Result<()> {
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

    /// A variant, with a constructor function for each case.
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

    /// The default of a field, if all later fields have one too.
    fn default(&self, id: TypeId, field: &str, ty: &Type) -> &'static str {
        let of = |ty: &Type| match self.kind(ty) {
            Some((_, TypeDefKind::Option(_))) => Some(" = null"),
            _ if self.plain(ty) == Type::Bool => Some(" = false"),
            _ => None,
        };
        let fields = self.offsets(id);
        let from = fields.iter().skip_while(|(_, name, ..)| *name != field);
        let mut from = from.map(|(_, _, ty, _)| ty);
        if from.all(|ty| of(ty).is_some()) {
            of(ty).unwrap_or_default()
        } else {
            ""
        }
    }

    /// Adds a type and all types in it.
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

    pub(super) fn flat(&self, ty: &Type) -> Vec<WasmType> {
        let mut buffer = [WasmType::I32; 32];
        let mut flat = FlatTypes::new(&mut buffer);
        if self.resolve.push_flat(ty, &mut flat) {
            flat.to_vec()
        } else {
            Vec::new()
        }
    }
}

/// The functions of all interfaces among these items.
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
