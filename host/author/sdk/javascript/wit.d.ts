// Made by `cargo xtask types` from wit/proxy.wit; not to be edited.
// What componentize-qjs passes to a component in JavaScript, and takes from it.

/**
 * What passes between the host and a proxy.
 *
 * A proxy stands between a client (an editor) and an agent that speak the Agent Client
 * Protocol. The host reads only the envelope of a message: its kind, its method and its
 * session. The body stays JSON text, whatever the protocol puts into it.
 */
declare module "acp-chain:proxy/types@0.1.1" {
  /** JSON text (UTF-8). */
  export type Json = string;

  /** A neighbour of this proxy in the chain. */
  export type Peer =
    /** The predecessor: the side of the editor. */
    | "client"
    /** The successor: the side of the agent. */
    | "agent";

  /** Whose messages a subscription is about. */
  export type Sender =
    /** Both neighbours'. */
    | "any"
    | "client"
    | "agent";

  /**
   * The host's number for one message at this proxy. Never used twice in a connection, also not
   * by a proxy that is started again, and below 2^53.
   */
  export type MessageId = number;

  /** A JSON-RPC error object. */
  export interface RpcError {
    code: number;
    message: string;
    data: Json | null;
  }

  export interface Kinds {
    request?: boolean;
    notification?: boolean;
    response?: boolean;
  }

  /**
   * Which messages the proxy wants to see. Everything else passes by without entering it, and so
   * does what no power of the proxy covers.
   * Where several subscriptions match one message, the first decides about the body.
   */
  export interface Subscription {
    /**
     * An exact method name, or a prefix ending in `*`. A response is matched by the method of
     * the request that it answers.
     */
    method: string;
    sender: Sender;
    kinds: Kinds;
    /**
     * False: the body stays with the host until `channel.read` asks for it, and the message
     * comes with an empty string in its place.
     */
    withBody: boolean;
  }

  /** What all three kinds of message have in common. */
  export interface Head {
    id: MessageId;
    sender: Peer;
    method: string;
    /**
     * The session that the message belongs to, where it names one: its own `sessionId`, or for
     * a response that of the request, or else that of the result.
     */
    session: string | null;
    /** Size of the body in bytes. */
    size: number;
  }

  /** A message without `params` comes with the body `null`. */
  export interface Request {
    head: Head;
    params: Json;
  }

  export interface Notification {
    head: Head;
    params: Json;
  }

  /**
   * `head.id` is the number of the request that this answers, if the proxy saw that request or
   * sent it; `head.method` is its method.
   */
  export interface Response {
    head: Head;
    outcome: { tag: "ok"; val: Json } | { tag: "err"; val: RpcError };
  }

  /** What becomes of what is there. */
  export type Change =
    /**
     * This takes its place. The last part of the pointer may name a member that is not there yet, which
     * is then added to its object, or be `-`, which adds an element to its array. Where an object is
     * missing on the way, or is `null`, it is made.
     */
    | { tag: "set"; val: Json }
    /** It goes. If nothing is there, that is an error. */
    | { tag: "remove" };

  /** A change to one place of a body. */
  export interface Edit {
    /** A JSON Pointer (RFC 6901) to a value. */
    pointer: string;
    change: Change;
  }

  /** What becomes of a message. */
  export type Action =
    /** Goes on unchanged, byte for byte. */
    | { tag: "forward" }
    /**
     * Goes on with these changes to its body, made one after the other. All else stays as it is,
     * byte for byte. The body need not have been seen. Not for error responses.
     */
    | { tag: "edit"; val: Array<Edit> }
    /**
     * Goes on with this body in place of its own, as far as it differs at places that a power lets
     * change. Everywhere else it has to be the same bytes, but for white space between values, and
     * there the old bytes go on. A response goes on as this result.
     */
    | { tag: "replace"; val: Json }
    /** Requests: answered here with this result, and never sent on. */
    | { tag: "respond"; val: Json }
    /** Requests: answered here with this error. Responses: go on as this error. */
    | { tag: "reject"; val: RpcError }
    /** Notifications: goes no further. */
    | { tag: "discard" }
    /**
     * Kept by the host until the proxy calls `channel.settle`, for as long as the limit
     * `hold-time` allows; then the host does with it what it does with the messages of a proxy
     * that failed. Later messages pass it, with one exception: a response waits for the held
     * notifications of its session and direction that came before it. A proxy that holds
     * notifications therefore subscribes to that response, and settles them when it sees it.
     */
    | { tag: "hold" };

  /**
   * What becomes of a proxy that breaks (it traps, or passes a limit on time or memory), and of
   * the messages that it had. The user's manifest has the last word.
   */
  export type FailurePolicy =
    /**
     * Its messages are refused, and a new instance takes its place: a few times, then it is given
     * up and goes on as with `refuse`.
     */
    | "restart"
    /** Its messages go on unchanged, as if there were no such proxy. For what only adds comfort. */
    | "bypass"
    /** Its messages are refused, and so is what it would get from now on. For what guards. */
    | "refuse";

  /** What a proxy says of itself when it starts. */
  export interface Registration {
    subscriptions: Array<Subscription>;
    onFailure: FailurePolicy;
    /**
     * Whether others rely on this proxy to decide. A guard stands next to the agent, behind all
     * others; what it changed, answered or sent, no other proxy may alter; and what readers could
     * take for different things never comes to it.
     */
    guard: boolean;
  }
}

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
declare module "acp-chain:proxy/channel@0.1.1" {
  export type Json = import("acp-chain:proxy/types@0.1.1").Json;

  export type Peer = import("acp-chain:proxy/types@0.1.1").Peer;

  export type MessageId = import("acp-chain:proxy/types@0.1.1").MessageId;

  export type Action = import("acp-chain:proxy/types@0.1.1").Action;

  /** Why a call had no effect. */
  export type ErrorCode =
    /**
     * No power covers it, or it is not allowed here: from within `init`, or a method that belongs to
     * the host (`initialize`, `proxy/…`, `$/…`).
     */
    | "denied"
    /** No such message, or it is settled already, be it by the host. */
    | "unknown-message"
    /** Not JSON, or not what this message can take. */
    | "invalid"
    /** The proxy has too much outstanding, or what it gives is too large. */
    | "full"
    | "other";

  export interface ChannelError {
    code: ErrorCode;
    /** The reason, for people. */
    message: string;
  }

  export type Level =
    | "trace"
    | "debug"
    | "info"
    | "warn"
    | "error";

  /**
   * Asks a neighbour. The answer comes to `handler.on-response` under the number returned,
   * subscribed or not. The parameters `null` send a request without parameters.
   * @throws {globalThis.Error & { payload: ChannelError }}
   */
  export function request(to: Peer, method: string, params: Json): MessageId;

  /**
   * Tells a neighbour.
   * @throws {globalThis.Error & { payload: ChannelError }}
   */
  export function notify(to: Peer, method: string, params: Json): void;

  /**
   * Settles a held message.
   * @throws {globalThis.Error & { payload: ChannelError }}
   */
  export function settle(id: MessageId, action: Action): void;

  /**
   * Gives up on a held message, for this reason: what becomes of it is what an `err` would have
   * made of it when it came.
   * @throws {globalThis.Error & { payload: ChannelError }}
   */
  export function fail(id: MessageId, reason: string): void;

  /**
   * Withdraws a request of this proxy's own (`$/cancel_request` on that hop). Its answer still
   * comes to `handler.on-response`.
   * @throws {globalThis.Error & { payload: ChannelError }}
   */
  export function cancel(id: MessageId): void;

  /**
   * Asks the host to call this proxy again after so many milliseconds, 10 at least and an hour at most. That
   * call is of `handler.on-response`: the number is the one returned, the method `wake-after`, the outcome
   * `null`. `cancel` ends the pause. After such a call, the next one comes no sooner than nine times as long as
   * that call took. 16 pauses may last at once, and all end with the instance: when it breaks, sleeps, leaves or
   * is replaced.
   * @throws {globalThis.Error & { payload: ChannelError }}
   */
  export function wakeAfter(milliseconds: number): MessageId;

  /**
   * The part of a message's body at a JSON Pointer (RFC 6901); the empty pointer is all of it.
   * The message is the one being handled or one that is held. Where a power hides tokens, a text
   * `[hidden]` is in their place.
   * @throws {globalThis.Error & { payload: ChannelError }}
   */
  export function read(id: MessageId, pointer: string): Json | null;

  /**
   * Keeps this, in whatever form the proxy likes, in place of what was kept before. A proxy that is
   * started again after it broke gets back what it saved last. It is forgotten with the connection.
   * @throws {globalThis.Error & { payload: ChannelError }}
   */
  export function save(state: string): void;

  /**
   * Says how far a call has come that is in the proxy's hands (see `tools`, `resources`, `prompts`,
   * `completion`). `progress` grows with every report; `total` is what it reaches in the end, if that
   * is known; `message` is for people. A caller that did not ask for progress is told nothing.
   * @throws {globalThis.Error & { payload: ChannelError }}
   */
  export function reportProgress(call: MessageId, progress: number, total: number | null, message: string | null): void;

  /**
   * What the caller of a call that is in the proxy's hands said beside it: the `_meta` of its MCP
   * request, an object. What the caller can is in it for every version of MCP, under
   * `io.modelcontextprotocol/clientCapabilities`.
   * @throws {globalThis.Error & { payload: ChannelError }}
   */
  export function callMeta(call: MessageId): Json;

  /**
   * Asks the caller of a tool, a resource or a prompt, in a call that is in the proxy's hands:
   * `elicitation/create`, `sampling/createMessage` or `roots/list` of MCP, where the caller says that
   * it can. The answer comes as that of `request`, and `cancel` withdraws it; with the call it ends as
   * cancelled. A call that asks is pending, so that `hold-time` is also the time for the answer.
   * @throws {globalThis.Error & { payload: ChannelError }}
   */
  export function askCaller(call: MessageId, method: string, params: Json): MessageId;

  /**
   * Says that `tools.list-tools` would now give something else. Whoever uses the tools is told to
   * list them again. From within `list-tools` there is nothing to say: what it returns is the list.
   * Said there nevertheless, it is passed on once, and not again before it is said elsewhere.
   * @throws {globalThis.Error & { payload: ChannelError }}
   */
  export function toolsChanged(): void;

  /**
   * The same of `resources.list-resources`.
   * @throws {globalThis.Error & { payload: ChannelError }}
   */
  export function resourcesChanged(): void;

  /**
   * The same of `prompts.list-prompts`.
   * @throws {globalThis.Error & { payload: ChannelError }}
   */
  export function promptsChanged(): void;

  /**
   * Says that `resources.read-resource` would now give something else for this URI. The host tells
   * those who have subscribed to it.
   * @throws {globalThis.Error & { payload: ChannelError }}
   */
  export function resourceChanged(uri: string): void;

  /**
   * The name of the proxy: its `id` in the manifest. Under `acp-chain/` and this name it may leave
   * marks in `_meta`, where a power lets it.
   */
  export function proxyId(): string;

  /** Writes to the host's log. */
  export function log(level: Level, text: string): void;
}

/**
 * What a proxy is: one instance a connection, called for one message at a time.
 *
 * An `err` means that the proxy could not decide; so does an action that no power of its covers.
 * The message is then refused: a request is answered with an error that names the proxy, a response
 * turns into one, a notification is dropped. It goes on unchanged instead where the failure policy
 * is `bypass`, or where no power lets the proxy decide about it.
 */
declare module "acp-chain:proxy/handler@0.1.1" {
  export type Json = import("acp-chain:proxy/types@0.1.1").Json;

  export type Registration = import("acp-chain:proxy/types@0.1.1").Registration;

  export type Request = import("acp-chain:proxy/types@0.1.1").Request;

  export type Notification = import("acp-chain:proxy/types@0.1.1").Notification;

  export type Response = import("acp-chain:proxy/types@0.1.1").Response;

  export type Action = import("acp-chain:proxy/types@0.1.1").Action;

  export type MessageId = import("acp-chain:proxy/types@0.1.1").MessageId;

  export interface Handler {
    /**
     * Once, before any message. `config` is the proxy's table from the manifest, `{}` without one;
     * `saved` is what an earlier instance of this connection saved, if that broke.
     * @throws {string}
     */
    init(config: Json, saved: string | null): Registration;
    /** @throws {string} */
    onRequest(request: Request): Action;
    /** @throws {string} */
    onNotification(notification: Notification): Action;
    /**
     * A response that passes by, or the answer to a request of this proxy's own; for the latter
     * the action returned means nothing.
     * @throws {string}
     */
    onResponse(response: Response): Action;
    /**
     * The sender of a request that this proxy holds has withdrawn it, or the user has stopped the turn of
     * a prompt that it holds (`session/cancel`). It is still held, and still to be settled: commonly
     * with `reject` and the code -32800. For a prompt, the host makes of that the answer which says that
     * its turn was cancelled; and one that was stopped goes no further, whatever it is settled with.
     * After an `err` the host refuses it, whatever the failure policy: nobody waits for it any more.
     *
     * It is also called when the limit `hold-time` has run out for a message that this proxy held. The host
     * has taken that message back then, and there is nothing left to settle (`unknown-message`); what the
     * proxy has asked for its sake is to be withdrawn (`channel.cancel`).
     * @throws {string}
     */
    onCancel(id: MessageId): void;
  }
}

/** What the interfaces below have in common: an agent calls, and the proxy serves. */
declare module "acp-chain:proxy/calls@0.1.1" {
  export type Json = import("acp-chain:proxy/types@0.1.1").Json;

  /** What comes of a call. */
  export type Outcome =
    /** The MCP result that the function names. */
    | { tag: "done"; val: Json }
    /**
     * Settled later with `channel.settle`: `respond` with such a result, or `reject`. Until then it
     * counts as a held message, and `handler.on-cancel` tells that the caller gave it up.
     */
    | { tag: "pending" };
}

/**
 * Optional: tools for the agent. A proxy that exports this interface, or `resources`, `prompts` or
 * `completion`, has an MCP server of the name that it has in the manifest; the host declares it in
 * every session, speaks MCP, and reaches any agent by a transport that the agent has. The power
 * `tools` is what lets it.
 */
declare module "acp-chain:proxy/tools@0.1.1" {
  export type Json = import("acp-chain:proxy/types@0.1.1").Json;

  export type MessageId = import("acp-chain:proxy/types@0.1.1").MessageId;

  export type RpcError = import("acp-chain:proxy/types@0.1.1").RpcError;

  export type Outcome = import("acp-chain:proxy/calls@0.1.1").Outcome;

  export interface Catalog {
    /** How to use the tools together, for the model (MCP `instructions`). */
    instructions: string | null;
    /**
     * Each an MCP `Tool`: an object with `name`, `inputSchema`, and best a `description`. The host
     * leaves out a tool whose name another has, or with a schema that is none, and tells the user.
     */
    tools: Array<Json>;
  }

  export interface ToolCall {
    /** The number under which a pending call is settled. */
    id: MessageId;
    /** The ACP session whose agent calls; none while the agent has not said yet what it calls it. */
    session: string | null;
    /** One of the tools that were listed. */
    name: string;
    /**
     * An object that the tool's `inputSchema` accepts. The check is left to the tool where the
     * schema refers to itself or elsewhere, is very large, has `unevaluatedProperties` or
     * `unevaluatedItems`, or a `pattern` that looks around; where the arguments are very large; and
     * for `format`.
     */
    arguments: Json;
  }

  export interface Tools {
    /**
     * What there is for a session. Called when a session's agent connects, and again after
     * `channel.tools-changed`.
     * @throws {string}
     */
    listTools(session: string | null): Catalog;
    /**
     * Gives an MCP `CallToolResult`: an object with `content`, and `isError` if the tool failed.
     * An `err` is an error of the protocol, not the tool's: the model may never see it.
     * @throws {RpcError}
     */
    callTool(call: ToolCall): Outcome;
  }
}

/** Optional: resources, which the agent reads by their URIs. */
declare module "acp-chain:proxy/resources@0.1.1" {
  export type Json = import("acp-chain:proxy/types@0.1.1").Json;

  export type MessageId = import("acp-chain:proxy/types@0.1.1").MessageId;

  export type RpcError = import("acp-chain:proxy/types@0.1.1").RpcError;

  export type Outcome = import("acp-chain:proxy/calls@0.1.1").Outcome;

  export interface Catalog {
    /** How to use the resources, for the model. Behind what `tools.list-tools` says. */
    instructions: string | null;
    /**
     * Each an MCP `Resource`: an object with `uri`, `name`, and best a `description` and a
     * `mimeType`. The host leaves out what lacks a URI or a name, or has the URI of another, and
     * tells the user.
     */
    resources: Array<Json>;
    /** Each an MCP `ResourceTemplate`: the same with `uriTemplate` (RFC 6570) in place of `uri`. */
    templates: Array<Json>;
  }

  export interface ResourceRead {
    /** The number under which a pending call is settled. */
    id: MessageId;
    /** As in `tools.tool-call`. */
    session: string | null;
    /**
     * Any that the agent chose: one of those that were listed, one by a template, one that a tool
     * linked to, or none of these.
     */
    uri: string;
  }

  export interface Resources {
    /**
     * What there is for a session. Called when a session's agent wants to know, and again after
     * `channel.resources-changed`.
     * @throws {string}
     */
    listResources(session: string | null): Catalog;
    /**
     * Gives an MCP `ReadResourceResult`: an object with `contents`. Where there is no such resource, an `err` with the code -32002.
     * @throws {RpcError}
     */
    readResource(read: ResourceRead): Outcome;
  }
}

/** Optional: prompts, which the user picks. */
declare module "acp-chain:proxy/prompts@0.1.1" {
  export type Json = import("acp-chain:proxy/types@0.1.1").Json;

  export type MessageId = import("acp-chain:proxy/types@0.1.1").MessageId;

  export type RpcError = import("acp-chain:proxy/types@0.1.1").RpcError;

  export type Outcome = import("acp-chain:proxy/calls@0.1.1").Outcome;

  export interface PromptCall {
    /** The number under which a pending call is settled. */
    id: MessageId;
    /** As in `tools.tool-call`. */
    session: string | null;
    /** One of the prompts that were listed. */
    name: string;
    /** An object of texts, with all that the prompt requires. */
    arguments: Json;
  }

  export interface Prompts {
    /**
     * What there is for a session: each an MCP `Prompt`, an object with `name`, and best a
     * `description` and `arguments`. The host leaves out a prompt whose name another has, and tells
     * the user. Called when a session's agent wants to know, and again after `channel.prompts-changed`.
     * @throws {string}
     */
    listPrompts(session: string | null): Array<Json>;
    /**
     * Gives an MCP `GetPromptResult`: an object with `messages`.
     * @throws {RpcError}
     */
    getPrompt(call: PromptCall): Outcome;
  }
}

/** Optional: what the arguments of prompts, and the variables of resource templates, could be. */
declare module "acp-chain:proxy/completion@0.1.1" {
  export type Json = import("acp-chain:proxy/types@0.1.1").Json;

  export type MessageId = import("acp-chain:proxy/types@0.1.1").MessageId;

  export type RpcError = import("acp-chain:proxy/types@0.1.1").RpcError;

  export type Outcome = import("acp-chain:proxy/calls@0.1.1").Outcome;

  export interface CompletionCall {
    /** The number under which a pending call is settled. */
    id: MessageId;
    /** As in `tools.tool-call`. */
    session: string | null;
    /**
     * What it is for: an object with the `type` `ref/prompt` and a `name`, or `ref/resource` and a
     * `uri`, which is that of a template.
     */
    reference: Json;
    /** The argument or variable that is being written. */
    argument: string;
    /** What of it is there already. */
    value: string;
    /** The others that are known: an object of texts. */
    context: Json;
  }

  export interface Completion {
    /**
     * Gives an MCP `CompleteResult`: an object with `completion`, whose `values` are at most 100 texts.
     * @throws {RpcError}
     */
    complete(call: CompletionCall): Outcome;
  }
}
