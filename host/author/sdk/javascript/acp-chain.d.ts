// The types of the SDK. Those of the protocol's messages are in acp.d.ts; the interface itself, which the SDK hides,
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
/** The session, where the parameters of the method name one. */
type SessionOf<Params> = Params extends { sessionId: string } ? string : string | undefined;
type Maybe<T> = T | void | undefined | null;
type Awaitable<T> = T | Promise<T>;

/** The side of the editor, or that of the agent. */
export type Peer = "client" | "agent";

/** What all messages have in common. */
export interface Message<M extends string = string, Session = string | undefined> {
  /** The host's number for it. */
  readonly id: number;
  readonly method: M;
  /** The neighbour that it comes from. */
  readonly from: Peer;
  /** The session that it belongs to, where it names one. */
  readonly session: Session;
  /** The size of the body in bytes. */
  readonly size: number;
  /** The body as it was spelt: JSON text. An error response has none. */
  readonly json: string | undefined;
  /** The value at a JSON Pointer (RFC 6901) into the body; `undefined` if nothing is there. */
  read(pointer: string): any;
}

export interface Request<M extends string = string>
  extends Message<M, SessionOf<Of<Requests, M, "params">>> {
  readonly json: string;
  /** Parsed when it is first asked for. */
  readonly params: Of<Requests, M, "params">;
}

export interface Notification<M extends string = string>
  extends Message<M, SessionOf<Of<Notifications, M, "params">>> {
  readonly json: string;
  /** Parsed when it is first asked for. */
  readonly params: Of<Notifications, M, "params">;
}

/** A response has a result or an error. */
export type Response<M extends string = string> = ResultResponse<M> | ErrorResponse<M>;

export interface ResultResponse<M extends string = string>
  extends Message<M, SessionOf<Of<Requests, M, "params">>> {
  readonly json: string;
  /** Parsed when it is first asked for. */
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
/** What becomes of a message. */
export interface Respond { readonly [kind]: "respond" }
export interface Reject { readonly [kind]: "reject" }
export interface Replace { readonly [kind]: "replace" }
export interface Discard { readonly [kind]: "discard" }

/** Puts a value at a JSON Pointer. A last part `-` adds an element to an array; objects on the way are made. */
export function set(pointer: string, value: unknown): Edit;
/** Takes away what is at a JSON Pointer. */
export function remove(pointer: string): Edit;
/** Answers a request here; it goes no further. */
export function respond(result: unknown): Respond;
/** Answers a request with an error; a response goes on as this error. */
export function reject(code: number, message: string, data?: unknown): Reject;
/** Sends a message on with this body in place of its own. `set` and `remove` keep the bytes of all else. */
export function replace(body: unknown): Replace;
/** Drops a notification. */
export function discard(): Discard;
/** A block of text. */
export function text(text: string): Extract<ContentBlock, { type: "text" }>;

/** What a handler returns. Nothing: the message goes on as it is. What it throws refuses the message. */
export type RequestAction = Maybe<readonly Edit[] | Respond | Reject | Replace>;
export type NotificationAction = Maybe<readonly Edit[] | Discard | Replace>;
export type ResponseAction = Maybe<readonly Edit[] | Reject | Replace>;

export interface Options {
  /** The neighbour whose messages are wanted; both, if it is left out. */
  from?: Peer;
  /** Whether the body comes with the message. `false`: it stays with the host until it is asked for. */
  body?: boolean;
}

/** A neighbour of the proxy. */
export interface Neighbour<Requests, Notifications> {
  /**
   * Asks it. The promise rejects with an `RpcError`, also if the host does not send the request, or with `Cancelled` if
   * the message at hand is withdrawn.
   */
  request<M extends Method<Requests>>(
    method: M,
    ...params: M extends keyof Requests ? [Of<Requests, M, "params">] : [params?: unknown]
  ): Promise<Of<Requests, M, "result">>;
  /** Tells it. */
  notify<M extends Method<Notifications>>(
    method: M,
    ...params: M extends keyof Notifications ? [Of<Notifications, M, "params">] : [params?: unknown]
  ): void;
}

export const client: Neighbour<ClientRequests, ClientNotifications>;
export const agent: Neighbour<AgentRequests, AgentNotifications>;

/**
 * Waits for 10 ms at least, and an hour at most. The promise rejects as that of a request does. A proxy that computes long
 * after it has waited waits longer the next time.
 */
export function sleep(milliseconds: number): Promise<void>;

/** Keeps a value in place of the last one; `onStart` gets it back if the proxy is started again after it broke. */
export function save(value: unknown): void;
/** The name of the proxy in the manifest. It may leave marks in `_meta` under `acp-chain/` and this name. */
export function proxyId(): string;
/** Says that the agent is to list the tools again. */
export function toolsChanged(): void;
/** The same of the resources. */
export function resourcesChanged(): void;
/** Says that a resource is another one now, to those who have subscribed to it. */
export function resourceChanged(uri: string): void;
/** Says that the agent is to list the prompts again. */
export function promptsChanged(): void;

/** The host's log; `console` writes there too. */
export const log: Record<"trace" | "debug" | "info" | "warn" | "error", (...values: unknown[]) => void>;

/** An error of JSON-RPC: a neighbour's answer, or that the host did not send the request. */
export class RpcError extends Error {
  constructor(code: number, message: string, data?: unknown);
  readonly code: number;
  readonly data: any;
}

/** The host does not do what was asked of it. */
export class ChannelError extends Error {
  /** `denied`: no power covers it. `full`: too much is outstanding. */
  readonly code: "denied" | "unknown-message" | "invalid" | "full" | "other";
}

/** What is awaited will not come: the sender of the message at hand has withdrawn it. */
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
/** The values that a JSON Schema accepts, as far as its shape says it. */
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
  /** What the model goes by: what the tool does, when to use it, what it gives. */
  description: string;
  /** A name for people. */
  title?: string;
  /** What the arguments look like: a JSON Schema, or a schema of zod, valibot and others. */
  input?: Input;
  /** What the structured content looks like. */
  output?: JsonSchema | StandardSchema;
  /** A hint: it changes nothing. */
  readOnly?: boolean;
  /** A hint: what it changes, it only adds. */
  onlyAdds?: boolean;
  /** A hint: to call it again with the same arguments changes nothing more. */
  idempotent?: boolean;
  /** A hint: what it deals with is closed, like a memory, and not open, like the web. */
  closedWorld?: boolean;
  /** Whether a session has it; all have, if this is left out. */
  when?(session: string | undefined): boolean;
}

/** Text, structured content, blocks, or a whole `CallToolResult`. A `reject` is for what the model need not see. */
export type ToolResult = Maybe<string | number | boolean | object | readonly ContentBlock[] | Reject>;

/** A call of a tool, or of what the agent has besides. */
export interface Call {
  /** The session whose agent calls; missing while the agent has not said yet what it calls it. */
  readonly session: string | undefined;
  /** What the caller said beside the call: MCP's `_meta`. */
  readonly meta: Record<string, any>;
  /** Whether the caller says that it can be asked this. */
  can(capability: "elicitation" | "sampling" | "roots"): boolean;
  /** Says how far the call is, to a caller that wants to know. */
  progress(progress: number, total?: number, message?: string): void;
  /** Asks the caller: `elicitation/create`, `sampling/createMessage` or `roots/list` of MCP. */
  ask(method: string, params?: unknown): Promise<any>;
}

/** What a text that is being written could be, the best first; the first 100 are passed on. */
export type Complete = (value: string, known: Record<string, string>, call: Call) => Awaitable<Iterable<string>>;

/** The variables of a template. */
export type Variables<Uri extends string> =
  string extends Uri ? Record<string, string>
  : Uri extends `${string}{${infer Name}}${infer Rest}`
    ? { [K in Name extends `+${infer Path}` ? Path : Name]: string } & Variables<Rest>
  : {};

export interface ResourceOptions<Uri extends string> {
  /** A short name; the URI, if it is left out. */
  name?: string;
  /** A name for people. */
  title?: string;
  /** What it is, and when to read it: the model goes by that. */
  description?: string;
  /** Its type, like `text/markdown`. */
  mimeType?: string;
  /** What completes the variables of a template. */
  complete?: { [K in keyof Variables<Uri>]?: Complete };
  /** Whether a session has it listed; all have, if this is left out. */
  when?(session: string | undefined): boolean;
}

/** A part of a resource: a text, or bytes in Base64. */
export interface Contents {
  uri?: string;
  mimeType?: string;
  text?: string;
  blob?: string;
}

/** A text, contents, or a whole `ReadResourceResult`. Nothing: there is no such resource. */
export type ResourceResult = Maybe<string | Contents | readonly Contents[] | { contents: readonly Contents[] } | Reject>;

export interface PromptArgument {
  description?: string;
  /** A name for people. */
  title?: string;
  /** Whether it may be left out. */
  optional?: boolean;
  /** What completes it while it is written. */
  complete?: Complete;
}

export interface PromptOptions<Arguments extends Record<string, PromptArgument>> {
  /** What the user picks it for. */
  description: string;
  /** A name for people. */
  title?: string;
  /** What the user is asked for, all of it texts. */
  arguments?: Arguments & Record<string, PromptArgument>;
  /** Whether a session has it; all have, if this is left out. */
  when?(session: string | undefined): boolean;
}

/** What a prompt is given. */
export type PromptArguments<A> = { [K in keyof A]: A[K] extends { optional: true } ? string | undefined : string };

/** A message of a prompt. */
export interface PromptMessage {
  role: "user" | "assistant";
  content: ContentBlock;
}

type Said = string | ContentBlock | PromptMessage;
/** Texts and blocks of the user's, messages, or a whole `GetPromptResult`. */
export type PromptResult = Said | readonly Said[] | { messages: readonly PromptMessage[]; description?: string } | Reject;

export interface ProxyOptions {
  /** What becomes of the proxy and its messages if it breaks; `restart`, if it is left out. */
  onFailure?: "restart" | "bypass" | "refuse";
  /** Whether others rely on it to decide: it then stands next to the agent. */
  guard?: boolean;
  /** How to use the tools and resources together, for the model. */
  instructions?: string;
}

export interface Proxy {
  /** Subscribes to requests. Where several handlers match a message, the first one has it. */
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
  /** Is called once, before any message: with the table of the manifest, and with what was saved last. */
  onStart(handler: (start: { config: any; saved: any }) => void): this;
  /** Gives the agent a tool. */
  tool<const Input extends JsonSchema | StandardSchema = { type: "object" }>(
    name: string,
    options: ToolOptions<Input>,
    handler: (args: Arguments<Input>, call: Call) => Awaitable<ToolResult>,
  ): this;
  /** Gives the agent a resource: one of this URI, or those of a template with `{name}` or `{+path}` in it. */
  resource<const Uri extends string>(
    uri: Uri,
    options: ResourceOptions<Uri>,
    handler: (variables: Variables<Uri>, call: Call) => Awaitable<ResourceResult>,
  ): this;
  /** Gives the user a prompt to pick. */
  prompt<const Arguments extends Record<string, PromptArgument> = {}>(
    name: string,
    options: PromptOptions<Arguments>,
    handler: (args: PromptArguments<Arguments>, call: Call) => Awaitable<PromptResult>,
  ): this;
  /** To be exported under this name. */
  readonly handler: object;
  /** To be exported under this name by a proxy with tools. */
  readonly tools: object;
  /** To be exported under this name by a proxy with resources. */
  readonly resources: object;
  /** To be exported under this name by a proxy with prompts. */
  readonly prompts: object;
  /** To be exported under this name by a proxy with `complete` for some of these. */
  readonly completion: object;
}

/** Defines the proxy. */
export function defineProxy(options?: ProxyOptions): Proxy;

declare global {
  /** Writes to the host's log. */
  const console: Record<"trace" | "debug" | "log" | "info" | "warn" | "error", (...values: unknown[]) => void>;
}
