//! What components say of themselves.

use std::io::Cursor;
use std::sync::LazyLock;

use acp_chain::manifest::check_asks;
use acp_chain_package::{About, Asks, Package, SECTION, Version};
use wasm_encoder::{ComponentSection, CustomSection};

/// A component with nothing in it.
const BARE: &[u8] = b"\0asm\x0d\0\x01\0";

/// One that says what it is, and asks for nothing. Its last section is that.
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
    modest.write(BARE).expect("it can be written")
});

/// What is read as an extension can be written, and is read again as the same; of what is none, it is told
/// why.
///
/// Data that begins as an object is what an extension asks for. Any other is the component, without its first
/// eight bytes.
///
/// # Panics
/// If it is not so.
pub fn package(data: &[u8]) {
    let component = match data {
        [b'{', ..] => asking(data),
        _ => [BARE, data].concat(),
    };
    match Package::read(Cursor::new(&component)) {
        Ok(package) => {
            let _ = check_asks(&package);
            let Ok(written) = package.write(&component) else {
                // Its texts are of no form in which they may be written.
                return;
            };
            let read = Package::read(Cursor::new(&written)).expect("it was written");
            assert_eq!(unspelt(read.clone()), unspelt(package));
            assert_eq!(read.write(&written).expect("it was written"), written);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Without what is written in one way of several: an address, and an expression of licences.
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
