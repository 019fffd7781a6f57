//! Masks listed words in the agent's output with stars. A word may be split between two chunks: the end of a chunk
//! that may begin a listed word is held until the word is complete.

const std = @import("std");
const acp = @import("acp_chain");
const Filter = @import("filter.zig");

var words: []const []const u8 = &.{};

/// The message that is being streamed in a session.
const Running = struct {
    /// The id of the message; empty if it has none.
    message: []const u8,
    filter: Filter = .{},
};

/// The running messages, by session.
var running: std.StringHashMapUnmanaged(Running) = .empty;

pub fn init(config: []const u8, _: ?[]const u8) !acp.Registration {
    const Config = struct { words: []const []const u8 };
    const parsed = try std.json.parseFromSliceLeaky(Config, acp.gpa, config, .{ .allocate = .alloc_always });
    for (parsed.words) |word| {
        // The beginning of a longer word would be sent before the rest arrives.
        if (word.len > Filter.longest) return acp.fail("a word has at most {d} letters", .{Filter.longest});
    }
    words = parsed.words;
    return .{
        .subscriptions = &.{
            .{ .method = "session/update", .sender = .agent, .kinds = .{ .notification = true } },
            .{ .method = "session/prompt", .sender = .agent, .kinds = .{ .response = true } },
        },
        .on_failure = .restart,
    };
}

pub fn onNotification(update: acp.Notification) !acp.Action {
    const session = update.head.session orelse return .forward;
    const kind = string(update.head.id, "/update/sessionUpdate") orelse return .forward;
    // A usage update may arrive within a message.
    if (std.mem.eql(u8, kind, "usage_update")) return .forward;
    const is_chunk = std.mem.eql(u8, kind, "agent_message_chunk");
    const text = if (is_chunk) string(update.head.id, "/update/content/text") else null;
    const part = text orelse {
        try finish(session);
        return .forward;
    };
    const message = string(update.head.id, "/update/messageId") orelse "";
    if (running.get(session)) |last| {
        if (!std.mem.eql(u8, last.message, message)) try finish(session);
    }
    const entry = try running.getOrPut(acp.gpa, session);
    if (!entry.found_existing) {
        // A handler's arguments are freed when it returns.
        entry.key_ptr.* = try acp.gpa.dupe(u8, session);
        entry.value_ptr.* = .{ .message = try acp.gpa.dupe(u8, message) };
    }
    const mild = try entry.value_ptr.filter.next(acp.arena, words, part);
    if (mild.len == 0) return .discard;
    if (std.mem.eql(u8, mild, part)) return .forward;
    return acp.edit("/update/content/text", mild);
}

/// The text at a JSON Pointer of a message; null if there is none, or it cannot be read.
fn string(id: acp.MessageId, pointer: []const u8) ?[]const u8 {
    return acp.read([]const u8, id, pointer) catch null;
}

/// Completes the message of a session: sends the held text before the next message.
fn finish(session: []const u8) !void {
    const last = running.fetchRemove(session) orelse return;
    defer acp.gpa.free(last.key);
    defer acp.gpa.free(last.value.message);
    var filter = last.value.filter;
    const rest = try filter.end(acp.arena, words);
    if (rest.len == 0) return;
    try acp.notify(.client, "session/update", .{
        .sessionId = session,
        .update = .{ .sessionUpdate = "agent_message_chunk", .content = .{ .type = "text", .text = rest } },
    });
}

pub fn onResponse(turn: acp.Response) !acp.Action {
    if (turn.head.session) |session| try finish(session);
    return .forward;
}
