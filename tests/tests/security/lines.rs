//! When a component with debug information breaks, the log has the line of its source. If that information is
//! damaged, only the lines are missing.

use std::fs;
use std::path::Path;

use acp_chain_tests::host;
use tempfile::TempDir;
use tokio::process::Command;
use wasm_encoder::{CustomSection, Encode, Section};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

const SOURCE: &str = include_str!("../../rust/lib.rs");

/// The core module of a proxy that breaks when it starts.
async fn module(folder: &Path, options: &[&str]) -> Vec<u8> {
    let (source, module) = (folder.join("lib.rs"), folder.join("lib.wasm"));
    fs::write(&source, SOURCE).unwrap();
    let mut rustc = Command::new("rustc");
    rustc
        .args(["--edition=2024", "--crate-type=cdylib", "-Copt-level=2"])
        .arg("--target=wasm32-unknown-unknown")
        .args(options)
        .args(["-o".as_ref(), module.as_os_str(), source.as_os_str()]);
    let output = rustc.output().await.unwrap();
    assert!(output.status.success(), "{output:?}");
    fs::read(module).unwrap()
}

fn component(mut module: Vec<u8>) -> Vec<u8> {
    let mut resolve = Resolve::default();
    let wit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wit");
    let (package, _) = resolve.push_dir(wit).unwrap();
    let world = resolve.select_world(&[package], Some("proxy")).unwrap();
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
    ComponentEncoder::default()
        .module(&module)
        .and_then(|mut encoder| encoder.encode())
        .unwrap()
}

/// The report on the end of a component, made twice: the second time, its code comes from the cache.
async fn report(folder: &TempDir, component: &[u8]) -> String {
    let file = folder.path().join("it.wasm");
    fs::write(&file, component).unwrap();
    let manifest = host::manifest(folder.path(), &[("it", &file, "")]).unwrap();
    let mut reports = Vec::new();
    for _ in 0..2 {
        let checked = host::check(&manifest)
            .arg("--start")
            .output()
            .await
            .unwrap();
        assert!(!checked.status.success(), "{checked:?}");
        reports.push(String::from_utf8(checked.stderr).unwrap());
    }
    assert_eq!(reports[0], reports[1]);
    reports.remove(0)
}

/// The position of the section with this name.
fn section(module: &[u8], name: &str) -> usize {
    let mut at = module.windows(name.len());
    at.position(|bytes| bytes == name.as_bytes()).unwrap() + name.len()
}

#[tokio::test]
async fn the_report_of_a_failure_has_lines_of_the_source_where_there_are_any() {
    let folder = tempfile::tempdir().unwrap();
    let line = SOURCE.lines().position(|line| line.ends_with("// here"));
    let line = format!(
        " lib::breaks at {}/lib.rs:{}\n",
        folder.path().display(),
        line.unwrap() + 1
    );
    let whole = module(folder.path(), &["-g"]).await;
    let told = report(&folder, &component(whole.clone())).await;
    assert!(told.contains(&line), "{line} is not in {told}");

    let stripped = module(folder.path(), &["-Cstrip=debuginfo"]).await;
    let tables = section(&whole, ".debug_line");
    let without = [
        stripped.clone(),
        damaged(&whole, tables, 0xff),
        damaged(&whole, tables, 0),
        with_tables(stripped, 3 << 20),
    ];
    for module in without {
        let told = report(&folder, &component(module)).await;
        assert!(told.contains(" lib::breaks\n"), "{told}");
    }
}

/// The module with another length of its first table.
fn damaged(module: &[u8], tables: usize, byte: u8) -> Vec<u8> {
    let mut module = module.to_vec();
    module[tables..tables + 4].fill(byte);
    module
}

/// The module with tables of that many zeros.
fn with_tables(mut module: Vec<u8>, size: usize) -> Vec<u8> {
    let tables = CustomSection {
        name: ".debug_line".into(),
        data: vec![0; size].into(),
    };
    module.push(tables.id());
    tables.encode(&mut module);
    module
}
