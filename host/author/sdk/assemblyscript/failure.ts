// Why the handler that runs has failed. AssemblyScript has no exceptions that can be caught: what is said here takes
// the place of what the handler returns.

import { RpcError } from "./wit";

let last: RpcError | null = null;

/** The first reason counts, as the first exception would. */
export function set(reason: RpcError): void {
  if (last == null) last = reason;
}

/** Why the handler has failed, if it has. */
export function take(): RpcError | null {
  const failure = last;
  last = null;
  return failure;
}
