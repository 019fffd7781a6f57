const std = @import("std");

/// Makes `build/bin/proxy.wasm`, of which `acp-chain build` makes the component.
pub fn build(b: *std.Build) void {
    const target = b.resolveTargetQuery(.{ .cpu_arch = .wasm32, .os_tag = .freestanding });
    const acp_chain = b.createModule(.{ .root_source_file = b.path("sdk/acp_chain.zig") });
    const proxy = b.createModule(.{
        .root_source_file = b.path("src/proxy.zig"),
        .imports = &.{.{ .name = "acp_chain", .module = acp_chain }},
    });
    const module = b.addExecutable(.{
        .name = "proxy",
        .root_module = b.createModule(.{
            .root_source_file = b.path("sdk/main.zig"),
            .target = target,
            .optimize = .safe,
            .imports = &.{
                .{ .name = "acp_chain", .module = acp_chain },
                .{ .name = "proxy", .module = proxy },
            },
        }),
    });
    module.entry = .disabled;
    module.rdynamic = true;
    module.stack_size = 256 * 1024;
    b.installArtifact(module);
}
