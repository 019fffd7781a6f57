//! The root of a component: exports the functions that the proxy declares. `std.log` writes to the log of acp-chain,
//! and so do panics.

const std = @import("std");
const acp = @import("acp_chain");
const proxy = @import("proxy");

pub const std_options: std.Options = .{ .logFn = log };
pub const panic = std.debug.FullPanic(panicked);

comptime {
    acp.wit.handler.serve(struct {
        pub const init = proxy.init;
        pub const onRequest = declared("onRequest");
        pub const onNotification = declared("onNotification");
        pub const onResponse = declared("onResponse");
        pub const onCancel = declared("onCancel");
    });
    if (@hasDecl(proxy, "listTools")) acp.wit.tools.serve(proxy);
    if (@hasDecl(proxy, "listResources")) acp.wit.resources.serve(proxy);
    if (@hasDecl(proxy, "listPrompts")) acp.wit.prompts.serve(proxy);
    if (@hasDecl(proxy, "complete")) acp.wit.completion.serve(proxy);
}

fn declared(comptime name: []const u8) @TypeOf(@field(if (@hasDecl(proxy, name)) proxy else acp.passing, name)) {
    return @field(if (@hasDecl(proxy, name)) proxy else acp.passing, name);
}

fn log(comptime level: std.log.Level, comptime scope: @EnumLiteral(), comptime format: []const u8, values: anytype) void {
    const prefix = if (scope == .default) "" else @tagName(scope) ++ ": ";
    const text = std.fmt.allocPrint(acp.arena, prefix ++ format, values) catch return;
    acp.channel.log(switch (level) {
        .err => .@"error",
        .warn => .warn,
        .info => .info,
        .debug => .debug,
    }, text);
}

fn panicked(message: []const u8, _: ?usize) noreturn {
    acp.channel.log(.@"error", message);
    @trap();
}
