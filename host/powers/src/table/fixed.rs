//! Messages and places that belong to no power: the host's methods, and places that no proxy may change.

use crate::{Kinds, Updates};

/// Messages, and the places in them that no power covers.
#[derive(Debug)]
pub struct Fixed {
    /// Why no power covers them.
    pub reason: &'static str,
    /// Empty for every method.
    pub methods: &'static [&'static str],
    pub kinds: Kinds,
    /// The kinds of updates, for `session/update`.
    pub updates: Updates,
    /// Empty if the whole method is the host's.
    pub places: &'static [&'static str],
}

/// Each row has the reason; the methods, or none for every method; the kinds, and those of updates, if not all; and the
/// places, or none if the whole method is the host's.
macro_rules! fixed {
    (@updates) => { Updates::None };
    (@updates $updates:expr) => { $updates };
    ($($reason:literal: $methods:expr, $kinds:expr $(, $updates:expr)? => $places:expr;)+) => {
        pub const FIXED: &[Fixed] = &[$(Fixed {
            reason: $reason,
            methods: $methods,
            kinds: $kinds,
            updates: fixed!(@updates $($updates)?),
            places: $places,
        },)+];
    };
}

fixed! {
    "between the host and a proxy, on one hop":
        &["proxy/initialize", "proxy/successor", "$/cancel_request"], Kinds::all() => &[];

    "identifies what a message is about":
        &[], Kinds::all() => places! {
            "/": "sessionId" "terminalId" "toolCallId" "elicitationId" "messageId" "requestId"
                "serverId";
        };

    "each side alone declares its capabilities and sign-in methods: the client may run them":
        &["initialize"], Kinds::REQUEST.union(Kinds::RESULT) => places! {
            "/": "protocolVersion" "clientCapabilities" "agentCapabilities" "capabilities"
                "clientInfo" "agentInfo" "info" "authMethods";
        };

    "only the agent reports how a turn ended, and what it used":
        &["session/prompt"], Kinds::RESULT => &["/stopReason", "/usage"];

    "what a permission request is for, by which guards and editors decide":
        &["session/request_permission"], Kinds::REQUEST => places! {
            "/": "options";
            "/toolCall/": "toolCallId" "kind" "status" "name" "locations";
            "/toolCall/content/*/": "type" "path" "terminalId" "sessionId";
            "/toolCall/content/*/content/": "type" "uri" "data" "size" "mimeType" "annotations"
                "resource/uri" "resource/blob" "resource/mimeType";
            "/subject/": "type" "cwd" "terminalId" "toolCallId";
            "/subject/toolCall/": "toolCallId" "capabilities" "kind" "status" "name" "locations";
            "/subject/toolCall/content/*/": "type" "changes" "patch/format" "terminalId"
                "sessionId";
            "/subject/toolCall/content/*/content/": "type" "uri" "data" "size" "icons" "mimeType"
                "annotations" "resource/uri" "resource/blob" "resource/mimeType";
        };

    "what the user decided":
        &["session/request_permission", "elicitation/create"], Kinds::RESULT =>
        &["/outcome", "/action", "/content"];

    "what form a question has, and where it leads":
        &["elicitation/create"], Kinds::REQUEST => places! {
            "/": "mode" "url";
            "/requestedSchema/": "type" "required";
            "/requestedSchema/properties/*/": "type" "enum" "format" "items" "oneOf" "pattern"
                "minItems" "maxItems" "minLength" "maxLength" "minimum" "maximum";
        };

    "how a command ended":
        &["terminal/wait_for_exit"], Kinds::RESULT => &["/exitCode", "/signal"];

    "which call of an MCP server it is":
        &["mcp/message"], Kinds::REQUEST.union(Kinds::NOTIFICATION) => &["/method"];

    "what kind of update it is, and of what":
        &["session/update"], Kinds::NOTIFICATION => places! {
            "/update/": "sessionUpdate" "sessionId" "cursorId" "messageId" "toolCallId" "terminalId"
                "compactionId" "planId" "senderMessageId" "senderSessionId" "recipientMessageId"
                "recipientSessionId" "kind" "name" "status" "severity" "capabilities" "locations"
                "cwd" "additionalDirectories" "size" "used" "cost" "usage" "stopReason" "background"
                "exitStatus";
            "/update/state/": "state" "usage" "stopReason" "background" "error/code";
        };

    "what a block of content is, and what it holds that is not text":
        &["session/update"], Kinds::NOTIFICATION => places! {
            "/update/content/": "type" "uri" "data" "size" "icons" "mimeType" "annotations";
            "/update/content/resource/": "uri" "blob" "mimeType";
            "/update/content/*/": "type" "uri" "data" "size" "icons" "mimeType" "annotations";
            "/update/content/*/resource/": "uri" "blob" "mimeType";
            "/update/summary/*/": "type" "uri" "data" "size" "icons" "mimeType" "annotations";
            "/update/summary/*/resource/": "uri" "blob" "mimeType";
        };

    "what a tool call shows, and in which files":
        &["session/update"], Kinds::NOTIFICATION => places! {
            "/update/content/": "path" "changes" "terminalId" "sessionId" "patch/format";
            "/update/content/content/": "type" "uri" "data" "size" "icons" "mimeType" "annotations"
                "resource/uri" "resource/blob" "resource/mimeType";
            "/update/content/*/": "path" "changes" "terminalId" "sessionId" "patch/format";
            "/update/content/*/content/": "type" "uri" "data" "size" "icons" "mimeType"
                "annotations" "resource/uri" "resource/blob" "resource/mimeType";
        };

    "only the agent reports the state of a turn":
        &["session/update"], Kinds::NOTIFICATION, Updates::Of(&["state_update"]) =>
        &["/update/state", "/update/error/code"];
}
