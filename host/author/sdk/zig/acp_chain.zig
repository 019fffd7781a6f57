//! The SDK for proxies in Zig. The whole interface is in `wit`; this file has shortcuts for common uses.
//!
//! A proxy declares `init`, and any of `onRequest`, `onNotification`, `onResponse` and `onCancel`; without them every
//! message is forwarded, and cancelled messages are rejected. With `listTools` and `callTool` it has
//! tools, with `listResources` and `readResource` resources, with `listPrompts` and `getPrompt` prompts, and with
//! `complete` it completes their arguments.
//!
//! Handlers return their decision, or an error, whose name is shown to the user; `fail` returns an error with a text.

const std = @import("std");
const abi = @import("abi.zig");

pub const wit = @import("wit.zig");
pub const Action = wit.types.Action;
pub const MessageId = wit.types.MessageId;
pub const Notification = wit.types.Notification;
pub const Peer = wit.types.Peer;
pub const Registration = wit.types.Registration;
pub const Request = wit.types.Request;
pub const Response = wit.types.Response;
pub const Sender = wit.types.Sender;
pub const Subscription = wit.types.Subscription;
pub const Catalog = wit.tools.Catalog;
pub const Outcome = wit.calls.Outcome;
pub const ToolCall = wit.tools.ToolCall;
pub const channel = wit.channel;

/// The allocator for data that is needed only until a handler returns. A handler's arguments are in it.
pub const arena = abi.arena;

/// The allocator for persistent data.
pub const gpa = std.heap.wasm_allocator;

/// Forwards the message with this value at a JSON Pointer. A last part `-` adds to an array.
pub fn edit(pointer: []const u8, value: anytype) !Action {
    const edits = try arena.dupe(wit.types.Edit, &.{.{ .pointer = pointer, .change = .{ .set = try json(value) } }});
    return .{ .edit = edits };
}

/// Answers the request with this result, instead of forwarding it.
pub fn respond(value: anytype) !Action {
    return .{ .respond = try json(value) };
}

/// A tool's result, as a text.
pub fn text(comptime format: []const u8, values: anytype) !Outcome {
    const content = .{ .type = "text", .text = try std.fmt.allocPrint(arena, format, values) };
    return .{ .done = try json(.{ .content = .{content} }) };
}

/// A value as JSON text.
pub fn json(value: anytype) ![]const u8 {
    return std.json.Stringify.valueAlloc(arena, value, .{});
}

/// The value of a JSON text, ignoring members that the type does not have.
pub fn parse(comptime T: type, body: []const u8) !T {
    return std.json.parseFromSliceLeaky(T, arena, body, .{ .ignore_unknown_fields = true });
}

/// The JSON at a JSON Pointer of a message without its body; null if there is none.
pub fn read(comptime T: type, id: MessageId, pointer: []const u8) !?T {
    const part = try done(channel.read(id, pointer)) orelse return null;
    return try parse(T, part);
}

/// Sends a request to a neighbour. `onResponse` receives the answer under the returned number.
pub fn request(to: Peer, method: []const u8, params: anytype) !MessageId {
    return done(channel.request(to, method, try json(params)));
}

/// Sends a notification to a neighbour.
pub fn notify(to: Peer, method: []const u8, params: anytype) !void {
    return done(channel.notify(to, method, try json(params)));
}

/// Settles a message for which a handler returned `hold`, or a tool `pending`.
pub fn settle(id: MessageId, action: Action) !void {
    return done(channel.settle(id, action));
}

/// A failure with a text for the user: `return acp.fail("there is no {s}", .{name});`.
pub fn fail(comptime format: []const u8, values: anytype) error{ AcpFailed, OutOfMemory } {
    abi.reason = std.fmt.allocPrint(arena, format, values) catch |failure| return failure;
    return error.AcpFailed;
}

/// The result of a function of the channel, or its failure as an error.
pub fn done(outcome: anytype) !@FieldType(@TypeOf(outcome), "ok") {
    return switch (outcome) {
        .ok => |ok| ok,
        .err => |failure| fail("{s}", .{failure.message}),
    };
}

/// Defaults of optional handlers.
pub const passing = struct {
    pub fn onRequest(_: Request) Action {
        return .forward;
    }

    pub fn onNotification(_: Notification) Action {
        return .forward;
    }

    pub fn onResponse(_: Response) Action {
        return .forward;
    }

    pub fn onCancel(id: MessageId) void {
        // Fails if the host has settled the message.
        settle(id, .{ .reject = .{ .code = -32800, .message = "Request cancelled" } }) catch {};
    }
};
