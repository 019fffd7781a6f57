//! The metadata of components.

use std::io::Cursor;
use std::sync::LazyLock;

use acp_chain::manifest::check_asks;
use acp_chain_package::{About, Asks, Package, SECTION, Version};
use wasm_encoder::{ComponentSection, CustomSection};

/// An empty component.
const BARE: &[u8] = b"\0asm\x0d\0\x01\0";

/// A component with metadata that asks for nothing, which is its last section.
static MODEST: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let modest = Package {
        name: "modest".to_owned(),
        version: Version::new(1, 0, 0),
        about: About::default(),
        asks: Asks::default(),
        imports: Vec::new(),
        exports: Vec::new(),
        draft: false,
    };
    modest.write(BARE).expect("a valid package")
});

/// An extension that can be read can be written, and is then read as the same; otherwise the error has a
/// message.
///
/// Data that begins with `{` is the requests of an extension. All other data is a component without its first
/// eight bytes.
///
/// # Panics
/// If this does not hold.
pub fn package(data: &[u8]) {
    let component = match data {
        [b'{', ..] => asking(data),
        _ => [BARE, data].concat(),
    };
    match Package::read(Cursor::new(&component)) {
        Ok(package) => {
            let _ = check_asks(&package);
            let Ok(written) = package.write(&component) else {
                // Its texts have a form that must not be written.
                return;
            };
            let read = Package::read(Cursor::new(&written)).expect("a valid package");
            assert_eq!(unspelt(read.clone()), unspelt(package));
            assert_eq!(read.write(&written).expect("a valid package"), written);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Without the fields that have several spellings: addresses and licence expressions.
fn unspelt(mut package: Package) -> Package {
    let about = &mut package.about;
    (about.source, about.homepage, about.licenses) = (None, None, None);
    package
}

fn asking(asks: &[u8]) -> Vec<u8> {
    let empty = SECTION.len() + 2 + b"{}".len() + 1;
    let mut component = MODEST[..MODEST.len() - empty].to_vec();
    let section = CustomSection {
        name: SECTION.into(),
        data: asks.into(),
    };
    section.append_to_component(&mut component);
    component
}
