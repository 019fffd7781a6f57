// A call of what the agent has of a proxy: a tool, a resource, a prompt, or a completion.

import * as tasks from "./tasks.js";
import * as wit from "./wit.js";

export class Call {
  #id;

  constructor(id, session) {
    this.#id = id;
    this.session = session;
  }

  /** What the caller said beside the call: MCP's `_meta`. */
  get meta() {
    return JSON.parse(wit.meta(this.#id));
  }

  /** Whether the caller says that it can answer this: `elicitation`, `sampling`, `roots`. */
  can(capability) {
    return this.meta["io.modelcontextprotocol/clientCapabilities"]?.[capability] !== undefined;
  }

  /** Says how far the call is. */
  progress(progress, total, message) {
    try {
      wit.progress(this.#id, progress, total ?? null, message ?? null);
    } catch (error) {
      // It goes on without: nobody but the caller would miss the report.
      wit.log("debug", `no progress is told: ${error}`);
    }
  }

  /** Asks the caller. */
  ask(method, params) {
    return tasks.ask(method, () => wit.ask(this.#id, method, params));
  }
}
