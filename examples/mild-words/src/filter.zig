//! Masks words in a text that arrives in chunks.

const std = @import("std");
const Filter = @This();

/// The maximum length of a word.
pub const longest = 40;

/// The held end of the text, which may be the beginning of a listed word.
held: [longest]u8 = undefined,
len: usize = 0,
/// Whether the text sent so far ends within a word that is not listed.
within: bool = false,

/// Returns the text that can be sent of the held text and this chunk, masked.
pub fn next(filter: *Filter, arena: std.mem.Allocator, words: []const []const u8, part: []const u8) ![]const u8 {
    const text = try std.mem.concat(arena, u8, &.{ filter.held[0..filter.len], part });
    filter.len = 0;
    var at: usize = 0;
    while (at < text.len) {
        const start = at;
        while (at < text.len and isLetter(text[at])) at += 1;
        const word = text[start..at];
        if (at == text.len and word.len > 0) {
            if (!filter.within and isBeginning(words, word)) {
                @memcpy(filter.held[0..word.len], word);
                filter.len = word.len;
                return text[0..start];
            }
            filter.within = true;
            return text;
        }
        if (!filter.within and isListed(words, word)) @memset(word, '*');
        filter.within = false;
        while (at < text.len and !isLetter(text[at])) at += 1;
    }
    return text;
}

/// Returns the held text, masked, when no chunk follows.
pub fn end(filter: *Filter, arena: std.mem.Allocator, words: []const []const u8) ![]const u8 {
    const word = try arena.dupe(u8, filter.held[0..filter.len]);
    if (isListed(words, word)) @memset(word, '*');
    return word;
}

/// All bytes beyond ASCII count as letters: no word ends before one.
fn isLetter(byte: u8) bool {
    return std.ascii.isAlphabetic(byte) or byte >= 0x80;
}

fn isListed(words: []const []const u8, text: []const u8) bool {
    for (words) |word| if (std.ascii.eqlIgnoreCase(word, text)) return true;
    return false;
}

fn isBeginning(words: []const []const u8, text: []const u8) bool {
    for (words) |word| if (word.len <= longest and std.ascii.startsWithIgnoreCase(word, text)) return true;
    return false;
}
