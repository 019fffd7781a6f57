// Made by `cargo xtask types` from wit/proxy.wit; not to be edited.
// What componentize-qjs passes to a component in JavaScript, and takes from it.

/**
 * Types that the host and a proxy share.
 *
 * A proxy sits between a client (an editor) and an agent that speak the Agent Client Protocol.
 * The host parses only the envelope of a message: its kind, method and session. The body is
 * passed as JSON text, whatever version or extension of the protocol it belongs to.
 */
declare module "acp-chain:proxy/types@0.1.2" {
  /** JSON text (UTF-8). */
  export type Json = string;

  /** A neighbour of this proxy in the chain. */
  export type Peer =
    /** The predecessor, towards the editor. */
    | "client"
    /** The successor, towards the agent. */
    | "agent";

  /** The sender of the messages that a subscription matches. */
  export type Sender =
    /** Either neighbour. */
    | "any"
    | "client"
    | "agent";

  /**
   * The host's number for a message at this proxy: below 2^53, and unique within a connection,
   * across restarts of the proxy.
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
   * A set of messages that the proxy wants to receive. The host forwards all other messages
   * without calling the proxy, and also those that none of its powers covers.
   * If several subscriptions match a message, the first determines whether it comes with its body.
   */
  export interface Subscription {
    /**
     * A method name, or a prefix ending in `*`. A response is matched by the method of its
     * request.
     */
    method: string;
    sender: Sender;
    kinds: Kinds;
    /**
     * If false, the body stays in the host until `channel.read` reads it, and the message has an
     * empty string in its place.
     */
    withBody: boolean;
  }

  /** The members that all three kinds of messages share. */
  export interface Head {
    id: MessageId;
    sender: Peer;
    method: string;
    /**
     * The message's session, if there is one: its `sessionId`; for a response, that of the
     * request, or else that of the result.
     */
    session: string | null;
    /** The size of the body in bytes. */
    size: number;
  }

  /** Absent `params` are `null` here. */
  export interface Request {
    head: Head;
    params: Json;
  }

  export interface Notification {
    head: Head;
    params: Json;
  }

  /**
   * `head.id` is the number of the request, if the proxy received or sent that request;
   * `head.method` is the request's method.
   */
  export interface Response {
    head: Head;
    outcome: { tag: "ok"; val: Json } | { tag: "err"; val: RpcError };
  }

  /** A change to the value at a pointer. */
  export type Change =
    /**
     * Sets the value. The last token of the pointer may be a new member of an object, or `-` to
     * append to an array. Objects that are missing or `null` on the way there are created.
     */
    | { tag: "set"; val: Json }
    /** Removes the value. It is an error if there is none. */
    | { tag: "remove" };

  /** A change to one place in a body. */
  export interface Edit {
    /** A JSON Pointer (RFC 6901) to a value. */
    pointer: string;
    change: Change;
  }

  /** A proxy's decision about a message. */
  export type Action =
    /** Forward it unchanged, byte for byte. */
    | { tag: "forward" }
    /**
     * Forward it with these changes to its body, applied in order. All other bytes are unchanged.
     * The proxy need not have read the body. Not for error responses.
     */
    | { tag: "edit"; val: Array<Edit> }
    /**
     * Forward it with this body, which may differ from the original only at places that a power
     * allows to change. Elsewhere it must be the same bytes except for white space between values,
     * and the original bytes are forwarded. For a response, the body is the result.
     */
    | { tag: "replace"; val: Json }
    /** Requests only: answer it with this result. The receiver never sees it. */
    | { tag: "respond"; val: Json }
    /** Requests: answer it with this error. Responses: forward this error instead. */
    | { tag: "reject"; val: RpcError }
    /** Notifications only: drop it. */
    | { tag: "discard" }
    /**
     * Keep it in the host until the proxy calls `channel.settle`, or until the limit `hold-time`
     * expires; the host then treats it like the messages of a proxy that failed. Later messages
     * overtake it, except that a response waits for earlier held notifications of the same session
     * and direction. A proxy that holds notifications therefore subscribes to that response, and
     * settles them when it receives it.
     */
    | { tag: "hold" };

  /**
   * What the host does with a proxy that fails (it traps, or exceeds a limit on time or memory),
   * and with the proxy's messages. The user's manifest can override it.
   */
  export type FailurePolicy =
    /**
     * Reject its messages and start another instance; after several failures, continue as with
     * `refuse`.
     */
    | "restart"
    /** Forward its messages unchanged, and all later ones. For proxies that protect nothing. */
    | "bypass"
    /** Reject its messages, and all later ones that it would receive. For guards. */
    | "refuse";

  /** What a proxy declares when it starts. */
  export interface Registration {
    subscriptions: Array<Subscription>;
    onFailure: FailurePolicy;
    /**
     * Whether the user relies on its decisions. A guard is placed next to the agent, after all
     * other proxies; no other proxy can alter what it changed, answered or sent; and messages that
     * parsers could interpret differently are rejected before they reach it.
     */
    guard: boolean;
  }
}

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
declare module "acp-chain:proxy/channel@0.1.2" {
  export type Json = import("acp-chain:proxy/types@0.1.2").Json;

  export type Peer = import("acp-chain:proxy/types@0.1.2").Peer;

  export type MessageId = import("acp-chain:proxy/types@0.1.2").MessageId;

  export type Action = import("acp-chain:proxy/types@0.1.2").Action;

  /** Why a call had no effect. */
  export type ErrorCode =
    /**
     * No power covers it, or it is not allowed here: a call from `init`, or a method that is
     * reserved for the host (`initialize`, `proxy/…`, `$/…`).
     */
    | "denied"
    /** There is no such message, or it has been settled, perhaps by the host. */
    | "unknown-message"
    /** Malformed JSON, or an action that does not fit this message. */
    | "invalid"
    /** Too many outstanding requests or messages, or a value that is too large. */
    | "full"
    | "other";

  export interface ChannelError {
    code: ErrorCode;
    /** The reason, for people. */
    message: string;
  }

  /** Whose values they are. */
  export type Keeper =
    /** The user's: the same in all projects. */
    | { tag: "user" }
    /** Those of the project in which the session with this id is: of the folder that its setup names. */
    | { tag: "project"; val: string };

  export type Level =
    | "trace"
    | "debug"
    | "info"
    | "warn"
    | "error";

  /**
   * Sends a request to a neighbour. The response arrives at `handler.on-response` under the
   * returned number, also without a subscription. The parameters `null` send a request without
   * `params`.
   * @throws {globalThis.Error & { payload: ChannelError }}
   */
  export function request(to: Peer, method: string, params: Json): MessageId;

  /**
   * Sends a notification to a neighbour.
   * @throws {globalThis.Error & { payload: ChannelError }}
   */
  export function notify(to: Peer, method: string, params: Json): void;

  /**
   * Settles a held message.
   * @throws {globalThis.Error & { payload: ChannelError }}
   */
  export function settle(id: MessageId, action: Action): void;

  /**
   * Gives up a held message, for this reason. The effect is that of an `err` returned when the
   * message arrived.
   * @throws {globalThis.Error & { payload: ChannelError }}
   */
  export function fail(id: MessageId, reason: string): void;

  /**
   * Cancels a request of this proxy (`$/cancel_request` on that hop). Its response still arrives at
   * `handler.on-response`.
   * @throws {globalThis.Error & { payload: ChannelError }}
   */
  export function cancel(id: MessageId): void;

  /**
   * Requests a call after this many milliseconds, between 10 and an hour. It is a call of
   * `handler.on-response` with the returned number, the method `wake-after` and the outcome `null`.
   * `cancel` ends the pause. After such a call, the next one comes no sooner than nine times the
   * call's own duration. At most 16 pauses may be pending; all end with the instance, when it
   * fails, is suspended, leaves or is replaced.
   * @throws {globalThis.Error & { payload: ChannelError }}
   */
  export function wakeAfter(milliseconds: number): MessageId;

  /**
   * Reads the value at a JSON Pointer (RFC 6901) in the body of the current message or a held one;
   * the empty pointer reads the whole body. Tokens that a power hides read as `[hidden]`.
   * @throws {globalThis.Error & { payload: ChannelError }}
   */
  export function read(id: MessageId, pointer: string): Json | null;

  /**
   * Saves the proxy's state, in any format, and replaces the state saved before. The next instance
   * gets it after a failure. It is deleted when the connection ends.
   * @throws {globalThis.Error & { payload: ChannelError }}
   */
  export function save(state: string): void;

  /**
   * Loads the value under a key of at most 256 bytes. Values outlast the connection, and belong to the extension, by
   * its name and where it comes from: no other proxy reads them. The response arrives at `handler.on-response`
   * under the returned number, with the method `load-value` and an object as the outcome: `value` is a string, or
   * `null` if there is none; `version` is its number, or 0; `since` is the time since which this keeper has had values
   * (RFC 3339), or `null` if it has none: somebody may have removed them. Requires the power `values.keep`.
   * @throws {globalThis.Error & { payload: ChannelError }}
   */
  export function loadValue(of: Keeper, key: string): MessageId;

  /**
   * Stores a value of at most 64 KiB under a key, or removes it, if its version is still this one (0 if there is
   * none). The response arrives as for `load-value`, with the method `store-value`, once the value is on disk: an
   * object with the new `version`, which no value under this key has had before; or, if the version is another one by
   * now, with the object `conflict`, which is what `load-value` would return. An error response if it cannot be
   * stored: the earlier value stays. Requires the power `values.keep`.
   * @throws {globalThis.Error & { payload: ChannelError }}
   */
  export function storeValue(of: Keeper, key: string, version: number, value: string | null): MessageId;

  /**
   * Reports the progress of a pending call (see `tools`, `resources`, `prompts`, `completion`).
   * `progress` increases with each report; `total` is its final value, if known; `message` is shown
   * to people. Has no effect if the caller did not request progress.
   * @throws {globalThis.Error & { payload: ChannelError }}
   */
  export function reportProgress(call: MessageId, progress: number, total: number | null, message: string | null): void;

  /**
   * The `_meta` object of the MCP request of a pending call. The caller's capabilities are in it
   * for every version of MCP, under `io.modelcontextprotocol/clientCapabilities`.
   * @throws {globalThis.Error & { payload: ChannelError }}
   */
  export function callMeta(call: MessageId): Json;

  /**
   * Sends MCP's `elicitation/create`, `sampling/createMessage` or `roots/list` to the caller of a
   * pending call, if the caller supports it. The response arrives like that of `request`, and
   * `cancel` cancels it; it is cancelled when the call ends. The limit `hold-time` of the call
   * includes the time for the response.
   * @throws {globalThis.Error & { payload: ChannelError }}
   */
  export function askCaller(call: MessageId, method: string, params: Json): MessageId;

  /**
   * Reports that `tools.list-tools` would now return another list. The host notifies the users of
   * the tools. There is no need for it in `list-tools` itself, whose result is the list: there it
   * notifies once, and not again until it is called elsewhere.
   * @throws {globalThis.Error & { payload: ChannelError }}
   */
  export function toolsChanged(): void;

  /**
   * As `tools-changed`, for `resources.list-resources`.
   * @throws {globalThis.Error & { payload: ChannelError }}
   */
  export function resourcesChanged(): void;

  /**
   * As `tools-changed`, for `prompts.list-prompts`.
   * @throws {globalThis.Error & { payload: ChannelError }}
   */
  export function promptsChanged(): void;

  /**
   * Reports that `resources.read-resource` would now return another content for this URI. The host
   * notifies the URI's subscribers.
   * @throws {globalThis.Error & { payload: ChannelError }}
   */
  export function resourceChanged(uri: string): void;

  /**
   * The proxy's `id` in the manifest. If a power allows it, the proxy may keep data in `_meta`,
   * under `acp-chain/` and this id.
   */
  export function proxyId(): string;

  /** Writes to the host's log. */
  export function log(level: Level, text: string): void;
}

/**
 * The functions of a proxy. Each connection has its own instance, which the host calls for one
 * message at a time.
 *
 * An `err` means that the proxy could not decide; an action that none of its powers covers has the
 * same effect. The host then rejects the message: it answers a request with an error that names the
 * proxy, turns a response into such an error, and drops a notification. It forwards the message
 * unchanged instead if the failure policy is `bypass`, or if no power lets the proxy decide about
 * it.
 */
declare module "acp-chain:proxy/handler@0.1.2" {
  export type Json = import("acp-chain:proxy/types@0.1.2").Json;

  export type Registration = import("acp-chain:proxy/types@0.1.2").Registration;

  export type Request = import("acp-chain:proxy/types@0.1.2").Request;

  export type Notification = import("acp-chain:proxy/types@0.1.2").Notification;

  export type Response = import("acp-chain:proxy/types@0.1.2").Response;

  export type Action = import("acp-chain:proxy/types@0.1.2").Action;

  export type MessageId = import("acp-chain:proxy/types@0.1.2").MessageId;

  export interface Handler {
    /**
     * Called once, before any message. `config` is the proxy's table in the manifest, or `{}`;
     * `saved` is the state that an earlier instance of this connection saved before it failed.
     * @throws {string}
     */
    init(config: Json, saved: string | null): Registration;
    /** @throws {string} */
    onRequest(request: Request): Action;
    /** @throws {string} */
    onNotification(notification: Notification): Action;
    /**
     * A response to another sender, or to a request of this proxy. In the latter case, the host
     * ignores the returned action.
     * @throws {string}
     */
    onResponse(response: Response): Action;
    /**
     * The sender of a request that this proxy holds has cancelled it, or the user has stopped the turn
     * of a prompt that it holds (`session/cancel`). The proxy still has to settle it, usually with
     * `reject` and the code -32800. The host turns that answer to a prompt into one that says that the
     * turn was cancelled, and never forwards a stopped prompt, however it is settled. After an `err`
     * the host rejects it, whatever the failure policy: the answer is no longer awaited.
     *
     * Also called when the limit `hold-time` has expired for a message that this proxy held. The host
     * has settled that message (`unknown-message`); the proxy should cancel the requests that it has
     * sent because of it (`channel.cancel`).
     * @throws {string}
     */
    onCancel(id: MessageId): void;
  }
}

/** What the interfaces below share: the agent calls a function of the proxy. */
declare module "acp-chain:proxy/calls@0.1.2" {
  export type Json = import("acp-chain:proxy/types@0.1.2").Json;

  /** The outcome of a call. */
  export type Outcome =
    /** The MCP result that the function's documentation names. */
    | { tag: "done"; val: Json }
    /**
     * The proxy calls `channel.settle` later, with `respond` and such a result, or with `reject`. Until
     * then the call counts as a held message, and `handler.on-cancel` reports its cancellation.
     */
    | { tag: "pending" };
}

/**
 * Optional: tools for the agent. A proxy that exports this interface, or `resources`, `prompts` or
 * `completion`, and has the power `tools`, is an MCP server, named like the proxy in the manifest.
 * The host declares it in every session, over a transport that the agent supports, and speaks MCP
 * on behalf of the proxy.
 */
declare module "acp-chain:proxy/tools@0.1.2" {
  export type Json = import("acp-chain:proxy/types@0.1.2").Json;

  export type MessageId = import("acp-chain:proxy/types@0.1.2").MessageId;

  export type RpcError = import("acp-chain:proxy/types@0.1.2").RpcError;

  export type Outcome = import("acp-chain:proxy/calls@0.1.2").Outcome;

  export interface Catalog {
    /** How to use the tools together, for the model (MCP `instructions`). */
    instructions: string | null;
    /**
     * Each is an MCP `Tool`: an object with `name`, `inputSchema`, and preferably a `description`.
     * The host omits tools with a duplicate name or an invalid schema, and tells the user.
     */
    tools: Array<Json>;
  }

  export interface ToolCall {
    /** The number under which a pending call is settled. */
    id: MessageId;
    /** The ACP session of the calling agent; none until the agent has named the session. */
    session: string | null;
    /** The name of a listed tool. */
    name: string;
    /**
     * An object that is valid according to the tool's `inputSchema`. The host does not validate
     * against schemas that refer to themselves or elsewhere, that are very large, or that have
     * `unevaluatedProperties`, `unevaluatedItems` or a `pattern` with look-around; nor very large
     * arguments; nor `format`.
     */
    arguments: Json;
  }

  export interface Tools {
    /**
     * The tools of a session. Called when the session's agent connects, and again after
     * `channel.tools-changed`.
     * @throws {string}
     */
    listTools(session: string | null): Catalog;
    /**
     * Returns an MCP `CallToolResult`: an object with `content`, and `isError` if the tool failed.
     * An `err` is a protocol error rather than the tool's: agents do not always show it to the model.
     * @throws {RpcError}
     */
    callTool(call: ToolCall): Outcome;
  }
}

/** Optional: resources, which the agent reads by their URIs. */
declare module "acp-chain:proxy/resources@0.1.2" {
  export type Json = import("acp-chain:proxy/types@0.1.2").Json;

  export type MessageId = import("acp-chain:proxy/types@0.1.2").MessageId;

  export type RpcError = import("acp-chain:proxy/types@0.1.2").RpcError;

  export type Outcome = import("acp-chain:proxy/calls@0.1.2").Outcome;

  export interface Catalog {
    /** How to use the resources, for the model. Appended to the instructions of `tools.list-tools`. */
    instructions: string | null;
    /**
     * Each is an MCP `Resource`: an object with `uri`, `name`, and preferably a `description` and a
     * `mimeType`. The host omits resources without a URI or a name, and those with a duplicate URI,
     * and tells the user.
     */
    resources: Array<Json>;
    /**
     * Each is an MCP `ResourceTemplate`: like a resource, with `uriTemplate` (RFC 6570) in place of
     * `uri`.
     */
    templates: Array<Json>;
  }

  export interface ResourceRead {
    /** The number under which a pending call is settled. */
    id: MessageId;
    /** As in `tools.tool-call`. */
    session: string | null;
    /**
     * Any URI, chosen by the agent: of a listed resource, from a template, from a tool's result, or
     * another.
     */
    uri: string;
  }

  export interface Resources {
    /**
     * The resources of a session. Called when the session's agent asks for them, and again after
     * `channel.resources-changed`.
     * @throws {string}
     */
    listResources(session: string | null): Catalog;
    /**
     * Returns an MCP `ReadResourceResult`: an object with `contents`. If there is no such resource, an
     * `err` with the code -32002.
     * @throws {RpcError}
     */
    readResource(read: ResourceRead): Outcome;
  }
}

/** Optional: prompts, from which the user chooses. */
declare module "acp-chain:proxy/prompts@0.1.2" {
  export type Json = import("acp-chain:proxy/types@0.1.2").Json;

  export type MessageId = import("acp-chain:proxy/types@0.1.2").MessageId;

  export type RpcError = import("acp-chain:proxy/types@0.1.2").RpcError;

  export type Outcome = import("acp-chain:proxy/calls@0.1.2").Outcome;

  export interface PromptCall {
    /** The number under which a pending call is settled. */
    id: MessageId;
    /** As in `tools.tool-call`. */
    session: string | null;
    /** The name of a listed prompt. */
    name: string;
    /** An object of strings, with all arguments that the prompt requires. */
    arguments: Json;
  }

  export interface Prompts {
    /**
     * The prompts of a session. Each is an MCP `Prompt`: an object with `name`, and preferably a
     * `description` and `arguments`. The host omits prompts with a duplicate name, and tells the user.
     * Called when the session's agent asks for them, and again after `channel.prompts-changed`.
     * @throws {string}
     */
    listPrompts(session: string | null): Array<Json>;
    /**
     * Returns an MCP `GetPromptResult`: an object with `messages`.
     * @throws {RpcError}
     */
    getPrompt(call: PromptCall): Outcome;
  }
}

/** Optional: completion of the arguments of prompts, and of the variables of resource templates. */
declare module "acp-chain:proxy/completion@0.1.2" {
  export type Json = import("acp-chain:proxy/types@0.1.2").Json;

  export type MessageId = import("acp-chain:proxy/types@0.1.2").MessageId;

  export type RpcError = import("acp-chain:proxy/types@0.1.2").RpcError;

  export type Outcome = import("acp-chain:proxy/calls@0.1.2").Outcome;

  export interface CompletionCall {
    /** The number under which a pending call is settled. */
    id: MessageId;
    /** As in `tools.tool-call`. */
    session: string | null;
    /**
     * What to complete: an object with the `type` `ref/prompt` and a `name`, or `ref/resource` and the
     * `uri` of a template.
     */
    reference: Json;
    /** The name of the argument or variable. */
    argument: string;
    /** Its value so far. */
    value: string;
    /** The other arguments or variables with known values: an object of strings. */
    context: Json;
  }

  export interface Completion {
    /**
     * Returns an MCP `CompleteResult`: an object with `completion`, whose `values` are at most 100
     * strings.
     * @throws {RpcError}
     */
    complete(call: CompletionCall): Outcome;
  }
}
