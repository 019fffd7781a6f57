//! Puts stars in place of listed words in what the agent streams. A word may come in two chunks: the end of a chunk
//! that may be the beginning of one is held until it is clear what it is.

const std = @import("std");
const acp = @import("acp_chain");
const Filter = @import("filter.zig");

var words: []const []const u8 = &.{};

/// What is under way in each session.
var filters: std.StringHashMapUnmanaged(Filter) = .empty;

pub fn init(config: []const u8, _: ?[]const u8) !acp.Registration {
    const Config = struct { words: []const []const u8 };
    const parsed = try std.json.parseFromSliceLeaky(Config, acp.gpa, config, .{ .allocate = .alloc_always });
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
    if (!std.mem.eql(u8, kind, "agent_message_chunk")) return .forward;
    const text = string(update.head.id, "/update/content/text") orelse return .forward;
    const filter = try filters.getOrPut(acp.gpa, session);
    if (!filter.found_existing) {
        // What a handler is given does not outlive it.
        filter.key_ptr.* = try acp.gpa.dupe(u8, session);
        filter.value_ptr.* = .{};
    }
    const mild = try filter.value_ptr.next(acp.arena, words, text);
    if (mild.len == 0) return .discard;
    if (std.mem.eql(u8, mild, text)) return .forward;
    return acp.edit("/update/content/text", mild);
}

/// What a message says in one place; null, if it is no text that can be read.
fn string(id: acp.MessageId, pointer: []const u8) ?[]const u8 {
    return acp.read([]const u8, id, pointer) catch null;
}

/// What is held at the end of a turn goes out before the answer that ends it.
pub fn onResponse(turn: acp.Response) !acp.Action {
    const session = turn.head.session orelse return .forward;
    const filter = filters.fetchRemove(session) orelse return .forward;
    defer acp.gpa.free(filter.key);
    var last = filter.value;
    const rest = try last.end(acp.arena, words);
    if (rest.len > 0) {
        try acp.notify(.client, "session/update", .{
            .sessionId = session,
            .update = .{ .sessionUpdate = "agent_message_chunk", .content = .{ .type = "text", .text = rest } },
        });
    }
    return .forward;
}
