// Made by `cargo xtask types` from the JSON schema of the Agent Client Protocol, version 1; not to be edited.
// Parts that the protocol calls unstable are in it too, and say so.

/** Requests that the agent answers. */
export interface AgentRequests {
  "auth/status": { params: AuthStatusRequest; result: AuthStatusResponse };
  "authenticate": { params: AuthenticateRequest; result: AuthenticateResponse };
  "initialize": { params: InitializeRequest; result: InitializeResponse };
  "logout": { params: LogoutRequest; result: LogoutResponse };
  "providers/disable": { params: DisableProviderRequest; result: DisableProviderResponse };
  "providers/list": { params: ListProvidersRequest; result: ListProvidersResponse };
  "providers/set": { params: SetProviderRequest; result: SetProviderResponse };
  "session/archive": { params: ArchiveSessionRequest; result: ArchiveSessionResponse };
  "session/close": { params: CloseSessionRequest; result: CloseSessionResponse };
  "session/delete": { params: DeleteSessionRequest; result: DeleteSessionResponse };
  "session/fork": { params: ForkSessionRequest; result: ForkSessionResponse };
  "session/list": { params: ListSessionsRequest; result: ListSessionsResponse };
  "session/load": { params: LoadSessionRequest; result: LoadSessionResponse };
  "session/new": { params: NewSessionRequest; result: NewSessionResponse };
  "session/options": { params: SessionOptionsRequest; result: SessionOptionsResponse };
  "session/prompt": { params: PromptRequest; result: PromptResponse };
  "session/resume": { params: ResumeSessionRequest; result: ResumeSessionResponse };
  "session/set_config_option": { params: SetSessionConfigOptionRequest; result: SetSessionConfigOptionResponse };
  "session/set_mode": { params: SetSessionModeRequest; result: SetSessionModeResponse };
  "session/set_title": { params: SetSessionTitleRequest; result: SetSessionTitleResponse };
  "session/status": { params: SessionStatusRequest; result: SessionStatusResponse };
  "session/unarchive": { params: UnarchiveSessionRequest; result: UnarchiveSessionResponse };
}

/** Requests that the client answers. */
export interface ClientRequests {
  "elicitation/create": { params: CreateElicitationRequest; result: CreateElicitationResponse };
  "fs/read_text_file": { params: ReadTextFileRequest; result: ReadTextFileResponse };
  "fs/write_text_file": { params: WriteTextFileRequest; result: WriteTextFileResponse };
  "mcp/message": { params: MessageMcpRequest; result: MessageMcpResponse };
  "session/request_permission": { params: RequestPermissionRequest; result: RequestPermissionResponse };
  "terminal/create": { params: CreateTerminalRequest; result: CreateTerminalResponse };
  "terminal/kill": { params: KillTerminalRequest; result: KillTerminalResponse };
  "terminal/output": { params: TerminalOutputRequest; result: TerminalOutputResponse };
  "terminal/release": { params: ReleaseTerminalRequest; result: ReleaseTerminalResponse };
  "terminal/wait_for_exit": { params: WaitForTerminalExitRequest; result: WaitForTerminalExitResponse };
}

/** Notifications to the agent. */
export interface AgentNotifications {
  "mcp/message": { params: MessageMcpNotification };
  "session/cancel": { params: CancelNotification };
}

/** Notifications to the client. */
export interface ClientNotifications {
  "auth/status_update": { params: AuthStatusUpdateNotification };
  "elicitation/complete": { params: CompleteElicitationNotification };
  "session/update": { params: SessionNotification };
}

/** Authentication-related capabilities supported by the agent. */
export interface AgentAuthCapabilities {
  _meta?: Record<string, unknown> | null;
  /**
   * Whether the agent supports the logout method.
   *
   * Optional. Omitted or `null` both mean the agent does not advertise support.
   * Supplying `{}` means the agent supports the logout method.
   */
  logout?: LogoutCapabilities | null;
  /**
   * **UNSTABLE**
   *
   * This capability is not part of the spec yet, and may be removed or changed at any point.
   *
   * Whether the agent supports the `auth/status` method.
   *
   * Optional. Omitted or `null` both mean the agent does not advertise support.
   * Supplying `{}` means the agent supports the `auth/status` method.
   */
  status?: AuthStatusCapabilities | null;
}

/**
 * Capabilities supported by the agent.
 *
 * Advertised during initialization to inform the client about
 * available features and content types.
 */
export interface AgentCapabilities {
  _meta?: Record<string, unknown> | null;
  /** Authentication-related capabilities supported by the agent. */
  auth?: AgentAuthCapabilities;
  /** Whether the agent supports `session/load`. */
  loadSession?: boolean;
  /** MCP capabilities supported by the agent. */
  mcpCapabilities?: McpCapabilities;
  /** Prompt capabilities supported by the agent. */
  promptCapabilities?: PromptCapabilities;
  /**
   * **UNSTABLE**
   *
   * This capability is not part of the spec yet, and may be removed or changed at any point.
   *
   * Provider configuration capabilities supported by the agent.
   *
   * Optional. Omitted or `null` both mean the agent does not advertise support.
   * Supplying `{}` means the agent supports provider configuration methods.
   */
  providers?: ProvidersCapabilities | null;
  /** Session lifecycle and prompt capabilities advertised by the agent. */
  sessionCapabilities?: SessionCapabilities;
}

/** Optional annotations for the client. The client can use annotations to inform how objects are used or displayed */
export interface Annotations {
  _meta?: Record<string, unknown> | null;
  /** Intended recipients for this content, such as the user or assistant. */
  audience?: Array<Role> | null;
  /** Timestamp indicating when the underlying resource was last modified. */
  lastModified?: string | null;
  /** Relative importance of this content when clients choose what to surface. */
  priority?: number | null;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Request parameters for archiving a session.
 *
 * Only available if the Agent supports the `sessionCapabilities.archive` capability.
 *
 * Archiving hides the session from default `session/list` results. It keeps the session ID
 * and saved history. If the session is active, the Agent MUST cancel any ongoing work and
 * free the session's resources as if `session/close` had been called, then archive it.
 * Archiving an archived session succeeds. A session that does not exist gets `-32002`.
 */
export interface ArchiveSessionRequest {
  _meta?: Record<string, unknown> | null;
  /** The ID of the session to archive. */
  sessionId: SessionId;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Response from archiving a session.
 */
export interface ArchiveSessionResponse {
  _meta?: Record<string, unknown> | null;
}

/** Audio provided to or from an LLM. */
export interface AudioContent {
  _meta?: Record<string, unknown> | null;
  /** Optional annotations that help clients decide how to display or route this content. */
  annotations?: Annotations | null;
  /** Base64-encoded media payload. */
  data: string;
  /** MIME type describing the encoded media payload. */
  mimeType: string;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * An account or credential the agent has configured, such as a signed-in user
 * account or an API key.
 *
 * All fields are display information only. Clients MUST NOT use them as stable
 * account identifiers, and SHOULD NOT log them or send them elsewhere, such as to
 * telemetry.
 */
export interface AuthAccount {
  _meta?: Record<string, unknown> | null;
  /**
   * Whether the agent currently uses this account by default.
   *
   * Several accounts MAY be active, for example one per provider.
   *
   * Optional. Omitted and `null` are equivalent and mean the agent does not indicate whether this account is in effect.
   */
  active?: boolean | null;
  /**
   * Short text shown with the label, such as the credential source, for example
   * `API key helper`. MUST NOT contain credentials.
   *
   * Optional. Omitted and `null` are equivalent and mean no description is reported.
   */
  description?: string | null;
  /**
   * Email address of the user.
   *
   * Optional. Omitted and `null` are equivalent and mean no email is reported.
   */
  email?: string | null;
  /**
   * Human-readable name for the account, suitable for display on its own,
   * for example `Claude Max`, `OpenAI API key`, or `Vertex AI`.
   */
  label: string;
  /**
   * Display name of the user, such as a username or full name.
   *
   * Optional. Omitted and `null` are equivalent and mean no name is reported.
   */
  name?: string | null;
  /**
   * Display name of the organization, team, or workspace the account is using.
   *
   * Optional. Omitted and `null` are equivalent and mean no organization is reported.
   */
  organization?: string | null;
}

/**
 * Authentication capabilities supported by the client.
 *
 * Advertised during initialization to inform the agent which authentication
 * method types the client can handle. This governs opt-in types that require
 * additional client-side support.
 */
export interface AuthCapabilities {
  _meta?: Record<string, unknown> | null;
  /**
   * Whether the client supports `terminal` authentication methods.
   *
   * The client SHOULD set this to `true` only when it can reproduce the
   * configured agent invocation in an interactive terminal. When `true`, the
   * agent MAY include `terminal` entries in its authentication methods.
   */
  terminal?: boolean;
}

/**
 * Describes an available authentication method.
 *
 * The `type` field acts as the discriminator in the serialized JSON form.
 * When no `type` is present, the method is treated as `agent`.
 */
export type AuthMethod =
  /**
   * Client runs the configured agent program as a separate interactive
   * process, without passing this method to `authenticate`.
   */
  | {
    type: "terminal";
  } & AuthMethodTerminal
  /**
   * Agent handles authentication itself through `authenticate`.
   *
   * This is the default when no `type` is specified.
   */
  | AuthMethodAgent;

/**
 * Agent handles authentication itself through `authenticate`.
 *
 * This is the default authentication method type.
 */
export interface AuthMethodAgent {
  _meta?: Record<string, unknown> | null;
  /** Optional human-readable description of this authentication method. */
  description?: string | null;
  /** Unique identifier for this authentication method. */
  id: AuthMethodId;
  /** Human-readable name of the authentication method. */
  name: string;
}

/** Typed identifier used for auth method values on the wire. */
export type AuthMethodId = string;

/**
 * Terminal-based authentication method.
 *
 * The client runs the configured agent program as a separate interactive
 * process for the user to authenticate via a TUI. Agents MUST advertise this
 * method only when the client enabled its terminal authentication capability.
 * A zero exit status signals success. Any other termination signals failure.
 * The client MUST NOT pass this method to `authenticate`.
 */
export interface AuthMethodTerminal {
  _meta?: Record<string, unknown> | null;
  /** Additional arguments to append to the configured agent invocation for terminal auth. */
  args?: Array<string>;
  /** Optional human-readable description of this authentication method. */
  description?: string | null;
  /**
   * Additional environment variables to set on the configured agent invocation for terminal auth.
   * These values override same-named variables in the base launch configuration.
   */
  env?: Record<string, string>;
  /** Unique identifier for this authentication method. */
  id: AuthMethodId;
  /** Human-readable name of the authentication method. */
  name: string;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * The agent's overall authentication state.
 */
export type AuthState =
  /** Credentials are configured. This does not guarantee that they are valid. */
  | "authenticated"
  /**
   * The user needs to sign in. This includes credentials that are missing,
   * expired, or known to be invalid.
   */
  | "unauthenticated"
  /** No authentication is needed, for example because the agent uses a local model. */
  | "not_required"
  /** The agent cannot currently determine the state. */
  | "unknown"
  /**
   * Custom or future authentication state.
   *
   * Values beginning with `_` are reserved for implementation-specific
   * extensions. Unknown values that do not begin with `_` are reserved for
   * future ACP variants.
   */
  | string;

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Auth status capabilities supported by the agent.
 *
 * Supplying `{}` means the agent supports the `auth/status` method.
 */
export interface AuthStatusCapabilities {
  _meta?: Record<string, unknown> | null;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Request parameters for the `auth/status` method.
 *
 * Queries the agent's current authentication state without changing it.
 *
 * Agents MUST NOT reject it with `auth_required` (`-32000`), since Clients call it to learn
 * whether authentication is required.
 */
export interface AuthStatusRequest {
  _meta?: Record<string, unknown> | null;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Response to the `auth/status` method.
 */
export interface AuthStatusResponse {
  _meta?: Record<string, unknown> | null;
  /**
   * The accounts the agent has configured, for display.
   *
   * Optional. Omitted and empty are equivalent and mean no accounts are reported.
   * Agents that hold credentials for several providers or accounts SHOULD list each
   * of them and mark the ones in effect with `active`.
   */
  accounts?: Array<AuthAccount>;
  /**
   * Whether the agent can start sessions without the user signing in first.
   *
   * Clients use this field to decide whether sign-in is needed. Clients MUST treat
   * values they do not recognize as `unknown`.
   */
  state: AuthState;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Notification sent by the agent when its authentication status changes.
 *
 * Carries the same fields as the `auth/status` response. Agents that advertise the
 * `auth.status` capability MAY send it at any time after `initialize`, and SHOULD only
 * send it when the reported status differs from the last one sent on the connection.
 */
export interface AuthStatusUpdateNotification {
  _meta?: Record<string, unknown> | null;
  /**
   * The accounts the agent has configured, for display.
   *
   * Optional. Omitted and empty are equivalent and mean no accounts are reported.
   * Agents that hold credentials for several providers or accounts SHOULD list each
   * of them and mark the ones in effect with `active`.
   */
  accounts?: Array<AuthAccount>;
  /**
   * Whether the agent can start sessions without the user signing in first.
   *
   * Clients use this field to decide whether sign-in is needed. Clients MUST treat
   * values they do not recognize as `unknown`.
   */
  state: AuthState;
}

/**
 * Request parameters for the authenticate method.
 *
 * Specifies which authentication method to use.
 */
export interface AuthenticateRequest {
  _meta?: Record<string, unknown> | null;
  /**
   * The ID of the authentication method to use.
   * Must be one of the methods advertised in the initialize response.
   */
  methodId: AuthMethodId;
}

/** Response to the `authenticate` method. */
export interface AuthenticateResponse {
  _meta?: Record<string, unknown> | null;
}

/** Information about a command. */
export interface AvailableCommand {
  _meta?: Record<string, unknown> | null;
  /** Human-readable description of what the command does. */
  description: string;
  /** Input for the command if required */
  input?: AvailableCommandInput | null;
  /** Command name (e.g., `create_plan`, `research_codebase`). */
  name: string;
}

/** The input specification for a command. */
export type AvailableCommandInput =
  /** All text that was typed after the command name is provided as input. */
  | UnstructuredCommandInput;

/** Available commands are ready or have changed */
export interface AvailableCommandsUpdate {
  _meta?: Record<string, unknown> | null;
  /** Commands the agent can execute */
  availableCommands: Array<AvailableCommand>;
}

/** Binary resource contents. */
export interface BlobResourceContents {
  _meta?: Record<string, unknown> | null;
  /** Base64-encoded bytes for a binary resource payload. */
  blob: string;
  /** MIME type describing the encoded media payload. */
  mimeType?: string | null;
  /** URI associated with this resource or media payload. */
  uri: string;
}

/**
 * Capabilities for boolean session configuration options.
 *
 * Supplying `{}` means the client supports boolean session configuration options.
 */
export interface BooleanConfigOptionCapabilities {
  _meta?: Record<string, unknown> | null;
}

/** Schema for boolean properties in an elicitation form. */
export interface BooleanPropertySchema {
  /** Optional. Omitted and `null` are equivalent and mean no metadata. */
  _meta?: Record<string, unknown> | null;
  /**
   * Default value.
   *
   * Optional. Omitted and `null` are equivalent and mean no default value is provided.
   */
  default?: boolean | null;
  /**
   * Human-readable description.
   *
   * Optional. Omitted and `null` are equivalent and mean no description is provided.
   */
  description?: string | null;
  /**
   * Optional title for the property.
   *
   * Optional. Omitted and `null` are equivalent and mean no title is provided.
   */
  title?: string | null;
}

/** Notification to cancel ongoing operations for a session. */
export interface CancelNotification {
  _meta?: Record<string, unknown> | null;
  /** The ID of the session to cancel operations for. */
  sessionId: SessionId;
}

/**
 * Capabilities supported by the client.
 *
 * Advertised during initialization to inform the agent about
 * available features and methods.
 */
export interface ClientCapabilities {
  _meta?: Record<string, unknown> | null;
  /**
   * Authentication capabilities supported by the client.
   * Determines which authentication method types the agent may include
   * in its `InitializeResponse`.
   */
  auth?: AuthCapabilities;
  /**
   * Elicitation capabilities supported by the client.
   * Determines which elicitation modes the agent may use.
   *
   * Optional. Omitted or `null` both mean the client does not advertise
   * elicitation support.
   */
  elicitation?: ElicitationCapabilities | null;
  /**
   * File system capabilities supported by the client.
   * Determines which file operations the agent can request.
   */
  fs?: FileSystemCapabilities;
  /**
   * Whether the Client supports `plan_update` and `plan_removed` session updates.
   *
   * Optional. Omitted or `null` both mean the Client does not advertise support.
   * Supplying `{}` means the Client can receive both update types.
   */
  plan?: PlanCapabilities | null;
  /**
   * Session-related capabilities supported by the client.
   *
   * Optional. Omitted or `null` both mean the client does not advertise any
   * session-related extensions.
   */
  session?: ClientSessionCapabilities | null;
  /**
   * Whether the client understands exposed subagent sessions.
   *
   * Optional and nullable. Omitted or `null` both mean the client does not
   * advertise support.
   * Supplying `{}` means the client understands child associations, work-state
   * snapshots, session-directed messages, and restricted-session semantics.
   */
  subagents?: SubagentCapabilities | null;
  /** Whether the Client support all `terminal/*` methods. */
  terminal?: boolean;
}

/** Session-related capabilities supported by the client. */
export interface ClientSessionCapabilities {
  _meta?: Record<string, unknown> | null;
  /**
   * Support for ID-addressed context compaction updates. Omitted or `null`
   * means unsupported. `{}` advertises the complete compaction contract.
   */
  compaction?: CompactionCapabilities | null;
  /**
   * Config option capabilities supported by the client.
   *
   * Omitted or `null` both mean the client does not advertise support for any
   * config option extensions.
   */
  configOptions?: SessionConfigOptionsCapabilities | null;
  /**
   * **UNSTABLE**
   *
   * This capability is not part of the spec yet, and may be removed or changed at any point.
   *
   * Support for `cursor_update` session updates.
   *
   * Optional. Omitted or `null` both mean the client does not advertise support.
   * Supplying `{}` means the client handles `cursor_update`.
   */
  cursors?: SessionCursorsCapabilities | null;
  /**
   * Support for live user-facing `notice` session updates.
   *
   * Optional. Omitted or `null` both mean the client does not advertise support.
   * Supplying `{}` means the client can present notices to the user.
   */
  notices?: NoticeCapabilities | null;
  /**
   * **UNSTABLE**
   *
   * This capability is not part of the spec yet, and may be removed or changed at any point.
   *
   * Support for `prompt_suggestions_update` session updates.
   *
   * Optional. Omitted or `null` both mean the client does not advertise support.
   * Supplying `{}` means the client can offer prompt suggestions made of
   * `text` and `resource_link` content blocks.
   */
  promptSuggestions?: PromptSuggestionsCapabilities | null;
}

/**
 * Request parameters for closing an active session.
 *
 * If supported, the agent **must** cancel any ongoing work related to the session
 * (treat it as if `session/cancel` was called) and then free up any resources
 * associated with the session.
 *
 * Only available if the Agent supports the `sessionCapabilities.close` capability.
 */
export interface CloseSessionRequest {
  _meta?: Record<string, unknown> | null;
  /** The ID of the session to close. */
  sessionId: SessionId;
}

/** Response from closing a session. */
export interface CloseSessionResponse {
  _meta?: Record<string, unknown> | null;
}

/** Client support for ID-addressed context compaction updates. */
export type CompactionCapabilities = Record<string, unknown>;

/** Unique identifier for a context compaction within a session. */
export type CompactionId = string;

/** Lifecycle state of a context compaction. */
export type CompactionStatus =
  /** Compaction has started and has not finished. */
  | "in_progress"
  /** Compaction finished successfully. */
  | "completed"
  /** Compaction finished unsuccessfully. */
  | "failed"
  /** Compaction was cancelled before it finished. */
  | "cancelled"
  /**
   * Custom or future compaction status.
   *
   * Values beginning with `_` are reserved for implementation-specific
   * extensions. Other unknown values are reserved for future ACP statuses.
   */
  | string;

/**
 * A content block appended to a compaction's summary. A first-seen ID creates
 * an in-progress compaction. Chunks append in receive order.
 * Agents MUST only send this update when the Client advertised
 * the `session.compaction` Client capability.
 */
export interface CompactionSummaryChunk {
  /** Metadata scoped to this chunk. Omission and `null` both mean absent. */
  _meta?: Record<string, unknown> | null;
  /** ID of the compaction whose summary receives this content. */
  compactionId: CompactionId;
  /** One content block to append. */
  content: ContentBlock;
}

/**
 * A context compaction upsert. The first notification fixes the compaction's
 * timeline position. Later updates with the same ID patch that entity in place.
 * Agents MUST only send this update when the Client advertised
 * the `session.compaction` Client capability.
 *
 * `summary`, `error`, and `_meta` have patch semantics: omission leaves the
 * stored value unchanged, `null` clears it, and a concrete value replaces it.
 * `summary: []` also clears the summary.
 */
export interface CompactionUpdate {
  /** Extensible metadata patch for this compaction. */
  _meta?: Record<string, unknown> | null;
  /** The Agent-owned ID of this compaction, unique within the session. */
  compactionId: CompactionId;
  /** Human-readable error details for the compaction. */
  error?: string | null;
  /** Current lifecycle status. */
  status: CompactionStatus;
  /** Complete replacement user-displayable summary content for the compaction. */
  summary?: Array<ContentBlock> | null;
}

/** Notification sent by the agent when a URL-based elicitation is complete. */
export interface CompleteElicitationNotification {
  /** Optional. Omitted and `null` are equivalent and mean no metadata. */
  _meta?: Record<string, unknown> | null;
  /** The ID of the elicitation that completed. */
  elicitationId: ElicitationId;
}

/** Session configuration options have been updated. */
export interface ConfigOptionUpdate {
  _meta?: Record<string, unknown> | null;
  /** The full set of configuration options and their current values. */
  configOptions: Array<SessionConfigOption>;
}

/** Standard content block (text, images, resources). */
export interface Content {
  _meta?: Record<string, unknown> | null;
  /** The actual content block. */
  content: ContentBlock;
}

/**
 * Content blocks represent displayable information in the Agent Client Protocol.
 *
 * Content blocks appear in:
 * - User prompts sent via `session/prompt`
 * - Language model output streamed through `session/update` notifications
 * - Progress updates and results from tool calls
 *
 * This structure is compatible with the Model Context Protocol (MCP), so agents can
 * forward content from MCP tool outputs without transformation.
 */
export type ContentBlock =
  /**
   * Text content. May be plain text or formatted with Markdown.
   *
   * All agents MUST support text content blocks in prompts.
   * Clients SHOULD render this text as Markdown.
   */
  | {
    type: "text";
  } & TextContent
  /**
   * Images for visual context or analysis.
   *
   * Requires the `image` prompt capability when included in prompts.
   */
  | {
    type: "image";
  } & ImageContent
  /**
   * Audio data for transcription or analysis.
   *
   * Requires the `audio` prompt capability when included in prompts.
   */
  | {
    type: "audio";
  } & AudioContent
  /**
   * References to resources that the agent can access.
   *
   * All agents MUST support resource links in prompts.
   */
  | {
    type: "resource_link";
  } & ResourceLink
  /**
   * Complete resource contents embedded directly in the message.
   *
   * Preferred for including context as it avoids extra round-trips.
   *
   * Requires the `embeddedContext` prompt capability when included in prompts.
   */
  | {
    type: "resource";
  } & EmbeddedResource;

/** A streamed item of content */
export interface ContentChunk {
  _meta?: Record<string, unknown> | null;
  /** A single item of content */
  content: ContentBlock;
  /**
   * A unique identifier for the message this chunk belongs to.
   *
   * All chunks belonging to the same message share the same `messageId`.
   * A change in `messageId` indicates a new message has started.
   */
  messageId?: MessageId | null;
}

/** Cost information for a session. */
export interface Cost {
  _meta?: Record<string, unknown> | null;
  /** Total cumulative cost for session. */
  amount: number;
  /**
   * Unit of `amount`: an ISO 4217 currency code (e.g., "USD", "EUR") for money, or another
   * unit such as "credits".
   */
  currency: string;
}

/**
 * Request from the agent to elicit structured user input.
 *
 * The agent sends this to the client to request information from the user,
 * either via a form or by directing them to a URL.
 * Elicitations are tied to a session (optionally a tool call) or a request.
 */
export type CreateElicitationRequest = {
  /** Optional. Omitted and `null` are equivalent and mean no metadata. */
  _meta?: Record<string, unknown> | null;
  /** A human-readable message describing what input is needed. */
  message: string;
} & (
  /** Form-based elicitation where the client renders a form from the provided schema. */
  | {
    mode: "form";
  } & ElicitationFormMode
  /** URL-based elicitation where the client directs the user to a URL. */
  | {
    mode: "url";
  } & ElicitationUrlMode
  /**
   * Custom or future elicitation mode.
   *
   * Values beginning with `_` are reserved for implementation-specific
   * extensions. Unknown values that do not begin with `_` are reserved for
   * future ACP variants.
   *
   * Clients that do not understand this mode SHOULD preserve the raw payload
   * when storing, replaying, proxying, or forwarding elicitation requests.
   * They MUST NOT render it as a known elicitation mode.
   */
  | {
    /**
     * Custom or future elicitation mode.
     *
     * Values beginning with `_` are reserved for implementation-specific
     * extensions. Unknown values that do not begin with `_` are reserved for
     * future ACP variants.
     */
    mode: string;
  } & (
    /** Tied to a session, optionally to a specific tool call within that session. */
    | ElicitationSessionScope
    /**
     * Tied to a specific JSON-RPC request outside of a session
     * (e.g., during auth/configuration phases before any session is started).
     */
    | ElicitationRequestScope
  )
);

/** Response from the client to an elicitation request. */
export type CreateElicitationResponse = {
  /** Optional. Omitted and `null` are equivalent and mean no metadata. */
  _meta?: Record<string, unknown> | null;
} & (
  /** The user accepted and provided content. */
  | {
    action: "accept";
  } & ElicitationAcceptAction
  /** The user declined the elicitation. */
  | {
    action: "decline";
  }
  /** The elicitation was cancelled. */
  | {
    action: "cancel";
  }
  /**
   * Custom or future elicitation action.
   *
   * Values beginning with `_` are reserved for implementation-specific
   * extensions. Unknown values that do not begin with `_` are reserved for
   * future ACP variants.
   *
   * Agents that do not understand this action SHOULD preserve the raw
   * payload when storing, replaying, proxying, or forwarding elicitation
   * responses. They MUST NOT treat it as a known elicitation action.
   */
  | {
    /**
     * Custom or future elicitation action.
     *
     * Values beginning with `_` are reserved for implementation-specific
     * extensions. Unknown values that do not begin with `_` are reserved for
     * future ACP variants.
     */
    action: string;
  }
);

/** Request to create a new terminal and execute a command. */
export interface CreateTerminalRequest {
  _meta?: Record<string, unknown> | null;
  /** Array of command arguments. */
  args?: Array<string>;
  /** The command to execute. */
  command: string;
  /** Working directory for the command. Must be an absolute path. */
  cwd?: string | null;
  /** Environment variables for the command. */
  env?: Array<EnvVariable>;
  /**
   * Maximum number of output bytes to retain.
   *
   * When the limit is exceeded, the Client truncates from the beginning of the output
   * to stay within the limit.
   *
   * The Client MUST ensure truncation happens at a character boundary to maintain valid
   * string output, even if this means the retained output is slightly less than the
   * specified limit.
   */
  outputByteLimit?: number | null;
  /** The session ID for this request. */
  sessionId: SessionId;
}

/** Response containing the ID of the created terminal. */
export interface CreateTerminalResponse {
  _meta?: Record<string, unknown> | null;
  /** The unique identifier for the created terminal. */
  terminalId: TerminalId;
}

/** The current mode of the session has changed */
export interface CurrentModeUpdate {
  _meta?: Record<string, unknown> | null;
  /** The ID of the current mode */
  currentModeId: SessionModeId;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Where a session cursor is, relative to an entity the Client holds.
 *
 * The anchor names the entity by its type and ID, and `position` says on which
 * side of that entity the cursor is. A known `type` with a malformed payload is
 * an error. It does not fall back to the unknown-type variant.
 *
 * See the [Session Cursors RFD](https://agentclientprotocol.com/rfds/session-cursors).
 */
export type CursorAnchor =
  /** The cursor is next to a user message. */
  | {
    type: "user_message";
  } & CursorMessageAnchor
  /** The cursor is next to an agent message. */
  | {
    type: "agent_message";
  } & CursorMessageAnchor
  /** The cursor is next to an agent thought. */
  | {
    type: "agent_thought";
  } & CursorMessageAnchor
  /** The cursor is next to a session-directed message. */
  | {
    type: "session_message";
  } & CursorMessageAnchor
  /** The cursor is next to a tool call. */
  | {
    type: "tool_call";
  } & CursorToolCallAnchor
  /** The cursor is next to a compaction. */
  | {
    type: "compaction";
  } & CursorCompactionAnchor
  /**
   * Custom or future anchor type.
   *
   * Values beginning with `_` are reserved for implementation-specific
   * extensions. Unknown values that do not begin with `_` are reserved for
   * future ACP variants.
   *
   * A Client that does not recognize the type cannot place the cursor and
   * MUST NOT guess a place for it.
   */
  | {
    /**
     * Custom or future anchor type.
     *
     * Values beginning with `_` are reserved for implementation-specific
     * extensions. Unknown values that do not begin with `_` are reserved for
     * future ACP variants.
     */
    type: string;
  };

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * On which side of the anchored entity a session cursor is.
 */
export type CursorAnchorPosition =
  /**
   * The cursor is immediately before the entity. The history before the
   * cursor does not include the entity.
   */
  | "before"
  /**
   * The cursor is immediately after the entity. The history before the
   * cursor includes the entity and nothing that follows it in the timeline.
   */
  | "after"
  /**
   * Custom or future position.
   *
   * Values beginning with `_` are reserved for implementation-specific
   * extensions. Other unknown values are reserved for future ACP positions.
   * A Client that does not recognize the value cannot place the cursor.
   */
  | string;

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * The methods that currently accept a session cursor.
 *
 * See the [Session Cursors RFD](https://agentclientprotocol.com/rfds/session-cursors).
 */
export interface CursorCapabilities {
  _meta?: Record<string, unknown> | null;
  /**
   * Permits the Client to fork the session at this cursor with `session/fork`.
   *
   * Omitted and `null` are equivalent and mean unsupported. An object (including `{}`)
   * means supported.
   */
  fork?: CursorForkCapabilities | null;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * A session cursor anchor to a compaction.
 */
export interface CursorCompactionAnchor {
  _meta?: Record<string, unknown> | null;
  /** The ID of the anchored compaction. */
  compactionId: CompactionId;
  /** On which side of the compaction the cursor is. */
  position: CursorAnchorPosition;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Capability to fork the session at a cursor with `session/fork`.
 *
 * Supplying `{}` advertises support. An omitted or `null` `fork` does not.
 */
export interface CursorForkCapabilities {
  _meta?: Record<string, unknown> | null;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Unique identifier for a session cursor within a session.
 *
 * The Agent generates it, and it is never reused for another position in the
 * session. Clients MUST NOT parse, change, or construct it.
 *
 * See the [Session Cursors RFD](https://agentclientprotocol.com/rfds/session-cursors).
 */
export type CursorId = string;

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * A session cursor anchor to a message. The anchor's `type` names the kind of message.
 */
export interface CursorMessageAnchor {
  _meta?: Record<string, unknown> | null;
  /** The ID of the anchored message. */
  messageId: MessageId;
  /** On which side of the message the cursor is. */
  position: CursorAnchorPosition;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * A session cursor anchor to a tool call.
 */
export interface CursorToolCallAnchor {
  _meta?: Record<string, unknown> | null;
  /** On which side of the tool call the cursor is. */
  position: CursorAnchorPosition;
  /** The ID of the anchored tool call. */
  toolCallId: ToolCallId;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * A session cursor upsert. A cursor names one position in the session's timeline.
 *
 * The first update for a `cursorId` MUST include `anchor`. The anchor is fixed
 * after that, and later updates change only `capabilities`.
 *
 * Agents MUST only send this update when the Client advertised
 * the `session.cursors` Client capability.
 *
 * `capabilities` and `_meta` have patch semantics: omission leaves the stored
 * value unchanged, `null` clears it, and a concrete value replaces it.
 *
 * See the [Session Cursors RFD](https://agentclientprotocol.com/rfds/session-cursors).
 */
export interface CursorUpdate {
  /** Extensible metadata patch for this cursor. */
  _meta?: Record<string, unknown> | null;
  /**
   * Where the cursor is, relative to an entity the Client holds.
   *
   * Required on the first update for a cursor. The Agent MUST NOT change it afterwards.
   * A later update can omit it or repeat the same anchor. Omitted and `null` are
   * equivalent and leave the stored anchor unchanged.
   */
  anchor?: CursorAnchor | null;
  /**
   * The methods that currently accept this cursor.
   *
   * Omission leaves the capabilities unchanged, `null` clears them, and an object replaces
   * the whole previous value. A new cursor starts with none.
   */
  capabilities?: CursorCapabilities | null;
  /** The Agent-owned ID of this cursor, unique within the session. */
  cursorId: CursorId;
}

/**
 * Request parameters for deleting an existing session from `session/list`.
 *
 * Only available if the Agent supports the `sessionCapabilities.delete` capability.
 */
export interface DeleteSessionRequest {
  _meta?: Record<string, unknown> | null;
  /** The ID of the session to delete. */
  sessionId: SessionId;
}

/** Response from deleting a session. */
export interface DeleteSessionResponse {
  _meta?: Record<string, unknown> | null;
}

/**
 * A diff representing file modifications.
 *
 * Shows changes to files in a format suitable for display in the client UI.
 */
export interface Diff {
  _meta?: Record<string, unknown> | null;
  /** The new content after modification. */
  newText: string;
  /** The original content (omitted or `null` for new files). */
  oldText?: string | null;
  /** The absolute file path being modified. */
  path: string;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Request parameters for `providers/disable`.
 */
export interface DisableProviderRequest {
  _meta?: Record<string, unknown> | null;
  /** Provider ID to disable. */
  providerId: ProviderId;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Response to `providers/disable`.
 */
export interface DisableProviderResponse {
  _meta?: Record<string, unknown> | null;
}

/** The user accepted the elicitation and provided content. */
export interface ElicitationAcceptAction {
  /** The user-provided content, if any, as an object matching the requested schema. */
  content?: Record<string, ElicitationContentValue> | null;
}

/** Elicitation capabilities supported by the client. */
export interface ElicitationCapabilities {
  /** Optional. Omitted and `null` are equivalent and mean no metadata. */
  _meta?: Record<string, unknown> | null;
  /**
   * Whether the client supports form-based elicitation.
   *
   * Optional. Omitted and `null` are equivalent and mean form support is not advertised.
   * Supplying `{}` explicitly advertises form support.
   */
  form?: ElicitationFormCapabilities | null;
  /**
   * Whether the client supports URL-based elicitation.
   *
   * Optional. Omitted or `null` both mean the client does not advertise support.
   * Supplying `{}` means the client supports URL-based elicitation.
   */
  url?: ElicitationUrlCapabilities | null;
}

/** Allowed wire representations for `ElicitationContentValue`. */
export type ElicitationContentValue =
  /** String value accepted in elicitation response content. */
  | string
  /** Integer value accepted in elicitation response content. */
  | number
  /** Number value accepted in elicitation response content. */
  | number
  /** Boolean value accepted in elicitation response content. */
  | boolean
  /** String array value accepted in elicitation response content. */
  | Array<string>;

/**
 * Form-based elicitation capabilities.
 *
 * Supplying `{}` means the client supports form-based elicitation.
 */
export interface ElicitationFormCapabilities {
  /** Optional. Omitted and `null` are equivalent and mean no metadata. */
  _meta?: Record<string, unknown> | null;
}

/** Form-based elicitation mode where the client renders a form from the provided schema. */
export type ElicitationFormMode = {
  /** A JSON Schema describing the form fields to present to the user. */
  requestedSchema: ElicitationSchema;
} & (
  /** Tied to a session, optionally to a specific tool call within that session. */
  | ElicitationSessionScope
  /**
   * Tied to a specific JSON-RPC request outside of a session
   * (e.g., during auth/configuration phases before any session is started).
   */
  | ElicitationRequestScope
);

/** Unique identifier for an elicitation. */
export type ElicitationId = string;

/**
 * Property schema for elicitation form fields.
 *
 * Each variant corresponds to a JSON Schema `"type"` value.
 * Single-select enums use `type: "string"` with `enum` or `oneOf` set.
 * Multi-select enums use `type: "array"`.
 */
export type ElicitationPropertySchema =
  /** String property (or single-select enum when `enum`/`oneOf` is set). */
  | {
    type: "string";
  } & StringPropertySchema
  /** Number (floating-point) property. */
  | {
    type: "number";
  } & NumberPropertySchema
  /** Integer property. */
  | {
    type: "integer";
  } & IntegerPropertySchema
  /** Boolean property. */
  | {
    type: "boolean";
  } & BooleanPropertySchema
  /** Multi-select array property. */
  | {
    type: "array";
  } & MultiSelectPropertySchema
  /**
   * Custom or future elicitation property schema.
   *
   * Values beginning with `_` are reserved for implementation-specific
   * extensions. Unknown values that do not begin with `_` are reserved for
   * future ACP variants.
   *
   * Clients that do not understand this property schema type SHOULD preserve
   * the raw schema when storing, replaying, proxying, or forwarding
   * elicitation requests. They MUST NOT render it as a known input control.
   */
  | {
    /**
     * Custom or future elicitation property schema type.
     *
     * Values beginning with `_` are reserved for implementation-specific
     * extensions. Unknown values that do not begin with `_` are reserved for
     * future ACP variants.
     */
    type: string;
  };

/**
 * Request-scoped elicitation, tied to a specific JSON-RPC request outside of a session
 * (e.g., during auth/configuration phases before any session is started).
 */
export interface ElicitationRequestScope {
  /** The request this elicitation is tied to. */
  requestId: RequestId;
}

/**
 * Type-safe elicitation schema for requesting structured user input.
 *
 * This represents a JSON Schema object with primitive-typed properties,
 * as required by the elicitation specification.
 */
export interface ElicitationSchema {
  /** Optional. Omitted and `null` are equivalent and mean no metadata. */
  _meta?: Record<string, unknown> | null;
  /**
   * Optional description of what this schema represents.
   *
   * Optional. Omitted and `null` are equivalent and mean no schema description is provided.
   */
  description?: string | null;
  /** Property definitions (MUST be primitive types). */
  properties?: Record<string, ElicitationPropertySchema>;
  /**
   * List of required property names.
   *
   * Optional. Omitted and `null` are equivalent and mean no property names are required.
   */
  required?: Array<string> | null;
  /**
   * Optional title for the schema.
   *
   * Optional. Omitted and `null` are equivalent and mean no title is provided.
   */
  title?: string | null;
  /** Type discriminator. Always `"object"`. */
  type?: ElicitationSchemaType;
}

/** Type discriminator for elicitation schemas. */
export type ElicitationSchemaType =
  /** Object schema type. */
  | "object";

/**
 * Session-scoped elicitation, optionally tied to a specific tool call.
 *
 * When `toolCallId` is set, the elicitation is tied to a specific tool call.
 * This is useful when an agent receives an elicitation from an MCP server
 * during a tool call and needs to redirect it to the user.
 */
export interface ElicitationSessionScope {
  /** The session this elicitation is tied to. */
  sessionId: SessionId;
  /**
   * Optional tool call within the session.
   *
   * Optional. Omitted and `null` are equivalent and mean the elicitation is scoped to the
   * session without a specific tool call.
   */
  toolCallId?: ToolCallId | null;
}

/**
 * URL-based elicitation capabilities.
 *
 * Supplying `{}` means the client supports URL-based elicitation.
 */
export interface ElicitationUrlCapabilities {
  /** Optional. Omitted and `null` are equivalent and mean no metadata. */
  _meta?: Record<string, unknown> | null;
}

/** URL-based elicitation mode where the client directs the user to a URL. */
export type ElicitationUrlMode = {
  /** The unique identifier for this elicitation. */
  elicitationId: ElicitationId;
  /** The URL to direct the user to. */
  url: string;
} & (
  /** Tied to a session, optionally to a specific tool call within that session. */
  | ElicitationSessionScope
  /**
   * Tied to a specific JSON-RPC request outside of a session
   * (e.g., during auth/configuration phases before any session is started).
   */
  | ElicitationRequestScope
);

/** The contents of a resource, embedded into a prompt or tool call result. */
export interface EmbeddedResource {
  _meta?: Record<string, unknown> | null;
  /** Optional annotations that help clients decide how to display or route this content. */
  annotations?: Annotations | null;
  /** Embedded resource payload, either text or binary data. */
  resource: EmbeddedResourceResource;
}

/** Resource content that can be embedded in a message. */
export type EmbeddedResourceResource =
  /** Text resource contents embedded directly in the message. */
  | TextResourceContents
  /** Binary resource contents embedded directly in the message. */
  | BlobResourceContents;

/** A titled enum option with a const value, human-readable title, and optional description. */
export interface EnumOption {
  /** Optional. Omitted and `null` are equivalent and mean no metadata. */
  _meta?: Record<string, unknown> | null;
  /** The constant value for this option. */
  const: string;
  /**
   * Human-readable description.
   *
   * Optional. Omitted and `null` are equivalent and mean no description is provided.
   */
  description?: string | null;
  /** Human-readable title for this option. */
  title: string;
}

/** An environment variable to set when launching an MCP server. */
export interface EnvVariable {
  _meta?: Record<string, unknown> | null;
  /** The name of the environment variable. */
  name: string;
  /** The value to set for the environment variable. */
  value: string;
}

/**
 * JSON-RPC error object.
 *
 * Represents an error that occurred during method execution, following the
 * JSON-RPC 2.0 error object specification with optional additional data.
 */
export interface Error {
  /**
   * A number indicating the error type that occurred.
   * This MUST be an integer as defined in the JSON-RPC specification.
   */
  code: ErrorCode;
  /**
   * Optional primitive or structured value that contains additional information about the error.
   * This may include debugging information or context-specific details.
   */
  data?: unknown;
  /**
   * A string providing a short description of the error.
   * The message SHOULD be limited to a concise single sentence.
   */
  message: string;
}

/**
 * Predefined error codes for common JSON-RPC and ACP-specific errors.
 *
 * Standard errors use the JSON-RPC 2.0 codes. ACP-specific errors use the JSON-RPC
 * server-error range (-32000 to -32099), and request cancellation uses -32800 from the
 * range LSP reserves (-32899 to -32800).
 */
export type ErrorCode =
  /**
   * **Parse error**: Invalid JSON was received by the server.
   * An error occurred on the server while parsing the JSON text.
   */
  | -32700
  /** **Invalid request**: The JSON sent is not a valid Request object. */
  | -32600
  /** **Method not found**: The method does not exist or is not available. */
  | -32601
  /** **Invalid params**: Invalid method parameter(s). */
  | -32602
  /** **Internal error**: Internal JSON-RPC error. */
  | -32603
  /**
   * **Request cancelled**: Execution of the method was aborted either due to a cancellation request from the caller or
   * because of resource constraints or shutdown.
   */
  | -32800
  /** **Authentication required**: Authentication is required before this operation can be performed. */
  | -32000
  /** **Resource not found**: A given resource, such as a session or file, was not found. */
  | -32002
  /** Other undefined error code. */
  | number;

/** Details of a failure that ended a child's foreground work. */
export interface ErrorStopReason {
  /**
   * The failure, as a JSON-RPC error object.
   *
   * Optional. Omitted or `null` both mean the agent is not reporting failure details.
   * Agents SHOULD include it.
   */
  error?: Error | null;
}

/** File system capabilities that a client may support. */
export interface FileSystemCapabilities {
  _meta?: Record<string, unknown> | null;
  /** Whether the Client supports `fs/read_text_file` requests. */
  readTextFile?: boolean;
  /** Whether the Client supports `fs/write_text_file` requests. */
  writeTextFile?: boolean;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Request parameters for forking an existing session.
 *
 * Creates a new session based on the context of an existing one, allowing
 * operations like generating summaries without affecting the original session's history.
 *
 * Only available if the Agent supports the `session.fork` capability.
 */
export interface ForkSessionRequest {
  _meta?: Record<string, unknown> | null;
  /**
   * Additional workspace roots to activate for this session. Each path MUST be absolute.
   *
   * When omitted or empty, no additional roots are activated. When non-empty,
   * this is the complete resulting additional-root list for the forked
   * session.
   */
  additionalDirectories?: Array<string>;
  /**
   * **UNSTABLE**
   *
   * This capability is not part of the spec yet, and may be removed or changed at any point.
   *
   * Initial values for the forked session's config options.
   *
   * Optional. Omitted and `null` are equivalent to an empty list. Clients MUST only send
   * this when the Agent advertises `sessionCapabilities.options`.
   *
   * The Agent applies the entries in list order on top of the configuration the fork
   * starts with, as if the Client had called `session/set_config_option` for each entry
   * after the session was set up. Malformed entries and duplicate `configId` values fail
   * the request with `-32602`. The Agent MUST ignore an entry whose `configId` is unknown,
   * whose `type` does not match the option, or whose value is not allowed when it is
   * applied. The `configOptions` in the response contain the values the session actually
   * has. The Agent SHOULD NOT send `config_option_update` notifications for these entries,
   * and SHOULD NOT send other `session/update` notifications caused by applying them
   * before it responds.
   */
  configOptions?: Array<InitialSessionConfigOption>;
  /**
   * **UNSTABLE**
   *
   * This capability is not part of the spec yet, and may be removed or changed at any point.
   *
   * The session cursor to fork at. The new session's history is the source
   * session's history before the cursor.
   *
   * Optional. Omitted and `null` are equivalent and fork the whole session.
   * Clients MUST only send the ID of a cursor that the Agent announced on the
   * source session and that currently advertises `capabilities.fork`. The Agent
   * rejects any other ID with `-32602`. It does not fall back to forking the
   * whole session.
   */
  cursorId?: CursorId | null;
  /** The working directory for this session. Must be an absolute path. */
  cwd: string;
  /** List of MCP servers to connect to for this session. */
  mcpServers?: Array<McpServer>;
  /** The ID of the session to fork. */
  sessionId: SessionId;
  /**
   * System-level instructions for the forked session.
   *
   * Optional. Omitted and `null` are equivalent. The Agent MAY then keep a
   * system prompt it stored with the source session or use its default
   * instructions. Clients MUST only send this when the Agent advertises
   * `sessionCapabilities.systemPrompt`, and SHOULD send the same value they used
   * for the source session.
   */
  systemPrompt?: SystemPrompt | null;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Response from forking an existing session.
 */
export interface ForkSessionResponse {
  _meta?: Record<string, unknown> | null;
  /** Initial session configuration options if supported by the Agent. */
  configOptions?: Array<SessionConfigOption> | null;
  /** Initial mode state if supported by the Agent */
  modes?: SessionModeState | null;
  /** Unique identifier for the newly created forked session. */
  sessionId: SessionId;
}

/** An HTTP header to set when making requests to the MCP server. */
export interface HttpHeader {
  _meta?: Record<string, unknown> | null;
  /** The name of the HTTP header. */
  name: string;
  /** The value to set for the HTTP header. */
  value: string;
}

/**
 * Foreground work is not in progress. The parent can give the child more work.
 *
 * An omitted or `null` `stopReason` means not reported.
 */
export type IdleStateUpdate = {
  _meta?: Record<string, unknown> | null;
  /**
   * Why foreground work stopped. The value selects one of this type's variants, which may add fields of their own.
   *
   * Optional. Omitted or `null` both mean the agent is not reporting a stop reason.
   */
  stopReason?: string | null;
  /**
   * **UNSTABLE** Token usage for completed foreground work.
   *
   * Optional. Omitted or `null` means not reported.
   */
  usage?: Usage | null;
} & (
  /** The work ended successfully. */
  | {
    stopReason: "end_turn";
  }
  /** The work ended because the agent reached the maximum number of tokens. */
  | {
    stopReason: "max_tokens";
  }
  /**
   * The work ended because the agent reached the maximum number of allowed
   * agent requests.
   */
  | {
    stopReason: "max_turn_requests";
  }
  /** The work ended because the agent refused to continue. */
  | {
    stopReason: "refusal";
  }
  /** The work was cancelled. */
  | {
    stopReason: "cancelled";
  }
  /** The work ended because something failed. */
  | {
    stopReason: "error";
  } & ErrorStopReason
  /**
   * Custom or future stop reason.
   *
   * Values beginning with `_` are reserved for implementation-specific
   * extensions. Other unknown values are reserved for future ACP variants.
   */
  | {
    /** Unrecognized stop reason. */
    stopReason: string;
  }
  /** No stop reason: `stopReason` is omitted or `null`. */
  | {
    stopReason?: null;
  }
);

/** An image provided to or from an LLM. */
export interface ImageContent {
  _meta?: Record<string, unknown> | null;
  /** Optional annotations that help clients decide how to display or route this content. */
  annotations?: Annotations | null;
  /** Base64-encoded media payload. */
  data: string;
  /** MIME type describing the encoded media payload. */
  mimeType: string;
  /** URI associated with this resource or media payload. */
  uri?: string | null;
}

/**
 * Metadata about the implementation of the client or agent.
 * Describes the name and version of an ACP implementation, with an optional
 * title for UI representation.
 */
export interface Implementation {
  _meta?: Record<string, unknown> | null;
  /**
   * Intended for programmatic or logical use, but can be used as a display
   * name fallback if title isn't present.
   */
  name: string;
  /**
   * Intended for UI and end-user contexts and optimized to be human-readable
   * and easily understood.
   *
   * If not provided, the name SHOULD be used for display.
   */
  title?: string | null;
  /**
   * Version of the implementation. Can be displayed to the user or used
   * for debugging or metrics purposes. (e.g. "1.0.0").
   */
  version: string;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * An initial value for a config option, sent on session setup requests.
 *
 * Same shape as `session/set_config_option` without `sessionId`. Unlike
 * `session/set_config_option`, an unknown `configId`, a `type` that does not match the
 * option, or a value that is not allowed is ignored instead of rejected.
 *
 * Clients only send `type: "boolean"` entries when they advertise
 * `sessionCapabilities.configOptions.boolean`.
 */
export type InitialSessionConfigOption = {
  _meta?: Record<string, unknown> | null;
  /** The ID of the configuration option to set. */
  configId: SessionConfigId;
} & (
  /** A boolean value (`type: "boolean"`). */
  | {
    type: "boolean";
    /** The boolean value. */
    value: boolean;
  }
  /**
   * A `SessionConfigValueId` string value.
   *
   * This is the default when `type` is absent on the wire. Unknown `type`
   * values with string payloads also gracefully deserialize into this
   * variant.
   */
  | {
    /** The value ID. */
    value: SessionConfigValueId;
  }
);

/**
 * Request parameters for the initialize method.
 *
 * Sent by the client to establish connection and negotiate capabilities.
 */
export interface InitializeRequest {
  _meta?: Record<string, unknown> | null;
  /** Capabilities supported by the client. */
  clientCapabilities?: ClientCapabilities;
  /**
   * Information about the Client name and version sent to the Agent.
   *
   * Note: in future versions of the protocol, this will be required.
   */
  clientInfo?: Implementation | null;
  /** The latest protocol version supported by the client. */
  protocolVersion: ProtocolVersion;
}

/**
 * Response to the `initialize` method.
 *
 * Contains the negotiated protocol version and agent capabilities.
 */
export interface InitializeResponse {
  _meta?: Record<string, unknown> | null;
  /** Capabilities supported by the agent. */
  agentCapabilities?: AgentCapabilities;
  /**
   * Information about the Agent name and version sent to the Client.
   *
   * Note: in future versions of the protocol, this will be required.
   */
  agentInfo?: Implementation | null;
  /** Authentication methods supported by the agent. */
  authMethods?: Array<AuthMethod>;
  /**
   * The protocol version the client specified if supported by the agent,
   * or the latest protocol version supported by the agent.
   *
   * The client SHOULD disconnect, if it doesn't support this version.
   */
  protocolVersion: ProtocolVersion;
}

/** Schema for integer properties in an elicitation form. */
export interface IntegerPropertySchema {
  /** Optional. Omitted and `null` are equivalent and mean no metadata. */
  _meta?: Record<string, unknown> | null;
  /**
   * Default value.
   *
   * Optional. Omitted and `null` are equivalent and mean no default value is provided.
   */
  default?: number | null;
  /**
   * Human-readable description.
   *
   * Optional. Omitted and `null` are equivalent and mean no description is provided.
   */
  description?: string | null;
  /**
   * Maximum value (inclusive).
   *
   * Optional. Omitted and `null` are equivalent and mean there is no inclusive upper bound.
   */
  maximum?: number | null;
  /**
   * Minimum value (inclusive).
   *
   * Optional. Omitted and `null` are equivalent and mean there is no inclusive lower bound.
   */
  minimum?: number | null;
  /**
   * Optional title for the property.
   *
   * Optional. Omitted and `null` are equivalent and mean no title is provided.
   */
  title?: string | null;
}

/** Request to kill a terminal without releasing it. */
export interface KillTerminalRequest {
  _meta?: Record<string, unknown> | null;
  /** The session ID for this request. */
  sessionId: SessionId;
  /** The ID of the terminal to kill. */
  terminalId: TerminalId;
}

/** Response to `terminal/kill` method */
export interface KillTerminalResponse {
  _meta?: Record<string, unknown> | null;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Request parameters for `providers/list`.
 */
export interface ListProvidersRequest {
  _meta?: Record<string, unknown> | null;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Response to `providers/list`.
 */
export interface ListProvidersResponse {
  _meta?: Record<string, unknown> | null;
  /** Configurable providers with current routing info suitable for UI display. */
  providers: Array<ProviderInfo>;
}

/**
 * Request parameters for listing existing sessions.
 *
 * Only available if the Agent supports the `sessionCapabilities.list` capability.
 */
export interface ListSessionsRequest {
  _meta?: Record<string, unknown> | null;
  /**
   * **UNSTABLE**
   *
   * This capability is not part of the spec yet, and may be removed or changed at any point.
   *
   * Filter sessions by archive state.
   *
   * Optional. Omitted and `null` are equivalent and mean `exclude`. Only send this when
   * the Agent advertises the `sessionCapabilities.archive` capability. The filter combines with `cwd` and
   * applies before pagination. Clients keep the same value when following `nextCursor`.
   */
  archived?: SessionArchiveFilter | null;
  /** Opaque cursor token from a previous response's nextCursor field for cursor-based pagination */
  cursor?: string | null;
  /** Filter sessions by working directory. Must be an absolute path. */
  cwd?: string | null;
}

/** Response from listing sessions. */
export interface ListSessionsResponse {
  _meta?: Record<string, unknown> | null;
  /**
   * Opaque cursor token. If present, pass this in the next request's cursor parameter
   * to fetch the next page. If absent, there are no more results.
   */
  nextCursor?: string | null;
  /** Array of session information objects */
  sessions: Array<SessionInfo>;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Well-known API protocol identifiers for LLM providers.
 *
 * Agents and clients MUST handle unknown protocol identifiers gracefully.
 *
 * Protocol names beginning with `_` are free for custom use, like other ACP extension methods.
 * Protocol names that do not begin with `_` are reserved for the ACP spec.
 */
export type LlmProtocol =
  /** Anthropic API protocol. */
  | "anthropic"
  /** OpenAI API protocol. */
  | "openai"
  /** Azure OpenAI API protocol. */
  | "azure"
  /** Google Vertex AI API protocol. */
  | "vertex"
  /** AWS Bedrock API protocol. */
  | "bedrock"
  /** Unknown or custom protocol. */
  | string;

/**
 * Request parameters for loading an existing session.
 *
 * Only available if the Agent supports the `loadSession` capability.
 */
export interface LoadSessionRequest {
  _meta?: Record<string, unknown> | null;
  /**
   * Additional workspace roots to activate for this session. Each path MUST be absolute.
   *
   * When omitted or empty, no additional roots are activated. When non-empty,
   * this is the complete resulting additional-root list for the loaded
   * session. It MAY differ from any previously used or reported list as long as
   * the request `cwd` matches the session's `cwd`.
   */
  additionalDirectories?: Array<string>;
  /**
   * **UNSTABLE**
   *
   * This capability is not part of the spec yet, and may be removed or changed at any point.
   *
   * Initial values for the session's config options.
   *
   * Optional. Omitted and `null` are equivalent to an empty list. Clients MUST only send
   * this when the Agent advertises `sessionCapabilities.options`.
   *
   * The Agent applies the entries in list order, as if the Client had called
   * `session/set_config_option` for each entry after the session was set up. Malformed
   * entries and duplicate `configId` values fail the request with `-32602`. The Agent MUST
   * ignore an entry whose `configId` is unknown, whose `type` does not match the option,
   * or whose value is not allowed when it is applied. The `configOptions` in the response contain the values the session actually
   * has. The Agent SHOULD NOT send `config_option_update` notifications for these entries.
   */
  configOptions?: Array<InitialSessionConfigOption>;
  /** The working directory for this session. Must be an absolute path. */
  cwd: string;
  /** List of MCP servers to connect to for this session. */
  mcpServers: Array<McpServer>;
  /** The ID of the session to load. */
  sessionId: SessionId;
  /**
   * System-level instructions for the loaded session.
   *
   * Optional. Omitted and `null` are equivalent. The Agent MAY then keep a
   * system prompt it stored with the session or use its default instructions.
   * Clients MUST only send this when the Agent advertises
   * `sessionCapabilities.systemPrompt`, and SHOULD send the same value they used
   * when the session was created.
   */
  systemPrompt?: SystemPrompt | null;
}

/** Response from loading an existing session. */
export interface LoadSessionResponse {
  _meta?: Record<string, unknown> | null;
  /** Initial session configuration options if supported by the Agent. */
  configOptions?: Array<SessionConfigOption> | null;
  /** Initial mode state if supported by the Agent */
  modes?: SessionModeState | null;
}

/**
 * Logout capabilities supported by the agent.
 *
 * Supplying `{}` means the agent supports the logout method.
 */
export interface LogoutCapabilities {
  _meta?: Record<string, unknown> | null;
}

/**
 * Request parameters for the logout method.
 *
 * Terminates the current authenticated session.
 */
export interface LogoutRequest {
  _meta?: Record<string, unknown> | null;
}

/** Response to the `logout` method. */
export interface LogoutResponse {
  _meta?: Record<string, unknown> | null;
}

/** MCP capabilities supported by the agent */
export interface McpCapabilities {
  _meta?: Record<string, unknown> | null;
  /**
   * **UNSTABLE**
   *
   * This capability is not part of the spec yet, and may be removed or changed at any point.
   *
   * Agent supports `acp` MCP servers.
   */
  acp?: boolean;
  /** Agent supports `http` MCP servers. */
  http?: boolean;
  /** Agent supports `sse` MCP servers. */
  sse?: boolean;
}

/**
 * **UNSTABLE**
 *
 * An inner MCP error, distinct from an outer ACP binding or runtime error.
 *
 * `code` and `message` are required and non-null. `data` is optional.
 * Explicit `null` is preserved separately from an omitted key.
 */
export interface McpError {
  /** Inner MCP error code. Never an ACP error code. */
  code: number;
  /** Optional error data. Explicit null is retained. */
  data?: unknown;
  /** Inner MCP error message. */
  message: string;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Identifies an inner MCP request active against a server on this ACP connection.
 *
 * Generated by the caller and preserved unchanged by proxies. This is distinct
 * from the outer ACP JSON-RPC request ID.
 */
export type McpRequestId = string;

/**
 * Configuration for connecting to an MCP (Model Context Protocol) server.
 *
 * MCP servers provide tools and context that the agent can use when
 * processing prompts.
 */
export type McpServer =
  /**
   * HTTP transport configuration
   *
   * Only available when the Agent capabilities indicate `mcp_capabilities.http` is `true`.
   */
  | {
    type: "http";
  } & McpServerHttp
  /**
   * SSE transport configuration
   *
   * Only available when the Agent capabilities indicate `mcp_capabilities.sse` is `true`.
   */
  | {
    type: "sse";
  } & McpServerSse
  /**
   * **UNSTABLE**
   *
   * This capability is not part of the spec yet, and may be removed or changed at any point.
   *
   * ACP transport configuration
   *
   * Only available when the Agent capabilities indicate `mcp_capabilities.acp` is `true`.
   * The MCP server is provided by an ACP component and communicates over the ACP channel.
   */
  | {
    type: "acp";
  } & McpServerAcp
  /**
   * Stdio transport configuration
   *
   * All Agents MUST support this transport.
   */
  | McpServerStdio;

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * ACP transport configuration for MCP.
 *
 * The MCP server is provided by an ACP component and communicates over the ACP channel
 * using `mcp/message`.
 */
export interface McpServerAcp {
  _meta?: Record<string, unknown> | null;
  /** Human-readable name identifying this MCP server. */
  name: string;
  /**
   * Unique identifier for this MCP server, generated by the component providing it.
   *
   * Providers MUST NOT reuse an ID for multiple ACP-transport MCP servers that are visible
   * on the same ACP connection.
   */
  serverId: McpServerAcpId;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Unique identifier for an MCP server using the ACP transport.
 *
 * The value is opaque and generated by the ACP component providing the MCP server. It is
 * used by `mcp/message` to route requests to the component that declared the server.
 */
export type McpServerAcpId = string;

/** HTTP transport configuration for MCP. */
export interface McpServerHttp {
  _meta?: Record<string, unknown> | null;
  /** HTTP headers to set when making requests to the MCP server. */
  headers: Array<HttpHeader>;
  /** Human-readable name identifying this MCP server. */
  name: string;
  /** URL to the MCP server. */
  url: string;
}

/** SSE transport configuration for MCP. */
export interface McpServerSse {
  _meta?: Record<string, unknown> | null;
  /** HTTP headers to set when making requests to the MCP server. */
  headers: Array<HttpHeader>;
  /** Human-readable name identifying this MCP server. */
  name: string;
  /** URL to the MCP server. */
  url: string;
}

/** Stdio transport configuration for MCP. */
export interface McpServerStdio {
  _meta?: Record<string, unknown> | null;
  /** Command-line arguments to pass to the MCP server. */
  args: Array<string>;
  /** Absolute path to the MCP server executable. */
  command: string;
  /** Environment variables to set when launching the MCP server. */
  env: Array<EnvVariable>;
  /** Human-readable name identifying this MCP server. */
  name: string;
}

/** Unique identifier for a message within a session. */
export type MessageId = string;

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Notification parameters for `mcp/message`.
 *
 * Sent by the provider to the consumer for an active request (including
 * subscription acknowledgements and updates). The outer envelope has no `id`.
 */
export interface MessageMcpNotification {
  _meta?: Record<string, unknown> | null;
  /** The inner MCP method name. */
  method: string;
  /**
   * Optional inner MCP params.
   *
   * If omitted or set to `null`, the inner MCP message has no params.
   */
  params?: Record<string, unknown> | null;
  /** The identifier of the active inner MCP request. */
  requestId: McpRequestId;
  /** The declared ACP MCP server handling the associated request. */
  serverId: McpServerAcpId;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Request parameters for `mcp/message`.
 */
export interface MessageMcpRequest {
  _meta?: Record<string, unknown> | null;
  /** The inner MCP method name. */
  method: string;
  /**
   * Optional inner MCP params.
   *
   * If omitted or set to `null`, the inner MCP message has no params.
   */
  params?: Record<string, unknown> | null;
  /** The caller-generated identifier for the inner MCP request. */
  requestId: McpRequestId;
  /** The declared ACP MCP server receiving this request. */
  serverId: McpServerAcpId;
}

/**
 * **UNSTABLE**
 *
 * The successful outer ACP `mcp/message` response carries exactly one
 * inner MCP outcome: an opaque result (including JSON null), or an MCP error.
 * Outer ACP errors are reserved for binding and runtime failures.
 *
 * Both branches require their carrier key. An error MUST be a non-null object.
 * Unknown outer fields are ignored. Inner result and error fields are preserved.
 * Carrier `_meta` is optional. Omitted and `null` are equivalent.
 * Senders MUST include exactly one outcome.
 */
export type MessageMcpResponse =
  /** An opaque inner MCP result. */
  | {
    /** Optional ACP carrier metadata. */
    _meta?: Record<string, unknown> | null;
    /** Required, even if JSON null. */
    result: unknown;
  }
  /** A structured inner MCP error. */
  | {
    /** Optional ACP carrier metadata. */
    _meta?: Record<string, unknown> | null;
    /** Required, non-null MCP error object. */
    error: McpError;
  };

/** Items for a multi-select (array) property schema. */
export type MultiSelectItems =
  /** Multi-select string items with plain string values. */
  | {
    type: "string";
  } & StringMultiSelectItems
  /** Custom or future typed multi-select items. */
  | {
    /**
     * Custom or future multi-select item type.
     *
     * Values beginning with `_` are reserved for implementation-specific
     * extensions. Unknown values that do not begin with `_` are reserved for
     * future ACP variants.
     */
    type: string;
  }
  /**
   * Titled multi-select items with human-readable labels.
   *
   * As in MCP, titled items omit `type` and are identified by `anyOf`.
   */
  | TitledMultiSelectItems;

/** Schema for multi-select (array) properties in an elicitation form. */
export interface MultiSelectPropertySchema {
  /** Optional. Omitted and `null` are equivalent and mean no metadata. */
  _meta?: Record<string, unknown> | null;
  /**
   * Default selected values.
   *
   * Optional. Omitted and `null` are equivalent and mean no default selections are provided.
   */
  default?: Array<string> | null;
  /**
   * Human-readable description.
   *
   * Optional. Omitted and `null` are equivalent and mean no description is provided.
   */
  description?: string | null;
  /** The items definition describing allowed values. */
  items: MultiSelectItems;
  /**
   * Maximum number of items to select.
   *
   * Optional. Omitted and `null` are equivalent and mean there is no maximum selection count.
   */
  maxItems?: number | null;
  /**
   * Minimum number of items to select.
   *
   * Optional. Omitted and `null` are equivalent and mean there is no minimum selection count.
   */
  minItems?: number | null;
  /**
   * Optional title for the property.
   *
   * Optional. Omitted and `null` are equivalent and mean no title is provided.
   */
  title?: string | null;
}

/** Request parameters for creating a new session. */
export interface NewSessionRequest {
  _meta?: Record<string, unknown> | null;
  /**
   * Additional workspace roots for this session. Each path MUST be absolute.
   *
   * These expand the session's filesystem scope without changing `cwd`, which
   * remains the base for relative paths. When omitted or empty, no
   * additional roots are activated for the new session.
   */
  additionalDirectories?: Array<string>;
  /**
   * **UNSTABLE**
   *
   * This capability is not part of the spec yet, and may be removed or changed at any point.
   *
   * Initial values for the session's config options.
   *
   * Optional. Omitted and `null` are equivalent to an empty list. Clients MUST only send
   * this when the Agent advertises `sessionCapabilities.options`.
   *
   * The Agent applies the entries in list order, as if the Client had called
   * `session/set_config_option` for each entry after the session was set up. Malformed
   * entries and duplicate `configId` values fail the request with `-32602`. The Agent MUST
   * ignore an entry whose `configId` is unknown, whose `type` does not match the option,
   * or whose value is not allowed when it is applied. The `configOptions` in the response contain the values the session actually
   * has. The Agent SHOULD NOT send `config_option_update` notifications for these entries,
   * and SHOULD NOT send other `session/update` notifications caused by applying them
   * before it responds.
   */
  configOptions?: Array<InitialSessionConfigOption>;
  /** The working directory for this session. Must be an absolute path. */
  cwd: string;
  /** List of MCP (Model Context Protocol) servers the agent should connect to. */
  mcpServers: Array<McpServer>;
  /**
   * System-level instructions for the new session.
   *
   * Optional. Omitted and `null` are equivalent and mean the Agent uses its
   * own default instructions. Clients MUST only send this when the Agent
   * advertises `sessionCapabilities.systemPrompt`.
   */
  systemPrompt?: SystemPrompt | null;
}

/** Response from creating a new session. */
export interface NewSessionResponse {
  _meta?: Record<string, unknown> | null;
  /** Initial session configuration options if supported by the Agent. */
  configOptions?: Array<SessionConfigOption> | null;
  /** Initial mode state if supported by the Agent */
  modes?: SessionModeState | null;
  /**
   * Unique identifier for the created session.
   *
   * Used in all subsequent requests for this conversation.
   */
  sessionId: SessionId;
}

/**
 * Fire-and-forget information for the user.
 *
 * Notices are live events rather than session history. Agents must not rely on
 * a notice being received, displayed, or seen by the user.
 * Agents MUST only send notices when the Client advertised
 * the `session.notices` Client capability. Otherwise, Agents may use an agent
 * message when the information should still be surfaced to the user.
 *
 * See RFD: [Session Notices](https://agentclientprotocol.com/rfds/session-notices)
 */
export interface Notice {
  /**
   * Metadata scoped to this notice.
   *
   * Omitted and `null` are equivalent and mean no metadata was supplied.
   */
  _meta?: Record<string, unknown> | null;
  /**
   * Optional plain-text detail or guidance.
   *
   * Omitted and `null` are equivalent and mean no description was supplied.
   */
  description?: string | null;
  /** Presentation severity hint. */
  severity: NoticeSeverity;
  /** Required non-empty plain-text title that can stand alone. */
  title: string;
}

/** Client support for presenting live notices to the user. */
export type NoticeCapabilities = Record<string, unknown>;

/** Severity hint for a session notice. */
export type NoticeSeverity =
  /** Informational notice. */
  | "info"
  /** Warning notice. */
  | "warning"
  /** Error notice. */
  | "error"
  /**
   * Custom or future notice severity.
   *
   * Values beginning with `_` are reserved for implementation-specific
   * extensions. Other unknown values are reserved for future ACP severities.
   */
  | string;

/** Schema for number (floating-point) properties in an elicitation form. */
export interface NumberPropertySchema {
  /** Optional. Omitted and `null` are equivalent and mean no metadata. */
  _meta?: Record<string, unknown> | null;
  /**
   * Default value.
   *
   * Optional. Omitted and `null` are equivalent and mean no default value is provided.
   */
  default?: number | null;
  /**
   * Human-readable description.
   *
   * Optional. Omitted and `null` are equivalent and mean no description is provided.
   */
  description?: string | null;
  /**
   * Maximum value (inclusive).
   *
   * Optional. Omitted and `null` are equivalent and mean there is no inclusive upper bound.
   */
  maximum?: number | null;
  /**
   * Minimum value (inclusive).
   *
   * Optional. Omitted and `null` are equivalent and mean there is no inclusive lower bound.
   */
  minimum?: number | null;
  /**
   * Optional title for the property.
   *
   * Optional. Omitted and `null` are equivalent and mean no title is provided.
   */
  title?: string | null;
}

/** An option presented to the user when requesting permission. */
export interface PermissionOption {
  _meta?: Record<string, unknown> | null;
  /** Hint about the nature of this permission option. */
  kind: PermissionOptionKind;
  /** Human-readable label to display to the user. */
  name: string;
  /** Unique identifier for this permission option. */
  optionId: PermissionOptionId;
}

/** Unique identifier for a permission option. */
export type PermissionOptionId = string;

/**
 * The type of permission option being presented to the user.
 *
 * Helps clients choose appropriate icons and UI treatment.
 */
export type PermissionOptionKind =
  /** Allow this operation only this time. */
  | "allow_once"
  /** Allow this operation and remember the choice. */
  | "allow_always"
  /** Reject this operation only this time. */
  | "reject_once"
  /** Reject this operation and remember the choice. */
  | "reject_always";

/** A checklist sent with the `plan` session update. */
export interface Plan {
  _meta?: Record<string, unknown> | null;
  /**
   * The list of tasks to be accomplished.
   *
   * The Agent MUST send all entries with their current status.
   * The Client MUST replace the entire checklist with each update.
   */
  entries: Array<PlanEntry>;
}

/** Capabilities for receiving `plan_update` and `plan_removed` session updates. */
export interface PlanCapabilities {
  _meta?: Record<string, unknown> | null;
}

/**
 * A single entry in the execution plan.
 *
 * Represents a task or goal that the assistant intends to accomplish
 * as part of fulfilling the user's request.
 */
export interface PlanEntry {
  _meta?: Record<string, unknown> | null;
  /** Human-readable description of what this task aims to accomplish. */
  content: string;
  /**
   * The relative importance of this task.
   * Used to indicate which tasks are most critical to the overall goal.
   */
  priority: PlanEntryPriority;
  /** Current execution status of this task. */
  status: PlanEntryStatus;
}

/**
 * Priority levels for plan entries.
 *
 * Used to indicate the relative importance or urgency of different
 * tasks in the execution plan.
 */
export type PlanEntryPriority =
  /** High priority task - critical to the overall goal. */
  | "high"
  /** Medium priority task - important but not critical. */
  | "medium"
  /** Low priority task - nice to have but not essential. */
  | "low";

/**
 * Status of a plan entry in the execution flow.
 *
 * Tracks the lifecycle of each task from planning through completion.
 */
export type PlanEntryStatus =
  /** The task has not started yet. */
  | "pending"
  /** The task is currently being worked on. */
  | "in_progress"
  /** The task has been successfully completed. */
  | "completed";

/** Unique identifier for a plan within a session. */
export type PlanId = string;

/** A plan represented as structured entries. */
export interface PlanItems {
  _meta?: Record<string, unknown> | null;
  /**
   * The list of tasks to be accomplished.
   *
   * The Agent MUST send all entries with their current status.
   * The Client MUST replace the checklist with this `planId` on each update.
   */
  entries: Array<PlanEntry>;
  /** The plan ID to update. */
  planId: PlanId;
}

/** A plan represented as Markdown. */
export interface PlanMarkdown {
  _meta?: Record<string, unknown> | null;
  /** The complete plan as Markdown, not just the text that changed. */
  content: string;
  /**
   * The absolute path of the file that holds this plan.
   *
   * Omitted and `null` both mean the plan has no file. A supplied path MUST
   * be absolute. `content` is the plan to display whether or not `path` is set.
   * Clients can use `path` to open the file.
   */
  path?: string | null;
  /** The plan ID to update. */
  planId: PlanId;
}

/** Removal notice for a plan identified by ID. */
export interface PlanRemoved {
  _meta?: Record<string, unknown> | null;
  /** The plan ID to remove. Clients MUST ignore a removal for an unknown ID. */
  planId: PlanId;
}

/** A content update for a plan identified by ID. */
export interface PlanUpdate {
  _meta?: Record<string, unknown> | null;
  /** Replaces the whole plan with this `planId`, even if its `type` changes. */
  plan: PlanUpdateContent;
}

/** Updated content for a plan. */
export type PlanUpdateContent =
  /** Structured plan entries. */
  | {
    type: "items";
  } & PlanItems
  /** The complete plan as Markdown. */
  | {
    type: "markdown";
  } & PlanMarkdown;

/**
 * Prompt capabilities supported by the agent in `session/prompt` requests.
 *
 * Baseline agent functionality requires support for `text`
 * and `resource_link` content blocks in prompt requests.
 *
 * Other variants must be explicitly opted in to.
 * Capabilities for different types of content in prompt requests.
 *
 * Indicates which content types beyond the baseline (text and resource links)
 * the agent can process.
 */
export interface PromptCapabilities {
  _meta?: Record<string, unknown> | null;
  /** Agent supports `audio` content blocks. */
  audio?: boolean;
  /**
   * Agent supports embedded context in `session/prompt` requests.
   *
   * When enabled, the Client is allowed to include `resource` content blocks
   * in prompt requests for pieces of context that are referenced in the message.
   */
  embeddedContext?: boolean;
  /** Agent supports `image` content blocks. */
  image?: boolean;
}

/**
 * Request parameters for sending a user prompt to the agent.
 *
 * Contains the user's message and any additional context.
 */
export interface PromptRequest {
  _meta?: Record<string, unknown> | null;
  /**
   * The blocks of content that compose the user's message.
   *
   * As a baseline, the Agent MUST support `text` and `resource_link` content blocks,
   * while other variants are optionally enabled via `PromptCapabilities`.
   *
   * The Client MUST adapt its interface according to `PromptCapabilities`.
   *
   * The client MAY include referenced pieces of context as either
   * `resource` or `resource_link` content blocks.
   *
   * When available, `resource` is preferred
   * as it avoids extra round-trips and allows the message to include
   * pieces of context from sources the agent may not have access to.
   */
  prompt: Array<ContentBlock>;
  /** The ID of the session to send this user message to */
  sessionId: SessionId;
}

/** Response from processing a user prompt. */
export interface PromptResponse {
  _meta?: Record<string, unknown> | null;
  /** Indicates why the agent stopped processing the turn. */
  stopReason: StopReason;
  /**
   * **UNSTABLE**
   *
   * This capability is not part of the spec yet, and may be removed or changed at any point.
   *
   * Token usage for this turn (optional).
   */
  usage?: Usage | null;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * A prompt the Agent predicts the user will send next.
 */
export interface PromptSuggestion {
  _meta?: Record<string, unknown> | null;
  /**
   * The content of the suggested prompt.
   *
   * Required and non-null. Must contain at least one content block. This is
   * the same type as the `prompt` field of `session/prompt`, and the Client
   * can send it in that field unchanged.
   *
   * Agents MUST only use `text` and `resource_link` content blocks, and
   * other content block types that both the Agent's prompt capabilities
   * and the Client's `session.promptSuggestions` capability advertise.
   * Agents MUST NOT send a prompt whose only content is empty or
   * whitespace-only text.
   */
  prompt: Array<ContentBlock>;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Capabilities for audio content in prompt suggestions.
 *
 * Supplying `{}` means the client can offer suggestions that include audio.
 */
export interface PromptSuggestionsAudioCapabilities {
  _meta?: Record<string, unknown> | null;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Client support for `prompt_suggestions_update` session updates.
 *
 * Supplying `{}` means the client can offer prompt suggestions made of `text`
 * and `resource_link` content blocks. The client opts in to other content
 * block types with the fields below. They have the same names as the agent's
 * prompt capabilities.
 */
export interface PromptSuggestionsCapabilities {
  _meta?: Record<string, unknown> | null;
  /**
   * Whether prompt suggestions may include `audio` content blocks.
   *
   * Optional. Omitted or `null` both mean the client does not advertise support.
   * Supplying `{}` means the client can offer suggestions that include audio.
   */
  audio?: PromptSuggestionsAudioCapabilities | null;
  /**
   * Whether prompt suggestions may include `resource` content blocks.
   *
   * Optional. Omitted or `null` both mean the client does not advertise support.
   * Supplying `{}` means the client can offer suggestions that include
   * embedded resources.
   */
  embeddedContext?: PromptSuggestionsEmbeddedContextCapabilities | null;
  /**
   * Whether prompt suggestions may include `image` content blocks.
   *
   * Optional. Omitted or `null` both mean the client does not advertise support.
   * Supplying `{}` means the client can offer suggestions that include images.
   */
  image?: PromptSuggestionsImageCapabilities | null;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Capabilities for embedded resources in prompt suggestions.
 *
 * Supplying `{}` means the client can offer suggestions that include
 * `resource` content blocks.
 */
export interface PromptSuggestionsEmbeddedContextCapabilities {
  _meta?: Record<string, unknown> | null;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Capabilities for image content in prompt suggestions.
 *
 * Supplying `{}` means the client can offer suggestions that include images.
 */
export interface PromptSuggestionsImageCapabilities {
  _meta?: Record<string, unknown> | null;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Replaces the session's current list of prompt suggestions.
 *
 * A prompt suggestion is a prompt the Agent predicts the user will send next.
 * The Client offers suggestions where the user writes the next prompt. The
 * list in the most recent update is the current list until the Agent sends
 * another update. A session starts with an empty list.
 *
 * Suggestions are not part of session history. Agents SHOULD NOT include
 * this update when they replay a session.
 *
 * Agents MUST only send this update when the Client advertised
 * the `session.promptSuggestions` Client capability.
 */
export interface PromptSuggestionsUpdate {
  _meta?: Record<string, unknown> | null;
  /**
   * The suggestions the Client can offer, ordered most likely first.
   *
   * Required and non-null. An empty list withdraws the suggestions the
   * Client is offering.
   */
  suggestions: Array<PromptSuggestion>;
}

/**
 * Protocol version identifier.
 *
 * This version is only bumped for breaking changes.
 * Non-breaking changes should be introduced via capabilities.
 */
export type ProtocolVersion = number;

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Current effective non-secret routing configuration for a provider.
 */
export interface ProviderCurrentConfig {
  _meta?: Record<string, unknown> | null;
  /** Protocol currently used by this provider. */
  apiType: LlmProtocol;
  /** Base URL currently used by this provider. */
  baseUrl: string;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Unique identifier for a configurable LLM provider.
 */
export type ProviderId = string;

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Information about a configurable LLM provider.
 */
export interface ProviderInfo {
  _meta?: Record<string, unknown> | null;
  /**
   * Current effective non-secret routing config.
   * Null or omitted means provider is disabled.
   */
  current?: ProviderCurrentConfig | null;
  /** Provider identifier, for example "main" or "openai". */
  providerId: ProviderId;
  /**
   * Whether this provider is mandatory and cannot be disabled via `providers/disable`.
   * If true, clients MUST NOT call `providers/disable` for this provider ID.
   */
  required: boolean;
  /** Supported protocol types for this provider. */
  supported: Array<LlmProtocol>;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Provider configuration capabilities supported by the agent.
 *
 * Supplying `{}` means the agent supports provider configuration methods.
 */
export interface ProvidersCapabilities {
  _meta?: Record<string, unknown> | null;
}

/**
 * Request to read content from a text file.
 *
 * Only available if the client supports the `fs.readTextFile` capability.
 */
export interface ReadTextFileRequest {
  _meta?: Record<string, unknown> | null;
  /** Maximum number of lines to read. */
  limit?: number | null;
  /** Line number to start reading from (1-based). */
  line?: number | null;
  /** Absolute path to the file to read. */
  path: string;
  /** The session ID for this request. */
  sessionId: SessionId;
}

/** Response containing the contents of a text file. */
export interface ReadTextFileResponse {
  _meta?: Record<string, unknown> | null;
  /** Content payload returned by this response. */
  content: string;
}

/** Request to release a terminal and free its resources. */
export interface ReleaseTerminalRequest {
  _meta?: Record<string, unknown> | null;
  /** The session ID for this request. */
  sessionId: SessionId;
  /** The ID of the terminal to release. */
  terminalId: TerminalId;
}

/** Response to terminal/release method */
export interface ReleaseTerminalResponse {
  _meta?: Record<string, unknown> | null;
}

/**
 * JSON RPC Request Id
 *
 * An identifier established by the Client that MUST contain a String, Number, or NULL value if included. If it is not included it is assumed to be a notification. The value SHOULD normally not be Null \[1\] and Numbers SHOULD NOT contain fractional parts \[2\]
 *
 * The Server MUST reply with the same value in the Response object if included. This member is used to correlate the context between the two objects.
 *
 * \[1\] The use of Null as a value for the id member in a Request object is discouraged, because this specification uses a value of Null for Responses with an unknown id. Also, because JSON-RPC 1.0 uses an id value of Null for Notifications this could cause confusion in handling.
 *
 * \[2\] Fractional parts may be problematic, since many decimal fractions cannot be represented exactly as binary fractions.
 */
export type RequestId =
  /** The JSON-RPC `null` request id. */
  | null
  /** A numeric JSON-RPC request id. */
  | number
  /** A string JSON-RPC request id. */
  | string;

/** The outcome of a permission request. */
export type RequestPermissionOutcome =
  /**
   * The prompt turn was cancelled before the user responded.
   *
   * When a client sends a `session/cancel` notification to cancel an ongoing
   * prompt turn, it MUST respond to all pending `session/request_permission`
   * requests with this `cancelled` outcome.
   */
  | {
    outcome: "cancelled";
  }
  /** The user selected one of the provided options. */
  | {
    outcome: "selected";
  } & SelectedPermissionOutcome;

/**
 * Request for user permission to execute a tool call.
 *
 * Sent when the agent needs authorization before performing a sensitive operation.
 */
export interface RequestPermissionRequest {
  _meta?: Record<string, unknown> | null;
  /** Available permission options for the user to choose from. */
  options: Array<PermissionOption>;
  /** The session ID for this request. */
  sessionId: SessionId;
  /** Details about the tool call requiring permission. */
  toolCall: ToolCallUpdate;
}

/** Response to a permission request. */
export interface RequestPermissionResponse {
  _meta?: Record<string, unknown> | null;
  /** The user's decision on the permission request. */
  outcome: RequestPermissionOutcome;
}

/** Foreground work is blocked on user action. */
export interface RequiresActionStateUpdate {
  _meta?: Record<string, unknown> | null;
}

/** A resource that the server is capable of reading, included in a prompt or tool call result. */
export interface ResourceLink {
  _meta?: Record<string, unknown> | null;
  /** Optional annotations that help clients decide how to display or route this content. */
  annotations?: Annotations | null;
  /** Optional human-readable details shown with this protocol object. */
  description?: string | null;
  /** MIME type describing the encoded media payload. */
  mimeType?: string | null;
  /** Human-readable name shown for this protocol object. */
  name: string;
  /** Optional size of the linked resource in bytes, if known. */
  size?: number | null;
  /** Optional display title for end-user UI. */
  title?: string | null;
  /** URI associated with this resource or media payload. */
  uri: string;
}

/**
 * Request parameters for resuming an existing session.
 *
 * Resumes an existing session without returning previous messages (unlike `session/load`).
 * This is useful for agents that can resume sessions but don't implement full session loading.
 *
 * Only available if the Agent supports the `sessionCapabilities.resume` capability.
 */
export interface ResumeSessionRequest {
  _meta?: Record<string, unknown> | null;
  /**
   * Additional workspace roots to activate for this session. Each path MUST be absolute.
   *
   * When omitted or empty, no additional roots are activated. When non-empty,
   * this is the complete resulting additional-root list for the resumed
   * session. It MAY differ from any previously used or reported list as long as
   * the request `cwd` matches the session's `cwd`.
   */
  additionalDirectories?: Array<string>;
  /**
   * **UNSTABLE**
   *
   * This capability is not part of the spec yet, and may be removed or changed at any point.
   *
   * Initial values for the session's config options.
   *
   * Optional. Omitted and `null` are equivalent to an empty list. Clients MUST only send
   * this when the Agent advertises `sessionCapabilities.options`.
   *
   * The Agent applies the entries in list order, as if the Client had called
   * `session/set_config_option` for each entry after the session was set up. Malformed
   * entries and duplicate `configId` values fail the request with `-32602`. The Agent MUST
   * ignore an entry whose `configId` is unknown, whose `type` does not match the option,
   * or whose value is not allowed when it is applied. The `configOptions` in the response contain the values the session actually
   * has. The Agent SHOULD NOT send `config_option_update` notifications for these entries.
   */
  configOptions?: Array<InitialSessionConfigOption>;
  /** The working directory for this session. Must be an absolute path. */
  cwd: string;
  /** List of MCP servers to connect to for this session. */
  mcpServers?: Array<McpServer>;
  /** The ID of the session to resume. */
  sessionId: SessionId;
  /**
   * System-level instructions for the resumed session.
   *
   * Optional. Omitted and `null` are equivalent. The Agent MAY then keep a
   * system prompt it stored with the session or use its default instructions.
   * Clients MUST only send this when the Agent advertises
   * `sessionCapabilities.systemPrompt`, and SHOULD send the same value they used
   * when the session was created.
   */
  systemPrompt?: SystemPrompt | null;
}

/** Response from resuming an existing session. */
export interface ResumeSessionResponse {
  _meta?: Record<string, unknown> | null;
  /** Initial session configuration options if supported by the Agent. */
  configOptions?: Array<SessionConfigOption> | null;
  /** Initial mode state if supported by the Agent */
  modes?: SessionModeState | null;
}

/** The sender or recipient of messages and data in a conversation. */
export type Role =
  /** The assistant side of a conversation. */
  | "assistant"
  /** The user side of a conversation. */
  | "user";

/** Foreground work is in progress. */
export interface RunningStateUpdate {
  _meta?: Record<string, unknown> | null;
}

/** The user selected one of the provided options. */
export interface SelectedPermissionOutcome {
  _meta?: Record<string, unknown> | null;
  /** The ID of the option the user selected. */
  optionId: PermissionOptionId;
}

/**
 * Capabilities for additional session directories support.
 *
 * Supplying `{}` means the agent supports the `additionalDirectories` field on
 * supported session lifecycle requests. Agents that also support
 * `session/list` may return `SessionInfo.additionalDirectories` to report the
 * complete ordered additional-root list associated with a listed session.
 */
export interface SessionAdditionalDirectoriesCapabilities {
  _meta?: Record<string, unknown> | null;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Capabilities for `session/archive` and `session/unarchive`.
 *
 * Supplying `{}` means the agent supports both methods, the `archived` filter on
 * `session/list`, and `SessionInfo.archived`.
 */
export interface SessionArchiveCapabilities {
  _meta?: Record<string, unknown> | null;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Which sessions `session/list` returns based on their archive state.
 *
 * Unknown values are preserved so they can be stored, proxied, or forwarded. An Agent MUST
 * return `-32602` for a value it does not support rather than treating it as `exclude`.
 */
export type SessionArchiveFilter =
  /** Only sessions that are not archived. This is the default. */
  | "exclude"
  /** Both archived sessions and sessions that are not archived. */
  | "include"
  /** Only archived sessions. */
  | "only"
  /**
   * Custom or future archive filter.
   *
   * Values beginning with `_` are reserved for implementation-specific
   * extensions. Unknown values that do not begin with `_` are reserved for
   * future ACP variants.
   */
  | string;

/**
 * Capability to cancel work in a subagent session without ending that session.
 *
 * Supplying `{}` advertises support. An omitted or `null` `cancel` does not.
 */
export interface SessionCancelCapabilities {
  _meta?: Record<string, unknown> | null;
}

/**
 * Session capabilities supported by the agent.
 *
 * As a baseline, all Agents **MUST** support `session/new`, `session/prompt`, `session/cancel`, and `session/update`.
 *
 * Optionally, they **MAY** support other session methods and notifications by specifying additional capabilities.
 *
 * Note: `session/load` is still handled by the top-level `loadSession` capability. This will be unified in future versions of the protocol.
 */
export interface SessionCapabilities {
  _meta?: Record<string, unknown> | null;
  /**
   * Whether the agent supports `additionalDirectories` on supported session lifecycle requests.
   *
   * Optional. Omitted or `null` both mean the agent does not advertise support.
   * Supplying `{}` means the agent supports `additionalDirectories` on
   * supported session lifecycle requests.
   *
   * Agents that also support `session/list` may return
   * `SessionInfo.additionalDirectories` to report the complete ordered
   * additional-root list associated with a listed session.
   */
  additionalDirectories?: SessionAdditionalDirectoriesCapabilities | null;
  /**
   * **UNSTABLE**
   *
   * This capability is not part of the spec yet, and may be removed or changed at any point.
   *
   * Whether the agent supports `session/archive` and `session/unarchive`.
   *
   * Optional. Omitted or `null` both mean the agent does not advertise support.
   * Supplying `{}` means the agent supports both methods, the `archived` filter on
   * `session/list`, and `SessionInfo.archived`. Agents that advertise it MUST also advertise `sessionCapabilities.list`.
   */
  archive?: SessionArchiveCapabilities | null;
  /**
   * Whether the agent supports `session/close`.
   *
   * Optional. Omitted or `null` both mean the agent does not advertise support.
   * Supplying `{}` means the agent supports closing sessions.
   */
  close?: SessionCloseCapabilities | null;
  /**
   * Whether the agent supports `session/delete`.
   *
   * Optional. Omitted or `null` both mean the agent does not advertise support.
   * Supplying `{}` means the agent supports deleting sessions from `session/list`.
   */
  delete?: SessionDeleteCapabilities | null;
  /**
   * **UNSTABLE**
   *
   * This capability is not part of the spec yet, and may be removed or changed at any point.
   *
   * Whether the agent supports `session/fork`.
   *
   * Optional. Omitted or `null` both mean the agent does not advertise support.
   * Supplying `{}` means the agent supports forking sessions.
   */
  fork?: SessionForkCapabilities | null;
  /**
   * Whether the agent supports `session/list`.
   *
   * Optional. Omitted or `null` both mean the agent does not advertise support.
   * Supplying `{}` means the agent supports listing sessions.
   */
  list?: SessionListCapabilities | null;
  /**
   * **UNSTABLE**
   *
   * This capability is not part of the spec yet, and may be removed or changed at any point.
   *
   * Whether the agent supports `session/options`.
   *
   * Optional. Omitted or `null` both mean the agent does not advertise support.
   * Supplying `{}` means the agent supports `session/options` and accepts initial
   * config option values on session setup requests.
   */
  options?: SessionOptionsCapabilities | null;
  /**
   * Whether the agent supports `session/resume`.
   *
   * Optional. Omitted or `null` both mean the agent does not advertise support.
   * Supplying `{}` means the agent supports resuming sessions.
   */
  resume?: SessionResumeCapabilities | null;
  /**
   * **UNSTABLE**
   *
   * This capability is not part of the spec yet, and may be removed or changed at any point.
   *
   * Whether the agent supports `session/status`.
   *
   * Optional. Omitted or `null` both mean the agent does not advertise support.
   * Supplying `{}` means the agent supports checking session status.
   */
  status?: SessionStatusCapabilities | null;
  /**
   * Whether the agent supports `systemPrompt` on session lifecycle requests.
   *
   * Optional. Omitted or `null` both mean the agent does not advertise support.
   * Supplying `{}` means the agent supports `systemPrompt` in `append` mode.
   */
  systemPrompt?: SessionSystemPromptCapabilities | null;
  /**
   * **UNSTABLE**
   *
   * This capability is not part of the spec yet, and may be removed or changed at any point.
   *
   * Whether the agent supports `session/set_title`.
   *
   * Agents report titles through `session/list` and `session_info_update` without this
   * capability. It only advertises that Clients can set titles.
   *
   * Optional. Omitted or `null` both mean the agent does not advertise support.
   * Supplying `{}` means the agent supports setting session titles.
   */
  title?: SessionTitleCapabilities | null;
}

/**
 * Capabilities for the `session/close` method.
 *
 * Supplying `{}` means the agent supports closing sessions.
 */
export interface SessionCloseCapabilities {
  _meta?: Record<string, unknown> | null;
}

/** A boolean on/off toggle session configuration option payload. */
export interface SessionConfigBoolean {
  /** The current value of the boolean option. */
  currentValue: boolean;
}

/** Unique identifier for a session configuration option value group. */
export type SessionConfigGroupId = string;

/** Unique identifier for a session configuration option. */
export type SessionConfigId = string;

/** A session configuration option selector and its current state. */
export type SessionConfigOption = {
  _meta?: Record<string, unknown> | null;
  /** Optional semantic category for this option (UX only). */
  category?: SessionConfigOptionCategory | null;
  /** Optional description for the Client to display to the user. */
  description?: string | null;
  /** Unique identifier for the configuration option. */
  id: SessionConfigId;
  /** Human-readable label for the option. */
  name: string;
} & (
  /** Single-value selector (dropdown). */
  | {
    type: "select";
  } & SessionConfigSelect
  /** Boolean on/off toggle. */
  | {
    type: "boolean";
  } & SessionConfigBoolean
);

/**
 * Semantic category for a session configuration option.
 *
 * This is intended to help Clients distinguish broadly common selectors (e.g. model selector vs
 * session mode selector vs thought/reasoning level) for UX purposes (keyboard shortcuts, icons,
 * placement). It MUST NOT be required for correctness. Clients MUST handle missing or unknown
 * categories gracefully.
 *
 * Category names beginning with `_` are free for custom use, like other ACP extension methods.
 * Category names that do not begin with `_` are reserved for the ACP spec.
 */
export type SessionConfigOptionCategory =
  /** Session mode selector. */
  | "mode"
  /** Model selector. */
  | "model"
  /** Model-related configuration parameter. */
  | "model_config"
  /**
   * **UNSTABLE**
   *
   * This capability is not part of the spec yet, and may be removed or changed at any point.
   *
   * Response speed selector, such as a fast mode toggle.
   */
  | "speed"
  /** Thought/reasoning level selector. */
  | "thought_level"
  /** Unknown / uncategorized selector. */
  | string;

/** Session configuration option capabilities supported by the client. */
export interface SessionConfigOptionsCapabilities {
  _meta?: Record<string, unknown> | null;
  /**
   * Whether the client supports boolean session configuration options.
   *
   * Optional. Omitted or `null` both mean the client does not advertise support.
   * Supplying `{}` means agents may include `type: "boolean"` entries in
   * `configOptions`, and the client may send `session/set_config_option`
   * requests with `type: "boolean"` and a boolean `value`.
   */
  boolean?: BooleanConfigOptionCapabilities | null;
}

/** A single-value selector (dropdown) session configuration option payload. */
export interface SessionConfigSelect {
  /** The currently selected value. */
  currentValue: SessionConfigValueId;
  /** The set of selectable options. */
  options: SessionConfigSelectOptions;
}

/** A group of possible values for a session configuration option. */
export interface SessionConfigSelectGroup {
  _meta?: Record<string, unknown> | null;
  /** Unique identifier for this group. */
  group: SessionConfigGroupId;
  /** Human-readable label for this group. */
  name: string;
  /** The set of option values in this group. */
  options: Array<SessionConfigSelectOption>;
}

/** A possible value for a session configuration option. */
export interface SessionConfigSelectOption {
  _meta?: Record<string, unknown> | null;
  /** Optional description for this option value. */
  description?: string | null;
  /** Human-readable label for this option value. */
  name: string;
  /** Unique identifier for this option value. */
  value: SessionConfigValueId;
}

/** Possible values for a session configuration option. */
export type SessionConfigSelectOptions =
  /** A flat list of options with no grouping. */
  | Array<SessionConfigSelectOption>
  /** A list of options grouped under headers. */
  | Array<SessionConfigSelectGroup>;

/** Unique identifier for a session configuration option value. */
export type SessionConfigValueId = string;

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Client support for `cursor_update` session updates.
 *
 * See the [Session Cursors RFD](https://agentclientprotocol.com/rfds/session-cursors).
 */
export type SessionCursorsCapabilities = Record<string, unknown>;

/**
 * Capabilities for the `session/delete` method.
 *
 * Supplying `{}` means the agent supports deleting sessions from `session/list`.
 */
export interface SessionDeleteCapabilities {
  _meta?: Record<string, unknown> | null;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Capabilities for the `session/fork` method.
 *
 * Supplying `{}` means the agent supports forking sessions.
 */
export interface SessionForkCapabilities {
  _meta?: Record<string, unknown> | null;
}

/**
 * A unique identifier for a conversation session between a client and agent.
 *
 * Each session has its own context, conversation history, and state, so one
 * agent can run several independent sessions.
 */
export type SessionId = string;

/** Information about a session returned by session/list */
export interface SessionInfo {
  _meta?: Record<string, unknown> | null;
  /**
   * Additional workspace roots reported for this session. Each path MUST be absolute.
   *
   * When present, this is the complete ordered additional-root list reported
   * by the Agent. Omitted and empty values are equivalent: the response
   * reports no additional roots.
   */
  additionalDirectories?: Array<string>;
  /**
   * **UNSTABLE**
   *
   * This capability is not part of the spec yet, and may be removed or changed at any point.
   *
   * Whether the session is archived.
   *
   * Optional. Omitted and `null` are equivalent and mean the archive state is not reported.
   * Agents that advertise the `sessionCapabilities.archive` capability MUST include it on every listed session.
   */
  archived?: boolean | null;
  /** The working directory for this session. Must be an absolute path. */
  cwd: string;
  /** Unique identifier for the session */
  sessionId: SessionId;
  /** Human-readable title for the session */
  title?: string | null;
  /** ISO 8601 timestamp of last activity */
  updatedAt?: string | null;
}

/**
 * Update to session metadata. All fields are optional to support partial updates.
 *
 * Agents send this notification to update session information like title or custom metadata.
 * Clients can use it to keep session titles and state current.
 */
export interface SessionInfoUpdate {
  _meta?: Record<string, unknown> | null;
  /** Human-readable title for the session. Set to null to clear. */
  title?: string | null;
  /** ISO 8601 timestamp of last activity. Set to null to clear. */
  updatedAt?: string | null;
}

/**
 * Capabilities for the `session/list` method.
 *
 * Supplying `{}` means the agent supports listing sessions.
 */
export interface SessionListCapabilities {
  _meta?: Record<string, unknown> | null;
}

/** An upsert for an inter-session message. */
export interface SessionMessage {
  /**
   * Omitted leaves metadata unchanged. `null` removes it.
   *
   * Implementations MUST NOT make assumptions about values in `_meta`.
   */
  _meta?: Record<string, unknown> | null;
  /**
   * Omitted leaves content unchanged. `null` or `[]` clears it.
   * A non-empty array replaces all content.
   */
  content?: Array<ContentBlock> | null;
  /** Identifier of this message within the enclosing session's transcript. */
  messageId: MessageId;
  /**
   * On an outgoing view, the `messageId` of the same message's incoming view in the
   * recipient's transcript.
   *
   * Omitted leaves the stored value unchanged. `null` clears it. A value replaces it. It can arrive
   * after the message starts streaming.
   */
  recipientMessageId?: MessageId | null;
  /**
   * The receiving session.
   *
   * Omitted leaves the stored value unchanged. `null` clears it. A value replaces it.
   */
  recipientSessionId?: SessionId | null;
  /**
   * On an incoming view, the `messageId` of the same message's outgoing view in the
   * sender's transcript.
   *
   * Omitted leaves the stored value unchanged. `null` clears it. A value replaces it. It can arrive
   * after the message starts streaming.
   */
  senderMessageId?: MessageId | null;
  /**
   * The sending session.
   *
   * Omitted leaves the stored value unchanged. `null` clears it. A value replaces it.
   */
  senderSessionId?: SessionId | null;
}

/**
 * A streamed content block of an inter-session message.
 *
 * A chunk carries only content. The message's participants and references come from
 * `session_message` upserts, which can arrive before, between, or after its chunks.
 */
export interface SessionMessageChunk {
  /**
   * Optional and nullable chunk-scoped metadata. Omitted or `null` means none.
   *
   * Implementations MUST NOT make assumptions about values in `_meta`.
   */
  _meta?: Record<string, unknown> | null;
  /** A single content block appended to the message. */
  content: ContentBlock;
  /** Identifier of this message within the enclosing session's transcript. */
  messageId: MessageId;
}

/** A mode the agent can operate in. */
export interface SessionMode {
  _meta?: Record<string, unknown> | null;
  /** Optional human-readable details shown with this protocol object. */
  description?: string | null;
  /** Stable identifier used to refer to this protocol object in later messages. */
  id: SessionModeId;
  /** Human-readable name shown for this protocol object. */
  name: string;
}

/** Unique identifier for a Session Mode. */
export type SessionModeId = string;

/** The set of modes and the one currently active. */
export interface SessionModeState {
  _meta?: Record<string, unknown> | null;
  /** The set of modes that the Agent can operate in */
  availableModes: Array<SessionMode>;
  /** The current mode the Agent is in. */
  currentModeId: SessionModeId;
}

/**
 * Notification containing a session update from the agent.
 *
 * Used to stream real-time progress and results during prompt processing.
 */
export interface SessionNotification {
  _meta?: Record<string, unknown> | null;
  /** The ID of the session this update pertains to. */
  sessionId: SessionId;
  /** The actual update content. */
  update: SessionUpdate;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Capabilities for the `session/options` method.
 *
 * Supplying `{}` means the agent supports `session/options` and accepts initial config
 * option values on session setup requests.
 */
export interface SessionOptionsCapabilities {
  _meta?: Record<string, unknown> | null;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Request parameters for `session/options`, which returns the config options a session
 * would start with, without creating or resuming a session.
 *
 * Only available if the Agent supports the `sessionCapabilities.options` capability.
 *
 * `session/options` MUST NOT create or resume a session, send `session/update`
 * notifications, add an entry to `session/list`, or change an existing session. Agents
 * SHOULD NOT connect to MCP servers to answer it. Agents MAY start their runtime to resolve
 * the options. The rules above still hold for it.
 */
export interface SessionOptionsRequest {
  _meta?: Record<string, unknown> | null;
  /**
   * Additional workspace roots to resolve options for. Each path MUST be absolute.
   *
   * Optional. Omitted and `null` are equivalent to an empty list.
   */
  additionalDirectories?: Array<string>;
  /** The working directory to resolve options for. Must be an absolute path. */
  cwd: string;
  /**
   * The session to resolve options for.
   *
   * Optional. Omitted and `null` are equivalent and mean a new session. When present,
   * the Agent returns what `session/load` or `session/resume` with the same `cwd` and
   * `additionalDirectories` would return, with the same `cwd` rules. A session the
   * Agent does not know gets `-32002`.
   * Clients MUST only send this when the Agent supports `session/load` (`loadSession`)
   * or `session/resume` (`sessionCapabilities.resume`).
   */
  sessionId?: SessionId | null;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Response from `session/options`.
 *
 * The result is a snapshot. The options a session actually starts with are the ones in
 * the session setup response.
 *
 * Agents only return `type: "boolean"` options when the Client advertises
 * `sessionCapabilities.configOptions.boolean`.
 */
export interface SessionOptionsResponse {
  _meta?: Record<string, unknown> | null;
  /**
   * The config options the session would start with, with the same rules as on
   * `NewSessionResponse`.
   *
   * Optional. Omitted, `null`, or empty means no config options are advertised.
   */
  configOptions?: Array<SessionConfigOption> | null;
  /** The mode state the session would start with, if the Agent supports modes. */
  modes?: SessionModeState | null;
}

/**
 * A display-only reference to another session that this tool call operates on,
 * such as a subagent it created, delegated to, or is waiting on.
 *
 * The referenced session must already be known to the Client through ordinary
 * session setup or a `subagent_update` announcement. The reference does not
 * establish ownership, grant any Client-initiated controls, or report that the
 * referenced session received or finished any work.
 */
export interface SessionReference {
  _meta?: Record<string, unknown> | null;
  /** The referenced session. */
  sessionId: SessionId;
}

/**
 * Capabilities for the `session/resume` method.
 *
 * Supplying `{}` means the agent supports resuming sessions.
 */
export interface SessionResumeCapabilities {
  _meta?: Record<string, unknown> | null;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Whether the Agent has a session in memory, as reported by `session/status`.
 */
export type SessionStatus =
  /**
   * The Agent has the session in memory, for any connection.
   *
   * This does not mean the requesting connection is attached to it. A Client that did
   * not create or resume the session on its own connection MUST still call
   * `session/load` or `session/resume` before sending `session/prompt` or expecting
   * `session/update` notifications.
   */
  | "open"
  /**
   * The Agent knows the session and can resume it, but does not have it in memory.
   *
   * The Client can call `session/load` or `session/resume` to start it.
   */
  | "saved"
  /**
   * Custom or future session status.
   *
   * Values beginning with `_` are reserved for implementation-specific
   * extensions. Unknown values that do not begin with `_` are reserved for
   * future ACP variants. Clients MUST treat a value they do not recognize as
   * `saved`.
   */
  | string;

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Capabilities for the `session/status` method.
 *
 * Supplying `{}` means the agent supports checking session status.
 */
export interface SessionStatusCapabilities {
  _meta?: Record<string, unknown> | null;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Request parameters for checking the status of a session.
 *
 * Only available if the Agent supports the `sessionCapabilities.status` capability.
 *
 * `session/status` MUST NOT have side effects. The Agent does not load, resume, create,
 * close, or change the session, and does not attach the requesting connection to it.
 * A session the Agent does not know gets `-32002` with the requested `sessionId` in `data`.
 */
export interface SessionStatusRequest {
  _meta?: Record<string, unknown> | null;
  /** The ID of the session to check. */
  sessionId: SessionId;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Response from checking the status of a session.
 *
 * The result is a snapshot. A session reported `open` may be closed or evicted before
 * the Client's next request.
 */
export interface SessionStatusResponse {
  _meta?: Record<string, unknown> | null;
  /**
   * Whether the Agent has the session in memory.
   *
   * Required. Clients MUST treat a value they do not recognize as `saved`.
   */
  status: SessionStatus;
}

/**
 * Capabilities for client-provided system prompts.
 *
 * Supplying `{}` means the agent supports `systemPrompt` on session lifecycle
 * requests in `append` mode.
 */
export interface SessionSystemPromptCapabilities {
  _meta?: Record<string, unknown> | null;
  /**
   * Delivery modes the agent supports in addition to `append`.
   *
   * Optional. Omitted or `null` both mean the agent supports only `append`.
   */
  mode?: SessionSystemPromptModeCapabilities | null;
}

/**
 * System prompt delivery modes the agent supports in addition to `append`.
 *
 * `append` has no entry because every agent advertising
 * `sessionCapabilities.systemPrompt` supports it.
 */
export interface SessionSystemPromptModeCapabilities {
  _meta?: Record<string, unknown> | null;
  /**
   * Whether the agent supports `override` mode.
   *
   * Optional. Omitted or `null` both mean the agent does not advertise support.
   * Supplying `{}` means the agent supports replacing its built-in default
   * instructions with the client-provided system prompt.
   */
  override?: SessionSystemPromptOverrideCapabilities | null;
}

/**
 * Capabilities for the `override` system prompt mode.
 *
 * Supplying `{}` means the agent supports replacing its built-in default
 * instructions with the client-provided system prompt.
 */
export interface SessionSystemPromptOverrideCapabilities {
  _meta?: Record<string, unknown> | null;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Capabilities for Client-set session titles.
 *
 * Supplying `{}` means the agent supports `session/set_title`. Agents report titles
 * through `session/list` and `session_info_update` without this capability.
 */
export interface SessionTitleCapabilities {
  _meta?: Record<string, unknown> | null;
}

/**
 * Different types of updates that can be sent during session processing.
 *
 * These updates provide real-time feedback about the agent's progress.
 */
export type SessionUpdate =
  /** A chunk of the user's message being streamed. */
  | {
    sessionUpdate: "user_message_chunk";
  } & ContentChunk
  /** A chunk of the agent's response being streamed. */
  | {
    sessionUpdate: "agent_message_chunk";
  } & ContentChunk
  /** A chunk of the agent's internal reasoning being streamed. */
  | {
    sessionUpdate: "agent_thought_chunk";
  } & ContentChunk
  /** Notification that a new tool call has been initiated. */
  | {
    sessionUpdate: "tool_call";
  } & ToolCall
  /** Update on the status or results of a tool call. */
  | {
    sessionUpdate: "tool_call_update";
  } & ToolCallUpdate
  /** The agent's execution plan for complex tasks. */
  | {
    sessionUpdate: "plan";
  } & Plan
  /**
   * Replaces the plan with this ID. Agents MUST NOT send this update unless
   * the Client advertised `plan`.
   */
  | {
    sessionUpdate: "plan_update";
  } & PlanUpdate
  /**
   * Removes the plan with this ID. Agents MUST NOT send this update unless
   * the Client advertised `plan`.
   */
  | {
    sessionUpdate: "plan_removed";
  } & PlanRemoved
  /** Available commands are ready or have changed */
  | {
    sessionUpdate: "available_commands_update";
  } & AvailableCommandsUpdate
  /** The current mode of the session has changed */
  | {
    sessionUpdate: "current_mode_update";
  } & CurrentModeUpdate
  /** Session configuration options have been updated. */
  | {
    sessionUpdate: "config_option_update";
  } & ConfigOptionUpdate
  /** Session metadata has been updated (title, timestamps, custom metadata) */
  | {
    sessionUpdate: "session_info_update";
  } & SessionInfoUpdate
  /** Context window and cost update for the session. */
  | {
    sessionUpdate: "usage_update";
  } & UsageUpdate
  /**
   * Information for the user that is not part of session history.
   *
   * Agents MUST only send this update when the Client advertised
   * the `session.notices` Client capability.
   */
  | {
    sessionUpdate: "notice";
  } & Notice
  /**
   * A context compaction has been created or updated.
   *
   * Agents MUST only send this update when the Client advertised
   * the `session.compaction` Client capability.
   */
  | {
    sessionUpdate: "compaction_update";
  } & CompactionUpdate
  /**
   * A content block appended to a context compaction's retained summary.
   *
   * Agents MUST only send this update when the Client advertised
   * the `session.compaction` Client capability.
   */
  | {
    sessionUpdate: "compaction_summary_chunk";
  } & CompactionSummaryChunk
  /**
   * **UNSTABLE**
   *
   * This capability is not part of the spec yet, and may be removed or changed at any point.
   *
   * Replaces the session's current list of prompt suggestions.
   *
   * Agents MUST only send this update when the Client advertised
   * the `session.promptSuggestions` Client capability.
   */
  | {
    sessionUpdate: "prompt_suggestions_update";
  } & PromptSuggestionsUpdate
  /**
   * **UNSTABLE**
   *
   * This capability is not part of the spec yet, and may be removed or changed at any point.
   *
   * A session cursor has been announced or its capabilities have changed.
   *
   * Agents MUST only send this update when the Client advertised
   * the `session.cursors` Client capability.
   */
  | {
    sessionUpdate: "cursor_update";
  } & CursorUpdate
  /**
   * Announces a child session created and owned by this session, or updates
   * that ownership association's metadata.
   *
   * Agents MUST only send this update when the Client advertised
   * the `subagents` Client capability.
   */
  | {
    sessionUpdate: "subagent_update";
  } & SubagentUpdate
  /**
   * A message upsert observed in this session's transcript, sent to or
   * received from another session.
   *
   * Agents MUST only send this update when the Client advertised
   * the `subagents` Client capability.
   */
  | {
    sessionUpdate: "session_message";
  } & SessionMessage
  /**
   * One content block appended to a sent or received session message.
   *
   * Agents MUST only send this update when the Client advertised
   * the `subagents` Client capability.
   */
  | {
    sessionUpdate: "session_message_chunk";
  } & SessionMessageChunk;

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Request parameters for `providers/set`.
 *
 * Replaces the full configuration for one provider ID.
 */
export interface SetProviderRequest {
  _meta?: Record<string, unknown> | null;
  /** Protocol type for this provider. */
  apiType: LlmProtocol;
  /** Base URL for requests sent through this provider. */
  baseUrl: string;
  /**
   * Full headers map for this provider.
   * May include authorization, routing, or other integration-specific headers.
   */
  headers?: Record<string, string>;
  /** Provider ID to configure. */
  providerId: ProviderId;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Response to `providers/set`.
 */
export interface SetProviderResponse {
  _meta?: Record<string, unknown> | null;
}

/** Request parameters for setting a session configuration option. */
export type SetSessionConfigOptionRequest = {
  _meta?: Record<string, unknown> | null;
  /** The ID of the configuration option to set. */
  configId: SessionConfigId;
  /** The ID of the session to set the configuration option for. */
  sessionId: SessionId;
} & (
  /** A boolean value (`type: "boolean"`). */
  | {
    type: "boolean";
    /** The boolean value. */
    value: boolean;
  }
  /**
   * A `SessionConfigValueId` string value.
   *
   * This is the default when `type` is absent on the wire. Unknown `type`
   * values with string payloads also gracefully deserialize into this
   * variant.
   */
  | {
    /** The value ID. */
    value: SessionConfigValueId;
  }
);

/** Response to `session/set_config_option` method. */
export interface SetSessionConfigOptionResponse {
  _meta?: Record<string, unknown> | null;
  /** The full set of configuration options and their current values. */
  configOptions: Array<SessionConfigOption>;
}

/** Request parameters for setting a session mode. */
export interface SetSessionModeRequest {
  _meta?: Record<string, unknown> | null;
  /** The ID of the mode to set. */
  modeId: SessionModeId;
  /** The ID of the session to set the mode for. */
  sessionId: SessionId;
}

/** Response to `session/set_mode` method. */
export interface SetSessionModeResponse {
  _meta?: Record<string, unknown> | null;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Request parameters for setting the title of a session.
 *
 * Only available if the Agent supports the `sessionCapabilities.title` capability.
 *
 * The session does not need to be active on the connection. Any session the Agent would
 * return from `session/list` can be retitled. A session that does not exist gets `-32002`.
 *
 * The Agent responds only after it has stored the title. After a successful response, the
 * Agent SHOULD NOT replace the title with one it generates automatically.
 */
export interface SetSessionTitleRequest {
  _meta?: Record<string, unknown> | null;
  /** The ID of the session to retitle. */
  sessionId: SessionId;
  /**
   * The new title for the session.
   *
   * Required and non-null. Omission and explicit `null` are both invalid. The Agent MAY
   * normalize the title before storing it, for example by trimming whitespace or
   * truncating it. The Agent rejects a title that fails its validation, including one
   * that is empty after normalization, with `-32602`.
   */
  title: string;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Response from setting the title of a session.
 */
export interface SetSessionTitleResponse {
  _meta?: Record<string, unknown> | null;
  /**
   * The title the Agent stored.
   *
   * This differs from the requested title if the Agent normalized it. Clients SHOULD
   * display this value rather than the one they sent.
   */
  title: string;
}

/**
 * Current foreground-work state of a reusable child session.
 *
 * Each update is a whole-object snapshot. Idle does not terminate the child.
 * The parent can message it again, transitioning it back to running.
 * Background activity may still emit other session updates while idle.
 */
export type StateUpdate =
  /** Foreground work is in progress. */
  | {
    state: "running";
  } & RunningStateUpdate
  /** Foreground work is not in progress. The parent can give the child more work. */
  | {
    state: "idle";
  } & IdleStateUpdate
  /** Foreground work is blocked on user action. */
  | {
    state: "requires_action";
  } & RequiresActionStateUpdate
  /**
   * The Agent cannot currently determine foreground activity.
   *
   * This replaces previously confirmed activity without ending the work or session.
   */
  | {
    state: "unknown";
  } & UnknownStateUpdate
  /**
   * Custom or future state.
   *
   * Values beginning with `_` are reserved for implementation-specific
   * extensions. Other unknown values are reserved for future ACP variants.
   */
  | {
    /** Unrecognized state discriminator. */
    state: string;
  };

/** Reasons why an agent stops processing a prompt turn. */
export type StopReason =
  /** The turn ended successfully. */
  | "end_turn"
  /** The turn ended because the agent reached the maximum number of tokens. */
  | "max_tokens"
  /**
   * The turn ended because the agent reached the maximum number of allowed
   * agent requests between user turns.
   */
  | "max_turn_requests"
  /**
   * The turn ended because the agent refused to continue. The user prompt
   * and everything that comes after it won't be included in the next
   * prompt, so this should be reflected in the UI.
   */
  | "refusal"
  /**
   * The turn was cancelled by the client via `session/cancel`.
   *
   * This stop reason MUST be returned when the client sends a `session/cancel`
   * notification, even if the cancellation causes exceptions in underlying operations.
   * Agents SHOULD catch these exceptions and return this semantically meaningful
   * response to confirm successful cancellation.
   */
  | "cancelled";

/** String format types for string properties in elicitation schemas. */
export type StringFormat =
  /** Email address format. */
  | "email"
  /** URI format. */
  | "uri"
  /** Date format (YYYY-MM-DD). */
  | "date"
  /** Date-time format (ISO 8601). */
  | "date-time";

/** String item schema for multi-select enum properties. */
export interface StringMultiSelectItems {
  /** Optional. Omitted and `null` are equivalent and mean no metadata. */
  _meta?: Record<string, unknown> | null;
  /** Allowed enum values. */
  enum: Array<string>;
}

/**
 * Schema for string properties in an elicitation form.
 *
 * When `enum` or `oneOf` is set, this represents a single-select enum
 * with `"type": "string"`.
 */
export interface StringPropertySchema {
  /** Optional. Omitted and `null` are equivalent and mean no metadata. */
  _meta?: Record<string, unknown> | null;
  /**
   * Default value.
   *
   * Optional. Omitted and `null` are equivalent and mean no default value is provided.
   */
  default?: string | null;
  /**
   * Human-readable description.
   *
   * Optional. Omitted and `null` are equivalent and mean no description is provided.
   */
  description?: string | null;
  /**
   * Enum values for untitled single-select enums.
   * Optional. Omitted and `null` are equivalent and mean no untitled single-select choices are
   * declared by `enum`.
   */
  enum?: Array<string> | null;
  /**
   * String format.
   *
   * Optional. Omitted and `null` are equivalent and mean there is no format constraint.
   */
  format?: StringFormat | null;
  /**
   * Maximum string length.
   *
   * Optional. Omitted and `null` are equivalent and mean there is no maximum length constraint.
   */
  maxLength?: number | null;
  /**
   * Minimum string length.
   *
   * Optional. Omitted and `null` are equivalent and mean there is no minimum length constraint.
   */
  minLength?: number | null;
  /**
   * Titled enum options for titled single-select enums.
   * Optional. Omitted and `null` are equivalent and mean no titled single-select choices are
   * declared by `oneOf`.
   */
  oneOf?: Array<EnumOption> | null;
  /**
   * Pattern the string must match.
   *
   * Optional. Omitted and `null` are equivalent and mean there is no pattern constraint.
   */
  pattern?: string | null;
  /**
   * Optional title for the property.
   *
   * Optional. Omitted and `null` are equivalent and mean no title is provided.
   */
  title?: string | null;
}

/**
 * Capability marker for exposing reusable child sessions as restricted ACP sessions.
 *
 * Supplying `{}` advertises support for child association and state updates,
 * session-directed messages, and restricted-session semantics. The client
 * must advertise this capability before the agent sends subagent updates or
 * session-directed messages.
 */
export interface SubagentCapabilities {
  _meta?: Record<string, unknown> | null;
}

/**
 * Client-initiated session mutations permitted for a specific subagent session.
 *
 * A mutation requires an explicit per-child capability. Support for the method
 * on ordinary sessions does not grant support on a child.
 */
export interface SubagentSessionCapabilities {
  _meta?: Record<string, unknown> | null;
  /**
   * Permits the client to cancel this child's current work without ending
   * the session. Omitted or `null` means unsupported. An object (including
   * `{}`) means supported.
   */
  cancel?: SessionCancelCapabilities | null;
}

/**
 * Notification that the enclosing parent session created and owns a child session.
 *
 * Later updates modify the existing association's metadata, not its ownership.
 *
 * Sent on the immediate parent session. The first update for an unknown
 * `sessionId` announces the child and MUST be sent
 * before any live child traffic or live message naming the child as sender
 * or recipient. Parents may message and reuse an announced child across
 * multiple operations.
 * Child events are delivered automatically on the same connection. No child
 * load, resume, or subscription is needed.
 *
 * Only the subagent session ID is required. Omitted patch fields keep their
 * previous values. `null` clears them. Clearing capabilities disables child
 * mutations. Clearing state leaves current activity unset/unconfirmed: it does
 * not imply idle, stop work, or create an `unknown` state snapshot. A concrete
 * state replaces the entire previous state object, not the session.
 * The title and description provide the parent's display metadata for the
 * child. They do not replace the content of individual messages or operations.
 * `cwd` and `additionalDirectories` report where the Agent placed the child.
 * While unset, each inherits the immediate parent's effective value.
 */
export interface SubagentUpdate {
  /** Omitted means unchanged. `null` removes the metadata. */
  _meta?: Record<string, unknown> | null;
  /**
   * Additional workspace roots for the child. Each path MUST be absolute.
   *
   * Optional and nullable. Omitted means unchanged. `null` clears the
   * reported value. While unset, the child inherits its immediate parent's
   * effective additional directories, independently of `cwd`. A concrete
   * array replaces the whole list. `[]` reports no additional directories.
   * Clients use these values for the child's root set.
   */
  additionalDirectories?: Array<string> | null;
  /**
   * Client-initiated session mutations permitted for this subagent session.
   *
   * Omitted means unchanged. `null` clears the capability set and disables
   * child mutations. If never supplied, no session mutations are permitted.
   * Read-only operations retain their normal protocol semantics and capability
   * requirements. A concrete object replaces the whole capability set.
   */
  capabilities?: SubagentSessionCapabilities | null;
  /**
   * The child's working directory. Must be an absolute path.
   *
   * Optional and nullable. Omitted means unchanged. `null` clears the
   * reported value. While unset, the child inherits its immediate parent's
   * effective working directory. Clients use this value for the child's
   * root set and as the default terminal working directory.
   */
  cwd?: string | null;
  /**
   * The parent's human-readable description of the child's role or purpose.
   *
   * Omitted means unchanged. `null` clears it. If unset, the Client chooses
   * a fallback presentation. This is current display metadata, not the
   * history of instructions sent to the child.
   */
  description?: string | null;
  /** The opaque session ID identifying the child in all ACP messages. */
  sessionId: SessionId;
  /**
   * Current state snapshot for the child session.
   *
   * Omitted means unchanged. `null` clears the current activity without
   * asserting idle or sending an `unknown` snapshot. A concrete state
   * replaces the previous state object wholesale. If never supplied, the
   * current activity is unset/unconfirmed.
   */
  state?: StateUpdate | null;
  /**
   * The parent's human-readable display title for this child. It need not be unique.
   *
   * Omitted means unchanged. `null` clears it. If unset, the Client chooses
   * a fallback presentation.
   */
  title?: string | null;
}

/**
 * Client-provided system-level instructions for a session.
 *
 * Clients MUST only send this when the Agent advertises
 * `sessionCapabilities.systemPrompt`. Agents that cannot apply it, for example
 * because of an unadvertised mode or an unsupported content block type, MUST
 * return an error instead of creating, loading, or resuming the session.
 */
export interface SystemPrompt {
  _meta?: Record<string, unknown> | null;
  /**
   * The system prompt content.
   *
   * Agents advertising the capability MUST accept `text` content blocks.
   * Clients MUST NOT send other content block types until a future
   * capability allows them, and Agents MUST return an error for content
   * blocks they do not support.
   *
   * Clients MUST NOT send an empty array. Agents MAY reject one with
   * `-32602` without creating, loading, or resuming the session.
   */
  content: Array<ContentBlock>;
  /**
   * How the Agent combines `content` with its own instructions.
   *
   * Required. Agents MUST return an error for a mode they do not support rather than
   * treating it as `append` or `override`.
   */
  mode: SystemPromptMode;
}

/**
 * How the Agent combines a client-provided system prompt with its own instructions.
 *
 * Unknown modes are preserved so they can be stored,
 * proxied, or forwarded. An Agent MUST return an error for a mode it does not
 * support rather than treating it as `append` or `override`.
 */
export type SystemPromptMode =
  /**
   * Add the content to the Agent's own instructions rather than replacing them.
   *
   * Every Agent that advertises `sessionCapabilities.systemPrompt` supports this mode.
   * Agents SHOULD give the content system-level precedence, for example in the
   * model's system prompt or developer instructions rather than in user-turn
   * content. Where it is placed and how it is formatted is implementation-defined.
   */
  | "append"
  /**
   * Replace the Agent's built-in default instructions with the content.
   *
   * This does not change tool availability, MCP servers, permissions, or session
   * configuration. Context the Agent supplies from the workspace or environment
   * MAY still be included. Clients that use this mode take responsibility for any
   * tool guidance or safety instructions the Agent's default instructions
   * provided, and MUST only use it when the Agent advertises
   * `sessionCapabilities.systemPrompt.mode.override`.
   */
  | "override"
  /**
   * Custom or future system prompt mode.
   *
   * Values beginning with `_` are reserved for implementation-specific
   * extensions. Unknown values that do not begin with `_` are reserved for
   * future ACP variants.
   */
  | string;

/**
 * Embed a terminal created with `terminal/create` by its id.
 *
 * The terminal MUST be added before calling `terminal/release`.
 */
export interface Terminal {
  _meta?: Record<string, unknown> | null;
  /** Identifier of the terminal instance to embed in the content stream. */
  terminalId: TerminalId;
}

/** Exit status of a terminal command. */
export interface TerminalExitStatus {
  _meta?: Record<string, unknown> | null;
  /** The process exit code (may be null if terminated by signal). */
  exitCode?: number | null;
  /** The signal that terminated the process (may be null if exited normally). */
  signal?: string | null;
}

/** Typed identifier used for terminal values on the wire. */
export type TerminalId = string;

/** Request to get the current output and status of a terminal. */
export interface TerminalOutputRequest {
  _meta?: Record<string, unknown> | null;
  /** The session ID for this request. */
  sessionId: SessionId;
  /** The ID of the terminal to get output from. */
  terminalId: TerminalId;
}

/** Response containing the terminal output and exit status. */
export interface TerminalOutputResponse {
  _meta?: Record<string, unknown> | null;
  /** Exit status if the command has completed. */
  exitStatus?: TerminalExitStatus | null;
  /** The terminal output captured so far. */
  output: string;
  /** Whether the output was truncated due to byte limits. */
  truncated: boolean;
}

/** Text provided to or from an LLM. */
export interface TextContent {
  _meta?: Record<string, unknown> | null;
  /** Optional annotations that help clients decide how to display or route this content. */
  annotations?: Annotations | null;
  /** Text payload carried by this content block. */
  text: string;
}

/** Text-based resource contents. */
export interface TextResourceContents {
  _meta?: Record<string, unknown> | null;
  /** MIME type describing the encoded media payload. */
  mimeType?: string | null;
  /** Text payload carried by this content block. */
  text: string;
  /** URI associated with this resource or media payload. */
  uri: string;
}

/** Items definition for titled multi-select enum properties. */
export interface TitledMultiSelectItems {
  /** Optional. Omitted and `null` are equivalent and mean no metadata. */
  _meta?: Record<string, unknown> | null;
  /** Titled enum options. */
  anyOf: Array<EnumOption>;
}

/**
 * Represents a tool call that the language model has requested.
 *
 * Tool calls are actions that the agent executes on behalf of the language model,
 * such as reading files, executing code, or fetching data from external sources.
 */
export interface ToolCall {
  _meta?: Record<string, unknown> | null;
  /** Content produced by the tool call. */
  content?: Array<ToolCallContent>;
  /**
   * The category of tool being invoked.
   * Helps clients choose appropriate icons and UI treatment.
   */
  kind?: ToolKind;
  /**
   * File locations affected by this tool call.
   * Enables "follow-along" features in clients.
   */
  locations?: Array<ToolCallLocation>;
  /**
   * Programmatic name of the tool being invoked.
   *
   * This field is optional. Omitting it or sending `null` both mean that no
   * tool name is available.
   */
  name?: string | null;
  /** Raw input parameters sent to the tool. */
  rawInput?: unknown;
  /** Raw output returned by the tool. */
  rawOutput?: unknown;
  /** Current execution status of the tool call. */
  status?: ToolCallStatus;
  /** Human-readable title describing what the tool is doing. */
  title: string;
  /** Unique identifier for this tool call within the session. */
  toolCallId: ToolCallId;
}

/**
 * Content produced by a tool call.
 *
 * Tool calls can produce different types of content including
 * standard content blocks (text, images) or file diffs.
 */
export type ToolCallContent =
  /** Standard content block (text, images, resources). */
  | {
    type: "content";
  } & Content
  /** File modification shown as a diff. */
  | {
    type: "diff";
  } & Diff
  /**
   * Embed a terminal created with `terminal/create` by its id.
   *
   * The terminal MUST be added before calling `terminal/release`.
   */
  | {
    type: "terminal";
  } & Terminal
  /**
   * A display-only reference to another session, such as a subagent.
   *
   * Agents send it only when the Client advertised the `subagents` Client
   * capability.
   */
  | {
    type: "session";
  } & SessionReference;

/** Unique identifier for a tool call within a session. */
export type ToolCallId = string;

/**
 * A file location being accessed or modified by a tool.
 *
 * Enables clients to implement "follow-along" features that track
 * which files the agent is working with in real-time.
 */
export interface ToolCallLocation {
  _meta?: Record<string, unknown> | null;
  /** Optional 1-based line number within the file. */
  line?: number | null;
  /** The absolute file path being accessed or modified. */
  path: string;
}

/**
 * Execution status of a tool call.
 *
 * Tool calls progress through different statuses during their lifecycle.
 */
export type ToolCallStatus =
  /**
   * The tool call hasn't started running yet because the input is either
   * streaming or we're awaiting approval.
   */
  | "pending"
  /** The tool call is currently running. */
  | "in_progress"
  /** The tool call completed successfully. */
  | "completed"
  /** The tool call failed with an error. */
  | "failed";

/**
 * An update to an existing tool call.
 *
 * Used to report progress and results as tools execute. All fields except
 * the tool call ID are optional - only changed fields need to be included.
 */
export interface ToolCallUpdate {
  _meta?: Record<string, unknown> | null;
  /** Replace the content collection. */
  content?: Array<ToolCallContent> | null;
  /** Update the tool kind. */
  kind?: ToolKind | null;
  /** Replace the locations collection. */
  locations?: Array<ToolCallLocation> | null;
  /**
   * Update the programmatic name of the tool being invoked.
   *
   * This field is optional. Omitting it or sending `null` both mean that
   * the existing name is left unchanged.
   */
  name?: string | null;
  /** Update the raw input. */
  rawInput?: unknown;
  /** Update the raw output. */
  rawOutput?: unknown;
  /** Update the execution status. */
  status?: ToolCallStatus | null;
  /** Update the human-readable title. */
  title?: string | null;
  /** The ID of the tool call being updated. */
  toolCallId: ToolCallId;
}

/**
 * Categories of tools that can be invoked.
 *
 * Tool kinds help clients choose appropriate icons and optimize how they
 * display tool execution progress.
 */
export type ToolKind =
  /** Reading files or data. */
  | "read"
  /** Modifying files or content. */
  | "edit"
  /** Removing files or data. */
  | "delete"
  /** Moving or renaming files. */
  | "move"
  /** Searching for information. */
  | "search"
  /** Running commands or code. */
  | "execute"
  /** Internal reasoning or planning. */
  | "think"
  /** Retrieving external data. */
  | "fetch"
  /** Switching the current session mode. */
  | "switch_mode"
  /** Other tool types (default). */
  | "other";

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Request parameters for unarchiving a session.
 *
 * Only available if the Agent supports the `sessionCapabilities.archive` capability.
 *
 * Unarchiving returns the session to default `session/list` results with the same ID and
 * saved history. It never loads or resumes the session. Clients that want to continue an
 * archived session SHOULD unarchive it before calling `session/load` or `session/resume`.
 * Unarchiving a session that is not archived succeeds. A session that does not exist
 * gets `-32002`.
 */
export interface UnarchiveSessionRequest {
  _meta?: Record<string, unknown> | null;
  /** The ID of the session to unarchive. */
  sessionId: SessionId;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Response from unarchiving a session.
 */
export interface UnarchiveSessionResponse {
  _meta?: Record<string, unknown> | null;
}

/**
 * The Agent cannot currently determine foreground activity.
 *
 * Report this when activity becomes unobservable, not merely because the child
 * has been quiet. The Client MUST stop presenting the previous state as confirmed
 * current activity, but may retain it as last known. A later state replaces this
 * snapshot normally.
 *
 * This is not a task outcome or session closure. It does not cancel work, resolve
 * pending requests, or revoke capabilities. If a control is no longer available,
 * the Agent updates the capabilities explicitly. Unfinished tool calls and
 * terminals stay as last reported. The Agent does not invent a final status
 * for them, and Clients do not present them as confirmed live activity.
 */
export interface UnknownStateUpdate {
  _meta?: Record<string, unknown> | null;
}

/** All text that was typed after the command name is provided as input. */
export interface UnstructuredCommandInput {
  _meta?: Record<string, unknown> | null;
  /** A hint to display when the input hasn't been provided yet */
  hint: string;
}

/**
 * **UNSTABLE**
 *
 * This capability is not part of the spec yet, and may be removed or changed at any point.
 *
 * Token usage information for a prompt turn.
 */
export interface Usage {
  _meta?: Record<string, unknown> | null;
  /** Total cache read tokens. */
  cachedReadTokens?: number | null;
  /** Total cache write tokens. */
  cachedWriteTokens?: number | null;
  /** Total input tokens across all turns. */
  inputTokens: number;
  /** Total output tokens across all turns. */
  outputTokens: number;
  /** Total thought/reasoning tokens */
  thoughtTokens?: number | null;
  /** Sum of all token types across session. */
  totalTokens: number;
}

/** Context window and cost update for a session. */
export interface UsageUpdate {
  _meta?: Record<string, unknown> | null;
  /** Cumulative session cost (optional). */
  cost?: Cost | null;
  /** Total context window size in tokens. */
  size: number;
  /** Tokens currently in context. */
  used: number;
}

/** Request to wait for a terminal command to exit. */
export interface WaitForTerminalExitRequest {
  _meta?: Record<string, unknown> | null;
  /** The session ID for this request. */
  sessionId: SessionId;
  /** The ID of the terminal to wait for. */
  terminalId: TerminalId;
}

/** Response containing the exit status of a terminal command. */
export interface WaitForTerminalExitResponse {
  _meta?: Record<string, unknown> | null;
  /** The process exit code (may be null if terminated by signal). */
  exitCode?: number | null;
  /** The signal that terminated the process (may be null if exited normally). */
  signal?: string | null;
}

/**
 * Request to write content to a text file.
 *
 * Only available if the client supports the `fs.writeTextFile` capability.
 */
export interface WriteTextFileRequest {
  _meta?: Record<string, unknown> | null;
  /** The text content to write to the file. */
  content: string;
  /** Absolute path to the file to write. */
  path: string;
  /** The session ID for this request. */
  sessionId: SessionId;
}

/** Response to `fs/write_text_file` */
export interface WriteTextFileResponse {
  _meta?: Record<string, unknown> | null;
}
