// @ts-nocheck: editors take this for TypeScript, which it is not quite.
// What the canonical ABI of the component model has for all types: memory that is shared with the host for a call,
// texts and lists. What it makes of each type is in `wit.ts` and `exports.ts`.
//
// Blocks of that memory are not seen by the garbage collector. They form a stack, and are given back from its top.

/** What a function gives that can fail. */
export class Result<T, E> {
  constructor(private given: T, readonly error: E | null) {}

  get isOk(): bool {
    return this.error == null;
  }

  /** What it gave. To ask for that where it failed is an error of the program. */
  get value(): T {
    assert(this.error == null, "there is no value, but an error: look at it first");
    return this.given;
  }
}

/** A value that may be missing, where its type has no `null`. */
export class Some<T> {
  constructor(readonly value: T) {}
}

export function ok<T, E>(value: T): Result<T, E> {
  return new Result<T, E>(value, null);
}

export function err<T, E>(error: E): Result<T, E> {
  if (isReference<T>()) return new Result<T, E>(changetype<T>(<usize>0), error);
  return new Result<T, E>(<T>0, error);
}

/** The block that was taken last. */
let top: usize = 0;

/** In front of each block: the one before it. Eight bytes, so that all types are aligned. */
const LINK: usize = 8;

/** Takes a block. */
export function take(size: usize): usize {
  const block = heap.alloc(size + LINK);
  store<usize>(block, top);
  top = block;
  return block + LINK;
}

/** How far the stack goes. */
export function mark(): usize {
  return top;
}

/** Gives back what was taken since. */
export function release(mark: usize): void {
  while (top != mark) {
    const block = top;
    top = load<usize>(block);
    heap.free(block);
  }
}

/** Where the host puts what it gives. */
export function cabi_realloc(old: usize, oldSize: usize, align: usize, size: usize): usize {
  if (size == 0) return align;
  const block = take(size);
  memory.copy(block, old, min(oldSize, size));
  return block;
}

/** The host has read what an export returned. */
export function cabi_post(_: usize): void {
  release(0);
}

/** How long the text or the list is that was put last. */
export let length: usize = 0;

/** Puts a text where the host can read it. Half of a surrogate pair, which UTF-8 has not, becomes U+FFFD. */
export function putText(text: string): usize {
  length = String.UTF8.byteLength(text);
  if (length == 0) return 1;
  const block = take(length);
  String.UTF8.encodeUnsafe(changetype<usize>(text), text.length, block, false, String.UTF8.ErrorMode.REPLACE);
  return block;
}

/** Reads a text that the host has put there. */
export function textAt(block: usize, length: usize): string {
  return String.UTF8.decodeUnsafe(block, length);
}

/** Puts a list where the host can read it: of texts, or of what can put itself there. */
export function putList<T>(list: Array<T>, size: usize): usize {
  const count = <usize>list.length;
  const block: usize = count == 0 ? LINK : take(count * size);
  for (let i: usize = 0; i < count; i++) {
    const it = list[<i32>i], at = block + i * size;
    if (isString<T>()) storeBlock(at, putText(it));
    else it.put(at);
  }
  length = count;
  return block;
}

/** Stores the address of a block, and the length of what was put there last. */
export function storeBlock(at: usize, block: usize): void {
  store<usize>(at, block);
  store<usize>(at, length, 4);
}
