//! Asks the agent for brief answers.

const acp = @import("acp_chain");

pub fn init(_: []const u8, _: ?[]const u8) acp.Registration {
    return .{
        .subscriptions = &.{.{ .method = "session/prompt", .sender = .client, .kinds = .{ .request = true } }},
        // If the proxy breaks, prompts are forwarded unchanged.
        .on_failure = .bypass,
    };
}

pub fn onRequest(_: acp.Request) !acp.Action {
    return acp.edit("/prompt/-", .{ .type = "text", .text = "Be brief." });
}
