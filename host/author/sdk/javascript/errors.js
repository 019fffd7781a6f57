// The SDK's own classes of errors.

/** An error of JSON-RPC: a neighbour's answer, or a request that the host did not send. */
export class RpcError extends Error {
  name = "RpcError";

  constructor(code, message, data) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** The host rejected a call. */
export class ChannelError extends Error {
  name = "ChannelError";

  constructor(code, message) {
    super(message ?? code);
    this.code = code;
  }
}

/** The awaited request is cancelled, since the handler's message was cancelled. */
export class Cancelled extends Error {
  name = "Cancelled";

  constructor() {
    super("the message that waits for the answer was cancelled");
  }
}
