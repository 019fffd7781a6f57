//! How deep a component may be nested.
//!
//! Engines validate and compile nested types and components by recursion, on a stack that a component of a kilobyte can
//! exhaust. So a component that is nested too deep is rejected before.

use wasmparser::{
    BinaryReader, BinaryReaderError, ComponentAlias, ComponentExternName, ComponentImport,
    ComponentType, ComponentTypeRef, CoreType, Parser, Payload,
};

/// How deep types may be nested, and how deep components and modules may be.
pub const DEEPEST: usize = 100;

/// Whether a component is nested too deep. False if it cannot be read, which the validator reports.
pub fn is_too_deep(wasm: &[u8]) -> bool {
    let mut depth = 0;
    for payload in Parser::new(0).parse_all(wasm) {
        match payload {
            Ok(Payload::ModuleSection { .. } | Payload::ComponentSection { .. }) => depth += 1,
            // The outermost component has an end, too.
            Ok(Payload::End(_)) => depth = depth.max(1) - 1,
            Ok(Payload::ComponentTypeSection(section)) => {
                let Some(bytes) = wasm.get(section.range()) else {
                    return false;
                };
                if let Err(Stop::Deep) = types(&mut BinaryReader::new(bytes, 0)) {
                    return true;
                }
            }
            Ok(_) => {}
            Err(_) => return false,
        }
        if depth > DEEPEST {
            return true;
        }
    }
    false
}

/// Why reading types stops.
enum Stop {
    Deep,
    Unreadable,
}

impl From<BinaryReaderError> for Stop {
    fn from(_: BinaryReaderError) -> Self {
        Self::Unreadable
    }
}

/// Reads the types of a section.
fn types(reader: &mut BinaryReader) -> Result<(), Stop> {
    // How many declarations remain in each enclosing type; the outermost are the section's own.
    let mut open = vec![reader.read_var_u32()?];
    while let Some(left) = open.last_mut() {
        let Some(less) = left.checked_sub(1) else {
            open.pop();
            continue;
        };
        *left = less;
        let is_declaration = open.len() > 1;
        let kind = if is_declaration {
            reader.read_u8()?
        } else {
            TYPE
        };
        match kind {
            0x00 => {
                reader.read::<CoreType>()?;
            }
            TYPE => open.extend(a_type(reader)?),
            0x02 => {
                reader.read::<ComponentAlias>()?;
            }
            0x03 => {
                reader.read::<ComponentImport>()?;
            }
            0x04 => {
                reader.read::<ComponentExternName>()?;
                reader.read::<ComponentTypeRef>()?;
            }
            _ => return Err(Stop::Unreadable),
        }
        if open.len() > DEEPEST {
            return Err(Stop::Deep);
        }
    }
    Ok(())
}

/// A declaration of a type.
const TYPE: u8 = 0x01;

/// Reads a type. If the type has declarations, reads only their number, and returns it.
fn a_type(reader: &mut BinaryReader) -> Result<Option<u32>, Stop> {
    match reader.clone().read_u8()? {
        // A component's, or an instance's.
        0x41 | 0x42 => {
            reader.read_u8()?;
            Ok(Some(reader.read_var_u32()?))
        }
        _ => {
            reader.read::<ComponentType>()?;
            Ok(None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

    /// A component with one section.
    fn component(id: u8, section: &[u8]) -> Vec<u8> {
        let mut component = COMPONENT.to_vec();
        component.push(id);
        let mut length = section.len();
        while length > 0x7f {
            component.push(u8::try_from(length & 0x7f).unwrap() | 0x80);
            length >>= 7;
        }
        component.push(u8::try_from(length).unwrap());
        component.extend(section);
        component
    }

    /// A component with nested types.
    fn types_in_each_other(depth: usize) -> Vec<u8> {
        let mut section = vec![1];
        for at in 0..depth {
            let kind = if at % 2 == 0 { 0x41 } else { 0x42 };
            section.extend([kind, 1, TYPE]);
        }
        section.extend([0x42, 0]);
        component(7, &section)
    }

    fn components_in_each_other(depth: usize) -> Vec<u8> {
        let innermost = COMPONENT.to_vec();
        (1..depth).fold(innermost, |inner, _| component(4, &inner))
    }

    #[test]
    fn only_components_within_the_limit_are_accepted() {
        for depth in [1, 50, DEEPEST - 2] {
            let wasm = types_in_each_other(depth);
            wasmparser::Validator::new().validate_all(&wasm).unwrap();
            assert!(!is_too_deep(&wasm), "{depth}");
            assert!(!is_too_deep(&components_in_each_other(depth)), "{depth}");
        }
        for depth in [DEEPEST + 2, 500, 5000] {
            assert!(is_too_deep(&types_in_each_other(depth)), "{depth}");
            assert!(is_too_deep(&components_in_each_other(depth)), "{depth}");
        }
    }

    #[test]
    fn unreadable_components_are_left_to_the_validator() {
        let whole = types_in_each_other(3);
        for end in 0..whole.len() {
            assert!(!is_too_deep(&whole[..end]));
        }
        assert!(!is_too_deep(b"\0asm\x0d\0\x01\0\x07\xff\xff\xff\xff\x0f"));
    }
}
