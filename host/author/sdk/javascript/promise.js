// The promises of the sandbox. QuickJS runs the jobs of its own promises only in an event loop, and a component has
// none. So `acp-chain build` compiles `async` and `await` to these promises, whose jobs `drain` runs, within a call of
// the host.
//
// A job belongs to the task that registered it, so that the task is also known after an `await`.

const jobs = [];
const unhandled = new Set();
const NONE = [];
let current;

/** The running task. */
export const currentTask = () => current;

/** Runs a function as a part of a task. */
export function within(task, run) {
  const outer = current;
  current = task;
  try {
    return run();
  } finally {
    current = outer;
  }
}

/**
 * Runs all jobs, and the jobs that these add. Returns the reasons of unhandled rejections, except that of one promise.
 */
export function drain(but) {
  for (let n = 0; n < jobs.length; n += 1) {
    const { task, job } = jobs[n];
    within(task, job);
  }
  jobs.length = 0;
  unhandled.delete(but);
  if (unhandled.size === 0) return NONE;
  return Array.from(unhandled, (promise) => outcome(promise).reason);
}

export function enqueue(job, task = current) {
  jobs.push({ task, job });
}

const native = globalThis.Promise;
const [PENDING, FULFILLED, REJECTED] = [0, 1, 2];

class SandboxPromise {
  #state = PENDING;
  #value;
  #reactions;

  constructor(executor) {
    if (typeof executor !== "function") throw new TypeError("a Promise takes a function");
    this.#run(executor);
  }

  /** Calls a function that settles this promise, at most once. */
  #run(executor) {
    let called = false;
    const resolve = (value) => {
      if (called) return;
      called = true;
      if (value !== null && (typeof value === "object" || typeof value === "function")) this.#follow(value);
      else this.#settle(FULFILLED, value);
    };
    const reject = (reason) => {
      if (called) return;
      called = true;
      this.#settle(REJECTED, reason);
    };
    try {
      executor(resolve, reject);
    } catch (error) {
      reject(error);
    }
  }

  /** Resolves with a value, or follows a promise or any object with a `then`. */
  #follow(value) {
    try {
      if (value === this) throw new TypeError("a promise waits for itself");
      const { then } = value;
      if (typeof then !== "function") this.#settle(FULFILLED, value);
      else enqueue(() => this.#run((resolve, reject) => then.call(value, resolve, reject)));
    } catch (error) {
      this.#settle(REJECTED, error);
    }
  }

  #settle(state, value) {
    this.#state = state;
    this.#value = value;
    if (this.#reactions) for (const { task, job } of this.#reactions) enqueue(job, task);
    else if (state === REJECTED) unhandled.add(this);
    this.#reactions = undefined;
  }

  then(onFulfilled, onRejected) {
    return new SandboxPromise((resolve, reject) => {
      const job = () => {
        const isFulfilled = this.#state === FULFILLED;
        const handle = isFulfilled ? onFulfilled : onRejected;
        if (typeof handle !== "function") return (isFulfilled ? resolve : reject)(this.#value);
        try {
          resolve(handle(this.#value));
        } catch (error) {
          reject(error);
        }
      };
      if (this.#state === PENDING) (this.#reactions ??= []).push({ task: current, job });
      else enqueue(job);
      unhandled.delete(this);
    });
  }

  /** The outcome of a promise, `{ value }` or `{ reason }`; undefined while pending. Marks a rejection as handled. */
  static outcome(promise) {
    if (promise.#state === PENDING) return undefined;
    if (promise.#state === FULFILLED) return { value: promise.#value };
    unhandled.delete(promise);
    return { reason: promise.#value };
  }

  static resolve(value) {
    return value instanceof SandboxPromise ? value : new this((resolve) => resolve(value));
  }

  static get [Symbol.species]() {
    return this;
  }

  get [Symbol.toStringTag]() {
    return "Promise";
  }
}

// The functions of the language create promises of the class on which they are called.
for (const name of ["all", "allSettled", "any", "race", "reject", "try", "withResolvers"]) {
  SandboxPromise[name] = native[name];
}
for (const name of ["catch", "finally"]) SandboxPromise.prototype[name] = native.prototype[name];
Object.defineProperty(SandboxPromise, "name", { value: "Promise" });

globalThis.Promise = SandboxPromise;
export const { outcome } = SandboxPromise;
delete SandboxPromise.outcome;
globalThis.queueMicrotask = (job) => void Promise.resolve().then(job);
// This function returns a promise of the engine, which would never be settled.
delete Array.fromAsync;
