//! Gives the agent a tool that counts words.

const std = @import("std");
const acp = @import("acp_chain");

const tool = .{
    .name = "count_words",
    .description = "Counts the words of a text: what stands between spaces and line breaks.",
    .inputSchema = .{
        .type = "object",
        .properties = .{ .text = .{ .type = "string", .description = "The text whose words are counted." } },
        .required = .{"text"},
    },
    .annotations = .{ .readOnlyHint = true, .openWorldHint = false },
};

pub fn listTools(_: ?[]const u8) !acp.Catalog {
    return .{ .tools = try acp.arena.dupe([]const u8, &.{try acp.json(tool)}) };
}

/// acp-chain checks the arguments against the schema, and calls no other tool.
pub fn callTool(call: acp.ToolCall) !acp.Outcome {
    const arguments = try acp.parse(struct { text: []const u8 }, call.arguments);
    var words = std.mem.tokenizeAny(u8, arguments.text, " \t\r\n");
    var count: u32 = 0;
    while (words.next()) |_| count += 1;
    return acp.text("{d}", .{count});
}

/// Subscribes to nothing, and so receives no messages.
pub fn init(_: []const u8, _: ?[]const u8) acp.Registration {
    return .{ .on_failure = .restart };
}
