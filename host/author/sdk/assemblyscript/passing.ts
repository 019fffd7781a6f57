// Defaults of optional handlers: every message is forwarded, and cancelled messages are rejected.

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
  // Fails if the host has settled the message.
  channel.settle(id, Action.reject(new RpcError(-32800, "Request cancelled")));
}
