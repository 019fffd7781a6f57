// @ts-nocheck: editors take this for TypeScript, which it is not quite.
// Called by `throw`, `assert` and the checks of the language: writes the message, with its file and line, to the log of
// acp-chain, and ends the proxy.
//
// It allocates nothing, since memory may be exhausted.

@external("acp-chain:proxy/channel@0.1.2", "log")
declare function log(level: i32, text: usize, length: usize): void;

/** The maximum number of characters that are logged of the message, and of the file. */
const LONGEST: i32 = 1000;

/** The size of a buffer for both in UTF-8, with separators. */
const ROOM: usize = memory.data(6100);

/** `error` of `level`. */
const ERROR: i32 = 4;

function write(text: string, at: usize): usize {
  const length = min(text.length, LONGEST);
  const mode = String.UTF8.ErrorMode.REPLACE;
  return at + String.UTF8.encodeUnsafe(changetype<usize>(text), length, at, false, mode);
}

function writeNumber(number: u32, at: usize): usize {
  if (number >= 10) at = writeNumber(number / 10, at);
  store<u8>(at, <u8>(number % 10) + 0x30);
  return at + 1;
}

export function abort(message: string | null, file: string | null, line: u32, _column: u32): void {
  let at = write("Error: ", ROOM);
  at = write(message == null ? "aborted" : message, at);
  if (file != null) {
    at = write(" (", at);
    at = write(file, at);
    at = write(":", at);
    at = write(")", writeNumber(line, at));
  }
  log(ERROR, ROOM, at - ROOM);
  unreachable();
}
