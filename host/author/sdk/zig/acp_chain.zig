//! What proxies in Zig have in common. The whole interface is in `wit`; what follows is short for what most need.
//!
//! A proxy declares `init`, and of `onRequest`, `onNotification`, `onResponse` and `onCancel` what it wants;
//! without them every message passes, and what is withdrawn is given up. With `listTools` and `callTool` it has
//! tools, with `listResources` and `readResource` resources, with `listPrompts` and `getPrompt` prompts, and with
//! `complete` it completes their arguments.
//!
//! Handlers return what they decided, or an error, whose name is what users are told; `fail` tells them more.

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

/// For what is needed no longer than until a handler returns. All that a handler is given is in it.
pub const arena = abi.arena;

/// For what is remembered.
pub const gpa = std.heap.wasm_allocator;

/// The message goes on with this value at a JSON Pointer. A last part `-` adds to an array.
pub fn edit(pointer: []const u8, value: anytype) !Action {
    const edits = try arena.dupe(wit.types.Edit, &.{.{ .pointer = pointer, .change = .{ .set = try json(value) } }});
    return .{ .edit = edits };
}

/// The request is answered with this, and goes no further.
pub fn respond(value: anytype) !Action {
    return .{ .respond = try json(value) };
}

/// What a tool gives, as a text.
pub fn text(comptime format: []const u8, values: anytype) !Outcome {
    const content = .{ .type = "text", .text = try std.fmt.allocPrint(arena, format, values) };
    return .{ .done = try json(.{ .content = .{content} }) };
}

/// A value as JSON text.
pub fn json(value: anytype) ![]const u8 {
    return std.json.Stringify.valueAlloc(arena, value, .{});
}

/// What a JSON text says, without the members that the type has not.
pub fn parse(comptime T: type, body: []const u8) !T {
    return std.json.parseFromSliceLeaky(T, arena, body, .{ .ignore_unknown_fields = true });
}

/// What is at a JSON Pointer of a message that came without its body; null, if nothing is.
pub fn read(comptime T: type, id: MessageId, pointer: []const u8) !?T {
    const part = try done(channel.read(id, pointer)) orelse return null;
    return try parse(T, part);
}

/// Asks a neighbour. The answer comes to `onResponse` under this number.
pub fn request(to: Peer, method: []const u8, params: anytype) !MessageId {
    return done(channel.request(to, method, try json(params)));
}

/// Tells a neighbour.
pub fn notify(to: Peer, method: []const u8, params: anytype) !void {
    return done(channel.notify(to, method, try json(params)));
}

/// Settles what a handler has answered with `hold`, or a tool with `pending`.
pub fn settle(id: MessageId, action: Action) !void {
    return done(channel.settle(id, action));
}

/// A failure of which users are told this: `return acp.fail("there is no {s}", .{name});`.
pub fn fail(comptime format: []const u8, values: anytype) error{ AcpFailed, OutOfMemory } {
    abi.reason = std.fmt.allocPrint(arena, format, values) catch |failure| return failure;
    return error.AcpFailed;
}

/// What a function of the channel gives, or why not, as an error.
pub fn done(outcome: anytype) !@FieldType(@TypeOf(outcome), "ok") {
    return switch (outcome) {
        .ok => |ok| ok,
        .err => |failure| fail("{s}", .{failure.message}),
    };
}

/// What handlers do that a proxy leaves out.
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
        // If not, the host has taken it back.
        settle(id, .{ .reject = .{ .code = -32800, .message = "Request cancelled" } }) catch {};
    }
};
