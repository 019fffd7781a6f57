//! Files that are not components, and components that are not proxies.

use std::fs;

use acp_chain_tests::host;

use crate::manifest::Project;

/// The first bytes of a component.
const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

/// A section of a component.
fn section(id: u8, content: &[u8]) -> Vec<u8> {
    let size = u8::try_from(content.len()).unwrap();
    assert!(size < 128, "one byte for the size");
    [&[id, size], content].concat()
}

fn name(name: &str) -> Vec<u8> {
    [&[0, u8::try_from(name.len()).unwrap()], name.as_bytes()].concat()
}

/// A component that imports an interface without functions.
fn importing(interface: &str) -> Vec<u8> {
    let types = section(7, &[1, 0x42, 0]);
    let imports = section(10, &[&[1][..], &name(interface), &[5, 0]].concat());
    [COMPONENT, &types, &imports].concat()
}

/// A component that exports an interface without functions.
fn exporting(interface: &str) -> Vec<u8> {
    let instances = section(5, &[1, 1, 0]);
    let exports = section(11, &[&[1][..], &name(interface), &[5, 0, 0]].concat());
    [COMPONENT, &instances, &exports].concat()
}

#[tokio::test]
async fn a_component_that_is_missing_or_a_folder_is_named() {
    let project = Project::with_component(b"");
    fs::remove_file(project.path("guard.wasm")).unwrap();
    project
        .has_its_component_refused("the file cannot be read: No such file")
        .await;
    fs::create_dir(project.path("guard.wasm")).unwrap();
    project.has_its_component_refused("it is not a file").await;
}

#[tokio::test]
async fn what_is_no_component_is_told_apart() {
    for (bytes, why) in [
        (&b""[..], "the file is not WebAssembly"),
        (b"#!/bin/sh\n", "the file is not WebAssembly"),
        (
            b"\0asm\x01\0\0\0",
            "the file is a core WebAssembly module, not a component; turn it into one with `wasm-tools component new`",
        ),
        (b"\0asm", "the component is not valid: "),
        (b"\0asm\x0d\0\x01\0\xff", "the component is not valid: "),
        (
            COMPONENT,
            "the component does not export `acp-chain:proxy/handler@0.1.2`; it exports nothing",
        ),
    ] {
        Project::with_component(bytes)
            .has_its_component_refused(why)
            .await;
    }
}

#[tokio::test]
async fn a_truncated_component_is_told_so() {
    let pass = fs::read(host::component("pass")).unwrap();
    let project = Project::with_component(&pass[..pass.len() / 2]);
    project
        .has_its_component_refused("the component is not valid: ")
        .await;
}

#[tokio::test]
async fn a_component_that_imports_what_the_host_does_not_give_is_told_which() {
    for interface in ["wasi:http/outgoing-handler@0.2.0", "vendor:secrets/keys"] {
        let project = Project::with_component(&importing(interface));
        let why = format!("the component imports `{interface}`, which the host does not provide");
        project.has_its_component_refused(&why).await;
    }
}

#[tokio::test]
async fn a_component_of_another_version_is_told_both_versions() {
    for component in [
        importing("acp-chain:proxy/channel@0.2.0"),
        exporting("acp-chain:proxy/handler@0.2.0"),
    ] {
        let why = "the component is made for `acp-chain:proxy@0.2.0`, and this host has 0.1.2: rebuild it";
        Project::with_component(&component)
            .has_its_component_refused(why)
            .await;
    }
}

#[tokio::test]
async fn a_component_without_the_handler_is_told_what_it_exports() {
    let project = Project::with_component(&exporting("vendor:some/thing"));
    let why = "the component does not export `acp-chain:proxy/handler@0.1.2`; it exports `vendor:some/thing`";
    project.has_its_component_refused(why).await;
    let project = Project::with_component(&exporting("acp-chain:proxy/handler@0.1.2"));
    project
        .has_its_component_refused("the component does not fit the host's interface: ")
        .await;
}
