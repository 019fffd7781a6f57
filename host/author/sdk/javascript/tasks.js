// Handlers, and what they wait for. A handler that ends within the call of the host that began it answers that call.
// One that awaits something has its message held, and settled when it ends.
//
// The number of a request of the proxy's own stays in `requests` until its answer came, also when nobody waits for
// it any more: by that it is told from a response that passes by.

import { Cancelled, ChannelError, RpcError } from "./errors.js";
import { explain, trace } from "./locations.js";
import { currentTask, drain, outcome, within } from "./promise.js";
import * as wit from "./wit.js";

const REQUEST_CANCELLED = -32800;
const INTERNAL_ERROR = -32603;

/** By the numbers of their messages, the tasks that hold them. */
const held = new Map();
/** By their numbers, the requests of the proxy's own: who waits for the answer, or nothing. */
const requests = new Map();

/** Runs what is left to do. Rejections that nobody handles are told, except that of the given promise. */
function runJobs(promise) {
  for (const unhandled of drain(promise)) wit.log("error", `nobody handles this rejection: ${trace(unhandled)}`);
}

/**
 * Handles a message. `decide` gives an action, or nothing, of what `run` returns or promises; nothing means that the
 * message goes on.
 */
export function handle(id, run, decide) {
  const task = { id, requests: undefined, withdrawn: false };
  let ended;
  try {
    const made = within(task, run);
    if (typeof made?.then !== "function") return decide(made) ?? wit.forward;
    const promise = Promise.resolve(made);
    runJobs(promise);
    ended = outcome(promise);
    if (!ended) {
      held.set(id, task);
      promise.then((value) => end(task, () => decide(value)), (reason) => end(task, () => { throw reason; }));
      return wit.hold;
    }
  } finally {
    runJobs();
  }
  if ("reason" in ended) throw ended.reason;
  return decide(ended.value) ?? wit.forward;
}

/** A task that holds its message has ended: `decide` says how. */
function end(task, decide) {
  if (!held.delete(task.id)) return;
  try {
    const action = decide();
    if (action || !task.withdrawn) settle(task, () => settleWith(task.id, action ?? wit.forward));
    else giveUp(task);
  } catch (error) {
    if (task.withdrawn) giveUp(task);
    else settle(task, () => wit.fail(task.id, failed(error)));
  }
}

const giveUp = (task) => settle(task, () => settleWith(task.id, wit.reject(REQUEST_CANCELLED, "Request cancelled")));

function settle({ id, withdrawn }, call) {
  try {
    call();
  } catch (refused) {
    // The host takes back what was held for too long.
    if (refused.code !== "unknown-message" || !withdrawn) wit.log("error", `message ${id} is not settled: ${refused}`);
  }
}

function settleWith(id, action) {
  try {
    wit.settle(id, action);
  } catch (refused) {
    if (refused.code === "unknown-message") throw refused;
    // Nobody else settles it.
    wit.fail(id, `${refused}`);
  }
}

/** The reason that users are told; the log has all of it. */
export function failed(error) {
  if (error instanceof Error && !(error instanceof ChannelError)) wit.log("debug", trace(error));
  return explain(error);
}

/** Runs something that may not wait; returns whether it ended. */
export function finished(run) {
  const made = Promise.resolve(run());
  runJobs(made);
  const ended = outcome(made);
  if (ended && "reason" in ended) throw ended.reason;
  return ended !== undefined;
}

/** A request of the proxy's own: a promise of the result. With the task that makes it, it is withdrawn. */
export function ask(method, send) {
  const task = currentTask();
  return new Promise((resolve, reject) => {
    if (task?.withdrawn) throw new Cancelled();
    const id = sent(method, send);
    requests.set(id, { task, resolve, reject });
    if (task) (task.requests ??= new Set()).add(id);
  });
}

/** Sends a request; one that the host refuses fails as if it were answered with an error. */
function sent(method, send) {
  try {
    return send();
  } catch (refused) {
    if (!(refused instanceof ChannelError)) throw refused;
    const message = `${method} was not sent: ${refused.message}`;
    wit.log("warn", message);
    throw Object.assign(new RpcError(INTERNAL_ERROR, message), { cause: refused });
  }
}

/** Takes a response; whether it answers a request of the proxy's own. */
export function answer(id, body, error) {
  if (!requests.has(id)) return false;
  const waiting = requests.get(id);
  requests.delete(id);
  if (!waiting) return true;
  waiting.task?.requests.delete(id);
  try {
    if (error) waiting.reject(error);
    else waiting.resolve(JSON.parse(body));
  } catch (unreadable) {
    waiting.reject(unreadable);
  }
  runJobs();
  return true;
}

/** The sender of a message gave it up, or the host: so does what waits for its sake. */
export function withdraw(id) {
  const task = held.get(id);
  if (!task) return;
  task.withdrawn = true;
  for (const request of task.requests ?? []) {
    const { reject } = requests.get(request);
    requests.set(request, undefined);
    try {
      wit.cancel(request);
    } catch (error) {
      wit.log("debug", `request ${request} is not withdrawn: ${error}`);
    }
    reject(new Cancelled());
  }
  task.requests = undefined;
  runJobs();
  // What it waits for besides may never come.
  if (held.delete(id)) giveUp(task);
}
