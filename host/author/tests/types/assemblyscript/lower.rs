//! Lowering: passes values to the host, in memory or as parameters.

use std::fmt::Write as _;

use anyhow::{Context, Result, bail};
use heck::ToUpperCamelCase;
use wit_bindgen_core::wit_parser::{Type, TypeDefKind, TypeId};

use super::types::Writer;
use super::{camel, core};

impl Writer<'_> {
    /// The method that stores a record or a variant in memory, if it is passed to the host.
    pub(super) fn put(&mut self, id: TypeId) -> Result<()> {
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

    /// Generates code that stores a value in memory.
    pub(super) fn store(
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

    /// The value of an option that is not none.
    fn unwrapped(&self, ty: &Type, value: &str) -> String {
        if self.is_reference(ty) {
            value.to_owned()
        } else {
            format!("{value}.value")
        }
    }

    /// Generates code that stores a list in memory.
    fn list(&self, element: &Type, value: &str) -> Result<String> {
        let (of, size) = (self.of(element)?, self.size(element));
        match (self.kind(element), self.plain(element)) {
            (Some((_, TypeDefKind::Record(_) | TypeDefKind::Variant(_))), _)
            | (_, Type::String) => Ok(format!("abi.putList<{of}>({value}, {size})")),
            _ => bail!("a proxy gives no list of {of} yet"),
        }
    }

    /// A value as parameters of a function of the host.
    pub(super) fn lower(
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
}

/// The length of the text or list that was stored last.
fn length(of: &str, indent: &str, body: &mut String) -> String {
    let length = format!("{of}Length");
    let _ = writeln!(body, "{indent}const {length} = abi.length;");
    length
}
