//! The interface between acp-chain and a proxy. Made by `cargo xtask types` from wit/proxy.wit; not to be edited.

const abi = @import("abi.zig");

/// What a function gives that can fail.
pub const Result = abi.Result;

/// Types that the host and a proxy share.
///
/// A proxy sits between a client (an editor) and an agent that speak the Agent Client Protocol.
/// The host parses only the envelope of a message: its kind, method and session. The body is
/// passed as JSON text, whatever version or extension of the protocol it belongs to.
pub const types = struct {

    /// JSON text (UTF-8).
    pub const Json = []const u8;

    /// A neighbour of this proxy in the chain.
    pub const Peer = enum {
        /// The predecessor, towards the editor.
        client,
        /// The successor, towards the agent.
        agent,
    };

    /// The sender of the messages that a subscription matches.
    pub const Sender = enum {
        /// Either neighbour.
        any,
        client,
        agent,
    };

    /// The host's number for a message at this proxy: below 2^53, and unique within a connection,
    /// across restarts of the proxy.
    pub const MessageId = u64;

    /// A JSON-RPC error object.
    pub const RpcError = struct {
        code: i32,
        message: []const u8,
        data: ?Json = null,
    };

    pub const Kinds = packed struct(u8) {
        request: bool = false,
        notification: bool = false,
        response: bool = false,
        _: u5 = 0,
    };

    /// A set of messages that the proxy wants to receive. The host forwards all other messages
    /// without calling the proxy, and also those that none of its powers covers.
    /// If several subscriptions match a message, the first determines whether it comes with its body.
    pub const Subscription = struct {
        /// A method name, or a prefix ending in `*`. A response is matched by the method of its
        /// request.
        method: []const u8,
        sender: Sender,
        kinds: Kinds,
        /// If false, the body stays in the host until `channel.read` reads it, and the message has an
        /// empty string in its place.
        with_body: bool = false,
    };

    /// The members that all three kinds of messages share.
    pub const Head = struct {
        id: MessageId,
        sender: Peer,
        method: []const u8,
        /// The message's session, if there is one: its `sessionId`; for a response, that of the
        /// request, or else that of the result.
        session: ?[]const u8 = null,
        /// The size of the body in bytes.
        size: u64,
    };

    /// Absent `params` are `null` here.
    pub const Request = struct {
        head: Head,
        params: Json,
    };

    pub const Notification = struct {
        head: Head,
        params: Json,
    };

    /// `head.id` is the number of the request, if the proxy received or sent that request;
    /// `head.method` is the request's method.
    pub const Response = struct {
        head: Head,
        outcome: Result(Json, RpcError),
    };

    /// A change to the value at a pointer.
    pub const Change = union(enum) {
        /// Sets the value. The last token of the pointer may be a new member of an object, or `-` to
        /// append to an array. Objects that are missing or `null` on the way there are created.
        set: Json,
        /// Removes the value. It is an error if there is none.
        remove,
    };

    /// A change to one place in a body.
    pub const Edit = struct {
        /// A JSON Pointer (RFC 6901) to a value.
        pointer: []const u8,
        change: Change,
    };

    /// A proxy's decision about a message.
    pub const Action = union(enum) {
        /// Forward it unchanged, byte for byte.
        forward,
        /// Forward it with these changes to its body, applied in order. All other bytes are unchanged.
        /// The proxy need not have read the body. Not for error responses.
        edit: []const Edit,
        /// Forward it with this body, which may differ from the original only at places that a power
        /// allows to change. Elsewhere it must be the same bytes except for white space between values,
        /// and the original bytes are forwarded. For a response, the body is the result.
        replace: Json,
        /// Requests only: answer it with this result. The receiver never sees it.
        respond: Json,
        /// Requests: answer it with this error. Responses: forward this error instead.
        reject: RpcError,
        /// Notifications only: drop it.
        discard,
        /// Keep it in the host until the proxy calls `channel.settle`, or until the limit `hold-time`
        /// expires; the host then treats it like the messages of a proxy that failed. Later messages
        /// overtake it, except that a response waits for earlier held notifications of the same session
        /// and direction. A proxy that holds notifications therefore subscribes to that response, and
        /// settles them when it receives it.
        hold,
    };

    /// What the host does with a proxy that fails (it traps, or exceeds a limit on time or memory),
    /// and with the proxy's messages. The user's manifest can override it.
    pub const FailurePolicy = enum {
        /// Reject its messages and start another instance; after several failures, continue as with
        /// `refuse`.
        restart,
        /// Forward its messages unchanged, and all later ones. For proxies that protect nothing.
        bypass,
        /// Reject its messages, and all later ones that it would receive. For guards.
        refuse,
    };

    /// What a proxy declares when it starts.
    pub const Registration = struct {
        subscriptions: []const Subscription = &.{},
        on_failure: FailurePolicy,
        /// Whether the user relies on its decisions. A guard is placed next to the agent, after all
        /// other proxies; no other proxy can alter what it changed, answered or sent; and messages that
        /// parsers could interpret differently are rejected before they reach it.
        guard: bool = false,
    };
};

/// The only imports of a proxy: it exchanges messages with its two neighbours, through the host.
///
/// What a call sends and settles leaves in that order, before the message that the call's action
/// is for. A call that fails sends, settles and saves nothing. A proxy cannot send from
/// `handler.init`, when there are no neighbours yet.
///
/// The powers granted in the user's manifest determine which messages a proxy may read, change (and
/// at which places), reject, drop, hold, answer, or send. Without a power it receives no message.
pub const channel = struct {
    const interface = "acp-chain:proxy/channel@0.1.2";

    pub const Json = types.Json;

    pub const Peer = types.Peer;

    pub const MessageId = types.MessageId;

    pub const Action = types.Action;

    /// Why a call had no effect.
    pub const ErrorCode = enum {
        /// No power covers it, or it is not allowed here: a call from `init`, or a method that is
        /// reserved for the host (`initialize`, `proxy/…`, `$/…`).
        denied,
        /// There is no such message, or it has been settled, perhaps by the host.
        unknown_message,
        /// Malformed JSON, or an action that does not fit this message.
        invalid,
        /// Too many outstanding requests or messages, or a value that is too large.
        full,
        other,
    };

    pub const ChannelError = struct {
        code: ErrorCode,
        /// The reason, for people.
        message: []const u8,
    };

    /// Whose values they are.
    pub const Keeper = union(enum) {
        /// The user's: the same in all projects.
        user,
        /// Those of the project in which the session with this id is: of the folder that its setup names.
        project: []const u8,
    };

    pub const Level = enum {
        trace,
        debug,
        info,
        warn,
        @"error",
    };

    /// Sends a request to a neighbour. The response arrives at `handler.on-response` under the
    /// returned number, also without a subscription. The parameters `null` send a request without
    /// `params`.
    pub fn request(to: Peer, method: []const u8, params: Json) Result(MessageId, ChannelError) {
        return abi.call(interface, "request", Result(MessageId, ChannelError), .{ to, method, params });
    }

    /// Sends a notification to a neighbour.
    pub fn notify(to: Peer, method: []const u8, params: Json) Result(void, ChannelError) {
        return abi.call(interface, "notify", Result(void, ChannelError), .{ to, method, params });
    }

    /// Settles a held message.
    pub fn settle(id: MessageId, action: Action) Result(void, ChannelError) {
        return abi.call(interface, "settle", Result(void, ChannelError), .{ id, action });
    }

    /// Gives up a held message, for this reason. The effect is that of an `err` returned when the
    /// message arrived.
    pub fn fail(id: MessageId, reason: []const u8) Result(void, ChannelError) {
        return abi.call(interface, "fail", Result(void, ChannelError), .{ id, reason });
    }

    /// Cancels a request of this proxy (`$/cancel_request` on that hop). Its response still arrives at
    /// `handler.on-response`.
    pub fn cancel(id: MessageId) Result(void, ChannelError) {
        return abi.call(interface, "cancel", Result(void, ChannelError), .{id});
    }

    /// Requests a call after this many milliseconds, between 10 and an hour. It is a call of
    /// `handler.on-response` with the returned number, the method `wake-after` and the outcome `null`.
    /// `cancel` ends the pause. After such a call, the next one comes no sooner than nine times the
    /// call's own duration. At most 16 pauses may be pending; all end with the instance, when it
    /// fails, is suspended, leaves or is replaced.
    pub fn wakeAfter(milliseconds: u32) Result(MessageId, ChannelError) {
        return abi.call(interface, "wake-after", Result(MessageId, ChannelError), .{milliseconds});
    }

    /// Reads the value at a JSON Pointer (RFC 6901) in the body of the current message or a held one;
    /// the empty pointer reads the whole body. Tokens that a power hides read as `[hidden]`.
    pub fn read(id: MessageId, pointer: []const u8) Result(?Json, ChannelError) {
        return abi.call(interface, "read", Result(?Json, ChannelError), .{ id, pointer });
    }

    /// Saves the proxy's state, in any format, and replaces the state saved before. The next instance
    /// gets it after a failure. It is deleted when the connection ends.
    pub fn save(state: []const u8) Result(void, ChannelError) {
        return abi.call(interface, "save", Result(void, ChannelError), .{state});
    }

    /// Loads the value under a key of at most 256 bytes. Values outlast the connection, and belong to the extension, by
    /// its name and where it comes from: no other proxy reads them. The response arrives at `handler.on-response`
    /// under the returned number, with the method `load-value` and an object as the outcome: `value` is a string, or
    /// `null` if there is none; `version` is its number, or 0; `since` is the time since which this keeper has had values
    /// (RFC 3339), or `null` if it has none: somebody may have removed them. Requires the power `values.keep`.
    pub fn loadValue(of: Keeper, key: []const u8) Result(MessageId, ChannelError) {
        return abi.call(interface, "load-value", Result(MessageId, ChannelError), .{ of, key });
    }

    /// Stores a value of at most 64 KiB under a key, or removes it, if its version is still this one (0 if there is
    /// none). The response arrives as for `load-value`, with the method `store-value`, once the value is on disk: an
    /// object with the new `version`, which no value under this key has had before; or, if the version is another one by
    /// now, with the object `conflict`, which is what `load-value` would return. An error response if it cannot be
    /// stored: the earlier value stays. Requires the power `values.keep`.
    pub fn storeValue(of: Keeper, key: []const u8, version: u64, value: ?[]const u8) Result(MessageId, ChannelError) {
        return abi.call(interface, "store-value", Result(MessageId, ChannelError), .{ of, key, version, value });
    }

    /// Reports the progress of a pending call (see `tools`, `resources`, `prompts`, `completion`).
    /// `progress` increases with each report; `total` is its final value, if known; `message` is shown
    /// to people. Has no effect if the caller did not request progress.
    pub fn reportProgress(call: MessageId, progress: f64, total: ?f64, message: ?[]const u8) Result(void, ChannelError) {
        return abi.call(interface, "report-progress", Result(void, ChannelError), .{ call, progress, total, message });
    }

    /// The `_meta` object of the MCP request of a pending call. The caller's capabilities are in it
    /// for every version of MCP, under `io.modelcontextprotocol/clientCapabilities`.
    pub fn callMeta(call: MessageId) Result(Json, ChannelError) {
        return abi.call(interface, "call-meta", Result(Json, ChannelError), .{call});
    }

    /// Sends MCP's `elicitation/create`, `sampling/createMessage` or `roots/list` to the caller of a
    /// pending call, if the caller supports it. The response arrives like that of `request`, and
    /// `cancel` cancels it; it is cancelled when the call ends. The limit `hold-time` of the call
    /// includes the time for the response.
    pub fn askCaller(call: MessageId, method: []const u8, params: Json) Result(MessageId, ChannelError) {
        return abi.call(interface, "ask-caller", Result(MessageId, ChannelError), .{ call, method, params });
    }

    /// Reports that `tools.list-tools` would now return another list. The host notifies the users of
    /// the tools. There is no need for it in `list-tools` itself, whose result is the list: there it
    /// notifies once, and not again until it is called elsewhere.
    pub fn toolsChanged() Result(void, ChannelError) {
        return abi.call(interface, "tools-changed", Result(void, ChannelError), .{});
    }

    /// As `tools-changed`, for `resources.list-resources`.
    pub fn resourcesChanged() Result(void, ChannelError) {
        return abi.call(interface, "resources-changed", Result(void, ChannelError), .{});
    }

    /// As `tools-changed`, for `prompts.list-prompts`.
    pub fn promptsChanged() Result(void, ChannelError) {
        return abi.call(interface, "prompts-changed", Result(void, ChannelError), .{});
    }

    /// Reports that `resources.read-resource` would now return another content for this URI. The host
    /// notifies the URI's subscribers.
    pub fn resourceChanged(uri: []const u8) Result(void, ChannelError) {
        return abi.call(interface, "resource-changed", Result(void, ChannelError), .{uri});
    }

    /// The proxy's `id` in the manifest. If a power allows it, the proxy may keep data in `_meta`,
    /// under `acp-chain/` and this id.
    pub fn proxyId() []const u8 {
        return abi.call(interface, "proxy-id", []const u8, .{});
    }

    /// Writes to the host's log.
    pub fn log(level: Level, text: []const u8) void {
        return abi.call(interface, "log", void, .{ level, text });
    }
};

/// The functions of a proxy. Each connection has its own instance, which the host calls for one
/// message at a time.
///
/// An `err` means that the proxy could not decide; an action that none of its powers covers has the
/// same effect. The host then rejects the message: it answers a request with an error that names the
/// proxy, turns a response into such an error, and drops a notification. It forwards the message
/// unchanged instead if the failure policy is `bypass`, or if no power lets the proxy decide about
/// it.
pub const handler = struct {
    const interface = "acp-chain:proxy/handler@0.1.2";

    pub const Json = types.Json;

    pub const Registration = types.Registration;

    pub const Request = types.Request;

    pub const Notification = types.Notification;

    pub const Response = types.Response;

    pub const Action = types.Action;

    pub const MessageId = types.MessageId;

    /// Exports what a proxy declares:
    ///
    ///     fn init(config: Json, saved: ?[]const u8) Result(Registration, []const u8)
    /// Called once, before any message. `config` is the proxy's table in the manifest, or `{}`;
    /// `saved` is the state that an earlier instance of this connection saved before it failed.
    ///
    ///     fn onRequest(request: Request) Result(Action, []const u8)
    ///
    ///     fn onNotification(notification: Notification) Result(Action, []const u8)
    ///
    ///     fn onResponse(response: Response) Result(Action, []const u8)
    /// A response to another sender, or to a request of this proxy. In the latter case, the host
    /// ignores the returned action.
    ///
    ///     fn onCancel(id: MessageId) Result(void, []const u8)
    /// The sender of a request that this proxy holds has cancelled it, or the user has stopped the turn
    /// of a prompt that it holds (`session/cancel`). The proxy still has to settle it, usually with
    /// `reject` and the code -32800. The host turns that answer to a prompt into one that says that the
    /// turn was cancelled, and never forwards a stopped prompt, however it is settled. After an `err`
    /// the host rejects it, whatever the failure policy: the answer is no longer awaited.
    /// 
    /// Also called when the limit `hold-time` has expired for a message that this proxy held. The host
    /// has settled that message (`unknown-message`); the proxy should cancel the requests that it has
    /// sent because of it (`channel.cancel`).
    pub fn serve(comptime Proxy: type) void {
        abi.serve(interface, "init", struct {
            fn call(a0: u32, a1: u32, a2: u32, a3: u32, a4: u32) callconv(.c) [*]u8 {
                return abi.answer(Result(Registration, []const u8), Proxy.init, .{ a0, a1, a2, a3, a4 });
            }
        }.call);
        abi.serve(interface, "on-request", struct {
            fn call(a0: u64, a1: u32, a2: u32, a3: u32, a4: u32, a5: u32, a6: u32, a7: u64, a8: u32, a9: u32) callconv(.c) [*]u8 {
                return abi.answer(Result(Action, []const u8), Proxy.onRequest, .{ a0, a1, a2, a3, a4, a5, a6, a7, a8, a9 });
            }
        }.call);
        abi.serve(interface, "on-notification", struct {
            fn call(a0: u64, a1: u32, a2: u32, a3: u32, a4: u32, a5: u32, a6: u32, a7: u64, a8: u32, a9: u32) callconv(.c) [*]u8 {
                return abi.answer(Result(Action, []const u8), Proxy.onNotification, .{ a0, a1, a2, a3, a4, a5, a6, a7, a8, a9 });
            }
        }.call);
        abi.serve(interface, "on-response", struct {
            fn call(a0: u64, a1: u32, a2: u32, a3: u32, a4: u32, a5: u32, a6: u32, a7: u64, a8: u32, a9: u32, a10: u32, a11: u32, a12: u32, a13: u32, a14: u32) callconv(.c) [*]u8 {
                return abi.answer(Result(Action, []const u8), Proxy.onResponse, .{ a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14 });
            }
        }.call);
        abi.serve(interface, "on-cancel", struct {
            fn call(a0: u64) callconv(.c) [*]u8 {
                return abi.answer(Result(void, []const u8), Proxy.onCancel, .{a0});
            }
        }.call);
    }
};

/// What the interfaces below share: the agent calls a function of the proxy.
pub const calls = struct {

    pub const Json = types.Json;

    /// The outcome of a call.
    pub const Outcome = union(enum) {
        /// The MCP result that the function's documentation names.
        done: Json,
        /// The proxy calls `channel.settle` later, with `respond` and such a result, or with `reject`. Until
        /// then the call counts as a held message, and `handler.on-cancel` reports its cancellation.
        pending,
    };
};

/// Optional: tools for the agent. A proxy that exports this interface, or `resources`, `prompts` or
/// `completion`, and has the power `tools`, is an MCP server, named like the proxy in the manifest.
/// The host declares it in every session, over a transport that the agent supports, and speaks MCP
/// on behalf of the proxy.
pub const tools = struct {
    const interface = "acp-chain:proxy/tools@0.1.2";

    pub const Json = types.Json;

    pub const MessageId = types.MessageId;

    pub const RpcError = types.RpcError;

    pub const Outcome = calls.Outcome;

    pub const Catalog = struct {
        /// How to use the tools together, for the model (MCP `instructions`).
        instructions: ?[]const u8 = null,
        /// Each is an MCP `Tool`: an object with `name`, `inputSchema`, and preferably a `description`.
        /// The host omits tools with a duplicate name or an invalid schema, and tells the user.
        tools: []const Json = &.{},
    };

    pub const ToolCall = struct {
        /// The number under which a pending call is settled.
        id: MessageId,
        /// The ACP session of the calling agent; none until the agent has named the session.
        session: ?[]const u8 = null,
        /// The name of a listed tool.
        name: []const u8,
        /// An object that is valid according to the tool's `inputSchema`. The host does not validate
        /// against schemas that refer to themselves or elsewhere, that are very large, or that have
        /// `unevaluatedProperties`, `unevaluatedItems` or a `pattern` with look-around; nor very large
        /// arguments; nor `format`.
        arguments: Json,
    };

    /// Exports what a proxy declares:
    ///
    ///     fn listTools(session: ?[]const u8) Result(Catalog, []const u8)
    /// The tools of a session. Called when the session's agent connects, and again after
    /// `channel.tools-changed`.
    ///
    ///     fn callTool(call: ToolCall) Result(Outcome, RpcError)
    /// Returns an MCP `CallToolResult`: an object with `content`, and `isError` if the tool failed.
    /// An `err` is a protocol error rather than the tool's: agents do not always show it to the model.
    pub fn serve(comptime Proxy: type) void {
        abi.serve(interface, "list-tools", struct {
            fn call(a0: u32, a1: u32, a2: u32) callconv(.c) [*]u8 {
                return abi.answer(Result(Catalog, []const u8), Proxy.listTools, .{ a0, a1, a2 });
            }
        }.call);
        abi.serve(interface, "call-tool", struct {
            fn call(a0: u64, a1: u32, a2: u32, a3: u32, a4: u32, a5: u32, a6: u32, a7: u32) callconv(.c) [*]u8 {
                return abi.answer(Result(Outcome, RpcError), Proxy.callTool, .{ a0, a1, a2, a3, a4, a5, a6, a7 });
            }
        }.call);
    }
};

/// Optional: resources, which the agent reads by their URIs.
pub const resources = struct {
    const interface = "acp-chain:proxy/resources@0.1.2";

    pub const Json = types.Json;

    pub const MessageId = types.MessageId;

    pub const RpcError = types.RpcError;

    pub const Outcome = calls.Outcome;

    pub const Catalog = struct {
        /// How to use the resources, for the model. Appended to the instructions of `tools.list-tools`.
        instructions: ?[]const u8 = null,
        /// Each is an MCP `Resource`: an object with `uri`, `name`, and preferably a `description` and a
        /// `mimeType`. The host omits resources without a URI or a name, and those with a duplicate URI,
        /// and tells the user.
        resources: []const Json = &.{},
        /// Each is an MCP `ResourceTemplate`: like a resource, with `uriTemplate` (RFC 6570) in place of
        /// `uri`.
        templates: []const Json = &.{},
    };

    pub const ResourceRead = struct {
        /// The number under which a pending call is settled.
        id: MessageId,
        /// As in `tools.tool-call`.
        session: ?[]const u8 = null,
        /// Any URI, chosen by the agent: of a listed resource, from a template, from a tool's result, or
        /// another.
        uri: []const u8,
    };

    /// Exports what a proxy declares:
    ///
    ///     fn listResources(session: ?[]const u8) Result(Catalog, []const u8)
    /// The resources of a session. Called when the session's agent asks for them, and again after
    /// `channel.resources-changed`.
    ///
    ///     fn readResource(read: ResourceRead) Result(Outcome, RpcError)
    /// Returns an MCP `ReadResourceResult`: an object with `contents`. If there is no such resource, an
    /// `err` with the code -32002.
    pub fn serve(comptime Proxy: type) void {
        abi.serve(interface, "list-resources", struct {
            fn call(a0: u32, a1: u32, a2: u32) callconv(.c) [*]u8 {
                return abi.answer(Result(Catalog, []const u8), Proxy.listResources, .{ a0, a1, a2 });
            }
        }.call);
        abi.serve(interface, "read-resource", struct {
            fn call(a0: u64, a1: u32, a2: u32, a3: u32, a4: u32, a5: u32) callconv(.c) [*]u8 {
                return abi.answer(Result(Outcome, RpcError), Proxy.readResource, .{ a0, a1, a2, a3, a4, a5 });
            }
        }.call);
    }
};

/// Optional: prompts, from which the user chooses.
pub const prompts = struct {
    const interface = "acp-chain:proxy/prompts@0.1.2";

    pub const Json = types.Json;

    pub const MessageId = types.MessageId;

    pub const RpcError = types.RpcError;

    pub const Outcome = calls.Outcome;

    pub const PromptCall = struct {
        /// The number under which a pending call is settled.
        id: MessageId,
        /// As in `tools.tool-call`.
        session: ?[]const u8 = null,
        /// The name of a listed prompt.
        name: []const u8,
        /// An object of strings, with all arguments that the prompt requires.
        arguments: Json,
    };

    /// Exports what a proxy declares:
    ///
    ///     fn listPrompts(session: ?[]const u8) Result([]const Json, []const u8)
    /// The prompts of a session. Each is an MCP `Prompt`: an object with `name`, and preferably a
    /// `description` and `arguments`. The host omits prompts with a duplicate name, and tells the user.
    /// Called when the session's agent asks for them, and again after `channel.prompts-changed`.
    ///
    ///     fn getPrompt(call: PromptCall) Result(Outcome, RpcError)
    /// Returns an MCP `GetPromptResult`: an object with `messages`.
    pub fn serve(comptime Proxy: type) void {
        abi.serve(interface, "list-prompts", struct {
            fn call(a0: u32, a1: u32, a2: u32) callconv(.c) [*]u8 {
                return abi.answer(Result([]const Json, []const u8), Proxy.listPrompts, .{ a0, a1, a2 });
            }
        }.call);
        abi.serve(interface, "get-prompt", struct {
            fn call(a0: u64, a1: u32, a2: u32, a3: u32, a4: u32, a5: u32, a6: u32, a7: u32) callconv(.c) [*]u8 {
                return abi.answer(Result(Outcome, RpcError), Proxy.getPrompt, .{ a0, a1, a2, a3, a4, a5, a6, a7 });
            }
        }.call);
    }
};

/// Optional: completion of the arguments of prompts, and of the variables of resource templates.
pub const completion = struct {
    const interface = "acp-chain:proxy/completion@0.1.2";

    pub const Json = types.Json;

    pub const MessageId = types.MessageId;

    pub const RpcError = types.RpcError;

    pub const Outcome = calls.Outcome;

    pub const CompletionCall = struct {
        /// The number under which a pending call is settled.
        id: MessageId,
        /// As in `tools.tool-call`.
        session: ?[]const u8 = null,
        /// What to complete: an object with the `type` `ref/prompt` and a `name`, or `ref/resource` and the
        /// `uri` of a template.
        reference: Json,
        /// The name of the argument or variable.
        argument: []const u8,
        /// Its value so far.
        value: []const u8,
        /// The other arguments or variables with known values: an object of strings.
        context: Json,
    };

    /// Exports what a proxy declares:
    ///
    ///     fn complete(call: CompletionCall) Result(Outcome, RpcError)
    /// Returns an MCP `CompleteResult`: an object with `completion`, whose `values` are at most 100
    /// strings.
    pub fn serve(comptime Proxy: type) void {
        abi.serve(interface, "complete", struct {
            fn call(a0: u64, a1: u32, a2: u32, a3: u32, a4: u32, a5: u32, a6: u32, a7: u32, a8: u32, a9: u32, a10: u32, a11: u32) callconv(.c) [*]u8 {
                return abi.answer(Result(Outcome, RpcError), Proxy.complete, .{ a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11 });
            }
        }.call);
    }
};
