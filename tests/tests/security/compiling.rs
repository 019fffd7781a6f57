//! Components made to exhaust the compiler: each is an error of its proxy, and affects nothing else.

use std::fmt::Write;
use std::fs;
use std::process::Stdio;

use acp_chain_tests::host;
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use acp_chain_tests::wire::in_time;
use tokio::io::AsyncWriteExt;

const AGENT: &str = env!("CARGO_BIN_EXE_wild-agent");

const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

/// A component with one section, which declares this length.
fn section(id: u8, length: usize, bytes: &[u8]) -> Vec<u8> {
    let mut component = [COMPONENT, &[id]].concat();
    let mut length = length;
    while length > 0x7f {
        component.push(u8::try_from(length & 0x7f).unwrap() | 0x80);
        length >>= 7;
    }
    component.push(u8::try_from(length).unwrap());
    component.extend(bytes);
    component
}

/// Nested component types.
fn nested_types(depth: usize) -> Vec<u8> {
    let types = [&[1], &*[0x41, 1, 1].repeat(depth), &[0x42, 0]].concat();
    section(7, types.len(), &types)
}

/// Nested components.
fn nested_components(depth: usize) -> Vec<u8> {
    let innermost = COMPONENT.to_vec();
    (1..depth).fold(innermost, |inner, _| section(4, inner.len(), &inner))
}

/// Each component instantiates the one before four times.
fn instances(depth: usize) -> Vec<u8> {
    let mut text = r#"(component (component $c0 (core module $m (func (export "f"))) (core instance (instantiate $m)))"#.to_owned();
    for (at, before) in (1..depth).zip(0..) {
        let four = "(instance (instantiate $x))".repeat(4);
        let _ = write!(
            text,
            "(component $c{at} (alias outer 1 $c{before} (component $x)){four})"
        );
    }
    let _ = write!(text, "(instance (instantiate $c{})))", depth - 1);
    wat::parse_str(text).unwrap()
}

#[tokio::test]
async fn a_component_that_cannot_be_compiled_is_an_error_of_its_proxy_alone() {
    let deep = "nested more than 100 deep";
    for (name, component, why) in [
        ("types", nested_types(500), deep),
        ("more types", nested_types(100_000), deep),
        ("components", nested_components(500), deep),
        (
            "length",
            section(7, u32::MAX as usize, b"\x01"),
            "is not valid",
        ),
        ("instances", instances(14), "more than 2 GiB of memory"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("bomb.wasm"), component).unwrap();
        let manifest = folder.path().join("acp-chain.toml");
        let entry = "[[proxy]]\nid = 'bomb'\npath = 'bomb.wasm'\n";
        fs::write(&manifest, entry).unwrap();
        let check = host::check(&manifest).output().await.unwrap();
        assert_eq!(check.status.code(), Some(1), "{name}");
        let told = String::from_utf8_lossy(&check.stderr);
        assert!(
            told.contains("proxy `bomb`") && told.contains(why),
            "{name}: {told}"
        );

        fs::write(&manifest, entry.to_owned() + "on-failure = 'bypass'\n").unwrap();
        let program = host::run(Some(&manifest), [AGENT]);
        let mut client = Process::start("client", &Transcript::new(), program).unwrap();
        client.initialize().await;
        client.turn("echo here").await;
        assert!(client.chunks().contains(&"here".to_owned()), "{name}");
        let notices = client.wire.transcript().to_string();
        assert!(
            notices.contains("the proxy `bomb` did not start"),
            "{name}: {notices}"
        );
    }
}

#[tokio::test]
async fn compiling_ends_when_nobody_waits_for_the_code_any_longer() {
    // It takes minutes, or more memory than there is.
    let component = instances(14);
    let length = u64::try_from(component.len()).unwrap();
    for sent in [component.len(), component.len() / 2, 0] {
        let mut command = host::acp_chain("compile");
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut compiling = command.spawn().unwrap();
        let mut input = compiling.stdin.take().unwrap();
        input.write_all(&length.to_le_bytes()).await.unwrap();
        input.write_all(&component[..sent]).await.unwrap();
        // As the end of the process that has it open does.
        drop(input);
        let ended = in_time("the end of compiling", compiling.wait_with_output());
        let output = ended.await.unwrap();
        assert_eq!(output.status.code(), Some(1), "{sent}: {output:?}");
        assert!(output.stdout.is_empty(), "{sent}: {output:?}");
    }
}
