//! Answers requests for permission by rule: what only reads is allowed, and the user is asked about all else.

const std = @import("std");
const acp = @import("acp_chain");

/// The kinds of tool calls that are allowed, in the words of the protocol.
const allowed: std.StaticStringMap(void) = .initComptime(.{ .{"read"}, .{"search"} });

pub fn init(_: []const u8, _: ?[]const u8) acp.Registration {
    return .{
        .subscriptions = &.{.{
            .method = "session/request_permission",
            .sender = .agent,
            .kinds = .{ .request = true },
            .with_body = true,
        }},
        // Better no answer than a wrong one.
        .on_failure = .refuse,
        .guard = true,
    };
}

const Asked = struct {
    toolCall: ?struct { kind: ?[]const u8 = null } = null,
    options: []const struct { optionId: []const u8, kind: []const u8 },
};

pub fn onRequest(request: acp.Request) !acp.Action {
    const asked = try acp.parse(Asked, request.params);
    const call = asked.toolCall orelse return .forward;
    if (!allowed.has(call.kind orelse "")) return .forward;
    for (asked.options) |option| {
        if (!std.mem.eql(u8, option.kind, "allow_once")) continue;
        return acp.respond(.{ .outcome = .{ .outcome = "selected", .optionId = option.optionId } });
    }
    return .forward;
}
