//! Adds a file of the client's to each prompt, which waits for it.

const std = @import("std");
const acp = @import("acp_chain");

/// The prompts that wait, by the request for the file.
var waiting: std.AutoHashMapUnmanaged(acp.MessageId, acp.MessageId) = .empty;

pub fn init(_: []const u8, _: ?[]const u8) acp.Registration {
    return .{
        .subscriptions = &.{.{ .method = "session/prompt", .sender = .client, .kinds = .{ .request = true } }},
        .on_failure = .bypass,
    };
}

pub fn onRequest(prompt: acp.Request) !acp.Action {
    const params = .{ .path = "/project/RULES.md", .sessionId = prompt.head.session };
    const file = try acp.request(.client, "fs/read_text_file", params);
    try waiting.put(acp.gpa, file, prompt.head.id);
    return .hold;
}

pub fn onResponse(file: acp.Response) !acp.Action {
    const held = waiting.fetchRemove(file.head.id) orelse return .forward;
    const action: acp.Action = switch (file.outcome) {
        .ok => |result| found: {
            const read = try acp.parse(struct { content: []const u8 }, result);
            break :found try acp.edit("/prompt/-", .{ .type = "text", .text = read.content });
        },
        .err => .forward,
    };
    try acp.settle(held.value, action);
    return .forward;
}

pub fn onCancel(prompt: acp.MessageId) !void {
    var all = waiting.iterator();
    while (all.next()) |one| {
        if (one.value_ptr.* != prompt) continue;
        const file = one.key_ptr.*;
        _ = waiting.remove(file);
        try acp.done(acp.channel.cancel(file));
        break;
    }
    acp.passing.onCancel(prompt);
}
