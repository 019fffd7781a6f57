// @ts-nocheck: editors take this for TypeScript, which it is not quite.
// The interface between acp-chain and a proxy. Made by `cargo xtask types` from wit/proxy.wit; not to be edited.

import * as abi from "./abi";

/** JSON text (UTF-8). */
export type Json = string;

/** A neighbour of this proxy in the chain. */
export enum Peer {
  /** The predecessor: the side of the editor. */
  Client,
  /** The successor: the side of the agent. */
  Agent,
}

/** Whose messages a subscription is about. */
export enum Sender {
  /** Both neighbours'. */
  Any,
  Client,
  Agent,
}

/**
 * The host's number for one message at this proxy. Never used twice in a connection, also not
 * by a proxy that is started again, and below 2^53.
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
 * Which messages the proxy wants to see. Everything else passes by without entering it, and so
 * does what no power of the proxy covers.
 * Where several subscriptions match one message, the first decides about the body.
 */
export class Subscription {
  constructor(
    /**
     * An exact method name, or a prefix ending in `*`. A response is matched by the method of
     * the request that it answers.
     */
    public method: string,
    public sender: Sender,
    public kinds: Kinds,
    /**
     * False: the body stays with the host until `channel.read` asks for it, and the message
     * comes with an empty string in its place.
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

/** What all three kinds of message have in common. */
export class Head {
  constructor(
    public id: MessageId,
    public sender: Peer,
    public method: string,
    /**
     * The session that the message belongs to, where it names one: its own `sessionId`, or for
     * a response that of the request, or else that of the result.
     */
    public session: string | null,
    /** Size of the body in bytes. */
    public size: u64,
  ) {}
}

/** A message without `params` comes with the body `null`. */
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
 * `head.id` is the number of the request that this answers, if the proxy saw that request or
 * sent it; `head.method` is its method.
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

/** What becomes of what is there. */
export class Change {
  set: Json | null = null;

  constructor(readonly tag: ChangeTag) {}

  /**
   * This takes its place. The last part of the pointer may name a member that is not there yet, which
   * is then added to its object, or be `-`, which adds an element to its array. Where an object is
   * missing on the way, or is `null`, it is made.
   */
  static set(value: Json): Change {
    const it = new Change(ChangeTag.Set);
    it.set = value;
    return it;
  }

  /** It goes. If nothing is there, that is an error. */
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

/** A change to one place of a body. */
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

/** What becomes of a message. */
export class Action {
  edit: Array<Edit> | null = null;
  replace: Json | null = null;
  respond: Json | null = null;
  reject: RpcError | null = null;

  constructor(readonly tag: ActionTag) {}

  /** Goes on unchanged, byte for byte. */
  static forward(): Action {
    return new Action(ActionTag.Forward);
  }

  /**
   * Goes on with these changes to its body, made one after the other. All else stays as it is,
   * byte for byte. The body need not have been seen. Not for error responses.
   */
  static edit(value: Array<Edit>): Action {
    const it = new Action(ActionTag.Edit);
    it.edit = value;
    return it;
  }

  /**
   * Goes on with this body in place of its own, as far as it differs at places that a power lets
   * change. Everywhere else it has to be the same bytes, but for white space between values, and
   * there the old bytes go on. A response goes on as this result.
   */
  static replace(value: Json): Action {
    const it = new Action(ActionTag.Replace);
    it.replace = value;
    return it;
  }

  /** Requests: answered here with this result, and never sent on. */
  static respond(value: Json): Action {
    const it = new Action(ActionTag.Respond);
    it.respond = value;
    return it;
  }

  /** Requests: answered here with this error. Responses: go on as this error. */
  static reject(value: RpcError): Action {
    const it = new Action(ActionTag.Reject);
    it.reject = value;
    return it;
  }

  /** Notifications: goes no further. */
  static discard(): Action {
    return new Action(ActionTag.Discard);
  }

  /**
   * Kept by the host until the proxy calls `channel.settle`, for as long as the limit
   * `hold-time` allows; then the host does with it what it does with the messages of a proxy
   * that failed. Later messages pass it, with one exception: a response waits for the held
   * notifications of its session and direction that came before it. A proxy that holds
   * notifications therefore subscribes to that response, and settles them when it sees it.
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
 * What becomes of a proxy that breaks (it traps, or passes a limit on time or memory), and of
 * the messages that it had. The user's manifest has the last word.
 */
export enum FailurePolicy {
  /**
   * Its messages are refused, and a new instance takes its place: a few times, then it is given
   * up and goes on as with `refuse`.
   */
  Restart,
  /** Its messages go on unchanged, as if there were no such proxy. For what only adds comfort. */
  Bypass,
  /** Its messages are refused, and so is what it would get from now on. For what guards. */
  Refuse,
}

/** What a proxy says of itself when it starts. */
export class Registration {
  constructor(
    public subscriptions: Array<Subscription>,
    public onFailure: FailurePolicy,
    /**
     * Whether others rely on this proxy to decide. A guard stands next to the agent, behind all
     * others; what it changed, answered or sent, no other proxy may alter; and what readers could
     * take for different things never comes to it.
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
   * No power covers it, or it is not allowed here: from within `init`, or a method that belongs to
   * the host (`initialize`, `proxy/…`, `$/…`).
   */
  Denied,
  /** No such message, or it is settled already, be it by the host. */
  UnknownMessage,
  /** Not JSON, or not what this message can take. */
  Invalid,
  /** The proxy has too much outstanding, or what it gives is too large. */
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

export enum Level {
  Trace,
  Debug,
  Info,
  Warn,
  Error,
}

@external("acp-chain:proxy/channel@0.1.1", "request")
declare function host_request(a0: usize, a1: usize, a2: usize, a3: usize, a4: usize, a5: usize): void;

@external("acp-chain:proxy/channel@0.1.1", "notify")
declare function host_notify(a0: usize, a1: usize, a2: usize, a3: usize, a4: usize, a5: usize): void;

@external("acp-chain:proxy/channel@0.1.1", "settle")
declare function host_settle(a0: u64, a1: usize, a2: usize, a3: usize, a4: usize, a5: usize, a6: usize, a7: usize, a8: usize): void;

@external("acp-chain:proxy/channel@0.1.1", "fail")
declare function host_fail(a0: u64, a1: usize, a2: usize, a3: usize): void;

@external("acp-chain:proxy/channel@0.1.1", "cancel")
declare function host_cancel(a0: u64, a1: usize): void;

@external("acp-chain:proxy/channel@0.1.1", "wake-after")
declare function host_wake_after(a0: usize, a1: usize): void;

@external("acp-chain:proxy/channel@0.1.1", "read")
declare function host_read(a0: u64, a1: usize, a2: usize, a3: usize): void;

@external("acp-chain:proxy/channel@0.1.1", "save")
declare function host_save(a0: usize, a1: usize, a2: usize): void;

@external("acp-chain:proxy/channel@0.1.1", "report-progress")
declare function host_report_progress(a0: u64, a1: f64, a2: usize, a3: f64, a4: usize, a5: usize, a6: usize, a7: usize): void;

@external("acp-chain:proxy/channel@0.1.1", "call-meta")
declare function host_call_meta(a0: u64, a1: usize): void;

@external("acp-chain:proxy/channel@0.1.1", "ask-caller")
declare function host_ask_caller(a0: u64, a1: usize, a2: usize, a3: usize, a4: usize, a5: usize): void;

@external("acp-chain:proxy/channel@0.1.1", "tools-changed")
declare function host_tools_changed(a0: usize): void;

@external("acp-chain:proxy/channel@0.1.1", "resources-changed")
declare function host_resources_changed(a0: usize): void;

@external("acp-chain:proxy/channel@0.1.1", "prompts-changed")
declare function host_prompts_changed(a0: usize): void;

@external("acp-chain:proxy/channel@0.1.1", "resource-changed")
declare function host_resource_changed(a0: usize, a1: usize, a2: usize): void;

@external("acp-chain:proxy/channel@0.1.1", "proxy-id")
declare function host_proxy_id(a0: usize): void;

@external("acp-chain:proxy/channel@0.1.1", "log")
declare function host_log(a0: usize, a1: usize, a2: usize): void;

/**
 * All that a proxy may do: talk to its two neighbours, through the host.
 *
 * What a call sends and settles goes out in that order, and before the message that the call
 * returns an action for. A call that breaks has sent, settled and saved nothing. Nothing may be
 * sent from within `handler.init`: there are no neighbours yet.
 *
 * What a proxy may do with which messages are its powers, in the user's manifest: to read them,
 * to change which places of them, to refuse, drop or hold them, to answer them, to send its own.
 * Without a power it sees nothing.
 */
export namespace channel {
  /**
   * Asks a neighbour. The answer comes to `handler.on-response` under the number returned,
   * subscribed or not. The parameters `null` send a request without parameters.
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

  /** Tells a neighbour. */
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
   * Gives up on a held message, for this reason: what becomes of it is what an `err` would have
   * made of it when it came.
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
   * Withdraws a request of this proxy's own (`$/cancel_request` on that hop). Its answer still
   * comes to `handler.on-response`.
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
   * Asks the host to call this proxy again after so many milliseconds, 10 at least and an hour at most. That
   * call is of `handler.on-response`: the number is the one returned, the method `wake-after`, the outcome
   * `null`. `cancel` ends the pause. After such a call, the next one comes no sooner than nine times as long as
   * that call took. 16 pauses may last at once, and all end with the instance: when it breaks, sleeps, leaves or
   * is replaced.
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
   * The part of a message's body at a JSON Pointer (RFC 6901); the empty pointer is all of it.
   * The message is the one being handled or one that is held. Where a power hides tokens, a text
   * `[hidden]` is in their place.
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
   * Keeps this, in whatever form the proxy likes, in place of what was kept before. A proxy that is
   * started again after it broke gets back what it saved last. It is forgotten with the connection.
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
   * Says how far a call has come that is in the proxy's hands (see `tools`, `resources`, `prompts`,
   * `completion`). `progress` grows with every report; `total` is what it reaches in the end, if that
   * is known; `message` is for people. A caller that did not ask for progress is told nothing.
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
   * What the caller of a call that is in the proxy's hands said beside it: the `_meta` of its MCP
   * request, an object. What the caller can is in it for every version of MCP, under
   * `io.modelcontextprotocol/clientCapabilities`.
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
   * Asks the caller of a tool, a resource or a prompt, in a call that is in the proxy's hands:
   * `elicitation/create`, `sampling/createMessage` or `roots/list` of MCP, where the caller says that
   * it can. The answer comes as that of `request`, and `cancel` withdraws it; with the call it ends as
   * cancelled. A call that asks is pending, so that `hold-time` is also the time for the answer.
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
   * Says that `tools.list-tools` would now give something else. Whoever uses the tools is told to
   * list them again. From within `list-tools` there is nothing to say: what it returns is the list.
   * Said there nevertheless, it is passed on once, and not again before it is said elsewhere.
   */
  export function toolsChanged(): ChannelError | null {
    const mark = abi.mark();
    const at = abi.take(16);
    host_tools_changed(at);
    const given: ChannelError | null = load<u8>(at) != 0 ? new ChannelError(<ErrorCode>load<u8>(at, 4), abi.textAt(load<usize>(at, 8), load<usize>(at, 12))) : null;
    abi.release(mark);
    return given;
  }

  /** The same of `resources.list-resources`. */
  export function resourcesChanged(): ChannelError | null {
    const mark = abi.mark();
    const at = abi.take(16);
    host_resources_changed(at);
    const given: ChannelError | null = load<u8>(at) != 0 ? new ChannelError(<ErrorCode>load<u8>(at, 4), abi.textAt(load<usize>(at, 8), load<usize>(at, 12))) : null;
    abi.release(mark);
    return given;
  }

  /** The same of `prompts.list-prompts`. */
  export function promptsChanged(): ChannelError | null {
    const mark = abi.mark();
    const at = abi.take(16);
    host_prompts_changed(at);
    const given: ChannelError | null = load<u8>(at) != 0 ? new ChannelError(<ErrorCode>load<u8>(at, 4), abi.textAt(load<usize>(at, 8), load<usize>(at, 12))) : null;
    abi.release(mark);
    return given;
  }

  /**
   * Says that `resources.read-resource` would now give something else for this URI. The host tells
   * those who have subscribed to it.
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
   * The name of the proxy: its `id` in the manifest. Under `acp-chain/` and this name it may leave
   * marks in `_meta`, where a power lets it.
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

/** What comes of a call. */
export class Outcome {
  done: Json | null = null;

  constructor(readonly tag: OutcomeTag) {}

  /** The MCP result that the function names. */
  static done(value: Json): Outcome {
    const it = new Outcome(OutcomeTag.Done);
    it.done = value;
    return it;
  }

  /**
   * Settled later with `channel.settle`: `respond` with such a result, or `reject`. Until then it
   * counts as a held message, and `handler.on-cancel` tells that the caller gave it up.
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
     * Each an MCP `Tool`: an object with `name`, `inputSchema`, and best a `description`. The host
     * leaves out a tool whose name another has, or with a schema that is none, and tells the user.
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
    /** The ACP session whose agent calls; none while the agent has not said yet what it calls it. */
    public session: string | null,
    /** One of the tools that were listed. */
    public name: string,
    /**
     * An object that the tool's `inputSchema` accepts. The check is left to the tool where the
     * schema refers to itself or elsewhere, is very large, has `unevaluatedProperties` or
     * `unevaluatedItems`, or a `pattern` that looks around; where the arguments are very large; and
     * for `format`.
     */
    public arguments: Json,
  ) {}
}

export class ResourcesCatalog {
  constructor(
    /** How to use the resources, for the model. Behind what `tools.list-tools` says. */
    public instructions: string | null,
    /**
     * Each an MCP `Resource`: an object with `uri`, `name`, and best a `description` and a
     * `mimeType`. The host leaves out what lacks a URI or a name, or has the URI of another, and
     * tells the user.
     */
    public resources: Array<Json>,
    /** Each an MCP `ResourceTemplate`: the same with `uriTemplate` (RFC 6570) in place of `uri`. */
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
     * Any that the agent chose: one of those that were listed, one by a template, one that a tool
     * linked to, or none of these.
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
    /** One of the prompts that were listed. */
    public name: string,
    /** An object of texts, with all that the prompt requires. */
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
     * What it is for: an object with the `type` `ref/prompt` and a `name`, or `ref/resource` and a
     * `uri`, which is that of a template.
     */
    public reference: Json,
    /** The argument or variable that is being written. */
    public argument: string,
    /** What of it is there already. */
    public value: string,
    /** The others that are known: an object of texts. */
    public context: Json,
  ) {}
}
