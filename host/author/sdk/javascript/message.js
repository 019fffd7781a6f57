// A handler's message. Its body is read and parsed on first use.

import * as wit from "./wit.js";

export class Message {
  #header;
  #body;
  #parsed;

  constructor(header, body, error) {
    this.#header = header;
    this.#body = body;
    /** The error of an error response. */
    this.error = error;
  }

  get id() {
    return this.#header.id;
  }

  get method() {
    return this.#header.method;
  }

  get from() {
    return this.#header.from;
  }

  get session() {
    return this.#header.session;
  }

  get size() {
    return this.#header.size;
  }

  /** The body as JSON text, fetched from the host if necessary. */
  get json() {
    if (this.error) return undefined;
    return (this.#body ||= wit.read(this.id, "") ?? "null");
  }

  get params() {
    return this.#value();
  }

  get result() {
    return this.#value();
  }

  #value() {
    if (this.error) return undefined;
    this.#parsed ??= { value: JSON.parse(this.json) };
    return this.#parsed.value;
  }

  /** The value at a JSON Pointer, without the rest of the body. */
  read(pointer) {
    const found = wit.read(this.id, pointer);
    return found === null || found === undefined ? undefined : JSON.parse(found);
  }
}
