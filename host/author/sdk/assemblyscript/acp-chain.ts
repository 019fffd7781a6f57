// @ts-nocheck: editors take this for TypeScript, which it is not quite.
// What proxies in AssemblyScript have in common. The whole interface is in `wit.ts`; what follows is short for what
// most need.
//
// `assembly/proxy.ts` exports `init`, and of `onRequest`, `onNotification`, `onResponse` and `onCancel` what it wants:
// without them every message passes, and what is withdrawn is given up. With `listTools` and `callTool` it has tools,
// with `listResources` and `readResource` resources, with `listPrompts` and `getPrompt` prompts, and with `complete` it
// completes their arguments; `wit/world.wit` says which of these there are.
//
// A handler fails by `fail`, and when a function below that asks the host is refused: whatever it returns then, users
// are told the reason. What is thrown ends the proxy, since AssemblyScript has no exceptions that can be caught.

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

/** The message goes on unchanged. */
export function forward(): Action {
  return Action.forward();
}

/** The message goes on with this value at a JSON Pointer. A last part `-` adds to an array. */
export function edit<T>(pointer: string, value: T): Action {
  return Action.edit([set(pointer, value)]);
}

/** A change, for `Action.edit`: this value at a JSON Pointer. */
export function set<T>(pointer: string, value: T): Edit {
  return new Edit(pointer, Change.set(json(value).toString()));
}

/** A change, for `Action.edit`: nothing at a JSON Pointer. */
export function remove(pointer: string): Edit {
  return new Edit(pointer, Change.remove());
}

/** The request is answered with this, and goes no further. */
export function respond<T>(value: T): Action {
  return Action.respond(json(value).toString());
}

/** The request is answered with this error, and goes no further. */
export function reject(code: i32, message: string): Action {
  return Action.reject(new RpcError(code, message));
}

/** The notification goes no further. */
export function discard(): Action {
  return Action.discard();
}

/** The message is held until `settle`. */
export function hold(): Action {
  return Action.hold();
}

/** A block of text, as prompts and answers have them. */
export function text(text: string): Json {
  return object().set("type", "text").set("text", text);
}

/** What a tool gives, as a text. */
export function result(said: string): Outcome {
  return Outcome.done(object().set("content", [text(said)]).toString());
}

/** A tool has failed: the model reads why. */
export function failed(why: string): Outcome {
  return Outcome.done(object().set("content", [text(why)]).set("isError", true).toString());
}

/** The arguments of a call. */
export function args(call: ToolCall): Json {
  return parse(call.arguments);
}

/** What is at a JSON Pointer of a message that came without its body; `NONE`, if nothing is. */
export function read(id: MessageId, pointer: string): Json {
  const part = channel.read(id, pointer), error = part.error;
  if (error != null) {
    refused(error);
    return NONE;
  }
  const body = part.value;
  return body == null ? NONE : parse(body);
}

/** Asks a neighbour. The answer comes to `onResponse` under this number. */
export function request<T>(to: Peer, method: string, params: T): MessageId {
  const id = channel.request(to, method, json(params).toString()), error = id.error;
  if (error != null) {
    refused(error);
    return 0;
  }
  return id.value;
}

/** Tells a neighbour. */
export function notify<T>(to: Peer, method: string, params: T): void {
  refused(channel.notify(to, method, json(params).toString()));
}

/** Settles what a handler has answered with `hold`, or a tool with `Outcome.pending`. */
export function settle(id: MessageId, action: Action): void {
  refused(channel.settle(id, action));
}

/** Keeps this for the instance that takes the place of one that broke: its `init` gets it as `saved`. */
export function save(state: string): void {
  refused(channel.save(state));
}

/** The handler fails, and users are told why: `return fail<Action>("there is no rule")`. */
export function fail<T>(why: string, code: i32 = -32603, data: string | null = null): T {
  failure.set(new RpcError(code, why, data));
  // Nobody looks at it.
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
