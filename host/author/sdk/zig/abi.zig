//! The canonical ABI of the component model, for the types of the interface.
//!
//! A handler's arguments and allocations are in one arena, which is emptied when the host has read the answer. A string
//! is never copied.

const std = @import("std");
const Allocator = std.mem.Allocator;
const names = std.meta.fieldNames;
const types = std.meta.fieldTypes;

var memory: std.heap.ArenaAllocator = .init(std.heap.wasm_allocator);

/// Allocations here are freed when the handler's answer has been read.
pub const arena: Allocator = memory.allocator();

/// The maximum size of the memory that the arena keeps for the next message, in bytes.
const kept = 64 * 1024;

pub fn Result(comptime Ok: type, comptime Err: type) type {
    return union(enum) { ok: Ok, err: Err };
}

/// The text with which a handler fails, in the arena. The handler returns `error.AcpFailed` for it.
pub var reason: ?[]const u8 = null;

/// Calls a function of the host.
pub fn call(comptime interface: []const u8, comptime name: []const u8, comptime R: type, args: anytype) R {
    const cores = comptime flatOf(@TypeOf(args)) ++ if (R == void) &[_]Core{} else &[_]Core{.i32};
    const params = comptime blk: {
        var params: [cores.len]type = undefined;
        for (&params, cores) |*param, core| param.* = core.Type();
        break :blk params;
    };
    const Import = @Fn(&params, &@splat(.{}), void, .{ .@"callconv" = .c });
    const import = @extern(*const Import, .{ .name = name, .library_name = interface });

    var bits: [cores.len]u64 = undefined;
    lowerFlat(@TypeOf(args), args, &bits);
    const returned = room(R);
    if (R != void) bits[cores.len - 1] = @intFromPtr(returned);
    var given: std.meta.ArgsTuple(Import) = undefined;
    inline for (&given, bits, cores) |*to, from, core| to.* = core.of(from);
    @call(.auto, import, given);
    return load(R, returned);
}

/// Exports a function, with the parameters and the result of the ABI.
pub fn serve(comptime interface: []const u8, comptime name: []const u8, comptime function: anytype) void {
    @export(&function, .{ .name = interface ++ "#" ++ name });
    @export(&after, .{ .name = "cabi_post_" ++ interface ++ "#" ++ name });
}

/// Called when the host has read the answer.
fn after(_: [*]u8) callconv(.c) void {
    reason = null;
    _ = memory.reset(.{ .retain_with_limit = kept });
}

/// Calls a handler with its arguments, and returns the address of the answer.
pub fn answer(comptime R: type, comptime handler: anytype, given: anytype) [*]u8 {
    var bits: [given.len]u64 = undefined;
    inline for (&bits, given) |*to, from| to.* = switch (@TypeOf(from)) {
        f64 => @bitCast(from),
        else => from,
    };
    var args: std.meta.ArgsTuple(@TypeOf(handler)) = undefined;
    comptime var at = 0;
    inline for (&args) |*arg| {
        const Arg = @TypeOf(arg.*);
        arg.* = liftFlat(Arg, bits[at..]);
        at += comptime flatOf(Arg).len;
    }
    const returned = room(R);
    store(R, returned, result(R, @call(.auto, handler, args)));
    return returned;
}

/// A handler returns its decision, an error, or the complete result.
fn result(comptime R: type, returned: anytype) R {
    switch (@typeInfo(@TypeOf(returned))) {
        .error_union => return .{ .ok = returned catch |failure| {
            const told: ?[]const u8 = if (failure == error.AcpFailed) reason else null;
            const text = told orelse @errorName(failure);
            return .{ .err = if (@FieldType(R, "err") == []const u8) text else .{ .code = -32603, .message = text } };
        } },
        else => return if (@TypeOf(returned) == R) returned else .{ .ok = returned },
    }
}

fn room(comptime T: type) [*]u8 {
    return cabi_realloc(undefined, 0, alignOf(T), sizeOf(T));
}

/// Allocates memory for values from the host.
export fn cabi_realloc(old: [*]u8, old_size: usize, alignment: usize, size: usize) [*]u8 {
    if (size == 0) return @ptrFromInt(alignment);
    const new = arena.rawAlloc(size, .fromByteUnits(alignment), @returnAddress()) orelse @panic("out of memory");
    @memcpy(new[0..@min(old_size, size)], old);
    return new;
}

// Values in memory.

fn sizeOf(comptime T: type) usize {
    const end = comptime switch (@typeInfo(T)) {
        .void => 0,
        .bool, .int, .float => @sizeOf(T),
        .@"enum" => 1,
        .pointer => 8,
        .optional => |optional| payloadAt(T) + sizeOf(optional.child),
        .@"union" => payloadAt(T) + blk: {
            var most: usize = 0;
            for (types(T)) |Case| most = @max(most, sizeOf(Case));
            break :blk most;
        },
        .@"struct" => |is| if (is.layout == .@"packed") 1 else blk: {
            var at: usize = 0;
            for (types(T)) |Field| at = std.mem.alignForward(usize, at, alignOf(Field)) + sizeOf(Field);
            break :blk at;
        },
        else => @compileError("the interface has no " ++ @typeName(T)),
    };
    return std.mem.alignForward(usize, end, alignOf(T));
}

fn alignOf(comptime T: type) usize {
    return comptime switch (@typeInfo(T)) {
        .pointer => 4,
        .int, .float => @sizeOf(T),
        .optional => |optional| alignOf(optional.child),
        .@"struct", .@"union" => blk: {
            var most: usize = 1;
            if (isPacked(T)) break :blk most;
            for (types(T)) |Part| most = @max(most, alignOf(Part));
            break :blk most;
        },
        else => 1,
    };
}

fn isPacked(comptime T: type) bool {
    return switch (@typeInfo(T)) {
        .@"struct" => |is| is.layout == .@"packed",
        else => false,
    };
}

/// The offset of the value of an option or a variant, after the number of its case.
fn payloadAt(comptime T: type) usize {
    return std.mem.alignForward(usize, 1, alignOf(T));
}

fn load(comptime T: type, at: [*]const u8) T {
    switch (@typeInfo(T)) {
        .void => return {},
        .bool => return at[0] != 0,
        .int => return std.mem.readInt(T, at[0..@sizeOf(T)], .little),
        .float => return @bitCast(load(u64, at)),
        .@"enum" => return @enumFromInt(at[0]),
        .pointer => return list(T, load(u32, at), load(u32, at + 4)),
        .optional => |optional| return if (at[0] == 0) null else load(optional.child, at + payloadAt(T)),
        .@"union" => inline for (comptime names(T), comptime types(T), 0..) |name, Case, case| {
            if (at[0] == case) return @unionInit(T, name, load(Case, at + payloadAt(T)));
        } else unreachable,
        .@"struct" => {
            if (comptime isPacked(T)) return @bitCast(at[0]);
            var record: T = undefined;
            comptime var offset = 0;
            inline for (comptime names(T), comptime types(T)) |name, Field| {
                offset = comptime std.mem.alignForward(usize, offset, alignOf(Field));
                @field(record, name) = load(Field, at + offset);
                offset += comptime sizeOf(Field);
            }
            return record;
        },
        else => comptime unreachable,
    }
}

fn store(comptime T: type, at: [*]u8, value: T) void {
    switch (@typeInfo(T)) {
        .void => {},
        .bool => at[0] = @intFromBool(value),
        .int => std.mem.writeInt(T, at[0..@sizeOf(T)], value, .little),
        .float => store(u64, at, @bitCast(value)),
        .@"enum" => at[0] = @intFromEnum(value),
        .pointer => {
            const elements = unlist(T, value);
            store(u32, at, @intFromPtr(elements));
            store(u32, at + 4, value.len);
        },
        .optional => |optional| {
            at[0] = @intFromBool(value != null);
            if (value) |some| store(optional.child, at + payloadAt(T), some);
        },
        .@"union" => switch (value) {
            inline else => |payload, tag| {
                at[0] = @intFromEnum(tag);
                store(@TypeOf(payload), at + payloadAt(T), payload);
            },
        },
        .@"struct" => {
            if (comptime isPacked(T)) {
                at[0] = @bitCast(value);
                return;
            }
            comptime var offset = 0;
            inline for (comptime names(T), comptime types(T)) |name, Field| {
                offset = comptime std.mem.alignForward(usize, offset, alignOf(Field));
                store(Field, at + offset, @field(value, name));
                offset += comptime sizeOf(Field);
            }
        },
        else => comptime unreachable,
    }
}

/// A list from the host.
fn list(comptime T: type, address: u32, len: u32) T {
    const Element = std.meta.Elem(T);
    if (len == 0) return &.{};
    const at: [*]const u8 = @ptrFromInt(address);
    if (Element == u8) return at[0..len];
    const elements = arena.alloc(Element, len) catch @panic("out of memory");
    for (elements, 0..) |*element, i| element.* = load(Element, at + i * sizeOf(Element));
    return elements;
}

/// A list for the host.
fn unlist(comptime T: type, elements: T) [*]const u8 {
    const Element = std.meta.Elem(T);
    if (Element == u8) return elements.ptr;
    const at = cabi_realloc(undefined, 0, alignOf(Element), elements.len * sizeOf(Element));
    for (elements, 0..) |element, i| store(Element, at + i * sizeOf(Element), element);
    return at;
}

// Values as parameters. They are stored as bits, since the cases of a variant share their parameters.

const Core = enum {
    i32,
    i64,
    f64,

    fn Type(comptime core: Core) type {
        return switch (core) {
            .i32 => u32,
            .i64 => u64,
            .f64 => f64,
        };
    }

    fn of(comptime core: Core, bits: u64) core.Type() {
        return switch (core) {
            .i32 => @truncate(bits),
            .i64 => bits,
            .f64 => @bitCast(bits),
        };
    }
};

fn flatOf(comptime T: type) []const Core {
    switch (@typeInfo(T)) {
        .void => return &.{},
        .float => return &.{.f64},
        .int => |int| return if (int.bits == 64) &.{.i64} else &.{.i32},
        .bool, .@"enum" => return &.{.i32},
        .pointer => return &.{ .i32, .i32 },
        .optional => |optional| return &[_]Core{.i32} ++ flatOf(optional.child),
        .@"union" => {
            var cores: []const Core = &.{};
            for (types(T)) |Case| {
                const more = flatOf(Case);
                var joined: []const Core = &.{};
                for (0..@max(cores.len, more.len)) |i| {
                    const core = if (i >= more.len) cores[i] else if (i >= cores.len or cores[i] == more[i]) more[i] else .i64;
                    joined = joined ++ &[_]Core{core};
                }
                cores = joined;
            }
            return &[_]Core{.i32} ++ cores;
        },
        .@"struct" => {
            if (isPacked(T)) return &.{.i32};
            var cores: []const Core = &.{};
            for (types(T)) |Field| cores = cores ++ flatOf(Field);
            return cores;
        },
        else => @compileError("the interface has no " ++ @typeName(T)),
    }
}

fn lowerFlat(comptime T: type, value: T, into: []u64) void {
    switch (@typeInfo(T)) {
        .void => {},
        .bool => into[0] = @intFromBool(value),
        .int => |int| into[0] = @as(@Int(.unsigned, int.bits), @bitCast(value)),
        .float => into[0] = @bitCast(value),
        .@"enum" => into[0] = @intFromEnum(value),
        .pointer => {
            into[0] = @intFromPtr(unlist(T, value));
            into[1] = value.len;
        },
        .optional => |optional| {
            @memset(into[0..comptime flatOf(T).len], 0);
            into[0] = @intFromBool(value != null);
            if (value) |some| lowerFlat(optional.child, some, into[1..]);
        },
        .@"union" => {
            @memset(into[0..comptime flatOf(T).len], 0);
            switch (value) {
                inline else => |payload, tag| {
                    into[0] = @intFromEnum(tag);
                    lowerFlat(@TypeOf(payload), payload, into[1..]);
                },
            }
        },
        .@"struct" => {
            if (comptime isPacked(T)) {
                into[0] = @as(u8, @bitCast(value));
                return;
            }
            comptime var at = 0;
            inline for (comptime names(T), comptime types(T)) |name, Field| {
                lowerFlat(Field, @field(value, name), into[at..]);
                at += comptime flatOf(Field).len;
            }
        },
        else => comptime unreachable,
    }
}

fn liftFlat(comptime T: type, from: []const u64) T {
    switch (@typeInfo(T)) {
        .void => return {},
        .bool => return from[0] != 0,
        .int => |int| return @bitCast(@as(@Int(.unsigned, int.bits), @truncate(from[0]))),
        .float => return @bitCast(from[0]),
        .@"enum" => return @enumFromInt(from[0]),
        .pointer => return list(T, @truncate(from[0]), @truncate(from[1])),
        .optional => |optional| return if (from[0] == 0) null else liftFlat(optional.child, from[1..]),
        .@"union" => inline for (comptime names(T), comptime types(T), 0..) |name, Case, case| {
            if (from[0] == case) return @unionInit(T, name, liftFlat(Case, from[1..]));
        } else unreachable,
        .@"struct" => {
            if (comptime isPacked(T)) return @bitCast(@as(u8, @truncate(from[0])));
            var record: T = undefined;
            comptime var at = 0;
            inline for (comptime names(T), comptime types(T)) |name, Field| {
                @field(record, name) = liftFlat(Field, from[at..]);
                at += comptime flatOf(Field).len;
            }
            return record;
        },
        else => comptime unreachable,
    }
}
