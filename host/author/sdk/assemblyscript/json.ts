// @ts-nocheck: editors take this for TypeScript, which it is not quite.
// JSON, read into a tree and written from one.
//
// Missing values read as `NONE`, which has no members, and whose values are the given defaults. Numbers keep their
// spelling.

export enum Kind {
  None,
  Null,
  Bool,
  Number,
  Text,
  Array,
  Object,
}

export class Json {
  private constructor(
    readonly kind: Kind,
    /** A text, or the spelling of a number or a bool. */
    private readonly spelt: string,
    private readonly names: string[],
    private readonly parts: Json[],
  ) {}

  /** Called only by the functions of this file. */
  static make(kind: Kind, spelt: string, names: string[], parts: Json[]): Json {
    return new Json(kind, spelt, names, parts);
  }

  get isNone(): bool {
    return this.kind == Kind.None;
  }

  /** The member of this name; of several, the last. */
  get(name: string): Json {
    const at = this.names.lastIndexOf(name);
    return at < 0 ? NONE : this.parts[at];
  }

  /** The element at this index. */
  at(index: i32): Json {
    return this.kind == Kind.Array && <u32>index < <u32>this.parts.length ? this.parts[index] : NONE;
  }

  /** The number of elements or members. */
  get length(): i32 {
    return this.parts.length;
  }

  /** The elements of an array, or the values of an object. */
  items(): Json[] {
    return this.parts.slice();
  }

  /** The names of an object's members. */
  keys(): string[] {
    return this.names.slice();
  }

  text(otherwise: string = ""): string {
    return this.kind == Kind.Text ? this.spelt : otherwise;
  }

  number(otherwise: f64 = NaN): f64 {
    return this.kind == Kind.Number ? F64.parseFloat(this.spelt) : otherwise;
  }

  bool(otherwise: bool = false): bool {
    return this.kind == Kind.Bool ? this.spelt == "true" : otherwise;
  }

  /** Sets a member of an object, replacing one with the same name. */
  set<T>(name: string, value: T): Json {
    assert(this.kind == Kind.Object, "only an object has members to set");
    const at = this.names.lastIndexOf(name), part = json(value);
    if (at >= 0) {
      this.parts[at] = part;
    } else {
      this.names.push(name);
      this.parts.push(part);
    }
    return this;
  }

  /** Adds an element to an array. */
  push<T>(value: T): Json {
    assert(this.kind == Kind.Array, "only an array has elements to add to");
    this.parts.push(json(value));
    return this;
  }

  toString(): string {
    const pieces: string[] = [];
    this.write(pieces);
    return pieces.join("");
  }

  private write(pieces: string[]): void {
    if (this.kind == Kind.Text) {
      quote(this.spelt, pieces);
    } else if (this.kind == Kind.Array || this.kind == Kind.Object) {
      const isObject = this.kind == Kind.Object;
      pieces.push(isObject ? "{" : "[");
      for (let i = 0; i < this.parts.length; i++) {
        if (i > 0) pieces.push(",");
        if (isObject) {
          quote(this.names[i], pieces);
          pieces.push(":");
        }
        this.parts[i].write(pieces);
      }
      pieces.push(isObject ? "}" : "]");
    } else {
      pieces.push(this.kind == Kind.Bool || this.kind == Kind.Number ? this.spelt : "null");
    }
  }
}

/** A missing value. */
export const NONE: Json = Json.make(Kind.None, "", [], []);

export const NULL: Json = Json.make(Kind.Null, "", [], []);

/** An object, to which `set` adds members. */
export function object(): Json {
  return Json.make(Kind.Object, "", [], []);
}

/** An array, to which `push` adds elements. */
export function array(): Json {
  return Json.make(Kind.Array, "", [], []);
}

/** A value as JSON: a text, a number, a bool, an array of these, or JSON. */
export function json<T>(value: T): Json {
  if (isNullable<T>()) {
    if (value === null) return NULL;
  }
  if (isString<T>()) {
    return Json.make(Kind.Text, value as string, [], []);
  } else if (isBoolean<T>()) {
    return Json.make(Kind.Bool, value ? "true" : "false", [], []);
  } else if (isInteger<T>()) {
    return Json.make(Kind.Number, value.toString(), [], []);
  } else if (isFloat<T>()) {
    // JSON cannot represent infinity and NaN.
    if (!isFinite(value)) return NULL;
    const spelt = value.toString();
    return Json.make(Kind.Number, spelt.endsWith(".0") ? spelt.slice(0, -2) : spelt, [], []);
  } else if (isArray<T>()) {
    const all = array();
    for (let i = 0; i < value.length; i++) all.push(value[i]);
    return all;
  } else if (idof<T>() == idof<Json>()) {
    return changetype<Json>(value);
  } else {
    ERROR("only a text, a number, a bool, an array of these and Json can be JSON");
  }
}

/** Parses a JSON text. Invalid JSON, or JSON nested more than 128 deep, gives `NONE`. */
export function parse(text: string): Json {
  const reader = new Reader(text);
  const value = reader.value(128);
  reader.skip();
  return reader.isAtEnd ? value : NONE;
}

/** A text in quotes. */
function quote(text: string, pieces: string[]): void {
  pieces.push('"');
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= 0x20 && code != 0x22 && code != 0x5c) continue;
    if (at > from) pieces.push(text.substring(from, at));
    from = at + 1;
    if (code >= 0x20) pieces.push(code == 0x22 ? '\\"' : "\\\\");
    else if (code == 0x0a) pieces.push("\\n");
    else pieces.push("\\u" + code.toString(16).padStart(4, "0"));
  }
  pieces.push(from == 0 ? text : text.substring(from));
  pieces.push('"');
}

class Reader {
  private at: i32 = 0;
  private isWrong: bool = false;

  constructor(private readonly source: string) {}

  /** Whether the whole text was read without an error. */
  get isAtEnd(): bool {
    return !this.isWrong && this.at == this.source.length;
  }

  private get code(): i32 {
    return this.at < this.source.length ? this.source.charCodeAt(this.at) : -1;
  }

  private wrong(): Json {
    this.isWrong = true;
    return NONE;
  }

  private take(code: i32): bool {
    if (this.code != code) return false;
    this.at++;
    return true;
  }

  skip(): void {
    while (this.code == 0x20 || this.code == 0x0a || this.code == 0x0d || this.code == 0x09) this.at++;
  }

  private word(word: string): bool {
    if (this.source.substr(this.at, word.length) != word) return false;
    this.at += word.length;
    return true;
  }

  value(depth: i32): Json {
    this.skip();
    if (depth == 0) return this.wrong();
    const code = this.code;
    if (code == 0x7b) return this.object(depth);
    if (code == 0x5b) return this.array(depth);
    if (code == 0x22) return Json.make(Kind.Text, this.text(), [], []);
    if (code == 0x2d || isDigit(code)) return this.number();
    if (this.word("true")) return json(true);
    if (this.word("false")) return json(false);
    return this.word("null") ? NULL : this.wrong();
  }

  private object(depth: i32): Json {
    const names: string[] = [], parts: Json[] = [];
    this.at++;
    this.skip();
    if (this.take(0x7d)) return Json.make(Kind.Object, "", names, parts);
    while (!this.isWrong) {
      this.skip();
      if (this.code != 0x22) return this.wrong();
      names.push(this.text());
      this.skip();
      if (!this.take(0x3a)) return this.wrong();
      parts.push(this.value(depth - 1));
      this.skip();
      if (this.take(0x7d)) return Json.make(Kind.Object, "", names, parts);
      if (!this.take(0x2c)) return this.wrong();
    }
    return NONE;
  }

  private array(depth: i32): Json {
    const parts: Json[] = [];
    this.at++;
    this.skip();
    if (this.take(0x5d)) return Json.make(Kind.Array, "", [], parts);
    while (!this.isWrong) {
      parts.push(this.value(depth - 1));
      this.skip();
      if (this.take(0x5d)) return Json.make(Kind.Array, "", [], parts);
      if (!this.take(0x2c)) return this.wrong();
    }
    return NONE;
  }

  private digits(): bool {
    const from = this.at;
    while (isDigit(this.code)) this.at++;
    return this.at > from;
  }

  private number(): Json {
    const from = this.at;
    this.take(0x2d);
    // A leading zero is not followed by digits.
    if (!this.take(0x30) && !this.digits()) return this.wrong();
    if (this.take(0x2e) && !this.digits()) return this.wrong();
    if (this.take(0x65) || this.take(0x45)) {
      if (!this.take(0x2b)) this.take(0x2d);
      if (!this.digits()) return this.wrong();
    }
    return Json.make(Kind.Number, this.source.substring(from, this.at), [], []);
  }

  /** Reads a string, with its quotes. */
  private text(): string {
    const pieces: string[] = [];
    this.at++;
    let from = this.at;
    while (this.code >= 0x20) {
      if (this.code == 0x22) {
        const last = this.source.substring(from, this.at++);
        if (pieces.length == 0) return last;
        pieces.push(last);
        return pieces.join("");
      }
      if (this.code != 0x5c) {
        this.at++;
        continue;
      }
      pieces.push(this.source.substring(from, this.at++));
      const escaped = this.escaped();
      if (escaped < 0) break;
      pieces.push(String.fromCharCode(escaped));
      from = this.at;
    }
    this.isWrong = true;
    return "";
  }

  /** The character of an escape, or -1. */
  private escaped(): i32 {
    const code = this.code;
    this.at++;
    if (code == 0x22 || code == 0x2f || code == 0x5c) return code;
    if (code == 0x62) return 0x08;
    if (code == 0x66) return 0x0c;
    if (code == 0x6e) return 0x0a;
    if (code == 0x72) return 0x0d;
    if (code == 0x74) return 0x09;
    if (code != 0x75) return -1;
    let value = 0;
    for (let i = 0; i < 4; i++) {
      const code = this.code, letter = code | 0x20;
      this.at++;
      if (isDigit(code)) value = (value << 4) + code - 0x30;
      else if (letter >= 0x61 && letter <= 0x66) value = (value << 4) + letter - 0x57;
      else return -1;
    }
    return value;
  }
}

function isDigit(code: i32): bool {
  return code >= 0x30 && code <= 0x39;
}
