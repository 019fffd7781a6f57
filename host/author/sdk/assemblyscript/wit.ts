// @ts-nocheck: editors take this for TypeScript, which it is not quite.
// The interface between acp-chain and a proxy. Made by `cargo xtask types` from wit/proxy.wit; not to be edited.

import * as abi from "./abi";

/** JSON text (UTF-8). */
export type Json = string;

/** A neighbour of this proxy in the chain. */
export enum Peer {
  /** The predecessor, towards the editor. */
  Client,
  /** The successor, towards the agent. */
  Agent,
}

/** The sender of the messages that a subscription matches. */
export enum Sender {
  /** Either neighbour. */
  Any,
  Client,
  Agent,
}

/**
 * The host's number for a message at this proxy: below 2^53, and unique within a connection,
 * across restarts of the proxy.
 */
export type MessageId = u64;

/** A JSON-RPC error object. */
export class RpcError {
  constructor(
    public code: i32,
    public message: string,
    public data: Json | null = null,
  ) {}

  /** Puts it where the host reads it. */
  put(at: usize): void {
    store<i32>(at, this.code);
    abi.storeBlock(at + 4, abi.putText(this.message));
    const part1 = this.data;
    store<u8>(at, <u8>(part1 != null), 12);
    if (part1 != null) {
      abi.storeBlock(at + 16, abi.putText(part1));
    }
  }
}

export enum Kinds {
  None = 0,
  Request = 1,
  Notification = 2,
  Response = 4,
}

/**
 * A set of messages that the proxy wants to receive. The host forwards all other messages
 * without calling the proxy, and also those that none of its powers covers.
 * If several subscriptions match a message, the first determines whether it comes with its body.
 */
export class Subscription {
  constructor(
    /**
     * A method name, or a prefix ending in `*`. A response is matched by the method of its
     * request.
     */
    public method: string,
    public sender: Sender,
    public kinds: Kinds,
    /**
     * If false, the body stays in the host until `channel.read` reads it, and the message has an
     * empty string in its place.
     */
    public withBody: bool = false,
  ) {}

  /** Puts it where the host reads it. */
  put(at: usize): void {
    abi.storeBlock(at, abi.putText(this.method));
    store<u8>(at, <u8>this.sender, 8);
    store<u8>(at, <u8>this.kinds, 9);
    store<u8>(at, this.withBody, 10);
  }
}

/** The members that all three kinds of messages share. */
export class Head {
  constructor(
    public id: MessageId,
    public sender: Peer,
    public method: string,
    /**
     * The message's session, if there is one: its `sessionId`; for a response, that of the
     * request, or else that of the result.
     */
    public session: string | null,
    /** The size of the body in bytes. */
    public size: u64,
  ) {}
}

/** Absent `params` are `null` here. */
export class Request {
  constructor(
    public head: Head,
    public params: Json,
  ) {}
}

export class Notification {
  constructor(
    public head: Head,
    public params: Json,
  ) {}
}

/**
 * `head.id` is the number of the request, if the proxy received or sent that request;
 * `head.method` is the request's method.
 */
export class Response {
  constructor(
    public head: Head,
    public outcome: abi.Result<Json, RpcError>,
  ) {}
}

export enum ChangeTag {
  Set,
  Remove,
}

/** A change to the value at a pointer. */
export class Change {
  set: Json | null = null;

  constructor(readonly tag: ChangeTag) {}

  /**
   * Sets the value. The last token of the pointer may be a new member of an object, or `-` to
   * append to an array. Objects that are missing or `null` on the way there are created.
   */
  static set(value: Json): Change {
    const it = new Change(ChangeTag.Set);
    it.set = value;
    return it;
  }

  /** Removes the value. It is an error if there is none. */
  static remove(): Change {
    return new Change(ChangeTag.Remove);
  }

  /** Puts it where the host reads it. */
  put(at: usize): void {
    store<u8>(at, <u8>this.tag);
    if (this.tag == ChangeTag.Set) {
      abi.storeBlock(at + 4, abi.putText(this.set!));
    }
  }
}

/** A change to one place in a body. */
export class Edit {
  constructor(
    /** A JSON Pointer (RFC 6901) to a value. */
    public pointer: string,
    public change: Change,
  ) {}

  /** Puts it where the host reads it. */
  put(at: usize): void {
    abi.storeBlock(at, abi.putText(this.pointer));
    this.change.put(at + 8);
  }
}

export enum ActionTag {
  Forward,
  Edit,
  Replace,
  Respond,
  Reject,
  Discard,
  Hold,
}

/** A proxy's decision about a message. */
export class Action {
  edit: Array<Edit> | null = null;
  replace: Json | null = null;
  respond: Json | null = null;
  reject: RpcError | null = null;

  constructor(readonly tag: ActionTag) {}

  /** Forward it unchanged, byte for byte. */
  static forward(): Action {
    return new Action(ActionTag.Forward);
  }

  /**
   * Forward it with these changes to its body, applied in order. All other bytes are unchanged.
   * The proxy need not have read the body. Not for error responses.
   */
  static edit(value: Array<Edit>): Action {
    const it = new Action(ActionTag.Edit);
    it.edit = value;
    return it;
  }

  /**
   * Forward it with this body, which may differ from the original only at places that a power
   * allows to change. Elsewhere it must be the same bytes except for white space between values,
   * and the original bytes are forwarded. For a response, the body is the result.
   */
  static replace(value: Json): Action {
    const it = new Action(ActionTag.Replace);
    it.replace = value;
    return it;
  }

  /** Requests only: answer it with this result. The receiver never sees it. */
  static respond(value: Json): Action {
    const it = new Action(ActionTag.Respond);
    it.respond = value;
    return it;
  }

  /** Requests: answer it with this error. Responses: forward this error instead. */
  static reject(value: RpcError): Action {
    const it = new Action(ActionTag.Reject);
    it.reject = value;
    return it;
  }

  /** Notifications only: drop it. */
  static discard(): Action {
    return new Action(ActionTag.Discard);
  }

  /**
   * Keep it in the host until the proxy calls `channel.settle`, or until the limit `hold-time`
   * expires; the host then treats it like the messages of a proxy that failed. Later messages
   * overtake it, except that a response waits for earlier held notifications of the same session
   * and direction. A proxy that holds notifications therefore subscribes to that response, and
   * settles them when it receives it.
   */
  static hold(): Action {
    return new Action(ActionTag.Hold);
  }

  /** Puts it where the host reads it. */
  put(at: usize): void {
    store<u8>(at, <u8>this.tag);
    if (this.tag == ActionTag.Edit) {
      abi.storeBlock(at + 4, abi.putList<Edit>(this.edit!, 20));
    }
    if (this.tag == ActionTag.Replace) {
      abi.storeBlock(at + 4, abi.putText(this.replace!));
    }
    if (this.tag == ActionTag.Respond) {
      abi.storeBlock(at + 4, abi.putText(this.respond!));
    }
    if (this.tag == ActionTag.Reject) {
      this.reject!.put(at + 4);
    }
  }
}

/**
 * What the host does with a proxy that fails (it traps, or exceeds a limit on time or memory),
 * and with the proxy's messages. The user's manifest can override it.
 */
export enum FailurePolicy {
  /**
   * Reject its messages and start another instance; after several failures, continue as with
   * `refuse`.
   */
  Restart,
  /** Forward its messages unchanged, and all later ones. For proxies that protect nothing. */
  Bypass,
  /** Reject its messages, and all later ones that it would receive. For guards. */
  Refuse,
}

/** What a proxy declares when it starts. */
export class Registration {
  constructor(
    public subscriptions: Array<Subscription>,
    public onFailure: FailurePolicy,
    /**
     * Whether the user relies on its decisions. A guard is placed next to the agent, after all
     * other proxies; no other proxy can alter what it changed, answered or sent; and messages that
     * parsers could interpret differently are rejected before they reach it.
     */
    public guard: bool = false,
  ) {}

  /** Puts it where the host reads it. */
  put(at: usize): void {
    abi.storeBlock(at, abi.putList<Subscription>(this.subscriptions, 12));
    store<u8>(at, <u8>this.onFailure, 8);
    store<u8>(at, this.guard, 9);
  }
}

/** Why a call had no effect. */
export enum ErrorCode {
  /**
   * No power covers it, or it is not allowed here: a call from `init`, or a method that is
   * reserved for the host (`initialize`, `proxy/…`, `$/…`).
   */
  Denied,
  /** There is no such message, or it has been settled, perhaps by the host. */
  UnknownMessage,
  /** Malformed JSON, or an action that does not fit this message. */
  Invalid,
  /** Too many outstanding requests or messages, or a value that is too large. */
  Full,
  Other,
}

export class ChannelError {
  constructor(
    public code: ErrorCode,
    /** The reason, for people. */
    public message: string,
  ) {}
}

export enum KeeperTag {
  User,
  Project,
}

/** Whose values they are. */
export class Keeper {
  project: string | null = null;

  constructor(readonly tag: KeeperTag) {}

  /** The user's: the same in all projects. */
  static user(): Keeper {
    return new Keeper(KeeperTag.User);
  }

  /** Those of the project in which the session with this id is: of the folder that its setup names. */
  static project(value: string): Keeper {
    const it = new Keeper(KeeperTag.Project);
    it.project = value;
    return it;
  }

  /** Puts it where the host reads it. */
  put(at: usize): void {
    store<u8>(at, <u8>this.tag);
    if (this.tag == KeeperTag.Project) {
      abi.storeBlock(at + 4, abi.putText(this.project!));
    }
  }
}

export enum Level {
  Trace,
  Debug,
  Info,
  Warn,
  Error,
}

@external("acp-chain:proxy/channel@0.1.2", "request")
declare function host_request(a0: usize, a1: usize, a2: usize, a3: usize, a4: usize, a5: usize): void;

@external("acp-chain:proxy/channel@0.1.2", "notify")
declare function host_notify(a0: usize, a1: usize, a2: usize, a3: usize, a4: usize, a5: usize): void;

@external("acp-chain:proxy/channel@0.1.2", "settle")
declare function host_settle(a0: u64, a1: usize, a2: usize, a3: usize, a4: usize, a5: usize, a6: usize, a7: usize, a8: usize): void;

@external("acp-chain:proxy/channel@0.1.2", "fail")
declare function host_fail(a0: u64, a1: usize, a2: usize, a3: usize): void;

@external("acp-chain:proxy/channel@0.1.2", "cancel")
declare function host_cancel(a0: u64, a1: usize): void;

@external("acp-chain:proxy/channel@0.1.2", "wake-after")
declare function host_wake_after(a0: usize, a1: usize): void;

@external("acp-chain:proxy/channel@0.1.2", "read")
declare function host_read(a0: u64, a1: usize, a2: usize, a3: usize): void;

@external("acp-chain:proxy/channel@0.1.2", "save")
declare function host_save(a0: usize, a1: usize, a2: usize): void;

@external("acp-chain:proxy/channel@0.1.2", "load-value")
declare function host_load_value(a0: usize, a1: usize, a2: usize, a3: usize, a4: usize, a5: usize): void;

@external("acp-chain:proxy/channel@0.1.2", "store-value")
declare function host_store_value(a0: usize, a1: usize, a2: usize, a3: usize, a4: usize, a5: u64, a6: usize, a7: usize, a8: usize, a9: usize): void;

@external("acp-chain:proxy/channel@0.1.2", "report-progress")
declare function host_report_progress(a0: u64, a1: f64, a2: usize, a3: f64, a4: usize, a5: usize, a6: usize, a7: usize): void;

@external("acp-chain:proxy/channel@0.1.2", "call-meta")
declare function host_call_meta(a0: u64, a1: usize): void;

@external("acp-chain:proxy/channel@0.1.2", "ask-caller")
declare function host_ask_caller(a0: u64, a1: usize, a2: usize, a3: usize, a4: usize, a5: usize): void;

@external("acp-chain:proxy/channel@0.1.2", "tools-changed")
declare function host_tools_changed(a0: usize): void;

@external("acp-chain:proxy/channel@0.1.2", "resources-changed")
declare function host_resources_changed(a0: usize): void;

@external("acp-chain:proxy/channel@0.1.2", "prompts-changed")
declare function host_prompts_changed(a0: usize): void;

@external("acp-chain:proxy/channel@0.1.2", "resource-changed")
declare function host_resource_changed(a0: usize, a1: usize, a2: usize): void;

@external("acp-chain:proxy/channel@0.1.2", "proxy-id")
declare function host_proxy_id(a0: usize): void;

@external("acp-chain:proxy/channel@0.1.2", "log")
declare function host_log(a0: usize, a1: usize, a2: usize): void;

/**
 * The only imports of a proxy: it exchanges messages with its two neighbours, through the host.
 *
 * What a call sends and settles leaves in that order, before the message that the call's action
 * is for. A call that fails sends, settles and saves nothing. A proxy cannot send from
 * `handler.init`, when there are no neighbours yet.
 *
 * The powers granted in the user's manifest determine which messages a proxy may read, change (and
 * at which places), reject, drop, hold, answer, or send. Without a power it receives no message.
 */
export namespace channel {
  /**
   * Sends a request to a neighbour. The response arrives at `handler.on-response` under the
   * returned number, also without a subscription. The parameters `null` send a request without
   * `params`.
   */
  export function request(to: Peer, method: string, params: Json): abi.Result<MessageId, ChannelError> {
    const mark = abi.mark();
    const text1 = abi.putText(method);
    const text1Length = abi.length;
    const text2 = abi.putText(params);
    const text2Length = abi.length;
    const at = abi.take(24);
    host_request(<usize>to, text1, text1Length, text2, text2Length, at);
    const given: abi.Result<MessageId, ChannelError> = load<u8>(at) == 0 ? abi.ok<MessageId, ChannelError>(load<u64>(at, 8)) : abi.err<MessageId, ChannelError>(new ChannelError(<ErrorCode>load<u8>(at, 8), abi.textAt(load<usize>(at, 12), load<usize>(at, 16))));
    abi.release(mark);
    return given;
  }

  /** Sends a notification to a neighbour. */
  export function notify(to: Peer, method: string, params: Json): ChannelError | null {
    const mark = abi.mark();
    const text1 = abi.putText(method);
    const text1Length = abi.length;
    const text2 = abi.putText(params);
    const text2Length = abi.length;
    const at = abi.take(16);
    host_notify(<usize>to, text1, text1Length, text2, text2Length, at);
    const given: ChannelError | null = load<u8>(at) != 0 ? new ChannelError(<ErrorCode>load<u8>(at, 4), abi.textAt(load<usize>(at, 8), load<usize>(at, 12))) : null;
    abi.release(mark);
    return given;
  }

  /** Settles a held message. */
  export function settle(id: MessageId, action: Action): ChannelError | null {
    const mark = abi.mark();
    let case1: usize = 0;
    let case2: usize = 0;
    let case3: usize = 0;
    let case4: usize = 0;
    let case5: usize = 0;
    let case6: usize = 0;
    if (action.tag == ActionTag.Edit) {
      const list7 = abi.putList<Edit>(action.edit!, 20);
      const list7Length = abi.length;
      case1 = list7;
      case2 = list7Length;
    }
    if (action.tag == ActionTag.Replace) {
      const text8 = abi.putText(action.replace!);
      const text8Length = abi.length;
      case1 = text8;
      case2 = text8Length;
    }
    if (action.tag == ActionTag.Respond) {
      const text9 = abi.putText(action.respond!);
      const text9Length = abi.length;
      case1 = text9;
      case2 = text9Length;
    }
    if (action.tag == ActionTag.Reject) {
      const text10 = abi.putText(action.reject!.message);
      const text10Length = abi.length;
      const part11 = action.reject!.data;
      let case12: usize = 0;
      let case13: usize = 0;
      if (part11 != null) {
        const text14 = abi.putText(part11);
        const text14Length = abi.length;
        case12 = text14;
        case13 = text14Length;
      }
      case1 = action.reject!.code;
      case2 = text10;
      case3 = text10Length;
      case4 = <usize>(part11 != null);
      case5 = case12;
      case6 = case13;
    }
    const at = abi.take(16);
    host_settle(id, <usize>action.tag, case1, case2, case3, case4, case5, case6, at);
    const given: ChannelError | null = load<u8>(at) != 0 ? new ChannelError(<ErrorCode>load<u8>(at, 4), abi.textAt(load<usize>(at, 8), load<usize>(at, 12))) : null;
    abi.release(mark);
    return given;
  }

  /**
   * Gives up a held message, for this reason. The effect is that of an `err` returned when the
   * message arrived.
   */
  export function fail(id: MessageId, reason: string): ChannelError | null {
    const mark = abi.mark();
    const text1 = abi.putText(reason);
    const text1Length = abi.length;
    const at = abi.take(16);
    host_fail(id, text1, text1Length, at);
    const given: ChannelError | null = load<u8>(at) != 0 ? new ChannelError(<ErrorCode>load<u8>(at, 4), abi.textAt(load<usize>(at, 8), load<usize>(at, 12))) : null;
    abi.release(mark);
    return given;
  }

  /**
   * Cancels a request of this proxy (`$/cancel_request` on that hop). Its response still arrives at
   * `handler.on-response`.
   */
  export function cancel(id: MessageId): ChannelError | null {
    const mark = abi.mark();
    const at = abi.take(16);
    host_cancel(id, at);
    const given: ChannelError | null = load<u8>(at) != 0 ? new ChannelError(<ErrorCode>load<u8>(at, 4), abi.textAt(load<usize>(at, 8), load<usize>(at, 12))) : null;
    abi.release(mark);
    return given;
  }

  /**
   * Requests a call after this many milliseconds, between 10 and an hour. It is a call of
   * `handler.on-response` with the returned number, the method `wake-after` and the outcome `null`.
   * `cancel` ends the pause. After such a call, the next one comes no sooner than nine times the
   * call's own duration. At most 16 pauses may be pending; all end with the instance, when it
   * fails, is suspended, leaves or is replaced.
   */
  export function wakeAfter(milliseconds: u32): abi.Result<MessageId, ChannelError> {
    const mark = abi.mark();
    const at = abi.take(24);
    host_wake_after(milliseconds, at);
    const given: abi.Result<MessageId, ChannelError> = load<u8>(at) == 0 ? abi.ok<MessageId, ChannelError>(load<u64>(at, 8)) : abi.err<MessageId, ChannelError>(new ChannelError(<ErrorCode>load<u8>(at, 8), abi.textAt(load<usize>(at, 12), load<usize>(at, 16))));
    abi.release(mark);
    return given;
  }

  /**
   * Reads the value at a JSON Pointer (RFC 6901) in the body of the current message or a held one;
   * the empty pointer reads the whole body. Tokens that a power hides read as `[hidden]`.
   */
  export function read(id: MessageId, pointer: string): abi.Result<Json | null, ChannelError> {
    const mark = abi.mark();
    const text1 = abi.putText(pointer);
    const text1Length = abi.length;
    const at = abi.take(16);
    host_read(id, text1, text1Length, at);
    const given: abi.Result<Json | null, ChannelError> = load<u8>(at) == 0 ? abi.ok<Json | null, ChannelError>(load<u8>(at, 4) != 0 ? abi.textAt(load<usize>(at, 8), load<usize>(at, 12)) : null) : abi.err<Json | null, ChannelError>(new ChannelError(<ErrorCode>load<u8>(at, 4), abi.textAt(load<usize>(at, 8), load<usize>(at, 12))));
    abi.release(mark);
    return given;
  }

  /**
   * Saves the proxy's state, in any format, and replaces the state saved before. The next instance
   * gets it after a failure. It is deleted when the connection ends.
   */
  export function save(state: string): ChannelError | null {
    const mark = abi.mark();
    const text1 = abi.putText(state);
    const text1Length = abi.length;
    const at = abi.take(16);
    host_save(text1, text1Length, at);
    const given: ChannelError | null = load<u8>(at) != 0 ? new ChannelError(<ErrorCode>load<u8>(at, 4), abi.textAt(load<usize>(at, 8), load<usize>(at, 12))) : null;
    abi.release(mark);
    return given;
  }

  /**
   * Loads the value under a key of at most 256 bytes. Values outlast the connection, and belong to the extension, by
   * its name and where it comes from: no other proxy reads them. The response arrives at `handler.on-response`
   * under the returned number, with the method `load-value` and an object as the outcome: `value` is a string, or
   * `null` if there is none; `version` is its number, or 0; `since` is the time since which this keeper has had values
   * (RFC 3339), or `null` if it has none: somebody may have removed them. Requires the power `values.keep`.
   */
  export function loadValue(whose: Keeper, key: string): abi.Result<MessageId, ChannelError> {
    const mark = abi.mark();
    let case1: usize = 0;
    let case2: usize = 0;
    if (whose.tag == KeeperTag.Project) {
      const text3 = abi.putText(whose.project!);
      const text3Length = abi.length;
      case1 = text3;
      case2 = text3Length;
    }
    const text4 = abi.putText(key);
    const text4Length = abi.length;
    const at = abi.take(24);
    host_load_value(<usize>whose.tag, case1, case2, text4, text4Length, at);
    const given: abi.Result<MessageId, ChannelError> = load<u8>(at) == 0 ? abi.ok<MessageId, ChannelError>(load<u64>(at, 8)) : abi.err<MessageId, ChannelError>(new ChannelError(<ErrorCode>load<u8>(at, 8), abi.textAt(load<usize>(at, 12), load<usize>(at, 16))));
    abi.release(mark);
    return given;
  }

  /**
   * Stores a value of at most 64 KiB under a key, or removes it, if its version is still this one (0 if there is
   * none). The response arrives as for `load-value`, with the method `store-value`, once the value is on disk: an
   * object with the new `version`, which no value under this key has had before; or, if the version is another one by
   * now, with the object `conflict`, which is what `load-value` would return. An error response if it cannot be
   * stored: the earlier value stays. Requires the power `values.keep`.
   */
  export function storeValue(whose: Keeper, key: string, version: u64, value: string | null): abi.Result<MessageId, ChannelError> {
    const mark = abi.mark();
    let case1: usize = 0;
    let case2: usize = 0;
    if (whose.tag == KeeperTag.Project) {
      const text3 = abi.putText(whose.project!);
      const text3Length = abi.length;
      case1 = text3;
      case2 = text3Length;
    }
    const text4 = abi.putText(key);
    const text4Length = abi.length;
    const part5 = value;
    let case6: usize = 0;
    let case7: usize = 0;
    if (part5 != null) {
      const text8 = abi.putText(part5);
      const text8Length = abi.length;
      case6 = text8;
      case7 = text8Length;
    }
    const at = abi.take(24);
    host_store_value(<usize>whose.tag, case1, case2, text4, text4Length, version, <usize>(part5 != null), case6, case7, at);
    const given: abi.Result<MessageId, ChannelError> = load<u8>(at) == 0 ? abi.ok<MessageId, ChannelError>(load<u64>(at, 8)) : abi.err<MessageId, ChannelError>(new ChannelError(<ErrorCode>load<u8>(at, 8), abi.textAt(load<usize>(at, 12), load<usize>(at, 16))));
    abi.release(mark);
    return given;
  }

  /**
   * Reports the progress of a pending call (see `tools`, `resources`, `prompts`, `completion`).
   * `progress` increases with each report; `total` is its final value, if known; `message` is shown
   * to people. Has no effect if the caller did not request progress.
   */
  export function reportProgress(call: MessageId, progress: f64, total: abi.Some<f64> | null, message: string | null): ChannelError | null {
    const mark = abi.mark();
    const part1 = total;
    let case2: f64 = 0;
    if (part1 != null) {
      case2 = part1.value;
    }
    const part3 = message;
    let case4: usize = 0;
    let case5: usize = 0;
    if (part3 != null) {
      const text6 = abi.putText(part3);
      const text6Length = abi.length;
      case4 = text6;
      case5 = text6Length;
    }
    const at = abi.take(16);
    host_report_progress(call, progress, <usize>(part1 != null), case2, <usize>(part3 != null), case4, case5, at);
    const given: ChannelError | null = load<u8>(at) != 0 ? new ChannelError(<ErrorCode>load<u8>(at, 4), abi.textAt(load<usize>(at, 8), load<usize>(at, 12))) : null;
    abi.release(mark);
    return given;
  }

  /**
   * The `_meta` object of the MCP request of a pending call. The caller's capabilities are in it
   * for every version of MCP, under `io.modelcontextprotocol/clientCapabilities`.
   */
  export function callMeta(call: MessageId): abi.Result<Json, ChannelError> {
    const mark = abi.mark();
    const at = abi.take(16);
    host_call_meta(call, at);
    const given: abi.Result<Json, ChannelError> = load<u8>(at) == 0 ? abi.ok<Json, ChannelError>(abi.textAt(load<usize>(at, 4), load<usize>(at, 8))) : abi.err<Json, ChannelError>(new ChannelError(<ErrorCode>load<u8>(at, 4), abi.textAt(load<usize>(at, 8), load<usize>(at, 12))));
    abi.release(mark);
    return given;
  }

  /**
   * Sends MCP's `elicitation/create`, `sampling/createMessage` or `roots/list` to the caller of a
   * pending call, if the caller supports it. The response arrives like that of `request`, and
   * `cancel` cancels it; it is cancelled when the call ends. The limit `hold-time` of the call
   * includes the time for the response.
   */
  export function askCaller(call: MessageId, method: string, params: Json): abi.Result<MessageId, ChannelError> {
    const mark = abi.mark();
    const text1 = abi.putText(method);
    const text1Length = abi.length;
    const text2 = abi.putText(params);
    const text2Length = abi.length;
    const at = abi.take(24);
    host_ask_caller(call, text1, text1Length, text2, text2Length, at);
    const given: abi.Result<MessageId, ChannelError> = load<u8>(at) == 0 ? abi.ok<MessageId, ChannelError>(load<u64>(at, 8)) : abi.err<MessageId, ChannelError>(new ChannelError(<ErrorCode>load<u8>(at, 8), abi.textAt(load<usize>(at, 12), load<usize>(at, 16))));
    abi.release(mark);
    return given;
  }

  /**
   * Reports that `tools.list-tools` would now return another list. The host notifies the users of
   * the tools. There is no need for it in `list-tools` itself, whose result is the list: there it
   * notifies once, and not again until it is called elsewhere.
   */
  export function toolsChanged(): ChannelError | null {
    const mark = abi.mark();
    const at = abi.take(16);
    host_tools_changed(at);
    const given: ChannelError | null = load<u8>(at) != 0 ? new ChannelError(<ErrorCode>load<u8>(at, 4), abi.textAt(load<usize>(at, 8), load<usize>(at, 12))) : null;
    abi.release(mark);
    return given;
  }

  /** As `tools-changed`, for `resources.list-resources`. */
  export function resourcesChanged(): ChannelError | null {
    const mark = abi.mark();
    const at = abi.take(16);
    host_resources_changed(at);
    const given: ChannelError | null = load<u8>(at) != 0 ? new ChannelError(<ErrorCode>load<u8>(at, 4), abi.textAt(load<usize>(at, 8), load<usize>(at, 12))) : null;
    abi.release(mark);
    return given;
  }

  /** As `tools-changed`, for `prompts.list-prompts`. */
  export function promptsChanged(): ChannelError | null {
    const mark = abi.mark();
    const at = abi.take(16);
    host_prompts_changed(at);
    const given: ChannelError | null = load<u8>(at) != 0 ? new ChannelError(<ErrorCode>load<u8>(at, 4), abi.textAt(load<usize>(at, 8), load<usize>(at, 12))) : null;
    abi.release(mark);
    return given;
  }

  /**
   * Reports that `resources.read-resource` would now return another content for this URI. The host
   * notifies the URI's subscribers.
   */
  export function resourceChanged(uri: string): ChannelError | null {
    const mark = abi.mark();
    const text1 = abi.putText(uri);
    const text1Length = abi.length;
    const at = abi.take(16);
    host_resource_changed(text1, text1Length, at);
    const given: ChannelError | null = load<u8>(at) != 0 ? new ChannelError(<ErrorCode>load<u8>(at, 4), abi.textAt(load<usize>(at, 8), load<usize>(at, 12))) : null;
    abi.release(mark);
    return given;
  }

  /**
   * The proxy's `id` in the manifest. If a power allows it, the proxy may keep data in `_meta`,
   * under `acp-chain/` and this id.
   */
  export function proxyId(): string {
    const mark = abi.mark();
    const at = abi.take(8);
    host_proxy_id(at);
    const given: string = abi.textAt(load<usize>(at), load<usize>(at, 4));
    abi.release(mark);
    return given;
  }

  /** Writes to the host's log. */
  export function log(level: Level, text: string): void {
    const mark = abi.mark();
    const text1 = abi.putText(text);
    const text1Length = abi.length;
    host_log(<usize>level, text1, text1Length);
    abi.release(mark);
  }
}

export enum OutcomeTag {
  Done,
  Pending,
}

/** The outcome of a call. */
export class Outcome {
  done: Json | null = null;

  constructor(readonly tag: OutcomeTag) {}

  /** The MCP result that the function's documentation names. */
  static done(value: Json): Outcome {
    const it = new Outcome(OutcomeTag.Done);
    it.done = value;
    return it;
  }

  /**
   * The proxy calls `channel.settle` later, with `respond` and such a result, or with `reject`. Until
   * then the call counts as a held message, and `handler.on-cancel` reports its cancellation.
   */
  static pending(): Outcome {
    return new Outcome(OutcomeTag.Pending);
  }

  /** Puts it where the host reads it. */
  put(at: usize): void {
    store<u8>(at, <u8>this.tag);
    if (this.tag == OutcomeTag.Done) {
      abi.storeBlock(at + 4, abi.putText(this.done!));
    }
  }
}

export class ToolsCatalog {
  constructor(
    /** How to use the tools together, for the model (MCP `instructions`). */
    public instructions: string | null,
    /**
     * Each is an MCP `Tool`: an object with `name`, `inputSchema`, and preferably a `description`.
     * The host omits tools with a duplicate name or an invalid schema, and tells the user.
     */
    public tools: Array<Json>,
  ) {}

  /** Puts it where the host reads it. */
  put(at: usize): void {
    const part1 = this.instructions;
    store<u8>(at, <u8>(part1 != null));
    if (part1 != null) {
      abi.storeBlock(at + 4, abi.putText(part1));
    }
    abi.storeBlock(at + 12, abi.putList<Json>(this.tools, 8));
  }
}

export class ToolCall {
  constructor(
    /** The number under which a pending call is settled. */
    public id: MessageId,
    /** The ACP session of the calling agent; none until the agent has named the session. */
    public session: string | null,
    /** The name of a listed tool. */
    public name: string,
    /**
     * An object that is valid according to the tool's `inputSchema`. The host does not validate
     * against schemas that refer to themselves or elsewhere, that are very large, or that have
     * `unevaluatedProperties`, `unevaluatedItems` or a `pattern` with look-around; nor very large
     * arguments; nor `format`.
     */
    public arguments: Json,
  ) {}
}

export class ResourcesCatalog {
  constructor(
    /** How to use the resources, for the model. Appended to the instructions of `tools.list-tools`. */
    public instructions: string | null,
    /**
     * Each is an MCP `Resource`: an object with `uri`, `name`, and preferably a `description` and a
     * `mimeType`. The host omits resources without a URI or a name, and those with a duplicate URI,
     * and tells the user.
     */
    public resources: Array<Json>,
    /**
     * Each is an MCP `ResourceTemplate`: like a resource, with `uriTemplate` (RFC 6570) in place of
     * `uri`.
     */
    public templates: Array<Json>,
  ) {}

  /** Puts it where the host reads it. */
  put(at: usize): void {
    const part1 = this.instructions;
    store<u8>(at, <u8>(part1 != null));
    if (part1 != null) {
      abi.storeBlock(at + 4, abi.putText(part1));
    }
    abi.storeBlock(at + 12, abi.putList<Json>(this.resources, 8));
    abi.storeBlock(at + 20, abi.putList<Json>(this.templates, 8));
  }
}

export class ResourceRead {
  constructor(
    /** The number under which a pending call is settled. */
    public id: MessageId,
    /** As in `tools.tool-call`. */
    public session: string | null,
    /**
     * Any URI, chosen by the agent: of a listed resource, from a template, from a tool's result, or
     * another.
     */
    public uri: string,
  ) {}
}

export class PromptCall {
  constructor(
    /** The number under which a pending call is settled. */
    public id: MessageId,
    /** As in `tools.tool-call`. */
    public session: string | null,
    /** The name of a listed prompt. */
    public name: string,
    /** An object of strings, with all arguments that the prompt requires. */
    public arguments: Json,
  ) {}
}

export class CompletionCall {
  constructor(
    /** The number under which a pending call is settled. */
    public id: MessageId,
    /** As in `tools.tool-call`. */
    public session: string | null,
    /**
     * What to complete: an object with the `type` `ref/prompt` and a `name`, or `ref/resource` and the
     * `uri` of a template.
     */
    public reference: Json,
    /** The name of the argument or variable. */
    public argument: string,
    /** Its value so far. */
    public value: string,
    /** The other arguments or variables with known values: an object of strings. */
    public context: Json,
  ) {}
}
