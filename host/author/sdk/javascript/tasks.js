// Handlers, and the answers that they wait for. A handler that ends within the call of the host that started it answers
// that call. Otherwise its message is held, and settled when the handler ends.
//
// The number of a proxy's own request stays in `requests` until it is answered, even if no task waits for it any more,
// to distinguish its answer from other responses.

import { Cancelled, ChannelError, RpcError } from "./errors.js";
import { explain, trace } from "./locations.js";
import { currentTask, drain, outcome, within } from "./promise.js";
import * as wit from "./wit.js";

const REQUEST_CANCELLED = -32800;
const INTERNAL_ERROR = -32603;

/** The tasks with held messages, by the messages' numbers. */
const held = new Map();
/** The proxy's own requests, by their numbers: the waiting promise, if any. */
const requests = new Map();

/** Runs all pending jobs. Logs unhandled rejections, except that of the given promise. */
function runJobs(promise) {
  for (const unhandled of drain(promise)) wit.log("error", `nobody handles this rejection: ${trace(unhandled)}`);
}

/**
 * Handles a message. `decide` turns the value that `run` returns or promises into an action; without one, the message
 * is forwarded.
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

/** Settles the message of a task that has ended, with the result of `decide`. */
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
    // The host has settled the message, since it was held for too long.
    if (refused.code !== "unknown-message" || !withdrawn) wit.log("error", `message ${id} is not settled: ${refused}`);
  }
}

function settleWith(id, action) {
  try {
    wit.settle(id, action);
  } catch (refused) {
    if (refused.code === "unknown-message") throw refused;
    // The message must be settled here.
    wit.fail(id, `${refused}`);
  }
}

/** The reason that is shown to the user; the log has the details. */
export function failed(error) {
  if (error instanceof Error && !(error instanceof ChannelError)) wit.log("debug", trace(error));
  return explain(error);
}

/** Runs a function that must not wait; returns whether it has ended. */
export function finished(run) {
  const made = Promise.resolve(run());
  runJobs(made);
  const ended = outcome(made);
  if (ended && "reason" in ended) throw ended.reason;
  return ended !== undefined;
}

/** Sends a request, and returns a promise of the result. The request is cancelled with the task that sends it. */
export function ask(method, send) {
  const task = currentTask();
  return new Promise((resolve, reject) => {
    if (task?.withdrawn) throw new Cancelled();
    const id = sent(method, send);
    requests.set(id, { task, resolve, reject });
    if (task) (task.requests ??= new Set()).add(id);
  });
}

/** Sends a request. If the host rejects the request, it fails as with an error response. */
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

/** Handles a response; returns whether it answers one of the proxy's own requests. */
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

/** Cancels the task of a message that its sender cancelled, or that the host has settled. */
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
      wit.log("debug", `request ${request} is not cancelled: ${error}`);
    }
    reject(new Cancelled());
  }
  task.requests = undefined;
  runJobs();
  // Other promises of the task may never be settled.
  if (held.delete(id)) giveUp(task);
}
