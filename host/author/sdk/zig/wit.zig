//! The interface between acp-chain and a proxy. Made by `cargo xtask types` from wit/proxy.wit; not to be edited.

const abi = @import("abi.zig");

/// What a function gives that can fail.
pub const Result = abi.Result;

/// What passes between the host and a proxy.
///
/// A proxy stands between a client (an editor) and an agent that speak the Agent Client
/// Protocol. The host reads only the envelope of a message: its kind, its method and its
/// session. The body stays JSON text, whatever the protocol puts into it.
pub const types = struct {

    /// JSON text (UTF-8).
    pub const Json = []const u8;

    /// A neighbour of this proxy in the chain.
    pub const Peer = enum {
        /// The predecessor: the side of the editor.
        client,
        /// The successor: the side of the agent.
        agent,
    };

    /// Whose messages a subscription is about.
    pub const Sender = enum {
        /// Both neighbours'.
        any,
        client,
        agent,
    };

    /// The host's number for one message at this proxy. Never used twice in a connection, also not
    /// by a proxy that is started again, and below 2^53.
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

    /// Which messages the proxy wants to see. Everything else passes by without entering it, and so
    /// does what no power of the proxy covers.
    /// Where several subscriptions match one message, the first decides about the body.
    pub const Subscription = struct {
        /// An exact method name, or a prefix ending in `*`. A response is matched by the method of
        /// the request that it answers.
        method: []const u8,
        sender: Sender,
        kinds: Kinds,
        /// False: the body stays with the host until `channel.read` asks for it, and the message
        /// comes with an empty string in its place.
        with_body: bool = false,
    };

    /// What all three kinds of message have in common.
    pub const Head = struct {
        id: MessageId,
        sender: Peer,
        method: []const u8,
        /// The session that the message belongs to, where it names one: its own `sessionId`, or for
        /// a response that of the request, or else that of the result.
        session: ?[]const u8 = null,
        /// Size of the body in bytes.
        size: u64,
    };

    /// A message without `params` comes with the body `null`.
    pub const Request = struct {
        head: Head,
        params: Json,
    };

    pub const Notification = struct {
        head: Head,
        params: Json,
    };

    /// `head.id` is the number of the request that this answers, if the proxy saw that request or
    /// sent it; `head.method` is its method.
    pub const Response = struct {
        head: Head,
        outcome: Result(Json, RpcError),
    };

    /// What becomes of what is there.
    pub const Change = union(enum) {
        /// This takes its place. The last part of the pointer may name a member that is not there yet, which
        /// is then added to its object, or be `-`, which adds an element to its array. Where an object is
        /// missing on the way, or is `null`, it is made.
        set: Json,
        /// It goes. If nothing is there, that is an error.
        remove,
    };

    /// A change to one place of a body.
    pub const Edit = struct {
        /// A JSON Pointer (RFC 6901) to a value.
        pointer: []const u8,
        change: Change,
    };

    /// What becomes of a message.
    pub const Action = union(enum) {
        /// Goes on unchanged, byte for byte.
        forward,
        /// Goes on with these changes to its body, made one after the other. All else stays as it is,
        /// byte for byte. The body need not have been seen. Not for error responses.
        edit: []const Edit,
        /// Goes on with this body in place of its own, as far as it differs at places that a power lets
        /// change. Everywhere else it has to be the same bytes, but for white space between values, and
        /// there the old bytes go on. A response goes on as this result.
        replace: Json,
        /// Requests: answered here with this result, and never sent on.
        respond: Json,
        /// Requests: answered here with this error. Responses: go on as this error.
        reject: RpcError,
        /// Notifications: goes no further.
        discard,
        /// Kept by the host until the proxy calls `channel.settle`, for as long as the limit
        /// `hold-time` allows; then the host does with it what it does with the messages of a proxy
        /// that failed. Later messages pass it, with one exception: a response waits for the held
        /// notifications of its session and direction that came before it. A proxy that holds
        /// notifications therefore subscribes to that response, and settles them when it sees it.
        hold,
    };

    /// What becomes of a proxy that breaks (it traps, or passes a limit on time or memory), and of
    /// the messages that it had. The user's manifest has the last word.
    pub const FailurePolicy = enum {
        /// Its messages are refused, and a new instance takes its place: a few times, then it is given
        /// up and goes on as with `refuse`.
        restart,
        /// Its messages go on unchanged, as if there were no such proxy. For what only adds comfort.
        bypass,
        /// Its messages are refused, and so is what it would get from now on. For what guards.
        refuse,
    };

    /// What a proxy says of itself when it starts.
    pub const Registration = struct {
        subscriptions: []const Subscription = &.{},
        on_failure: FailurePolicy,
        /// Whether others rely on this proxy to decide. A guard stands next to the agent, behind all
        /// others; what it changed, answered or sent, no other proxy may alter; and what readers could
        /// take for different things never comes to it.
        guard: bool = false,
    };
};

/// All that a proxy may do: talk to its two neighbours, through the host.
///
/// What a call sends and settles goes out in that order, and before the message that the call
/// returns an action for. A call that breaks has sent, settled and saved nothing. Nothing may be
/// sent from within `handler.init`: there are no neighbours yet.
///
/// What a proxy may do with which messages are its powers, in the user's manifest: to read them,
/// to change which places of them, to refuse, drop or hold them, to answer them, to send its own.
/// Without a power it sees nothing.
pub const channel = struct {
    const interface = "acp-chain:proxy/channel@0.1.1";

    pub const Json = types.Json;

    pub const Peer = types.Peer;

    pub const MessageId = types.MessageId;

    pub const Action = types.Action;

    /// Why a call had no effect.
    pub const ErrorCode = enum {
        /// No power covers it, or it is not allowed here: from within `init`, or a method that belongs to
        /// the host (`initialize`, `proxy/…`, `$/…`).
        denied,
        /// No such message, or it is settled already, be it by the host.
        unknown_message,
        /// Not JSON, or not what this message can take.
        invalid,
        /// The proxy has too much outstanding, or what it gives is too large.
        full,
        other,
    };

    pub const ChannelError = struct {
        code: ErrorCode,
        /// The reason, for people.
        message: []const u8,
    };

    pub const Level = enum {
        trace,
        debug,
        info,
        warn,
        @"error",
    };

    /// Asks a neighbour. The answer comes to `handler.on-response` under the number returned,
    /// subscribed or not. The parameters `null` send a request without parameters.
    pub fn request(to: Peer, method: []const u8, params: Json) Result(MessageId, ChannelError) {
        return abi.call(interface, "request", Result(MessageId, ChannelError), .{ to, method, params });
    }

    /// Tells a neighbour.
    pub fn notify(to: Peer, method: []const u8, params: Json) Result(void, ChannelError) {
        return abi.call(interface, "notify", Result(void, ChannelError), .{ to, method, params });
    }

    /// Settles a held message.
    pub fn settle(id: MessageId, action: Action) Result(void, ChannelError) {
        return abi.call(interface, "settle", Result(void, ChannelError), .{ id, action });
    }

    /// Gives up on a held message, for this reason: what becomes of it is what an `err` would have
    /// made of it when it came.
    pub fn fail(id: MessageId, reason: []const u8) Result(void, ChannelError) {
        return abi.call(interface, "fail", Result(void, ChannelError), .{ id, reason });
    }

    /// Withdraws a request of this proxy's own (`$/cancel_request` on that hop). Its answer still
    /// comes to `handler.on-response`.
    pub fn cancel(id: MessageId) Result(void, ChannelError) {
        return abi.call(interface, "cancel", Result(void, ChannelError), .{id});
    }

    /// Asks the host to call this proxy again after so many milliseconds, 10 at least and an hour at most. That
    /// call is of `handler.on-response`: the number is the one returned, the method `wake-after`, the outcome
    /// `null`. `cancel` ends the pause. After such a call, the next one comes no sooner than nine times as long as
    /// that call took. 16 pauses may last at once, and all end with the instance: when it breaks, sleeps, leaves or
    /// is replaced.
    pub fn wakeAfter(milliseconds: u32) Result(MessageId, ChannelError) {
        return abi.call(interface, "wake-after", Result(MessageId, ChannelError), .{milliseconds});
    }

    /// The part of a message's body at a JSON Pointer (RFC 6901); the empty pointer is all of it.
    /// The message is the one being handled or one that is held. Where a power hides tokens, a text
    /// `[hidden]` is in their place.
    pub fn read(id: MessageId, pointer: []const u8) Result(?Json, ChannelError) {
        return abi.call(interface, "read", Result(?Json, ChannelError), .{ id, pointer });
    }

    /// Keeps this, in whatever form the proxy likes, in place of what was kept before. A proxy that is
    /// started again after it broke gets back what it saved last. It is forgotten with the connection.
    pub fn save(state: []const u8) Result(void, ChannelError) {
        return abi.call(interface, "save", Result(void, ChannelError), .{state});
    }

    /// Says how far a call has come that is in the proxy's hands (see `tools`, `resources`, `prompts`,
    /// `completion`). `progress` grows with every report; `total` is what it reaches in the end, if that
    /// is known; `message` is for people. A caller that did not ask for progress is told nothing.
    pub fn reportProgress(call: MessageId, progress: f64, total: ?f64, message: ?[]const u8) Result(void, ChannelError) {
        return abi.call(interface, "report-progress", Result(void, ChannelError), .{ call, progress, total, message });
    }

    /// What the caller of a call that is in the proxy's hands said beside it: the `_meta` of its MCP
    /// request, an object. What the caller can is in it for every version of MCP, under
    /// `io.modelcontextprotocol/clientCapabilities`.
    pub fn callMeta(call: MessageId) Result(Json, ChannelError) {
        return abi.call(interface, "call-meta", Result(Json, ChannelError), .{call});
    }

    /// Asks the caller of a tool, a resource or a prompt, in a call that is in the proxy's hands:
    /// `elicitation/create`, `sampling/createMessage` or `roots/list` of MCP, where the caller says that
    /// it can. The answer comes as that of `request`, and `cancel` withdraws it; with the call it ends as
    /// cancelled. A call that asks is pending, so that `hold-time` is also the time for the answer.
    pub fn askCaller(call: MessageId, method: []const u8, params: Json) Result(MessageId, ChannelError) {
        return abi.call(interface, "ask-caller", Result(MessageId, ChannelError), .{ call, method, params });
    }

    /// Says that `tools.list-tools` would now give something else. Whoever uses the tools is told to
    /// list them again. From within `list-tools` there is nothing to say: what it returns is the list.
    /// Said there nevertheless, it is passed on once, and not again before it is said elsewhere.
    pub fn toolsChanged() Result(void, ChannelError) {
        return abi.call(interface, "tools-changed", Result(void, ChannelError), .{});
    }

    /// The same of `resources.list-resources`.
    pub fn resourcesChanged() Result(void, ChannelError) {
        return abi.call(interface, "resources-changed", Result(void, ChannelError), .{});
    }

    /// The same of `prompts.list-prompts`.
    pub fn promptsChanged() Result(void, ChannelError) {
        return abi.call(interface, "prompts-changed", Result(void, ChannelError), .{});
    }

    /// Says that `resources.read-resource` would now give something else for this URI. The host tells
    /// those who have subscribed to it.
    pub fn resourceChanged(uri: []const u8) Result(void, ChannelError) {
        return abi.call(interface, "resource-changed", Result(void, ChannelError), .{uri});
    }

    /// The name of the proxy: its `id` in the manifest. Under `acp-chain/` and this name it may leave
    /// marks in `_meta`, where a power lets it.
    pub fn proxyId() []const u8 {
        return abi.call(interface, "proxy-id", []const u8, .{});
    }

    /// Writes to the host's log.
    pub fn log(level: Level, text: []const u8) void {
        return abi.call(interface, "log", void, .{ level, text });
    }
};

/// What a proxy is: one instance a connection, called for one message at a time.
///
/// An `err` means that the proxy could not decide; so does an action that no power of its covers.
/// The message is then refused: a request is answered with an error that names the proxy, a response
/// turns into one, a notification is dropped. It goes on unchanged instead where the failure policy
/// is `bypass`, or where no power lets the proxy decide about it.
pub const handler = struct {
    const interface = "acp-chain:proxy/handler@0.1.1";

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
    /// Once, before any message. `config` is the proxy's table from the manifest, `{}` without one;
    /// `saved` is what an earlier instance of this connection saved, if that broke.
    ///
    ///     fn onRequest(request: Request) Result(Action, []const u8)
    ///
    ///     fn onNotification(notification: Notification) Result(Action, []const u8)
    ///
    ///     fn onResponse(response: Response) Result(Action, []const u8)
    /// A response that passes by, or the answer to a request of this proxy's own; for the latter
    /// the action returned means nothing.
    ///
    ///     fn onCancel(id: MessageId) Result(void, []const u8)
    /// The sender of a request that this proxy holds has withdrawn it, or the user has stopped the turn of
    /// a prompt that it holds (`session/cancel`). It is still held, and still to be settled: commonly
    /// with `reject` and the code -32800. For a prompt, the host makes of that the answer which says that
    /// its turn was cancelled; and one that was stopped goes no further, whatever it is settled with.
    /// After an `err` the host refuses it, whatever the failure policy: nobody waits for it any more.
    /// 
    /// It is also called when the limit `hold-time` has run out for a message that this proxy held. The host
    /// has taken that message back then, and there is nothing left to settle (`unknown-message`); what the
    /// proxy has asked for its sake is to be withdrawn (`channel.cancel`).
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

/// What the interfaces below have in common: an agent calls, and the proxy serves.
pub const calls = struct {

    pub const Json = types.Json;

    /// What comes of a call.
    pub const Outcome = union(enum) {
        /// The MCP result that the function names.
        done: Json,
        /// Settled later with `channel.settle`: `respond` with such a result, or `reject`. Until then it
        /// counts as a held message, and `handler.on-cancel` tells that the caller gave it up.
        pending,
    };
};

/// Optional: tools for the agent. A proxy that exports this interface, or `resources`, `prompts` or
/// `completion`, has an MCP server of the name that it has in the manifest; the host declares it in
/// every session, speaks MCP, and reaches any agent by a transport that the agent has. The power
/// `tools` is what lets it.
pub const tools = struct {
    const interface = "acp-chain:proxy/tools@0.1.1";

    pub const Json = types.Json;

    pub const MessageId = types.MessageId;

    pub const RpcError = types.RpcError;

    pub const Outcome = calls.Outcome;

    pub const Catalog = struct {
        /// How to use the tools together, for the model (MCP `instructions`).
        instructions: ?[]const u8 = null,
        /// Each an MCP `Tool`: an object with `name`, `inputSchema`, and best a `description`. The host
        /// leaves out a tool whose name another has, or with a schema that is none, and tells the user.
        tools: []const Json = &.{},
    };

    pub const ToolCall = struct {
        /// The number under which a pending call is settled.
        id: MessageId,
        /// The ACP session whose agent calls; none while the agent has not said yet what it calls it.
        session: ?[]const u8 = null,
        /// One of the tools that were listed.
        name: []const u8,
        /// An object that the tool's `inputSchema` accepts. The check is left to the tool where the
        /// schema refers to itself or elsewhere, is very large, has `unevaluatedProperties` or
        /// `unevaluatedItems`, or a `pattern` that looks around; where the arguments are very large; and
        /// for `format`.
        arguments: Json,
    };

    /// Exports what a proxy declares:
    ///
    ///     fn listTools(session: ?[]const u8) Result(Catalog, []const u8)
    /// What there is for a session. Called when a session's agent connects, and again after
    /// `channel.tools-changed`.
    ///
    ///     fn callTool(call: ToolCall) Result(Outcome, RpcError)
    /// Gives an MCP `CallToolResult`: an object with `content`, and `isError` if the tool failed.
    /// An `err` is an error of the protocol, not the tool's: the model may never see it.
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
    const interface = "acp-chain:proxy/resources@0.1.1";

    pub const Json = types.Json;

    pub const MessageId = types.MessageId;

    pub const RpcError = types.RpcError;

    pub const Outcome = calls.Outcome;

    pub const Catalog = struct {
        /// How to use the resources, for the model. Behind what `tools.list-tools` says.
        instructions: ?[]const u8 = null,
        /// Each an MCP `Resource`: an object with `uri`, `name`, and best a `description` and a
        /// `mimeType`. The host leaves out what lacks a URI or a name, or has the URI of another, and
        /// tells the user.
        resources: []const Json = &.{},
        /// Each an MCP `ResourceTemplate`: the same with `uriTemplate` (RFC 6570) in place of `uri`.
        templates: []const Json = &.{},
    };

    pub const ResourceRead = struct {
        /// The number under which a pending call is settled.
        id: MessageId,
        /// As in `tools.tool-call`.
        session: ?[]const u8 = null,
        /// Any that the agent chose: one of those that were listed, one by a template, one that a tool
        /// linked to, or none of these.
        uri: []const u8,
    };

    /// Exports what a proxy declares:
    ///
    ///     fn listResources(session: ?[]const u8) Result(Catalog, []const u8)
    /// What there is for a session. Called when a session's agent wants to know, and again after
    /// `channel.resources-changed`.
    ///
    ///     fn readResource(read: ResourceRead) Result(Outcome, RpcError)
    /// Gives an MCP `ReadResourceResult`: an object with `contents`. Where there is no such resource, an `err` with the code -32002.
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

/// Optional: prompts, which the user picks.
pub const prompts = struct {
    const interface = "acp-chain:proxy/prompts@0.1.1";

    pub const Json = types.Json;

    pub const MessageId = types.MessageId;

    pub const RpcError = types.RpcError;

    pub const Outcome = calls.Outcome;

    pub const PromptCall = struct {
        /// The number under which a pending call is settled.
        id: MessageId,
        /// As in `tools.tool-call`.
        session: ?[]const u8 = null,
        /// One of the prompts that were listed.
        name: []const u8,
        /// An object of texts, with all that the prompt requires.
        arguments: Json,
    };

    /// Exports what a proxy declares:
    ///
    ///     fn listPrompts(session: ?[]const u8) Result([]const Json, []const u8)
    /// What there is for a session: each an MCP `Prompt`, an object with `name`, and best a
    /// `description` and `arguments`. The host leaves out a prompt whose name another has, and tells
    /// the user. Called when a session's agent wants to know, and again after `channel.prompts-changed`.
    ///
    ///     fn getPrompt(call: PromptCall) Result(Outcome, RpcError)
    /// Gives an MCP `GetPromptResult`: an object with `messages`.
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

/// Optional: what the arguments of prompts, and the variables of resource templates, could be.
pub const completion = struct {
    const interface = "acp-chain:proxy/completion@0.1.1";

    pub const Json = types.Json;

    pub const MessageId = types.MessageId;

    pub const RpcError = types.RpcError;

    pub const Outcome = calls.Outcome;

    pub const CompletionCall = struct {
        /// The number under which a pending call is settled.
        id: MessageId,
        /// As in `tools.tool-call`.
        session: ?[]const u8 = null,
        /// What it is for: an object with the `type` `ref/prompt` and a `name`, or `ref/resource` and a
        /// `uri`, which is that of a template.
        reference: Json,
        /// The argument or variable that is being written.
        argument: []const u8,
        /// What of it is there already.
        value: []const u8,
        /// The others that are known: an object of texts.
        context: Json,
    };

    /// Exports what a proxy declares:
    ///
    ///     fn complete(call: CompletionCall) Result(Outcome, RpcError)
    /// Gives an MCP `CompleteResult`: an object with `completion`, whose `values` are at most 100 texts.
    pub fn serve(comptime Proxy: type) void {
        abi.serve(interface, "complete", struct {
            fn call(a0: u64, a1: u32, a2: u32, a3: u32, a4: u32, a5: u32, a6: u32, a7: u32, a8: u32, a9: u32, a10: u32, a11: u32) callconv(.c) [*]u8 {
                return abi.answer(Result(Outcome, RpcError), Proxy.complete, .{ a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11 });
            }
        }.call);
    }
};
