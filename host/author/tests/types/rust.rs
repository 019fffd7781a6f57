//! The bindings of the SDK for Rust, by the generator of wit-bindgen. They are checked in, since the macro that makes
//! them anew in each build takes longer to compile than a proxy.

use anyhow::{Context, Result};
use wit_bindgen_core::wit_parser::Resolve;
use wit_bindgen_core::{Files, WorldGenerator as _};
use wit_bindgen_rust::{Opts, WithOption};

use crate::checkout;

/// Where the files are.
const FOLDER: &str = "guests/acp-chain-proxy/src/bindings";

/// The module that they are in, as other crates name it.
const MODULE: &str = "acp_chain_proxy::bindings";

const HEAD: &str = "// Made by `cargo xtask types` from wit/proxy.wit; not to be edited.\n";

/// The world of every proxy, and the interfaces that a proxy may export beside its handler. Each has a world of its own,
/// as a component exports everything in the worlds that it targets.
const OFFERS: [&str; 4] = ["tools", "resources", "prompts", "completion"];

/// The files by their paths in the checkout, with what they have to say.
pub fn files() -> Result<Vec<(String, String)>> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(checkout("wit"))?;
    let version = resolve.packages[package].name.version.clone();
    let version = version.context("the interface has no version")?;
    let proxy = bindings(&resolve, "acp-chain:proxy/proxy", MODULE, &[])?;
    let mut files = vec![(format!("{FOLDER}/proxy.rs"), proxy)];
    for offer in OFFERS {
        let mut resolve = resolve.clone();
        let world = format!(
            "package acp-chain:sdk; world {offer} {{ export acp-chain:proxy/{offer}@{version}; }}"
        );
        resolve.push_str("sdk.wit", &world)?;
        // What they share with the world of every proxy is there.
        let types = WithOption::Path("crate::bindings::acp_chain::proxy::types".to_owned());
        let shared = [("types", types), ("calls", WithOption::Generate)];
        let shared = shared.map(|(name, from)| (format!("acp-chain:proxy/{name}@{version}"), from));
        let (world, module) = (
            format!("acp-chain:sdk/{offer}"),
            format!("{MODULE}::{offer}"),
        );
        let made = bindings(&resolve, &world, &module, &shared)?;
        files.push((format!("{FOLDER}/{offer}.rs"), made));
    }
    Ok(files)
}

fn bindings(
    resolve: &Resolve,
    world: &str,
    module: &str,
    with: &[(String, WithOption)],
) -> Result<String> {
    let mut resolve = resolve.clone();
    let packages: Vec<_> = resolve.packages.iter().map(|(id, _)| id).collect();
    let id = resolve.select_world(&packages, Some(world))?;
    let options = Opts {
        format: true,
        pub_export_macro: true,
        default_bindings_module: Some(module.to_owned()),
        with: with.to_vec(),
        ..Opts::default()
    };
    let mut files = Files::default();
    options.build().generate(&mut resolve, id, &mut files)?;
    let (_, content) = files.iter().next().context("no bindings were made")?;
    Ok(format!("{HEAD}{}", str::from_utf8(content)?))
}
