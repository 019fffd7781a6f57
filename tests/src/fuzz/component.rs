//! Damaged components.

mod whole;

use std::sync::LazyLock;
use std::time::Duration;

use acp_chain::channel::{Delivery, Event, Grant, Outcome, Part, Peer, Source};
use acp_chain::limits::Limits;
use acp_chain::rpc::Message;
use acp_chain::sandbox::{Component, ComponentError, Engine, Guest};

/// The first bytes of a component, before its sections.
const PREAMBLE: usize = 8;

/// The engine of all runs; nothing that it compiles is worth keeping.
static ENGINE: LazyLock<Engine> =
    LazyLock::new(|| Engine::new(None).unwrap_or_else(|error| panic!("{error}")));

/// The time limit of damaged components, some of which compute for ever.
const LITTLE: Duration = Duration::from_millis(100);

/// A valid component.
static WHOLE: LazyLock<Vec<u8>> = LazyLock::new(whole::whole);

/// A component that compiles can be started under limits, and either handles a message or fails with
/// a reason; otherwise the error has a message.
///
/// Data that begins as WebAssembly, binary or text, is the component. All other data damages a valid
/// one, in steps of four bytes each: the operation, the place (two bytes), and the operand.
///
/// # Panics
/// If this does not hold.
pub fn component(data: &[u8]) {
    let bytes = match data {
        [b'\0', b'a', ..] => data.to_vec(),
        [b'(', ..] => match wat::parse_bytes(data) {
            Ok(bytes) => bytes.into_owned(),
            Err(_) => return,
        },
        _ => damage(WHOLE.clone(), data),
    };
    let compiled = Component::compile(&ENGINE, &bytes);
    let wasm = bytes.starts_with(b"\0asm");
    let module = bytes.starts_with(b"\0asm\x01\0\0\0");
    match compiled {
        Ok(component) => {
            assert!(wasm && !module, "only a component compiles");
            match run(&component, LITTLE) {
                Ok(Outcome::Told) => panic!("a message needs a decision"),
                Ok(Outcome::Broke(failure)) => {
                    assert!(!failure.reason.is_empty(), "it broke without a reason");
                }
                // The component's own reason may be empty.
                Ok(Outcome::Decided(_) | Outcome::Refused(_)) | Err(_) => {}
            }
        }
        Err(error) => {
            assert_eq!(matches!(error, ComponentError::NotWasm), !wasm, "{error}");
            assert_eq!(
                matches!(error, ComponentError::CoreModule),
                module,
                "{error}"
            );
            assert!(!error.to_string().trim().is_empty());
        }
    }
}

/// The outcome of one message, or an error if the start fails. Both have this time limit.
fn run(component: &Component, time: Duration) -> Result<Outcome, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("the runtime starts");
    runtime.block_on(async {
        let mut part = start(component, time).await?;
        let message = Message::notification("m", "{}");
        let delivery = Delivery {
            sealed: false,
            is_replayed: false,
            id: part.allot(),
            sender: Peer::Client,
            method: message.method().clone(),
            session: None,
            message,
            with_body: true,
        };
        let (_, reply) = part.call(Event::Message(delivery)).await;
        Ok(reply.outcome)
    })
}

/// Starts a proxy with little memory.
async fn start(component: &Component, time: Duration) -> Result<Box<dyn Part>, String> {
    let limits = Limits {
        memory: 2 << 20,
        table_elements: 1000,
        time,
        init_time: time,
        wait: time,
        ..Limits::default()
    };
    let guest = Guest {
        limits: limits.into(),
        grant: Grant::unlimited().into(),
        ..Guest::new(&ENGINE, component.clone(), "damaged")
    };
    let started = guest.start(1, None).await;
    Ok(started.map_err(|failure| failure.reason)?.part)
}

/// Damages a component in steps. A bit is flipped, a byte changed or inserted, some bytes or all
/// further ones removed, two sections swapped, or one repeated elsewhere.
fn damage(mut bytes: Vec<u8>, steps: &[u8]) -> Vec<u8> {
    for [what, high, low, with] in steps.as_chunks().0 {
        if bytes.is_empty() {
            break;
        }
        let place = usize::from(u16::from_be_bytes([*high, *low]));
        let (at, count) = (place % bytes.len(), usize::from(*with));
        match what % 7 {
            0 => bytes[at] ^= 1 << (with % 8),
            1 => bytes[at] = *with,
            2 => bytes.insert(at, *with),
            3 => drop(bytes.drain(at..bytes.len().min(at + count))),
            4 => bytes.truncate(at),
            what => {
                let (preamble, content) = bytes.split_at(PREAMBLE.min(bytes.len()));
                let mut sections = sections(content);
                let (one, other) = (place % sections.len(), count % sections.len());
                match what {
                    5 => sections.swap(one, other),
                    _ => sections.insert(other, sections[one]),
                }
                bytes = [preamble, &sections.concat()].concat();
            }
        }
    }
    bytes
}

/// The sections of a component, with the rest as the last one.
fn sections(mut content: &[u8]) -> Vec<&[u8]> {
    let mut sections = Vec::new();
    while let Some((header, size)) = content.get(1..).and_then(size)
        && let Some((section, rest)) = content.split_at_checked(1 + header + size)
    {
        sections.push(section);
        content = rest;
    }
    sections.push(content);
    sections
}

/// A number in LEB128: its length in bytes, and its value.
fn size(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0;
    for (at, byte) in bytes.iter().take(4).enumerate() {
        value |= usize::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((at + 1, value));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use acp_chain::channel::Action;

    use super::*;

    #[test]
    fn the_component_in_order_passes_a_message_on() {
        let component = Component::compile(&ENGINE, &WHOLE);
        let component = component.unwrap_or_else(|error| panic!("{error}"));
        // Long enough for a busy machine.
        let outcome = run(&component, Duration::from_mins(1));
        assert!(
            matches!(outcome, Ok(Outcome::Decided(Action::Forward))),
            "{outcome:?}"
        );
    }
}
