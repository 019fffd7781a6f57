;; The component of the self-test, as a core module: `build.rs` adds the interface.
;;
;; Of a prompt with `@trap` it makes a trap, of one with `@loop` an endless loop; of one with another word behind `@` it
;; changes the first text. It forwards all others. It has one tool, `answer`.
;;
;; The layouts are those of the canonical ABI. All results are constants; what the host passes is behind them.
(module
  (memory (export "memory") 16 16)
  (global $free (mut i32) (i32.const 4096))

  ;; The texts.
  (data (i32.const 0) "session/prompt")
  (data (i32.const 32) "/prompt/0/text")
  (data (i32.const 64) "\"changed by a component\"")
  (data (i32.const 128) "{\"name\":\"answer\",\"description\":\"Answers.\",\"inputSchema\":{\"type\":\"object\"}}")
  (data (i32.const 256) "{\"content\":[{\"type\":\"text\",\"text\":\"answered by a component\"}]}")

  ;; `ok` of a registration: the subscription at 560, `restart`, no guard.
  (data (i32.const 512) "\00\00\00\00" "\30\02\00\00" "\01\00\00\00" "\00\00\00\00")
  ;; The client's requests of the method at 0, with their bodies.
  (data (i32.const 560) "\00\00\00\00" "\0e\00\00\00" "\01\01\01\00")
  ;; `ok(forward)` is at 600, where all is 0. `ok(edit)`, with the edit at 700.
  (data (i32.const 640) "\00\00\00\00" "\01\00\00\00" "\bc\02\00\00" "\01\00\00\00")
  ;; The pointer at 32: `set` to the text at 64.
  (data (i32.const 700) "\20\00\00\00" "\0e\00\00\00" "\00\00\00\00" "\40\00\00\00" "\18\00\00\00")
  ;; `ok` of a catalog: no instructions, the tool at 772.
  (data (i32.const 740) "\00\00\00\00" "\00\00\00\00" "\00\00\00\00" "\00\00\00\00" "\04\03\00\00" "\01\00\00\00")
  (data (i32.const 772) "\80\00\00\00" "\4a\00\00\00")
  ;; `ok(done)` with the text at 256.
  (data (i32.const 800) "\00\00\00\00" "\00\00\00\00" "\00\01\00\00" "\3e\00\00\00")

  (func (export "cabi_realloc")
    (param $old i32) (param $old_size i32) (param $align i32) (param $size i32) (result i32)
    (global.set $free (i32.and (i32.add (global.get $free) (i32.const 7)) (i32.const -8)))
    (global.get $free)
    (global.set $free (i32.add (global.get $free) (local.get $size))))

  ;; The host has read a result: what it passed for the call is not needed any more.
  (func $forget (result i32)
    (global.set $free (i32.const 4096))
    (i32.const 600))

  (func (export "acp-chain:proxy/handler@0.1.2#init") (param i32 i32 i32 i32 i32) (result i32)
    (drop (call $forget))
    (i32.const 512))

  (func (export "acp-chain:proxy/handler@0.1.2#on-request")
    (param i64 i32 i32 i32 i32 i32 i32 i64) (param $at i32) (param $length i32) (result i32)
    (local $end i32) (local $byte i32)
    (drop (call $forget))
    (local.set $end (i32.add (local.get $at) (local.get $length)))
    (block $none
      (loop $search
        (br_if $none (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $byte (i32.load8_u (local.get $at)))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        ;; `@`
        (br_if $search (i32.ne (local.get $byte) (i32.const 64))))
      (local.set $byte (i32.load8_u (local.get $at)))
      ;; `t`
      (if (i32.eq (local.get $byte) (i32.const 116))
        (then (unreachable)))
      ;; `l`
      (if (i32.eq (local.get $byte) (i32.const 108))
        (then (loop $forever (br $forever))))
      (return (i32.const 640)))
    (i32.const 600))

  (func (export "acp-chain:proxy/handler@0.1.2#on-notification")
    (param i64 i32 i32 i32 i32 i32 i32 i64 i32 i32) (result i32)
    (call $forget))

  (func (export "acp-chain:proxy/handler@0.1.2#on-response")
    (param i64 i32 i32 i32 i32 i32 i32 i64 i32 i32 i32 i32 i32 i32 i32) (result i32)
    (call $forget))

  (func (export "acp-chain:proxy/handler@0.1.2#on-cancel") (param i64) (result i32)
    (call $forget))

  (func (export "acp-chain:proxy/tools@0.1.2#list-tools") (param i32 i32 i32) (result i32)
    (drop (call $forget))
    (i32.const 740))

  (func (export "acp-chain:proxy/tools@0.1.2#call-tool")
    (param i64 i32 i32 i32 i32 i32 i32 i32) (result i32)
    (drop (call $forget))
    (i32.const 800)))
