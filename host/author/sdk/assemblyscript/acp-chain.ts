// @ts-nocheck: editors take this for TypeScript, which it is not quite.
// The SDK for proxies in AssemblyScript. The whole interface is in `wit.ts`; this file has shortcuts for common uses.
//
// `assembly/proxy.ts` exports `init`, and any of `onRequest`, `onNotification`, `onResponse` and `onCancel`: without
// them every message is forwarded, and cancelled messages are rejected. With `listTools` and `callTool` it has tools,
// with `listResources` and `readResource` resources, with `listPrompts` and `getPrompt` prompts, and with `complete` it
// completes their arguments; `wit/world.wit` has to export the same.
//
// A handler fails if it calls `fail`, or if the host rejects a call of a function below: its result is then ignored,
// and the reason is shown to the user. `throw` ends the proxy, since exceptions cannot be caught in AssemblyScript.

import * as failure from "./failure";
import { Json, NONE, json, object, parse } from "./json";
import {
  Action,
  Change,
  ChannelError,
  Edit,
  Level,
  MessageId,
  Outcome,
  Peer,
  RpcError,
  ToolCall,
  channel,
} from "./wit";

export { Result, Some } from "./abi";
export { Json, Kind, NONE, NULL, array, json, object, parse } from "./json";
export {
  Action,
  Change,
  ChannelError,
  CompletionCall,
  Edit,
  ErrorCode,
  FailurePolicy,
  Head,
  Keeper,
  Kinds,
  Level,
  MessageId,
  Notification,
  Outcome,
  Peer,
  PromptCall,
  Registration,
  Request,
  ResourceRead,
  ResourcesCatalog,
  Response,
  RpcError,
  Sender,
  Subscription,
  ToolCall,
  ToolsCatalog,
  channel,
} from "./wit";

/** Forwards the message unchanged. */
export function forward(): Action {
  return Action.forward();
}

/** Forwards the message with this value at a JSON Pointer. A last part `-` adds to an array. */
export function edit<T>(pointer: string, value: T): Action {
  return Action.edit([set(pointer, value)]);
}

/** A change, for `Action.edit`: sets the value at a JSON Pointer. */
export function set<T>(pointer: string, value: T): Edit {
  return new Edit(pointer, Change.set(json(value).toString()));
}

/** A change, for `Action.edit`: removes the value at a JSON Pointer. */
export function remove(pointer: string): Edit {
  return new Edit(pointer, Change.remove());
}

/** Answers the request with this result, instead of forwarding it. */
export function respond<T>(value: T): Action {
  return Action.respond(json(value).toString());
}

/** Answers the request with this error, instead of forwarding it. */
export function reject(code: i32, message: string): Action {
  return Action.reject(new RpcError(code, message));
}

/** Drops the notification. */
export function discard(): Action {
  return Action.discard();
}

/** Holds the message until `settle`. */
export function hold(): Action {
  return Action.hold();
}

/** A block of text, for prompts and answers. */
export function text(text: string): Json {
  return object().set("type", "text").set("text", text);
}

/** A tool's result, as a text. */
export function result(said: string): Outcome {
  return Outcome.done(object().set("content", [text(said)]).toString());
}

/** A tool's failure, with a text for the model. */
export function failed(why: string): Outcome {
  return Outcome.done(object().set("content", [text(why)]).set("isError", true).toString());
}

/** The arguments of a call. */
export function args(call: ToolCall): Json {
  return parse(call.arguments);
}

/** The value at a JSON Pointer of a message without its body; `NONE` if there is none. */
export function read(id: MessageId, pointer: string): Json {
  const part = channel.read(id, pointer), error = part.error;
  if (error != null) {
    refused(error);
    return NONE;
  }
  const body = part.value;
  return body == null ? NONE : parse(body);
}

/** Sends a request to a neighbour. `onResponse` receives the answer under the returned number. */
export function request<T>(to: Peer, method: string, params: T): MessageId {
  const id = channel.request(to, method, json(params).toString()), error = id.error;
  if (error != null) {
    refused(error);
    return 0;
  }
  return id.value;
}

/** Sends a notification to a neighbour. */
export function notify<T>(to: Peer, method: string, params: T): void {
  refused(channel.notify(to, method, json(params).toString()));
}

/** Settles a message for which a handler returned `hold`, or a tool `Outcome.pending`. */
export function settle(id: MessageId, action: Action): void {
  refused(channel.settle(id, action));
}

/** Saves a state, replacing the previous one: `init` receives it if the proxy breaks and is restarted. */
export function save(state: string): void {
  refused(channel.save(state));
}

/** Makes the handler fail, with a reason for the user: `return fail<Action>("there is no rule")`. */
export function fail<T>(why: string, code: i32 = -32603, data: string | null = null): T {
  failure.set(new RpcError(code, why, data));
  // The value is ignored.
  return changetype<T>(<usize>0);
}

function refused(error: ChannelError | null): void {
  if (error != null) failure.set(new RpcError(-32603, error.message));
}

/** The log of acp-chain. */
export namespace log {
  export function trace(text: string): void {
    channel.log(Level.Trace, text);
  }

  export function debug(text: string): void {
    channel.log(Level.Debug, text);
  }

  export function info(text: string): void {
    channel.log(Level.Info, text);
  }

  export function warn(text: string): void {
    channel.log(Level.Warn, text);
  }

  export function error(text: string): void {
    channel.log(Level.Error, text);
  }
}
