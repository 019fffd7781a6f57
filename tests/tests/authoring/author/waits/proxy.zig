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

fn withFile(file: acp.Response) !acp.Action {
    const result = switch (file.outcome) {
        .ok => |result| result,
        .err => return .forward,
    };
    const read = try acp.parse(struct { content: []const u8 }, result);
    return acp.edit("/prompt/-", .{ .type = "text", .text = read.content });
}

pub fn onResponse(file: acp.Response) !acp.Action {
    const held = waiting.fetchRemove(file.head.id) orelse return .forward;
    // A prompt that cannot be changed goes on as it is.
    const action: acp.Action = withFile(file) catch .forward;
    acp.settle(held.value, action) catch try acp.settle(held.value, .forward);
    return .forward;
}

pub fn onCancel(prompt: acp.MessageId) void {
    var all = waiting.iterator();
    while (all.next()) |one| {
        if (one.value_ptr.* != prompt) continue;
        const file = one.key_ptr.*;
        _ = waiting.remove(file);
        _ = acp.channel.cancel(file);
        break;
    }
    acp.passing.onCancel(prompt);
}
