//! Answers permission requests by rule: allows reading and searching, and forwards all others to the client.

const std = @import("std");
const acp = @import("acp_chain");

/// The kinds of tool calls (`ToolKind` of the protocol) that are allowed.
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
