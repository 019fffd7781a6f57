// What is thrown by the SDK, beside the errors of the language.

/** An error of JSON-RPC: a neighbour's answer, or that the host did not send the request. */
export class RpcError extends Error {
  name = "RpcError";

  constructor(code, message, data) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** The host does not do what was asked of it. */
export class ChannelError extends Error {
  name = "ChannelError";

  constructor(code, message) {
    super(message ?? code);
    this.code = code;
  }
}

/** What is awaited will not come: the message for whose sake it was asked is withdrawn. */
export class Cancelled extends Error {
  name = "Cancelled";

  constructor() {
    super("the message that waits for it was withdrawn");
  }
}
