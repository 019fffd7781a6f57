// A call from the agent to a tool, a resource, a prompt, or a completion.

import * as tasks from "./tasks.js";
import * as wit from "./wit.js";

export class Call {
  #id;

  constructor(id, session) {
    this.#id = id;
    this.session = session;
  }

  /** The caller's MCP `_meta`. */
  get meta() {
    return JSON.parse(wit.meta(this.#id));
  }

  /** Whether the caller declares this capability: `elicitation`, `sampling`, `roots`. */
  can(capability) {
    return this.meta["io.modelcontextprotocol/clientCapabilities"]?.[capability] !== undefined;
  }

  /** Reports the progress of the call. */
  progress(progress, total, message) {
    try {
      wit.progress(this.#id, progress, total ?? null, message ?? null);
    } catch (error) {
      // Ignored, since the call can continue without the report.
      wit.log("debug", `progress was not reported: ${error}`);
    }
  }

  /** Sends a request to the caller. */
  ask(method, params) {
    return tasks.ask(method, () => wit.ask(this.#id, method, params));
  }
}
