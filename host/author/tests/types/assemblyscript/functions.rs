//! Imported and exported functions.

use std::collections::VecDeque;
use std::fmt::Write as _;

use anyhow::{Context, Result, bail};
use heck::ToSnakeCase;
use wit_bindgen_core::wit_parser::abi::AbiVariant;
use wit_bindgen_core::wit_parser::{Function, Type, TypeDefKind};

use super::lift::From;
use super::types::Writer;
use super::{camel, core, docs};

impl Writer<'_> {
    /// The raw declaration of an imported function.
    pub(super) fn declaration(&mut self, interface: &str, function: &Function) -> Result<()> {
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

    /// The wrapper of an imported function, for authors.
    pub(super) fn import(&mut self, function: &Function) -> Result<()> {
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

    /// An exported function. It calls the proxy's handler, or the default if there is none.
    pub(super) fn export(&mut self, interface: &str, function: &Function) -> Result<()> {
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
