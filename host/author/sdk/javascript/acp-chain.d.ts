// The types of the SDK. The types of the protocol's messages are in acp.d.ts; the raw interface, which the SDK hides,
// is in wit.d.ts.

import type {
  AgentNotifications,
  AgentRequests,
  ClientNotifications,
  ClientRequests,
  ContentBlock,
} from "./acp.js";

type Requests = AgentRequests & ClientRequests;
type Notifications = AgentNotifications & ClientNotifications;
/** A method of the protocol, or any other, or a prefix that ends in `*`. */
type Method<Known> = (keyof Known & string) | (string & {});
type Of<Known, M, Part extends string> = M extends keyof Known ? Known[M] extends Record<Part, infer T> ? T : any : any;
/** The session, if the parameters of the method have one. */
type SessionOf<Params> = Params extends { sessionId: string } ? string : string | undefined;
type Maybe<T> = T | void | undefined | null;
type Awaitable<T> = T | Promise<T>;

/** A neighbour of the proxy in the chain. */
export type Peer = "client" | "agent";

/** Common properties of all messages. */
export interface Message<M extends string = string, Session = string | undefined> {
  /** The host's number for the message. */
  readonly id: number;
  readonly method: M;
  /** The neighbour that sent the message. */
  readonly from: Peer;
  /** The session that the message names, if any. */
  readonly session: Session;
  /** The size of the body in bytes. */
  readonly size: number;
  /** The body, as the original JSON text. An error response has none. */
  readonly json: string | undefined;
  /** The value at a JSON Pointer (RFC 6901) of the body; `undefined` if there is none. */
  read(pointer: string): any;
}

export interface Request<M extends string = string>
  extends Message<M, SessionOf<Of<Requests, M, "params">>> {
  readonly json: string;
  /** Parsed on first use. */
  readonly params: Of<Requests, M, "params">;
}

export interface Notification<M extends string = string>
  extends Message<M, SessionOf<Of<Notifications, M, "params">>> {
  readonly json: string;
  /** Parsed on first use. */
  readonly params: Of<Notifications, M, "params">;
}

/** A response has a result or an error. */
export type Response<M extends string = string> = ResultResponse<M> | ErrorResponse<M>;

export interface ResultResponse<M extends string = string>
  extends Message<M, SessionOf<Of<Requests, M, "params">>> {
  readonly json: string;
  /** Parsed on first use. */
  readonly result: Of<Requests, M, "result">;
  readonly error: undefined;
}

export interface ErrorResponse<M extends string = string>
  extends Message<M, SessionOf<Of<Requests, M, "params">>> {
  readonly json: undefined;
  readonly result: undefined;
  readonly error: RpcError;
}

declare const kind: unique symbol;
/** A change to one place of a body. */
export interface Edit { readonly [kind]: "edit" }
/** A decision about a message. */
export interface Respond { readonly [kind]: "respond" }
export interface Reject { readonly [kind]: "reject" }
export interface Replace { readonly [kind]: "replace" }
export interface Discard { readonly [kind]: "discard" }

/** Sets the value at a JSON Pointer. A last part `-` adds an element to an array; missing objects are created. */
export function set(pointer: string, value: unknown): Edit;
/** Removes the value at a JSON Pointer. */
export function remove(pointer: string): Edit;
/** Answers a request, instead of forwarding it. */
export function respond(result: unknown): Respond;
/** Answers a request with an error, or replaces a response by this error. */
export function reject(code: number, message: string, data?: unknown): Reject;
/** Forwards a message with this body instead of its own. `set` and `remove` keep all other bytes unchanged. */
export function replace(body: unknown): Replace;
/** Drops a notification. */
export function discard(): Discard;
/** A block of text. */
export function text(text: string): Extract<ContentBlock, { type: "text" }>;

/** The result of a handler. Without one, the message is forwarded unchanged. An exception refuses the message. */
export type RequestAction = Maybe<readonly Edit[] | Respond | Reject | Replace>;
export type NotificationAction = Maybe<readonly Edit[] | Discard | Replace>;
export type ResponseAction = Maybe<readonly Edit[] | Reject | Replace>;

export interface Options {
  /** The sender of the messages. Default: both neighbours. */
  from?: Peer;
  /** Whether the body is passed with the message. `false`: the host keeps it until it is used. */
  body?: boolean;
}

/** A neighbour of the proxy. */
export interface Neighbour<Requests, Notifications> {
  /**
   * Sends a request. The promise rejects with an `RpcError`, also if the host does not send the request, or with
   * `Cancelled` if the handler's message is cancelled.
   */
  request<M extends Method<Requests>>(
    method: M,
    ...params: M extends keyof Requests ? [Of<Requests, M, "params">] : [params?: unknown]
  ): Promise<Of<Requests, M, "result">>;
  /** Sends a notification. */
  notify<M extends Method<Notifications>>(
    method: M,
    ...params: M extends keyof Notifications ? [Of<Notifications, M, "params">] : [params?: unknown]
  ): void;
}

export const client: Neighbour<ClientRequests, ClientNotifications>;
export const agent: Neighbour<AgentRequests, AgentNotifications>;

/**
 * Waits, for 10 ms at least, and an hour at most. The promise rejects like that of a request. After long computations,
 * the next pause is longer.
 */
export function sleep(milliseconds: number): Promise<void>;

/** Saves a value, replacing the previous one; `onStart` receives it if the proxy breaks and is restarted. */
export function save(value: unknown): void;

/** Whose values: the user's, which are the same in all projects, or those of the project in which this session is. */
export type Keeper = "user" | { readonly project: string };

/** A value, as it was loaded. */
export interface StoredValue {
  /** The text; `undefined` if there is no value under the key. */
  readonly value: string | undefined;
  /** The version of the value, which no other value under its key has had; 0 if there is none. */
  readonly version: number;
  /**
   * The time since which the keeper has had values (RFC 3339); `undefined` if it has none. A proxy that remembers an
   * earlier time sees that somebody has removed them.
   */
  readonly since: string | undefined;
}

/** The new version, 0 of a removed value; or the value that another connection has stored since this one was loaded. */
export type StoreOutcome =
  | { readonly version: number; readonly conflict?: undefined }
  | { readonly version?: undefined; readonly conflict: StoredValue };

/**
 * Values that outlast the connection, with the power `values.keep`: texts under keys. The promises reject like those of
 * requests; then the earlier value stays.
 */
export const values: {
  /** Loads the value under a key of at most 256 bytes. */
  load(of: Keeper, key: string): Promise<StoredValue>;
  /**
   * Stores a value of at most 64 KiB, or removes it (`undefined`), if its version is still this one: 0 if there is
   * none.
   */
  store(of: Keeper, key: string, version: number, value: string | undefined): Promise<StoreOutcome>;
  /**
   * Loads a value, changes it, and stores it; again with the new value if another connection has stored one meanwhile,
   * so `change` may be called up to 64 times. Returns the value that is now stored; its `since` is from before the change.
   */
  update(of: Keeper, key: string, change: (value: string | undefined) => string | undefined): Promise<StoredValue>;
};
/** The name of the proxy in the manifest. The proxy may set `acp-chain/` and this name in `_meta`. */
export function proxyId(): string;
/** Notifies the agent that the list of tools has changed. */
export function toolsChanged(): void;
/** Notifies the agent that the list of resources has changed. */
export function resourcesChanged(): void;
/** Notifies subscribers that a resource has changed. */
export function resourceChanged(uri: string): void;
/** Notifies the agent that the list of prompts has changed. */
export function promptsChanged(): void;

/** The host's log, which `console` uses too. */
export const log: Record<"trace" | "debug" | "info" | "warn" | "error", (...values: unknown[]) => void>;

/** An error of JSON-RPC: a neighbour's answer, or a request that the host did not send. */
export class RpcError extends Error {
  constructor(code: number, message: string, data?: unknown);
  readonly code: number;
  readonly data: any;
}

/** The host rejected a call. */
export class ChannelError extends Error {
  /** `denied`: no power covers it. `full`: too much is outstanding. */
  readonly code: "denied" | "unknown-message" | "invalid" | "full" | "other";
}

/** The awaited request is cancelled, since the sender of the handler's message has cancelled it. */
export class Cancelled extends Error {}

/** A schema of zod, valibot, ArkType and others: https://standardschema.dev. */
export interface StandardSchema<Output = any> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => any;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

/** A JSON Schema of an object. */
export interface JsonSchema {
  readonly type: "object";
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
  readonly [keyword: string]: unknown;
}

type RequiredOf<S> = S extends { required: readonly (infer R)[] } ? R : never;
/** The values that a JSON Schema accepts, as far as types can express it. */
export type FromSchema<S> =
  S extends { const: infer C } ? C
  : S extends { enum: readonly (infer E)[] } ? E
  : S extends { type: "string" } ? string
  : S extends { type: "number" | "integer" } ? number
  : S extends { type: "boolean" } ? boolean
  : S extends { type: "null" } ? null
  : S extends { type: "array" } ? (S extends { items: infer I } ? FromSchema<I>[] : any[])
  : S extends { properties: infer P }
    ? { -readonly [K in keyof P as K extends RequiredOf<S> ? K : never]: FromSchema<P[K]> }
      & { -readonly [K in keyof P as K extends RequiredOf<S> ? never : K]?: FromSchema<P[K]> }
  : any;

export type Arguments<S> =
  S extends { readonly "~standard": { readonly types?: infer T } }
    ? NonNullable<T> extends { readonly output: infer O } ? O : any
    : FromSchema<S>;

export interface ToolOptions<Input> {
  /** For the model: what the tool does, when to use it, and what it returns. */
  description: string;
  /** A name to display. */
  title?: string;
  /** The schema of the arguments: a JSON Schema, or a schema of zod, valibot and others. */
  input?: Input;
  /** The schema of the structured content. */
  output?: JsonSchema | StandardSchema;
  /** A hint: the tool changes nothing. */
  readOnly?: boolean;
  /** A hint: the tool only adds, and never changes or removes. */
  onlyAdds?: boolean;
  /** A hint: repeated calls with the same arguments change nothing more. */
  idempotent?: boolean;
  /** A hint: the tool works on a closed set, like a memory, not an open one, like the web. */
  closedWorld?: boolean;
  /** Whether a session has the tool. Default: all sessions. */
  when?(session: string | undefined): boolean;
}

/** Text, structured content, blocks, or a whole `CallToolResult`. Use `reject` for errors that the model need not see. */
export type ToolResult = Maybe<string | number | boolean | object | readonly ContentBlock[] | Reject>;

/** A call to a tool, a resource, a prompt, or a completion. */
export interface Call {
  /** The session that the call belongs to; `undefined` until the agent has named it. */
  readonly session: string | undefined;
  /** The caller's MCP `_meta`. */
  readonly meta: Record<string, any>;
  /** Whether the caller declares this capability. */
  can(capability: "elicitation" | "sampling" | "roots"): boolean;
  /** Reports the progress of the call, if the caller requested reports. */
  progress(progress: number, total?: number, message?: string): void;
  /** Sends a request to the caller: `elicitation/create`, `sampling/createMessage` or `roots/list` of MCP. */
  ask(method: string, params?: unknown): Promise<any>;
}

/** Completions of a text, the best first. At most 100 are used. */
export type Complete = (value: string, known: Record<string, string>, call: Call) => Awaitable<Iterable<string>>;

/** The variables of a template. */
export type Variables<Uri extends string> =
  string extends Uri ? Record<string, string>
  : Uri extends `${string}{${infer Name}}${infer Rest}`
    ? { [K in Name extends `+${infer Path}` ? Path : Name]: string } & Variables<Rest>
  : {};

export interface ResourceOptions<Uri extends string> {
  /** A short name. Default: the URI. */
  name?: string;
  /** A name to display. */
  title?: string;
  /** For the model: what the resource is, and when to read it. */
  description?: string;
  /** The media type, such as `text/markdown`. */
  mimeType?: string;
  /** Functions that complete the variables of a template. */
  complete?: { [K in keyof Variables<Uri>]?: Complete };
  /** Whether a session lists the resource. Default: all sessions. */
  when?(session: string | undefined): boolean;
}

/** A part of a resource: a text, or bytes in Base64. */
export interface Contents {
  uri?: string;
  mimeType?: string;
  text?: string;
  blob?: string;
}

/** A text, contents, or a whole `ReadResourceResult`. Nothing if there is no such resource. */
export type ResourceResult = Maybe<string | Contents | readonly Contents[] | { contents: readonly Contents[] } | Reject>;

export interface PromptArgument {
  description?: string;
  /** A name to display. */
  title?: string;
  /** Whether the argument is optional. */
  optional?: boolean;
  /** A function that completes the argument. */
  complete?: Complete;
}

export interface PromptOptions<Arguments extends Record<string, PromptArgument>> {
  /** The purpose of the prompt, for the user. */
  description: string;
  /** A name to display. */
  title?: string;
  /** The arguments, which the user enters as texts. */
  arguments?: Arguments & Record<string, PromptArgument>;
  /** Whether a session has the prompt. Default: all sessions. */
  when?(session: string | undefined): boolean;
}

/** The arguments of a prompt. */
export type PromptArguments<A> = { [K in keyof A]: A[K] extends { optional: true } ? string | undefined : string };

/** A message of a prompt. */
export interface PromptMessage {
  role: "user" | "assistant";
  content: ContentBlock;
}

type Said = string | ContentBlock | PromptMessage;
/** Texts and blocks of the user, messages, or a whole `GetPromptResult`. */
export type PromptResult = Said | readonly Said[] | { messages: readonly PromptMessage[]; description?: string } | Reject;

export interface ProxyOptions {
  /** What happens to the proxy and its messages if the proxy breaks. Default: `restart`. */
  onFailure?: "restart" | "bypass" | "refuse";
  /** Whether the user relies on the proxy's decisions: a guard stands next to the agent. */
  guard?: boolean;
  /** How to use the tools and resources together, for the model. */
  instructions?: string;
}

export interface Proxy {
  /** Subscribes to requests. If several handlers match a message, the first one receives it. */
  onRequest<M extends Method<Requests>>(method: M, handler: (request: Request<M>) => Awaitable<RequestAction>): this;
  onRequest<M extends Method<Requests>>(
    method: M,
    options: Options,
    handler: (request: Request<M>) => Awaitable<RequestAction>,
  ): this;
  /** Subscribes to notifications. */
  onNotification<M extends Method<Notifications>>(
    method: M,
    handler: (notification: Notification<M>) => Awaitable<NotificationAction>,
  ): this;
  onNotification<M extends Method<Notifications>>(
    method: M,
    options: Options,
    handler: (notification: Notification<M>) => Awaitable<NotificationAction>,
  ): this;
  /** Subscribes to the responses to requests of a method. */
  onResponse<M extends Method<Requests>>(
    method: M,
    handler: (response: Response<M>) => Awaitable<ResponseAction>,
  ): this;
  onResponse<M extends Method<Requests>>(
    method: M,
    options: Options,
    handler: (response: Response<M>) => Awaitable<ResponseAction>,
  ): this;
  /** Called once, before any message, with the table of the manifest, and with the last saved value. */
  onStart(handler: (start: { config: any; saved: any }) => void): this;
  /** Adds a tool for the agent. */
  tool<const Input extends JsonSchema | StandardSchema = { type: "object" }>(
    name: string,
    options: ToolOptions<Input>,
    handler: (args: Arguments<Input>, call: Call) => Awaitable<ToolResult>,
  ): this;
  /** Adds a resource with this URI for the agent, or those of a template with `{name}` or `{+path}`. */
  resource<const Uri extends string>(
    uri: Uri,
    options: ResourceOptions<Uri>,
    handler: (variables: Variables<Uri>, call: Call) => Awaitable<ResourceResult>,
  ): this;
  /** Adds a prompt for the user. */
  prompt<const Arguments extends Record<string, PromptArgument> = {}>(
    name: string,
    options: PromptOptions<Arguments>,
    handler: (args: PromptArguments<Arguments>, call: Call) => Awaitable<PromptResult>,
  ): this;
  /** Must be exported under this name. */
  readonly handler: object;
  /** Must be exported under this name by a proxy with tools. */
  readonly tools: object;
  /** Must be exported under this name by a proxy with resources. */
  readonly resources: object;
  /** Must be exported under this name by a proxy with prompts. */
  readonly prompts: object;
  /** Must be exported under this name by a proxy with `complete` functions. */
  readonly completion: object;
}

export function defineProxy(options?: ProxyOptions): Proxy;

declare global {
  /** Writes to the host's log. */
  const console: Record<"trace" | "debug" | "log" | "info" | "warn" | "error", (...values: unknown[]) => void>;
}
