//! Lifting: converts data from the host into values.

use std::collections::VecDeque;

use anyhow::{Context, Result, bail};
use wit_bindgen_core::wit_parser::abi::WasmType;
use wit_bindgen_core::wit_parser::{Result_, Type, TypeDefKind};

use super::core;
use super::types::Writer;

/// The source of a lifted value: parameters, or memory from this position.
pub(super) enum From {
    Flat(VecDeque<(String, WasmType)>),
    Memory(usize),
}

impl Writer<'_> {
    /// An expression that lifts a value.
    pub(super) fn lift(&mut self, ty: &Type, from: &mut From) -> Result<String> {
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
                Ok(if self.is_reference(some) {
                    format!("{is} != 0 ? {value} : null")
                } else {
                    format!(
                        "{is} != 0 ? new abi.Some<{}>({value}) : null",
                        self.of(some)?
                    )
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

    /// The parameters of one case, out of those that all cases share.
    fn split(
        &self,
        joined: &VecDeque<(String, WasmType)>,
        ty: Option<Type>,
    ) -> Result<VecDeque<(String, WasmType)>> {
        let own = ty.map_or_else(Vec::new, |ty| self.flat(&ty));
        let both = own.into_iter().zip(joined);
        both.map(|(own, (name, joined))| {
            if core(own)? == core(*joined)? {
                Ok((name.clone(), own))
            } else {
                bail!("no cases of the interface share parameters of two types yet")
            }
        })
        .collect()
    }
}
