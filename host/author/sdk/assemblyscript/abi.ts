// @ts-nocheck: editors take this for TypeScript, which it is not quite.
// The parts of the canonical ABI of the component model for all types: memory that is shared with the host for a call,
// texts and lists. The code for each type is in `wit.ts` and `exports.ts`.
//
// Blocks of that memory are ignored by the garbage collector. They form a stack, and are freed from its top.

/** The result of a function that can fail. */
export class Result<T, E> {
  constructor(private given: T, readonly error: E | null) {}

  get isOk(): bool {
    return this.error == null;
  }

  /** The value. Reading it after a failure is an error of the program. */
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

/** The block that was allocated last. */
let top: usize = 0;

/** The size of the header of each block, the address of the previous one. Eight bytes, so that all types are aligned. */
const LINK: usize = 8;

/** Allocates a block. */
export function take(size: usize): usize {
  const block = heap.alloc(size + LINK);
  store<usize>(block, top);
  top = block;
  return block + LINK;
}

/** The current top of the stack. */
export function mark(): usize {
  return top;
}

/** Frees the blocks above this top. */
export function release(mark: usize): void {
  while (top != mark) {
    const block = top;
    top = load<usize>(block);
    heap.free(block);
  }
}

/** Allocates memory for values from the host. */
export function cabi_realloc(old: usize, oldSize: usize, align: usize, size: usize): usize {
  if (size == 0) return align;
  const block = take(size);
  memory.copy(block, old, min(oldSize, size));
  return block;
}

/** Called when the host has read the result of an export. */
export function cabi_post(_: usize): void {
  release(0);
}

/** The length of the text or the list that was stored last. */
export let length: usize = 0;

/** Stores a text for the host. An unpaired surrogate, which UTF-8 cannot represent, becomes U+FFFD. */
export function putText(text: string): usize {
  length = String.UTF8.byteLength(text);
  if (length == 0) return 1;
  const block = take(length);
  String.UTF8.encodeUnsafe(changetype<usize>(text), text.length, block, false, String.UTF8.ErrorMode.REPLACE);
  return block;
}

/** Reads a text from the host. */
export function textAt(block: usize, length: usize): string {
  return String.UTF8.decodeUnsafe(block, length);
}

/** Stores a list for the host: of texts, or of values with a method `put`. */
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

/** Stores the address of a block, and the length of the text or list that was stored last. */
export function storeBlock(at: usize, block: usize): void {
  store<usize>(at, block);
  store<usize>(at, length, 4);
}
