// What the handlers do that a proxy leaves out: every message passes, and what is withdrawn is given up.

import { Action, MessageId, Notification, Request, Response, RpcError, channel } from "./wit";

export function onRequest(_: Request): Action {
  return Action.forward();
}

export function onNotification(_: Notification): Action {
  return Action.forward();
}

export function onResponse(_: Response): Action {
  return Action.forward();
}

export function onCancel(id: MessageId): void {
  // If it is settled already, the host has taken it back.
  channel.settle(id, Action.reject(new RpcError(-32800, "Request cancelled")));
}
