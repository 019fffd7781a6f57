//! Proxies whose module is written by hand, in the text format: they speak the canonical ABI
//! themselves, and may lie.

use std::path::Path;

use hostile::ATTACKED;
use wasm_encoder::{ComponentSection, InstanceSection, ModuleArg, RawSection};
use wasmparser::{Parser, Payload};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// The parts in which modules differ, in the text format. Without any of them, a module is a proxy that sees
/// everything and forwards it.
pub struct Module {
    /// Pages of memory, at the start and at most.
    pub pages: u32,
    /// Imports beside the channel: of [`WASI`].
    pub imports: &'static str,
    /// More fields: tables, globals, functions, a start.
    pub fields: &'static str,
    /// The code of `init`; may leave the address of a result.
    pub init: &'static str,
    /// The code for a request of the attacked session. It leaves the address of a result; the result at 0 is
    /// `forward`.
    pub attack: &'static str,
    /// The code for the host's request of `$size` bytes for an argument; may return an address.
    pub realloc: &'static str,
    /// The code that runs when the host has taken the result of `on-request`.
    pub post_return: &'static str,
    /// A further module, and how many instances the component has of it.
    pub crowd: Option<(&'static str, u32)>,
}

/// The world of all modules: that of a proxy, and the parts of WASI that some of them use.
const WASI: &str = "
package test:hostile;

world hostile {
  include acp-chain:proxy/proxy@0.1.2;
  import wasi:cli/stdout@0.2.0;
  import wasi:clocks/monotonic-clock@0.2.0;
}

package wasi:io@0.2.0 {
  interface error {
    resource error;
  }
  interface poll {
    resource pollable {
      block: func();
    }
  }
  interface streams {
    use error.{error};
    variant stream-error {
      last-operation-failed(error),
      closed,
    }
    resource output-stream {
      blocking-write-and-flush: func(contents: list<u8>) -> result<_, stream-error>;
    }
  }
}

package wasi:clocks@0.2.0 {
  interface monotonic-clock {
    use wasi:io/poll@0.2.0.{pollable};
    subscribe-duration: func(when: u64) -> pollable;
  }
}

package wasi:cli@0.2.0 {
  interface stdout {
    use wasi:io/streams@0.2.0.{output-stream};
    get-stdout: func() -> output-stream;
  }
}
";

/// The module that only forwards.
pub const PLAIN: Module = Module {
    pages: 32,
    imports: "",
    fields: "",
    init: "",
    attack: "i32.const 0",
    realloc: "",
    post_return: "",
    crowd: None,
};

impl Module {
    /// The module's component, with the names of its functions.
    pub fn component(&self) -> Vec<u8> {
        let mut module = wat::parse_str(self.text()).expect("a module");
        let mut resolve = Resolve::default();
        let wit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wit");
        resolve.push_dir(wit).expect("the interface");
        let package = resolve.push_str("wasi.wit", WASI).expect("WASI");
        let world = resolve.select_world(&[package], Some("hostile"));
        let world = world.expect("the world");
        embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)
            .expect("metadata");
        let encoder = ComponentEncoder::default().module(&module);
        let mut encoder = encoder.expect("a module with its world");
        let mut component = encoder.encode().expect("a component");
        if let Some((text, count)) = self.crowd {
            add_instances(&mut component, text, count);
        }
        component
    }

    fn text(&self) -> String {
        let Self {
            pages,
            imports,
            fields,
            init,
            attack,
            realloc,
            post_return,
            ..
        } = self;
        let length = ATTACKED.len();
        // At 0 there is `ok(forward)`; at 128, `ok` of a registration with the one subscription
        // that is at 1024.
        format!(
            r#"(module $hostile
  (import "acp-chain:proxy/channel@0.1.2" "log" (func $log (param i32 i32 i32)))
  (import "acp-chain:proxy/channel@0.1.2" "notify"
    (func $notify (param i32 i32 i32 i32 i32 i32)))
  (import "acp-chain:proxy/channel@0.1.2" "save" (func $save (param i32 i32 i32)))
  {imports}
  (memory (export "memory") {pages} {pages})
  (data (i32.const 128) "\00\00\00\00\00\04\00\00\01\00\00\00\01")
  (data (i32.const 1024) "\40\04\00\00\01\00\00\00\00\07\01")
  (data (i32.const 1088) "*")
  (global $free (mut i32) (i32.const 4096))
  {fields}
  (func $realloc (export "cabi_realloc")
    (param $old i32) (param $old_size i32) (param $align i32) (param $size i32) (result i32)
    {realloc}
    (global.set $free (i32.and (i32.add (global.get $free) (i32.const 7)) (i32.const -8)))
    (global.get $free)
    (global.set $free (i32.add (global.get $free) (local.get $size))))
  (func $init (export "acp-chain:proxy/handler@0.1.2#init")
    (param i32 i32 i32 i32 i32) (result i32)
    {init}
    (i32.const 128))
  (func $attack (result i32)
    {attack})
  (func $on_request (export "acp-chain:proxy/handler@0.1.2#on-request")
    (param i64 i32 i32 i32) (param $has_session i32) (param i32) (param $session_length i32)
    (param i64 i32 i32) (result i32)
    (if (i32.and (local.get $has_session)
                 (i32.eq (local.get $session_length) (i32.const {length})))
      (then (return (call $attack))))
    (i32.const 0))
  (func (export "cabi_post_acp-chain:proxy/handler@0.1.2#on-request") (param i32)
    {post_return}
    (global.set $free (i32.const 4096)))
  (func (export "acp-chain:proxy/handler@0.1.2#on-notification")
    (param i64 i32 i32 i32 i32 i32 i32 i64 i32 i32) (result i32)
    (global.set $free (i32.const 4096))
    (i32.const 0))
  (func (export "acp-chain:proxy/handler@0.1.2#on-response")
    (param i64 i32 i32 i32 i32 i32 i32 i64 i32 i32 i32 i32 i32 i32 i32) (result i32)
    (global.set $free (i32.const 4096))
    (i32.const 0))
  (func (export "acp-chain:proxy/handler@0.1.2#on-cancel") (param i64) (result i32)
    (i32.const 0)))"#
        )
    }
}

/// Adds instances of a further module at the end of a component.
fn add_instances(component: &mut Vec<u8>, module: &str, count: u32) {
    let payloads = Parser::new(0).parse_all(component);
    let modules = payloads.filter(|payload| matches!(payload, Ok(Payload::ModuleSection { .. })));
    let index = u32::try_from(modules.count()).expect("a small number");
    let module = wat::parse_str(module).expect("a module");
    let section = RawSection {
        id: wasm_encoder::ComponentSectionId::CoreModule.into(),
        data: &module,
    };
    section.append_to_component(component);
    let mut instances = InstanceSection::new();
    for _ in 0..count {
        instances.instantiate::<[(&str, ModuleArg); 0], &str>(index, []);
    }
    instances.append_to_component(component);
}
