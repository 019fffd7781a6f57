//! Counts the tool calls of a turn, and shows the number at its end.

const std = @import("std");
const acp = @import("acp_chain");

/// The tool calls of each session since its last turn.
var calls: std.StringHashMapUnmanaged(u32) = .empty;

pub fn init(_: []const u8, _: ?[]const u8) acp.Registration {
    return .{
        .subscriptions = &.{
            .{ .method = "session/update", .sender = .agent, .kinds = .{ .notification = true } },
            .{ .method = "session/prompt", .sender = .agent, .kinds = .{ .response = true } },
        },
        .on_failure = .bypass,
    };
}

pub fn onNotification(update: acp.Notification) !acp.Action {
    const session = update.head.session orelse return .forward;
    const kind = try acp.read([]const u8, update.head.id, "/update/sessionUpdate") orelse return .forward;
    if (std.mem.eql(u8, kind, "tool_call")) {
        const count = try calls.getOrPutValue(acp.gpa, session, 0);
        // A handler's arguments are freed when it returns.
        if (count.value_ptr.* == 0) count.key_ptr.* = try acp.gpa.dupe(u8, session);
        count.value_ptr.* += 1;
    }
    return .forward;
}

pub fn onResponse(turn: acp.Response) !acp.Action {
    const session = turn.head.session orelse return .forward;
    const counted = calls.fetchRemove(session) orelse return .forward;
    acp.gpa.free(counted.key);
    const noun: []const u8 = if (counted.value == 1) "tool call" else "tool calls";
    const format = "\n\n**{s}**: {d} {s} in this turn.\n\n";
    const text = try std.fmt.allocPrint(acp.arena, format, .{ acp.channel.proxyId(), counted.value, noun });
    try acp.notify(.client, "session/update", .{
        .sessionId = session,
        .update = .{ .sessionUpdate = "agent_message_chunk", .content = .{ .type = "text", .text = text } },
    });
    return .forward;
}
