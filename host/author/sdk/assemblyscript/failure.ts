// The failure of the running handler. Since exceptions cannot be caught in AssemblyScript, a reason set here replaces
// the handler's result.

import { RpcError } from "./wit";

let last: RpcError | null = null;

/** Sets the reason, unless there is one. */
export function set(reason: RpcError): void {
  if (last == null) last = reason;
}

/** Returns the reason, if there is one, and removes it. */
export function take(): RpcError | null {
  const failure = last;
  last = null;
  return failure;
}
