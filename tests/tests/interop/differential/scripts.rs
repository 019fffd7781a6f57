//! The scripts.

use crate::differential::play::BEGIN;

/// Scripts with a beginning of their own.
const OWN_BEGINNING: &[(&str, &str)] = &[
    (
        "a beginning with fields that nobody knows",
        r#"
        client → {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true},"x":[1]},"clientInfo":{"name":"c","version":"1","z":{}},"new":{"a":null},"_meta":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}}
        agent  ← initialize
        agent  → {"jsonrpc":"2.0","id":@initialize,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"mcpCapabilities":{"acp":true,"http":true},"x":1},"agentInfo":{"name":"a","title":"A","version":"2"},"authMethods":[{"id":"key","name":"Key"}],"new":7,"_meta":{"a":{}}}}
        client ← 0
        "#,
    ),
    (
        "an agent that does not reach servers over ACP",
        r#"
        client → {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}
        agent  ← initialize
        agent  → {"jsonrpc":"2.0","id":@initialize,"result":{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"http":true}}}}
        client ← 0
        "#,
    ),
    (
        "a client of version 2 and an agent of version 1",
        r#"
        client → {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2,"clientCapabilities":{},"clientInfo":{"name":"c","version":"1"}}}
        agent  ← initialize
        agent  → {"jsonrpc":"2.0","id":@initialize,"result":{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"acp":true}}}}
        client ← 0
        "#,
    ),
    (
        "a beginning that the agent refuses, and another",
        r#"
        client → {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}
        agent  ← initialize
        agent  → {"jsonrpc":"2.0","id":@initialize,"error":{"code":-32000,"message":"not yet","data":{"a":[1]}}}
        client ← 0
        client → {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}
        agent  ← initialize
        agent  → {"jsonrpc":"2.0","id":@initialize,"result":{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"acp":true}}}}
        client ← 1
        "#,
    ),
    (
        "a request before the beginning",
        r#"
        client → {"jsonrpc":"2.0","id":"early","method":"session/new","params":{"cwd":"/","mcpServers":[]}}
        client ← "early"
        client → {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}
        agent  ← initialize
        agent  → {"jsonrpc":"2.0","id":@initialize,"result":{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"acp":true}}}}
        client ← 0
        "#,
    ),
];

/// Scripts that follow the usual beginning.
const SCRIPTS: &[(&str, &str)] = &[
    (
        "a turn",
        r#"
        client → {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[{"name":"n","command":"/bin/n","args":["-a"],"env":[]}],"_meta":{"k":[{}]}}}
        agent  ← session/new
        agent  → {"jsonrpc":"2.0","id":@session/new,"result":{"sessionId":"s","modes":{"currentModeId":"m","availableModes":[]},"x":1}}
        client ← 1
        client → {"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"hi"},{"type":"new","y":1}]}}
        agent  ← session/prompt
        agent  → {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","messageId":"1","content":{"type":"text","text":"a"}}}}
        agent  → {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"of_tomorrow","a":{"b":[]}}}}
        agent  → {"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"t"},"options":[{"optionId":"o","name":"O","kind":"allow_once"}]}}
        client ← session/request_permission
        client → {"jsonrpc":"2.0","id":@session/request_permission,"result":{"outcome":{"outcome":"selected","optionId":"o"}}}
        agent  ← 0
        agent  → {"jsonrpc":"2.0","id":@session/prompt,"result":{"stopReason":"end_turn","usage":{"totalTokens":3},"_meta":{}}}
        client ← 2
        "#,
    ),
    (
        "a turn that is interrupted",
        r#"
        client → {"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
        agent  ← session/prompt
        client → {"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}
        agent  ← session/cancel
        agent  → {"jsonrpc":"2.0","id":@session/prompt,"result":{"stopReason":"cancelled"}}
        client ← 2
        "#,
    ),
    (
        "a request of the client's that is withdrawn",
        r#"
        client → {"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
        agent  ← session/prompt
        client → {"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"p"}}
        agent  ← $/cancel_request
        agent  → {"jsonrpc":"2.0","id":@session/prompt,"error":{"code":-32800,"message":"cancelled"}}
        client ← "p"
        "#,
    ),
    (
        "a request of the agent's that is withdrawn",
        r#"
        agent  → {"jsonrpc":"2.0","id":"r","method":"fs/read_text_file","params":{"sessionId":"s","path":"/a"}}
        client ← fs/read_text_file
        agent  → {"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"r"}}
        client ← $/cancel_request
        client → {"jsonrpc":"2.0","id":@fs/read_text_file,"error":{"code":-32800,"message":"cancelled"}}
        agent  ← "r"
        "#,
    ),
    (
        "a cancellation that crosses the answer",
        r#"
        client → {"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
        agent  ← session/prompt
        agent  → {"jsonrpc":"2.0","id":@session/prompt,"result":{"stopReason":"end_turn"}}
        client ← "p"
        client → {"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"p"}}
        "#,
    ),
    (
        "files and terminals",
        r#"
        agent  → {"jsonrpc":"2.0","id":1,"method":"fs/write_text_file","params":{"sessionId":"s","path":"/a","content":"é\u0000"}}
        client ← fs/write_text_file
        client → {"jsonrpc":"2.0","id":@fs/write_text_file,"result":null}
        agent  ← 1
        agent  → {"jsonrpc":"2.0","id":2,"method":"terminal/create","params":{"sessionId":"s","command":"ls","env":[]}}
        client ← terminal/create
        client → {"jsonrpc":"2.0","id":@terminal/create,"result":{"terminalId":"t"}}
        agent  ← 2
        agent  → {"jsonrpc":"2.0","id":3,"method":"terminal/output","params":{"sessionId":"s","terminalId":"t"}}
        client ← terminal/output
        client → {"jsonrpc":"2.0","id":@terminal/output,"error":{"code":-32002,"message":"no","data":[1,null]}}
        agent  ← 3
        "#,
    ),
    (
        "a session that is loaded",
        r#"
        client → {"jsonrpc":"2.0","id":4,"method":"session/load","params":{"sessionId":"s","cwd":"/","mcpServers":[]}}
        agent  ← session/load
        agent  → {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"old"}}}}
        agent  → {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"older"}}}}
        agent  → {"jsonrpc":"2.0","id":@session/load,"result":null}
        client ← 4
        "#,
    ),
    (
        "an update before the session is known",
        r#"
        client → {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}
        agent  ← session/new
        agent  → {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"n","update":{"sessionUpdate":"available_commands_update","availableCommands":[]}}}
        agent  → {"jsonrpc":"2.0","id":@session/new,"result":{"sessionId":"n"}}
        client ← 1
        "#,
    ),
    (
        "extensions either way",
        r#"
        client → {"jsonrpc":"2.0","id":1,"method":"_vendor/ask","params":{"a":[1,"2",null]}}
        agent  ← _vendor/ask
        agent  → {"jsonrpc":"2.0","id":@_vendor/ask,"result":"text"}
        client ← 1
        client → {"jsonrpc":"2.0","method":"_vendor/tell","params":{"b":{}}}
        agent  ← _vendor/tell
        agent  → {"jsonrpc":"2.0","id":"a","method":"vendor/without_underscore","params":{"c":0}}
        client ← vendor/without_underscore
        client → {"jsonrpc":"2.0","id":@vendor/without_underscore,"error":{"code":-32601,"message":"never heard of"}}
        agent  ← "a"
        agent  → {"jsonrpc":"2.0","method":"_vendor/told","params":{"d":false}}
        client ← _vendor/told
        "#,
    ),
    (
        "a method that the agent does not know",
        r#"
        client → {"jsonrpc":"2.0","id":1,"method":"session/of_tomorrow","params":{"sessionId":"s"}}
        agent  ← session/of_tomorrow
        agent  → {"jsonrpc":"2.0","id":@session/of_tomorrow,"error":{"code":-32601,"message":"Method not found","data":"session/of_tomorrow"}}
        client ← 1
        "#,
    ),
    (
        "no params, and params that are null",
        r#"
        client → {"jsonrpc":"2.0","id":1,"method":"_none"}
        agent  ← _none
        agent  → {"jsonrpc":"2.0","id":@_none,"result":{}}
        client ← 1
        client → {"jsonrpc":"2.0","id":2,"method":"_null","params":null}
        agent  ← _null
        agent  → {"jsonrpc":"2.0","id":@_null,"result":null}
        client ← 2
        "#,
    ),
    (
        "params that are a list",
        r#"
        client → {"jsonrpc":"2.0","id":1,"method":"_list","params":[1,{"a":2}]}
        agent  ← _list
        agent  → {"jsonrpc":"2.0","id":@_list,"result":[]}
        client ← 1
        "#,
    ),
    (
        "ids of every sort",
        r#"
        client → {"jsonrpc":"2.0","id":0,"method":"_a"}
        agent  ← _a
        agent  → {"jsonrpc":"2.0","id":@_a,"result":{}}
        client ← 0
        client → {"jsonrpc":"2.0","id":"","method":"_b"}
        agent  ← _b
        agent  → {"jsonrpc":"2.0","id":@_b,"result":{}}
        client ← ""
        client → {"jsonrpc":"2.0","id":-9007199254740993,"method":"_c"}
        agent  ← _c
        agent  → {"result":{},"id":@_c,"jsonrpc":"2.0"}
        client ← -9007199254740993
        client → {"jsonrpc":"2.0","id":"6e0f1c1e-2f4b-4f6e-9f70-0d1f1f0f3c3a","method":"_d"}
        agent  ← _d
        agent  → {"jsonrpc":"2.0","id":@_d,"result":{}}
        client ← "6e0f1c1e-2f4b-4f6e-9f70-0d1f1f0f3c3a"
        "#,
    ),
    (
        "an id that is null",
        r#"
        client → {"jsonrpc":"2.0","id":null,"method":"_null_id"}
        agent  ← _null_id
        agent  → {"jsonrpc":"2.0","id":@_null_id,"result":{}}
        client ← null
        "#,
    ),
    (
        "an id that is a fraction",
        r#"
        client → {"jsonrpc":"2.0","id":1.5,"method":"_fraction"}
        "#,
    ),
    (
        "answers out of order",
        r#"
        client → {"jsonrpc":"2.0","id":1,"method":"_first"}
        client → {"jsonrpc":"2.0","id":2,"method":"_second"}
        agent  ← _first
        agent  ← _second
        agent  → {"jsonrpc":"2.0","id":@_second,"result":2}
        client ← 2
        agent  → {"jsonrpc":"2.0","id":@_first,"result":1}
        client ← 1
        "#,
    ),
    (
        "numbers that are large or exact",
        r#"
        client → {"jsonrpc":"2.0","method":"_numbers","params":{"i":18446744073709551615,"j":-9223372036854775808,"f":0.1,"e":1.5e300}}
        agent  ← _numbers
        "#,
    ),
    (
        "numbers past what a double holds",
        r#"
        client → {"jsonrpc":"2.0","method":"_numbers","params":{"n":123456789012345678901234567890}}
        "#,
    ),
    (
        "a number too large for a double",
        r#"
        client → {"jsonrpc":"2.0","method":"_numbers","params":{"n":1e400}}
        "#,
    ),
    (
        "half of a surrogate pair",
        r#"
        client → {"jsonrpc":"2.0","method":"_text","params":{"t":"\ud800"}}
        "#,
    ),
    (
        "a field beside the envelope's",
        r#"
        client → {"jsonrpc":"2.0","method":"_beside","params":{},"trace":{"a":1}}
        agent  ← _beside
        "#,
    ),
    (
        "a name that stands twice",
        r#"
        client → {"jsonrpc":"2.0","method":"_twice","params":{"a":1,"a":2}}
        agent  ← _twice
        "#,
    ),
    (
        "a line that is not JSON",
        r"
        client → hello
        ",
    ),
    (
        "a line of the agent's that is not JSON",
        r"
        agent  → hello
        ",
    ),
    (
        "JSON that is not a message",
        r#"
        client → {"jsonrpc":"2.0"}
        "#,
    ),
    (
        "a batch",
        r#"
        client → [{"jsonrpc":"2.0","id":1,"method":"_batch"},{"jsonrpc":"2.0","method":"_batched"}]
        "#,
    ),
    (
        "an answer to nothing",
        r#"
        client → {"jsonrpc":"2.0","id":99,"result":{}}
        agent  → {"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"?"}}
        "#,
    ),
    (
        "an id that is open already",
        r#"
        client → {"jsonrpc":"2.0","id":1,"method":"_open"}
        agent  ← _open
        client → {"jsonrpc":"2.0","id":1,"method":"_again"}
        "#,
    ),
    (
        "the proxies' own methods from the client",
        r#"
        client → {"jsonrpc":"2.0","id":1,"method":"proxy/successor","params":{"method":"_m"}}
        client ← 1
        client → {"jsonrpc":"2.0","method":"proxy/successor","params":{"method":"_m"}}
        "#,
    ),
    (
        "a client that begins as a conductor does",
        r#"
        client → {"jsonrpc":"2.0","id":1,"method":"proxy/initialize","params":{"protocolVersion":1}}
        client ← 1
        "#,
    ),
    (
        "the proxies' own methods from the agent",
        r#"
        agent  → {"jsonrpc":"2.0","id":1,"method":"proxy/successor","params":{"method":"_m"}}
        agent  ← 1
        agent  → {"jsonrpc":"2.0","method":"proxy/successor","params":{"method":"_m"}}
        "#,
    ),
    (
        "a beginning that is repeated",
        r#"
        client → {"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":1}}
        "#,
    ),
    (
        "a request that is answered twice",
        r#"
        client → {"jsonrpc":"2.0","id":1,"method":"_twice"}
        agent  ← _twice
        agent  → {"jsonrpc":"2.0","id":@_twice,"result":1}
        agent  → {"jsonrpc":"2.0","id":@_twice,"result":2}
        client ← 1
        "#,
    ),
    (
        "an answer with an error that is null",
        r#"
        client → {"jsonrpc":"2.0","id":1,"method":"_both"}
        agent  ← _both
        agent  → {"jsonrpc":"2.0","id":@_both,"result":{"a":1},"error":null}
        "#,
    ),
    (
        "an answer with a result and an error",
        r#"
        client → {"jsonrpc":"2.0","id":1,"method":"_both"}
        agent  ← _both
        agent  → {"jsonrpc":"2.0","id":@_both,"result":{"a":1},"error":{"code":1,"message":"m"}}
        "#,
    ),
    (
        "an error without a message",
        r#"
        client → {"jsonrpc":"2.0","id":1,"method":"_code"}
        agent  ← _code
        agent  → {"jsonrpc":"2.0","id":@_code,"error":{"code":-32000}}
        "#,
    ),
    (
        "fields of an error that nobody knows",
        r#"
        client → {"jsonrpc":"2.0","id":1,"method":"_code"}
        agent  ← _code
        agent  → {"jsonrpc":"2.0","id":@_code,"error":{"code":-32000,"message":"m","more":[1]}}
        client ← 1
        "#,
    ),
    (
        "an unsupported version of JSON-RPC",
        r#"
        client → {"jsonrpc":"1.0","id":1,"method":"_old"}
        "#,
    ),
    (
        "a server over ACP that the client declares",
        r#"
        client → {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[{"type":"acp","name":"n","serverId":"mine"}]}}
        agent  ← session/new
        agent  → {"jsonrpc":"2.0","id":@session/new,"result":{"sessionId":"s"}}
        client ← 1
        "#,
    ),
    (
        "many updates at once",
        r#"
        client → {"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
        agent  ← session/prompt
        @many
        agent  → {"jsonrpc":"2.0","id":@session/prompt,"result":{"stopReason":"end_turn"}}
        client ← 1
        "#,
    ),
    (
        "a long message",
        r#"
        client → {"jsonrpc":"2.0","id":7,"method":"_long","params":{"text":"@long"}}
        agent  ← _long
        agent  → {"jsonrpc":"2.0","id":@_long,"result":{"text":"@long"}}
        client ← 7
        "#,
    ),
];

/// Updates that end with their numbers.
fn many() -> String {
    let update = |n| {
        format!(
            "agent → {{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"sessionId\":\"s\",\"update\":{{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{{\"type\":\"text\",\"text\":\"{n}\"}}}}}}}}\n"
        )
    };
    (0..500).map(update).collect()
}

/// All scripts, each with its name.
pub fn all() -> Vec<(&'static str, String)> {
    let own = OWN_BEGINNING
        .iter()
        .map(|(name, script)| (*name, (*script).to_owned()));
    let usual = SCRIPTS.iter().map(|(name, script)| {
        let script = script.replace("@long", &"x".repeat(1 << 20));
        let script = script.replace("@many", &many());
        (*name, BEGIN.to_owned() + &script)
    });
    own.chain(usual).collect()
}
