# Made by `cargo xtask types` from host/messages/schema/v1.json; not to be edited.
"""The messages of the Agent Client Protocol, version 1. To be imported below `if TYPE_CHECKING:`."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class AgentAuthCapabilities(TypedDict):
    """Authentication-related capabilities supported by the agent."""
    _meta: NotRequired[dict[str, Any] | None]
    logout: NotRequired[LogoutCapabilities | None]
    """Whether the agent supports the logout method."""
    status: NotRequired[AuthStatusCapabilities | None]
    """**UNSTABLE**"""


class AgentCapabilities(TypedDict):
    """Capabilities supported by the agent."""
    _meta: NotRequired[dict[str, Any] | None]
    auth: NotRequired[AgentAuthCapabilities]
    """Authentication-related capabilities supported by the agent."""
    loadSession: NotRequired[bool]
    """Whether the agent supports `session/load`."""
    mcpCapabilities: NotRequired[McpCapabilities]
    """MCP capabilities supported by the agent."""
    promptCapabilities: NotRequired[PromptCapabilities]
    """Prompt capabilities supported by the agent."""
    providers: NotRequired[ProvidersCapabilities | None]
    """**UNSTABLE**"""
    sessionCapabilities: NotRequired[SessionCapabilities]
    """Session lifecycle and prompt capabilities advertised by the agent."""


class Annotations(TypedDict):
    """Optional annotations for the client. The client can use annotations to inform how objects are used or displayed"""
    _meta: NotRequired[dict[str, Any] | None]
    audience: NotRequired[list[Role] | None]
    """Intended recipients for this content, such as the user or assistant."""
    lastModified: NotRequired[str | None]
    """Timestamp indicating when the underlying resource was last modified."""
    priority: NotRequired[float | None]
    """Relative importance of this content when clients choose what to surface."""


class ArchiveSessionRequest(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]
    sessionId: SessionId
    """The ID of the session to archive."""


class ArchiveSessionResponse(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]


class AudioContent(TypedDict):
    """Audio provided to or from an LLM."""
    _meta: NotRequired[dict[str, Any] | None]
    annotations: NotRequired[Annotations | None]
    """Optional annotations that help clients decide how to display or route this content."""
    data: str
    """Base64-encoded media payload."""
    mimeType: str
    """MIME type describing the encoded media payload."""


class AuthAccount(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]
    active: NotRequired[bool | None]
    """Whether the agent currently uses this account by default."""
    description: NotRequired[str | None]
    """Short text shown with the label, such as the credential source, for example
    `API key helper`. MUST NOT contain credentials."""
    email: NotRequired[str | None]
    """Email address of the user."""
    label: str
    """Human-readable name for the account, suitable for display on its own,
    for example `Claude Max`, `OpenAI API key`, or `Vertex AI`."""
    name: NotRequired[str | None]
    """Display name of the user, such as a username or full name."""
    organization: NotRequired[str | None]
    """Display name of the organization, team, or workspace the account is using."""


class AuthCapabilities(TypedDict):
    """Authentication capabilities supported by the client."""
    _meta: NotRequired[dict[str, Any] | None]
    terminal: NotRequired[bool]
    """Whether the client supports `terminal` authentication methods."""


class TerminalAuthMethod(TypedDict):
    """Client runs the configured agent program as a separate interactive
    process, without passing this method to `authenticate`."""
    _meta: NotRequired[dict[str, Any] | None]
    args: NotRequired[list[str]]
    """Additional arguments to append to the configured agent invocation for terminal auth."""
    description: NotRequired[str | None]
    """Optional human-readable description of this authentication method."""
    env: NotRequired[dict[str, str]]
    """Additional environment variables to set on the configured agent invocation for terminal auth.
    These values override same-named variables in the base launch configuration."""
    id: AuthMethodId
    """Unique identifier for this authentication method."""
    name: str
    """Human-readable name of the authentication method."""
    type: Literal["terminal"]

AuthMethod: TypeAlias = "TerminalAuthMethod | AuthMethodAgent"
"""Describes an available authentication method."""


class AuthMethodAgent(TypedDict):
    """Agent handles authentication itself through `authenticate`."""
    _meta: NotRequired[dict[str, Any] | None]
    description: NotRequired[str | None]
    """Optional human-readable description of this authentication method."""
    id: AuthMethodId
    """Unique identifier for this authentication method."""
    name: str
    """Human-readable name of the authentication method."""

AuthMethodId: TypeAlias = "str"
"""Typed identifier used for auth method values on the wire."""


class AuthMethodTerminal(TypedDict):
    """Terminal-based authentication method."""
    _meta: NotRequired[dict[str, Any] | None]
    args: NotRequired[list[str]]
    """Additional arguments to append to the configured agent invocation for terminal auth."""
    description: NotRequired[str | None]
    """Optional human-readable description of this authentication method."""
    env: NotRequired[dict[str, str]]
    """Additional environment variables to set on the configured agent invocation for terminal auth.
    These values override same-named variables in the base launch configuration."""
    id: AuthMethodId
    """Unique identifier for this authentication method."""
    name: str
    """Human-readable name of the authentication method."""

AuthState: TypeAlias = (
    "Literal['authenticated'] | "
    "Literal['unauthenticated'] | "
    "Literal['not_required'] | "
    "Literal['unknown'] | "
    "str"
)
"""**UNSTABLE**"""


class AuthStatusCapabilities(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]


class AuthStatusRequest(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]


class AuthStatusResponse(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]
    accounts: NotRequired[list[AuthAccount]]
    """The accounts the agent has configured, for display."""
    state: AuthState
    """Whether the agent can start sessions without the user signing in first."""


class AuthStatusUpdateNotification(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]
    accounts: NotRequired[list[AuthAccount]]
    """The accounts the agent has configured, for display."""
    state: AuthState
    """Whether the agent can start sessions without the user signing in first."""


class AuthenticateRequest(TypedDict):
    """Request parameters for the authenticate method."""
    _meta: NotRequired[dict[str, Any] | None]
    methodId: AuthMethodId
    """The ID of the authentication method to use.
    Must be one of the methods advertised in the initialize response."""


class AuthenticateResponse(TypedDict):
    """Response to the `authenticate` method."""
    _meta: NotRequired[dict[str, Any] | None]


class AvailableCommand(TypedDict):
    """Information about a command."""
    _meta: NotRequired[dict[str, Any] | None]
    description: str
    """Human-readable description of what the command does."""
    input: NotRequired[AvailableCommandInput | None]
    """Input for the command if required"""
    name: str
    """Command name (e.g., `create_plan`, `research_codebase`)."""

AvailableCommandInput: TypeAlias = "UnstructuredCommandInput"
"""The input specification for a command."""


class AvailableCommandsUpdate(TypedDict):
    """Available commands are ready or have changed"""
    _meta: NotRequired[dict[str, Any] | None]
    availableCommands: list[AvailableCommand]
    """Commands the agent can execute"""


class BlobResourceContents(TypedDict):
    """Binary resource contents."""
    _meta: NotRequired[dict[str, Any] | None]
    blob: str
    """Base64-encoded bytes for a binary resource payload."""
    mimeType: NotRequired[str | None]
    """MIME type describing the encoded media payload."""
    uri: str
    """URI associated with this resource or media payload."""


class BooleanConfigOptionCapabilities(TypedDict):
    """Capabilities for boolean session configuration options."""
    _meta: NotRequired[dict[str, Any] | None]


class BooleanPropertySchema(TypedDict):
    """Schema for boolean properties in an elicitation form."""
    _meta: NotRequired[dict[str, Any] | None]
    default: NotRequired[bool | None]
    """Default value."""
    description: NotRequired[str | None]
    """Human-readable description."""
    title: NotRequired[str | None]
    """Optional title for the property."""


class CancelNotification(TypedDict):
    """Notification to cancel ongoing operations for a session."""
    _meta: NotRequired[dict[str, Any] | None]
    sessionId: SessionId
    """The ID of the session to cancel operations for."""


class CancelRequestNotification(TypedDict):
    """Notification to cancel an ongoing request."""
    _meta: NotRequired[dict[str, Any] | None]
    requestId: RequestId
    """The ID of the request to cancel."""


class ClientCapabilities(TypedDict):
    """Capabilities supported by the client."""
    _meta: NotRequired[dict[str, Any] | None]
    auth: NotRequired[AuthCapabilities]
    """Authentication capabilities supported by the client.
    Determines which authentication method types the agent may include
    in its `InitializeResponse`."""
    elicitation: NotRequired[ElicitationCapabilities | None]
    """Elicitation capabilities supported by the client.
    Determines which elicitation modes the agent may use."""
    fs: NotRequired[FileSystemCapabilities]
    """File system capabilities supported by the client.
    Determines which file operations the agent can request."""
    plan: NotRequired[PlanCapabilities | None]
    """Whether the Client supports `plan_update` and `plan_removed` session updates."""
    session: NotRequired[ClientSessionCapabilities | None]
    """Session-related capabilities supported by the client."""
    subagents: NotRequired[SubagentCapabilities | None]
    """Whether the client understands exposed subagent sessions."""
    terminal: NotRequired[bool]
    """Whether the Client support all `terminal/*` methods."""


class ClientSessionCapabilities(TypedDict):
    """Session-related capabilities supported by the client."""
    _meta: NotRequired[dict[str, Any] | None]
    compaction: NotRequired[CompactionCapabilities | None]
    """Support for ID-addressed context compaction updates. Omitted or `null`
    means unsupported. `{}` advertises the complete compaction contract."""
    configOptions: NotRequired[SessionConfigOptionsCapabilities | None]
    """Config option capabilities supported by the client."""
    cursors: NotRequired[SessionCursorsCapabilities | None]
    """**UNSTABLE**"""
    notices: NotRequired[NoticeCapabilities | None]
    """Support for live user-facing `notice` session updates."""
    promptSuggestions: NotRequired[PromptSuggestionsCapabilities | None]
    """**UNSTABLE**"""


class CloseSessionRequest(TypedDict):
    """Request parameters for closing an active session."""
    _meta: NotRequired[dict[str, Any] | None]
    sessionId: SessionId
    """The ID of the session to close."""


class CloseSessionResponse(TypedDict):
    """Response from closing a session."""
    _meta: NotRequired[dict[str, Any] | None]

CompactionCapabilities: TypeAlias = "dict[str, Any]"
"""Client support for ID-addressed context compaction updates."""

CompactionId: TypeAlias = "str"
"""Unique identifier for a context compaction within a session."""

CompactionStatus: TypeAlias = (
    "Literal['in_progress'] | "
    "Literal['completed'] | "
    "Literal['failed'] | "
    "Literal['cancelled'] | "
    "str"
)
"""Lifecycle state of a context compaction."""


class CompactionSummaryChunk(TypedDict):
    """A content block appended to a compaction's summary. A first-seen ID creates
    an in-progress compaction. Chunks append in receive order.
    Agents MUST only send this update when the Client advertised
    the `session.compaction` Client capability."""
    _meta: NotRequired[dict[str, Any] | None]
    compactionId: CompactionId
    """ID of the compaction whose summary receives this content."""
    content: ContentBlock
    """One content block to append."""


class CompactionUpdate(TypedDict):
    """A context compaction upsert. The first notification fixes the compaction's
    timeline position. Later updates with the same ID patch that entity in place.
    Agents MUST only send this update when the Client advertised
    the `session.compaction` Client capability."""
    _meta: NotRequired[dict[str, Any] | None]
    compactionId: CompactionId
    """The Agent-owned ID of this compaction, unique within the session."""
    error: NotRequired[str | None]
    """Human-readable error details for the compaction."""
    status: CompactionStatus
    """Current lifecycle status."""
    summary: NotRequired[list[ContentBlock] | None]
    """Complete replacement user-displayable summary content for the compaction."""


class CompleteElicitationNotification(TypedDict):
    """Notification sent by the agent when a URL-based elicitation is complete."""
    _meta: NotRequired[dict[str, Any] | None]
    elicitationId: ElicitationId
    """The ID of the elicitation that completed."""


class ConfigOptionUpdate(TypedDict):
    """Session configuration options have been updated."""
    _meta: NotRequired[dict[str, Any] | None]
    configOptions: list[SessionConfigOption]
    """The full set of configuration options and their current values."""


class Content(TypedDict):
    """Standard content block (text, images, resources)."""
    _meta: NotRequired[dict[str, Any] | None]
    content: ContentBlock
    """The actual content block."""


class TextContentBlock(TypedDict):
    """Text content. May be plain text or formatted with Markdown."""
    _meta: NotRequired[dict[str, Any] | None]
    annotations: NotRequired[Annotations | None]
    """Optional annotations that help clients decide how to display or route this content."""
    text: str
    """Text payload carried by this content block."""
    type: Literal["text"]


class ImageContentBlock(TypedDict):
    """Images for visual context or analysis."""
    _meta: NotRequired[dict[str, Any] | None]
    annotations: NotRequired[Annotations | None]
    """Optional annotations that help clients decide how to display or route this content."""
    data: str
    """Base64-encoded media payload."""
    mimeType: str
    """MIME type describing the encoded media payload."""
    type: Literal["image"]
    uri: NotRequired[str | None]
    """URI associated with this resource or media payload."""


class AudioContentBlock(TypedDict):
    """Audio data for transcription or analysis."""
    _meta: NotRequired[dict[str, Any] | None]
    annotations: NotRequired[Annotations | None]
    """Optional annotations that help clients decide how to display or route this content."""
    data: str
    """Base64-encoded media payload."""
    mimeType: str
    """MIME type describing the encoded media payload."""
    type: Literal["audio"]


class ResourceLinkContentBlock(TypedDict):
    """References to resources that the agent can access."""
    _meta: NotRequired[dict[str, Any] | None]
    annotations: NotRequired[Annotations | None]
    """Optional annotations that help clients decide how to display or route this content."""
    description: NotRequired[str | None]
    """Optional human-readable details shown with this protocol object."""
    mimeType: NotRequired[str | None]
    """MIME type describing the encoded media payload."""
    name: str
    """Human-readable name shown for this protocol object."""
    size: NotRequired[int | None]
    """Optional size of the linked resource in bytes, if known."""
    title: NotRequired[str | None]
    """Optional display title for end-user UI."""
    type: Literal["resource_link"]
    uri: str
    """URI associated with this resource or media payload."""


class ResourceContentBlock(TypedDict):
    """Complete resource contents embedded directly in the message."""
    _meta: NotRequired[dict[str, Any] | None]
    annotations: NotRequired[Annotations | None]
    """Optional annotations that help clients decide how to display or route this content."""
    resource: EmbeddedResourceResource
    """Embedded resource payload, either text or binary data."""
    type: Literal["resource"]

ContentBlock: TypeAlias = (
    "TextContentBlock | "
    "ImageContentBlock | "
    "AudioContentBlock | "
    "ResourceLinkContentBlock | "
    "ResourceContentBlock"
)
"""Content blocks represent displayable information in the Agent Client Protocol."""


class ContentChunk(TypedDict):
    """A streamed item of content"""
    _meta: NotRequired[dict[str, Any] | None]
    content: ContentBlock
    """A single item of content"""
    messageId: NotRequired[MessageId | None]
    """A unique identifier for the message this chunk belongs to."""


class Cost(TypedDict):
    """Cost information for a session."""
    _meta: NotRequired[dict[str, Any] | None]
    amount: float
    """Total cumulative cost for session."""
    currency: str
    """Unit of `amount`: an ISO 4217 currency code (e.g., "USD", "EUR") for money, or another
    unit such as "credits"."""


class FormCreateElicitationRequest(TypedDict):
    """Form-based elicitation where the client renders a form from the provided schema."""
    _meta: NotRequired[dict[str, Any] | None]
    message: str
    """A human-readable message describing what input is needed."""
    mode: Literal["form"]
    requestedSchema: ElicitationSchema
    """A JSON Schema describing the form fields to present to the user."""


class UrlCreateElicitationRequest(TypedDict):
    """URL-based elicitation where the client directs the user to a URL."""
    _meta: NotRequired[dict[str, Any] | None]
    elicitationId: ElicitationId
    """The unique identifier for this elicitation."""
    message: str
    """A human-readable message describing what input is needed."""
    mode: Literal["url"]
    url: str
    """The URL to direct the user to."""

CreateElicitationRequest: TypeAlias = "FormCreateElicitationRequest | UrlCreateElicitationRequest"
"""Request from the agent to elicit structured user input."""


class AcceptCreateElicitationResponse(TypedDict):
    """The user accepted and provided content."""
    _meta: NotRequired[dict[str, Any] | None]
    action: Literal["accept"]
    content: NotRequired[dict[str, ElicitationContentValue] | None]
    """The user-provided content, if any, as an object matching the requested schema."""


class DeclineCreateElicitationResponse(TypedDict):
    """The user declined the elicitation."""
    _meta: NotRequired[dict[str, Any] | None]
    action: Literal["decline"]


class CancelCreateElicitationResponse(TypedDict):
    """The elicitation was cancelled."""
    _meta: NotRequired[dict[str, Any] | None]
    action: Literal["cancel"]

CreateElicitationResponse: TypeAlias = (
    "AcceptCreateElicitationResponse | "
    "DeclineCreateElicitationResponse | "
    "CancelCreateElicitationResponse"
)
"""Response from the client to an elicitation request."""


class CreateTerminalRequest(TypedDict):
    """Request to create a new terminal and execute a command."""
    _meta: NotRequired[dict[str, Any] | None]
    args: NotRequired[list[str]]
    """Array of command arguments."""
    command: str
    """The command to execute."""
    cwd: NotRequired[str | None]
    """Working directory for the command. Must be an absolute path."""
    env: NotRequired[list[EnvVariable]]
    """Environment variables for the command."""
    outputByteLimit: NotRequired[int | None]
    """Maximum number of output bytes to retain."""
    sessionId: SessionId
    """The session ID for this request."""


class CreateTerminalResponse(TypedDict):
    """Response containing the ID of the created terminal."""
    _meta: NotRequired[dict[str, Any] | None]
    terminalId: TerminalId
    """The unique identifier for the created terminal."""


class CurrentModeUpdate(TypedDict):
    """The current mode of the session has changed"""
    _meta: NotRequired[dict[str, Any] | None]
    currentModeId: SessionModeId
    """The ID of the current mode"""


class UserMessageCursorAnchor(TypedDict):
    """The cursor is next to a user message."""
    _meta: NotRequired[dict[str, Any] | None]
    messageId: MessageId
    """The ID of the anchored message."""
    position: CursorAnchorPosition
    """On which side of the message the cursor is."""
    type: Literal["user_message"]


class AgentMessageCursorAnchor(TypedDict):
    """The cursor is next to an agent message."""
    _meta: NotRequired[dict[str, Any] | None]
    messageId: MessageId
    """The ID of the anchored message."""
    position: CursorAnchorPosition
    """On which side of the message the cursor is."""
    type: Literal["agent_message"]


class AgentThoughtCursorAnchor(TypedDict):
    """The cursor is next to an agent thought."""
    _meta: NotRequired[dict[str, Any] | None]
    messageId: MessageId
    """The ID of the anchored message."""
    position: CursorAnchorPosition
    """On which side of the message the cursor is."""
    type: Literal["agent_thought"]


class SessionMessageCursorAnchor(TypedDict):
    """The cursor is next to a session-directed message."""
    _meta: NotRequired[dict[str, Any] | None]
    messageId: MessageId
    """The ID of the anchored message."""
    position: CursorAnchorPosition
    """On which side of the message the cursor is."""
    type: Literal["session_message"]


class ToolCallCursorAnchor(TypedDict):
    """The cursor is next to a tool call."""
    _meta: NotRequired[dict[str, Any] | None]
    position: CursorAnchorPosition
    """On which side of the tool call the cursor is."""
    toolCallId: ToolCallId
    """The ID of the anchored tool call."""
    type: Literal["tool_call"]


class CompactionCursorAnchor(TypedDict):
    """The cursor is next to a compaction."""
    _meta: NotRequired[dict[str, Any] | None]
    compactionId: CompactionId
    """The ID of the anchored compaction."""
    position: CursorAnchorPosition
    """On which side of the compaction the cursor is."""
    type: Literal["compaction"]

CursorAnchor: TypeAlias = (
    "UserMessageCursorAnchor | "
    "AgentMessageCursorAnchor | "
    "AgentThoughtCursorAnchor | "
    "SessionMessageCursorAnchor | "
    "ToolCallCursorAnchor | "
    "CompactionCursorAnchor"
)
"""**UNSTABLE**"""

CursorAnchorPosition: TypeAlias = "Literal['before'] | Literal['after'] | str"
"""**UNSTABLE**"""


class CursorCapabilities(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]
    fork: NotRequired[CursorForkCapabilities | None]
    """Permits the Client to fork the session at this cursor with `session/fork`."""


class CursorCompactionAnchor(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]
    compactionId: CompactionId
    """The ID of the anchored compaction."""
    position: CursorAnchorPosition
    """On which side of the compaction the cursor is."""


class CursorForkCapabilities(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]

CursorId: TypeAlias = "str"
"""**UNSTABLE**"""


class CursorMessageAnchor(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]
    messageId: MessageId
    """The ID of the anchored message."""
    position: CursorAnchorPosition
    """On which side of the message the cursor is."""


class CursorToolCallAnchor(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]
    position: CursorAnchorPosition
    """On which side of the tool call the cursor is."""
    toolCallId: ToolCallId
    """The ID of the anchored tool call."""


class CursorUpdate(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]
    anchor: NotRequired[CursorAnchor | None]
    """Where the cursor is, relative to an entity the Client holds."""
    capabilities: NotRequired[CursorCapabilities | None]
    """The methods that currently accept this cursor."""
    cursorId: CursorId
    """The Agent-owned ID of this cursor, unique within the session."""


class DeleteSessionRequest(TypedDict):
    """Request parameters for deleting an existing session from `session/list`."""
    _meta: NotRequired[dict[str, Any] | None]
    sessionId: SessionId
    """The ID of the session to delete."""


class DeleteSessionResponse(TypedDict):
    """Response from deleting a session."""
    _meta: NotRequired[dict[str, Any] | None]


class Diff(TypedDict):
    """A diff representing file modifications."""
    _meta: NotRequired[dict[str, Any] | None]
    newText: str
    """The new content after modification."""
    oldText: NotRequired[str | None]
    """The original content (omitted or `null` for new files)."""
    path: str
    """The absolute file path being modified."""


class DisableProviderRequest(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]
    providerId: ProviderId
    """Provider ID to disable."""


class DisableProviderResponse(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]


class ElicitationAcceptAction(TypedDict):
    """The user accepted the elicitation and provided content."""
    content: NotRequired[dict[str, ElicitationContentValue] | None]
    """The user-provided content, if any, as an object matching the requested schema."""


class ElicitationCapabilities(TypedDict):
    """Elicitation capabilities supported by the client."""
    _meta: NotRequired[dict[str, Any] | None]
    form: NotRequired[ElicitationFormCapabilities | None]
    """Whether the client supports form-based elicitation."""
    url: NotRequired[ElicitationUrlCapabilities | None]
    """Whether the client supports URL-based elicitation."""

ElicitationContentValue: TypeAlias = "str | int | float | bool | list[str]"
"""Allowed wire representations for `ElicitationContentValue`."""


class ElicitationFormCapabilities(TypedDict):
    """Form-based elicitation capabilities."""
    _meta: NotRequired[dict[str, Any] | None]


class SessionElicitationFormMode(TypedDict):
    """Tied to a session, optionally to a specific tool call within that session."""
    requestedSchema: ElicitationSchema
    """A JSON Schema describing the form fields to present to the user."""
    sessionId: SessionId
    """The session this elicitation is tied to."""
    toolCallId: NotRequired[ToolCallId | None]
    """Optional tool call within the session."""


class RequestElicitationFormMode(TypedDict):
    """Tied to a specific JSON-RPC request outside of a session
    (e.g., during auth/configuration phases before any session is started)."""
    requestId: RequestId
    """The request this elicitation is tied to."""
    requestedSchema: ElicitationSchema
    """A JSON Schema describing the form fields to present to the user."""

ElicitationFormMode: TypeAlias = "SessionElicitationFormMode | RequestElicitationFormMode"
"""Form-based elicitation mode where the client renders a form from the provided schema."""

ElicitationId: TypeAlias = "str"
"""Unique identifier for an elicitation."""


class StringElicitationPropertySchema(TypedDict):
    """String property (or single-select enum when `enum`/`oneOf` is set)."""
    _meta: NotRequired[dict[str, Any] | None]
    default: NotRequired[str | None]
    """Default value."""
    description: NotRequired[str | None]
    """Human-readable description."""
    enum: NotRequired[list[str] | None]
    """Enum values for untitled single-select enums.
    Optional. Omitted and `null` are equivalent and mean no untitled single-select choices are
    declared by `enum`."""
    format: NotRequired[StringFormat | None]
    """String format."""
    maxLength: NotRequired[int | None]
    """Maximum string length."""
    minLength: NotRequired[int | None]
    """Minimum string length."""
    oneOf: NotRequired[list[EnumOption] | None]
    """Titled enum options for titled single-select enums.
    Optional. Omitted and `null` are equivalent and mean no titled single-select choices are
    declared by `oneOf`."""
    pattern: NotRequired[str | None]
    """Pattern the string must match."""
    title: NotRequired[str | None]
    """Optional title for the property."""
    type: Literal["string"]


class NumberElicitationPropertySchema(TypedDict):
    """Number (floating-point) property."""
    _meta: NotRequired[dict[str, Any] | None]
    default: NotRequired[float | None]
    """Default value."""
    description: NotRequired[str | None]
    """Human-readable description."""
    maximum: NotRequired[float | None]
    """Maximum value (inclusive)."""
    minimum: NotRequired[float | None]
    """Minimum value (inclusive)."""
    title: NotRequired[str | None]
    """Optional title for the property."""
    type: Literal["number"]


class IntegerElicitationPropertySchema(TypedDict):
    """Integer property."""
    _meta: NotRequired[dict[str, Any] | None]
    default: NotRequired[int | None]
    """Default value."""
    description: NotRequired[str | None]
    """Human-readable description."""
    maximum: NotRequired[int | None]
    """Maximum value (inclusive)."""
    minimum: NotRequired[int | None]
    """Minimum value (inclusive)."""
    title: NotRequired[str | None]
    """Optional title for the property."""
    type: Literal["integer"]


class BooleanElicitationPropertySchema(TypedDict):
    """Boolean property."""
    _meta: NotRequired[dict[str, Any] | None]
    default: NotRequired[bool | None]
    """Default value."""
    description: NotRequired[str | None]
    """Human-readable description."""
    title: NotRequired[str | None]
    """Optional title for the property."""
    type: Literal["boolean"]


class ArrayElicitationPropertySchema(TypedDict):
    """Multi-select array property."""
    _meta: NotRequired[dict[str, Any] | None]
    default: NotRequired[list[str] | None]
    """Default selected values."""
    description: NotRequired[str | None]
    """Human-readable description."""
    items: MultiSelectItems
    """The items definition describing allowed values."""
    maxItems: NotRequired[int | None]
    """Maximum number of items to select."""
    minItems: NotRequired[int | None]
    """Minimum number of items to select."""
    title: NotRequired[str | None]
    """Optional title for the property."""
    type: Literal["array"]

ElicitationPropertySchema: TypeAlias = (
    "StringElicitationPropertySchema | "
    "NumberElicitationPropertySchema | "
    "IntegerElicitationPropertySchema | "
    "BooleanElicitationPropertySchema | "
    "ArrayElicitationPropertySchema"
)
"""Property schema for elicitation form fields."""


class ElicitationRequestScope(TypedDict):
    """Request-scoped elicitation, tied to a specific JSON-RPC request outside of a session
    (e.g., during auth/configuration phases before any session is started)."""
    requestId: RequestId
    """The request this elicitation is tied to."""


class ElicitationSchema(TypedDict):
    """Type-safe elicitation schema for requesting structured user input."""
    _meta: NotRequired[dict[str, Any] | None]
    description: NotRequired[str | None]
    """Optional description of what this schema represents."""
    properties: NotRequired[dict[str, ElicitationPropertySchema]]
    """Property definitions (MUST be primitive types)."""
    required: NotRequired[list[str] | None]
    """List of required property names."""
    title: NotRequired[str | None]
    """Optional title for the schema."""
    type: NotRequired[ElicitationSchemaType]
    """Type discriminator. Always `"object"`."""

ElicitationSchemaType: TypeAlias = "Literal['object']"
"""Type discriminator for elicitation schemas."""


class ElicitationSessionScope(TypedDict):
    """Session-scoped elicitation, optionally tied to a specific tool call."""
    sessionId: SessionId
    """The session this elicitation is tied to."""
    toolCallId: NotRequired[ToolCallId | None]
    """Optional tool call within the session."""


class ElicitationUrlCapabilities(TypedDict):
    """URL-based elicitation capabilities."""
    _meta: NotRequired[dict[str, Any] | None]


class SessionElicitationUrlMode(TypedDict):
    """Tied to a session, optionally to a specific tool call within that session."""
    elicitationId: ElicitationId
    """The unique identifier for this elicitation."""
    sessionId: SessionId
    """The session this elicitation is tied to."""
    toolCallId: NotRequired[ToolCallId | None]
    """Optional tool call within the session."""
    url: str
    """The URL to direct the user to."""


class RequestElicitationUrlMode(TypedDict):
    """Tied to a specific JSON-RPC request outside of a session
    (e.g., during auth/configuration phases before any session is started)."""
    elicitationId: ElicitationId
    """The unique identifier for this elicitation."""
    requestId: RequestId
    """The request this elicitation is tied to."""
    url: str
    """The URL to direct the user to."""

ElicitationUrlMode: TypeAlias = "SessionElicitationUrlMode | RequestElicitationUrlMode"
"""URL-based elicitation mode where the client directs the user to a URL."""


class EmbeddedResource(TypedDict):
    """The contents of a resource, embedded into a prompt or tool call result."""
    _meta: NotRequired[dict[str, Any] | None]
    annotations: NotRequired[Annotations | None]
    """Optional annotations that help clients decide how to display or route this content."""
    resource: EmbeddedResourceResource
    """Embedded resource payload, either text or binary data."""

EmbeddedResourceResource: TypeAlias = "TextResourceContents | BlobResourceContents"
"""Resource content that can be embedded in a message."""


class EnumOption(TypedDict):
    """A titled enum option with a const value, human-readable title, and optional description."""
    _meta: NotRequired[dict[str, Any] | None]
    const: str
    """The constant value for this option."""
    description: NotRequired[str | None]
    """Human-readable description."""
    title: str
    """Human-readable title for this option."""


class EnvVariable(TypedDict):
    """An environment variable to set when launching an MCP server."""
    _meta: NotRequired[dict[str, Any] | None]
    name: str
    """The name of the environment variable."""
    value: str
    """The value to set for the environment variable."""


class Error(TypedDict):
    """JSON-RPC error object."""
    code: ErrorCode
    """A number indicating the error type that occurred.
    This MUST be an integer as defined in the JSON-RPC specification."""
    data: NotRequired[Any]
    """Optional primitive or structured value that contains additional information about the error.
    This may include debugging information or context-specific details."""
    message: str
    """A string providing a short description of the error.
    The message SHOULD be limited to a concise single sentence."""

ErrorCode: TypeAlias = (
    "Literal[-32700] | "
    "Literal[-32600] | "
    "Literal[-32601] | "
    "Literal[-32602] | "
    "Literal[-32603] | "
    "Literal[-32800] | "
    "Literal[-32000] | "
    "Literal[-32002] | "
    "int"
)
"""Predefined error codes for common JSON-RPC and ACP-specific errors."""


class ErrorStopReason(TypedDict):
    """Details of a failure that ended a child's foreground work."""
    error: NotRequired[Error | None]
    """The failure, as a JSON-RPC error object."""

ExtNotification: TypeAlias = "Any"
"""Allows either side to send an arbitrary notification that is not part of the ACP spec.
Extension notifications provide a way to send one-way messages for custom functionality
while maintaining protocol compatibility."""

ExtRequest: TypeAlias = "Any"
"""Allows for sending an arbitrary request that is not part of the ACP spec.
Extension methods provide a way to add custom functionality while maintaining
protocol compatibility."""

ExtResponse: TypeAlias = "Any"
"""Allows for sending an arbitrary response to an extension request that is not part of the ACP spec.
Extension methods provide a way to add custom functionality while maintaining
protocol compatibility."""


class FileSystemCapabilities(TypedDict):
    """File system capabilities that a client may support."""
    _meta: NotRequired[dict[str, Any] | None]
    readTextFile: NotRequired[bool]
    """Whether the Client supports `fs/read_text_file` requests."""
    writeTextFile: NotRequired[bool]
    """Whether the Client supports `fs/write_text_file` requests."""


class ForkSessionRequest(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]
    additionalDirectories: NotRequired[list[str]]
    """Additional workspace roots to activate for this session. Each path MUST be absolute."""
    configOptions: NotRequired[list[InitialSessionConfigOption]]
    """**UNSTABLE**"""
    cursorId: NotRequired[CursorId | None]
    """**UNSTABLE**"""
    cwd: str
    """The working directory for this session. Must be an absolute path."""
    mcpServers: NotRequired[list[McpServer]]
    """List of MCP servers to connect to for this session."""
    sessionId: SessionId
    """The ID of the session to fork."""
    systemPrompt: NotRequired[SystemPrompt | None]
    """System-level instructions for the forked session."""


class ForkSessionResponse(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]
    configOptions: NotRequired[list[SessionConfigOption] | None]
    """Initial session configuration options if supported by the Agent."""
    modes: NotRequired[SessionModeState | None]
    """Initial mode state if supported by the Agent"""
    sessionId: SessionId
    """Unique identifier for the newly created forked session."""


class HttpHeader(TypedDict):
    """An HTTP header to set when making requests to the MCP server."""
    _meta: NotRequired[dict[str, Any] | None]
    name: str
    """The name of the HTTP header."""
    value: str
    """The value to set for the HTTP header."""


class EndTurnIdleStateUpdate(TypedDict):
    """The work ended successfully."""
    _meta: NotRequired[dict[str, Any] | None]
    stopReason: Literal["end_turn"]
    usage: NotRequired[Usage | None]
    """**UNSTABLE** Token usage for completed foreground work."""


class MaxTokensIdleStateUpdate(TypedDict):
    """The work ended because the agent reached the maximum number of tokens."""
    _meta: NotRequired[dict[str, Any] | None]
    stopReason: Literal["max_tokens"]
    usage: NotRequired[Usage | None]
    """**UNSTABLE** Token usage for completed foreground work."""


class MaxTurnRequestsIdleStateUpdate(TypedDict):
    """The work ended because the agent reached the maximum number of allowed
    agent requests."""
    _meta: NotRequired[dict[str, Any] | None]
    stopReason: Literal["max_turn_requests"]
    usage: NotRequired[Usage | None]
    """**UNSTABLE** Token usage for completed foreground work."""


class RefusalIdleStateUpdate(TypedDict):
    """The work ended because the agent refused to continue."""
    _meta: NotRequired[dict[str, Any] | None]
    stopReason: Literal["refusal"]
    usage: NotRequired[Usage | None]
    """**UNSTABLE** Token usage for completed foreground work."""


class CancelledIdleStateUpdate(TypedDict):
    """The work was cancelled."""
    _meta: NotRequired[dict[str, Any] | None]
    stopReason: Literal["cancelled"]
    usage: NotRequired[Usage | None]
    """**UNSTABLE** Token usage for completed foreground work."""


class ErrorIdleStateUpdate(TypedDict):
    """The work ended because something failed."""
    _meta: NotRequired[dict[str, Any] | None]
    error: NotRequired[Error | None]
    """The failure, as a JSON-RPC error object."""
    stopReason: Literal["error"]
    usage: NotRequired[Usage | None]
    """**UNSTABLE** Token usage for completed foreground work."""


class NoneIdleStateUpdate(TypedDict):
    """No stop reason: `stopReason` is omitted or `null`."""
    _meta: NotRequired[dict[str, Any] | None]
    stopReason: NotRequired[None]
    usage: NotRequired[Usage | None]
    """**UNSTABLE** Token usage for completed foreground work."""

IdleStateUpdate: TypeAlias = (
    "EndTurnIdleStateUpdate | "
    "MaxTokensIdleStateUpdate | "
    "MaxTurnRequestsIdleStateUpdate | "
    "RefusalIdleStateUpdate | "
    "CancelledIdleStateUpdate | "
    "ErrorIdleStateUpdate | "
    "NoneIdleStateUpdate"
)
"""Foreground work is not in progress. The parent can give the child more work."""


class ImageContent(TypedDict):
    """An image provided to or from an LLM."""
    _meta: NotRequired[dict[str, Any] | None]
    annotations: NotRequired[Annotations | None]
    """Optional annotations that help clients decide how to display or route this content."""
    data: str
    """Base64-encoded media payload."""
    mimeType: str
    """MIME type describing the encoded media payload."""
    uri: NotRequired[str | None]
    """URI associated with this resource or media payload."""


class Implementation(TypedDict):
    """Metadata about the implementation of the client or agent.
    Describes the name and version of an ACP implementation, with an optional
    title for UI representation."""
    _meta: NotRequired[dict[str, Any] | None]
    name: str
    """Intended for programmatic or logical use, but can be used as a display
    name fallback if title isn't present."""
    title: NotRequired[str | None]
    """Intended for UI and end-user contexts and optimized to be human-readable
    and easily understood."""
    version: str
    """Version of the implementation. Can be displayed to the user or used
    for debugging or metrics purposes. (e.g. "1.0.0")."""


class BooleanInitialSessionConfigOption(TypedDict):
    """A boolean value (`type: "boolean"`)."""
    _meta: NotRequired[dict[str, Any] | None]
    configId: SessionConfigId
    """The ID of the configuration option to set."""
    type: Literal["boolean"]
    value: bool
    """The boolean value."""


class ValueIdInitialSessionConfigOption(TypedDict):
    """A `SessionConfigValueId` string value."""
    _meta: NotRequired[dict[str, Any] | None]
    configId: SessionConfigId
    """The ID of the configuration option to set."""
    value: SessionConfigValueId
    """The value ID."""

InitialSessionConfigOption: TypeAlias = (
    "BooleanInitialSessionConfigOption | "
    "ValueIdInitialSessionConfigOption"
)
"""**UNSTABLE**"""

InitializeProxyRequest: TypeAlias = "InitializeRequest"
"""**UNSTABLE**"""

InitializeProxyResponse: TypeAlias = "InitializeResponse"
"""**UNSTABLE**"""


class InitializeRequest(TypedDict):
    """Request parameters for the initialize method."""
    _meta: NotRequired[dict[str, Any] | None]
    clientCapabilities: NotRequired[ClientCapabilities]
    """Capabilities supported by the client."""
    clientInfo: NotRequired[Implementation | None]
    """Information about the Client name and version sent to the Agent."""
    protocolVersion: ProtocolVersion
    """The latest protocol version supported by the client."""


class InitializeResponse(TypedDict):
    """Response to the `initialize` method."""
    _meta: NotRequired[dict[str, Any] | None]
    agentCapabilities: NotRequired[AgentCapabilities]
    """Capabilities supported by the agent."""
    agentInfo: NotRequired[Implementation | None]
    """Information about the Agent name and version sent to the Client."""
    authMethods: NotRequired[list[AuthMethod]]
    """Authentication methods supported by the agent."""
    protocolVersion: ProtocolVersion
    """The protocol version the client specified if supported by the agent,
    or the latest protocol version supported by the agent."""


class IntegerPropertySchema(TypedDict):
    """Schema for integer properties in an elicitation form."""
    _meta: NotRequired[dict[str, Any] | None]
    default: NotRequired[int | None]
    """Default value."""
    description: NotRequired[str | None]
    """Human-readable description."""
    maximum: NotRequired[int | None]
    """Maximum value (inclusive)."""
    minimum: NotRequired[int | None]
    """Minimum value (inclusive)."""
    title: NotRequired[str | None]
    """Optional title for the property."""


class KillTerminalRequest(TypedDict):
    """Request to kill a terminal without releasing it."""
    _meta: NotRequired[dict[str, Any] | None]
    sessionId: SessionId
    """The session ID for this request."""
    terminalId: TerminalId
    """The ID of the terminal to kill."""


class KillTerminalResponse(TypedDict):
    """Response to `terminal/kill` method"""
    _meta: NotRequired[dict[str, Any] | None]


class ListProvidersRequest(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]


class ListProvidersResponse(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]
    providers: list[ProviderInfo]
    """Configurable providers with current routing info suitable for UI display."""


class ListSessionsRequest(TypedDict):
    """Request parameters for listing existing sessions."""
    _meta: NotRequired[dict[str, Any] | None]
    archived: NotRequired[SessionArchiveFilter | None]
    """**UNSTABLE**"""
    cursor: NotRequired[str | None]
    """Opaque cursor token from a previous response's nextCursor field for cursor-based pagination"""
    cwd: NotRequired[str | None]
    """Filter sessions by working directory. Must be an absolute path."""


class ListSessionsResponse(TypedDict):
    """Response from listing sessions."""
    _meta: NotRequired[dict[str, Any] | None]
    nextCursor: NotRequired[str | None]
    """Opaque cursor token. If present, pass this in the next request's cursor parameter
    to fetch the next page. If absent, there are no more results."""
    sessions: list[SessionInfo]
    """Array of session information objects"""

LlmProtocol: TypeAlias = (
    "Literal['anthropic'] | "
    "Literal['openai'] | "
    "Literal['azure'] | "
    "Literal['vertex'] | "
    "Literal['bedrock'] | "
    "str"
)
"""**UNSTABLE**"""


class LoadSessionRequest(TypedDict):
    """Request parameters for loading an existing session."""
    _meta: NotRequired[dict[str, Any] | None]
    additionalDirectories: NotRequired[list[str]]
    """Additional workspace roots to activate for this session. Each path MUST be absolute."""
    configOptions: NotRequired[list[InitialSessionConfigOption]]
    """**UNSTABLE**"""
    cwd: str
    """The working directory for this session. Must be an absolute path."""
    mcpServers: list[McpServer]
    """List of MCP servers to connect to for this session."""
    sessionId: SessionId
    """The ID of the session to load."""
    systemPrompt: NotRequired[SystemPrompt | None]
    """System-level instructions for the loaded session."""


class LoadSessionResponse(TypedDict):
    """Response from loading an existing session."""
    _meta: NotRequired[dict[str, Any] | None]
    configOptions: NotRequired[list[SessionConfigOption] | None]
    """Initial session configuration options if supported by the Agent."""
    modes: NotRequired[SessionModeState | None]
    """Initial mode state if supported by the Agent"""


class LogoutCapabilities(TypedDict):
    """Logout capabilities supported by the agent."""
    _meta: NotRequired[dict[str, Any] | None]


class LogoutRequest(TypedDict):
    """Request parameters for the logout method."""
    _meta: NotRequired[dict[str, Any] | None]


class LogoutResponse(TypedDict):
    """Response to the `logout` method."""
    _meta: NotRequired[dict[str, Any] | None]


class McpCapabilities(TypedDict):
    """MCP capabilities supported by the agent"""
    _meta: NotRequired[dict[str, Any] | None]
    acp: NotRequired[bool]
    """**UNSTABLE**"""
    http: NotRequired[bool]
    """Agent supports `http` MCP servers."""
    sse: NotRequired[bool]
    """Agent supports `sse` MCP servers."""


class McpError(TypedDict):
    """**UNSTABLE**"""
    code: int
    """Inner MCP error code. Never an ACP error code."""
    data: NotRequired[Any]
    """Optional error data. Explicit null is retained."""
    message: str
    """Inner MCP error message."""

McpRequestId: TypeAlias = "str"
"""**UNSTABLE**"""


class HttpMcpServer(TypedDict):
    """HTTP transport configuration"""
    _meta: NotRequired[dict[str, Any] | None]
    headers: list[HttpHeader]
    """HTTP headers to set when making requests to the MCP server."""
    name: str
    """Human-readable name identifying this MCP server."""
    type: Literal["http"]
    url: str
    """URL to the MCP server."""


class SseMcpServer(TypedDict):
    """SSE transport configuration"""
    _meta: NotRequired[dict[str, Any] | None]
    headers: list[HttpHeader]
    """HTTP headers to set when making requests to the MCP server."""
    name: str
    """Human-readable name identifying this MCP server."""
    type: Literal["sse"]
    url: str
    """URL to the MCP server."""


class AcpMcpServer(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]
    name: str
    """Human-readable name identifying this MCP server."""
    serverId: McpServerAcpId
    """Unique identifier for this MCP server, generated by the component providing it."""
    type: Literal["acp"]

McpServer: TypeAlias = "HttpMcpServer | SseMcpServer | AcpMcpServer | McpServerStdio"
"""Configuration for connecting to an MCP (Model Context Protocol) server."""


class McpServerAcp(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]
    name: str
    """Human-readable name identifying this MCP server."""
    serverId: McpServerAcpId
    """Unique identifier for this MCP server, generated by the component providing it."""

McpServerAcpId: TypeAlias = "str"
"""**UNSTABLE**"""


class McpServerHttp(TypedDict):
    """HTTP transport configuration for MCP."""
    _meta: NotRequired[dict[str, Any] | None]
    headers: list[HttpHeader]
    """HTTP headers to set when making requests to the MCP server."""
    name: str
    """Human-readable name identifying this MCP server."""
    url: str
    """URL to the MCP server."""


class McpServerSse(TypedDict):
    """SSE transport configuration for MCP."""
    _meta: NotRequired[dict[str, Any] | None]
    headers: list[HttpHeader]
    """HTTP headers to set when making requests to the MCP server."""
    name: str
    """Human-readable name identifying this MCP server."""
    url: str
    """URL to the MCP server."""


class McpServerStdio(TypedDict):
    """Stdio transport configuration for MCP."""
    _meta: NotRequired[dict[str, Any] | None]
    args: list[str]
    """Command-line arguments to pass to the MCP server."""
    command: str
    """Absolute path to the MCP server executable."""
    env: list[EnvVariable]
    """Environment variables to set when launching the MCP server."""
    name: str
    """Human-readable name identifying this MCP server."""

MessageId: TypeAlias = "str"
"""Unique identifier for a message within a session."""


class MessageMcpNotification(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]
    method: str
    """The inner MCP method name."""
    params: NotRequired[dict[str, Any] | None]
    """Optional inner MCP params."""
    requestId: McpRequestId
    """The identifier of the active inner MCP request."""
    serverId: McpServerAcpId
    """The declared ACP MCP server handling the associated request."""


class MessageMcpRequest(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]
    method: str
    """The inner MCP method name."""
    params: NotRequired[dict[str, Any] | None]
    """Optional inner MCP params."""
    requestId: McpRequestId
    """The caller-generated identifier for the inner MCP request."""
    serverId: McpServerAcpId
    """The declared ACP MCP server receiving this request."""


class ResultMessageMcpResponse(TypedDict):
    """An opaque inner MCP result."""
    _meta: NotRequired[dict[str, Any] | None]
    result: Any
    """Required, even if JSON null."""


class ErrorMessageMcpResponse(TypedDict):
    """A structured inner MCP error."""
    _meta: NotRequired[dict[str, Any] | None]
    error: McpError
    """Required, non-null MCP error object."""

MessageMcpResponse: TypeAlias = "ResultMessageMcpResponse | ErrorMessageMcpResponse"
"""**UNSTABLE**"""


class StringMultiSelectItemsVariant(TypedDict):
    """Multi-select string items with plain string values."""
    _meta: NotRequired[dict[str, Any] | None]
    enum: list[str]
    """Allowed enum values."""
    type: Literal["string"]

MultiSelectItems: TypeAlias = "StringMultiSelectItemsVariant | TitledMultiSelectItems"
"""Items for a multi-select (array) property schema."""


class MultiSelectPropertySchema(TypedDict):
    """Schema for multi-select (array) properties in an elicitation form."""
    _meta: NotRequired[dict[str, Any] | None]
    default: NotRequired[list[str] | None]
    """Default selected values."""
    description: NotRequired[str | None]
    """Human-readable description."""
    items: MultiSelectItems
    """The items definition describing allowed values."""
    maxItems: NotRequired[int | None]
    """Maximum number of items to select."""
    minItems: NotRequired[int | None]
    """Minimum number of items to select."""
    title: NotRequired[str | None]
    """Optional title for the property."""


class NewSessionRequest(TypedDict):
    """Request parameters for creating a new session."""
    _meta: NotRequired[dict[str, Any] | None]
    additionalDirectories: NotRequired[list[str]]
    """Additional workspace roots for this session. Each path MUST be absolute."""
    configOptions: NotRequired[list[InitialSessionConfigOption]]
    """**UNSTABLE**"""
    cwd: str
    """The working directory for this session. Must be an absolute path."""
    mcpServers: list[McpServer]
    """List of MCP (Model Context Protocol) servers the agent should connect to."""
    systemPrompt: NotRequired[SystemPrompt | None]
    """System-level instructions for the new session."""


class NewSessionResponse(TypedDict):
    """Response from creating a new session."""
    _meta: NotRequired[dict[str, Any] | None]
    configOptions: NotRequired[list[SessionConfigOption] | None]
    """Initial session configuration options if supported by the Agent."""
    modes: NotRequired[SessionModeState | None]
    """Initial mode state if supported by the Agent"""
    sessionId: SessionId
    """Unique identifier for the created session."""


class Notice(TypedDict):
    """Fire-and-forget information for the user."""
    _meta: NotRequired[dict[str, Any] | None]
    description: NotRequired[str | None]
    """Optional plain-text detail or guidance."""
    severity: NoticeSeverity
    """Presentation severity hint."""
    title: str
    """Required non-empty plain-text title that can stand alone."""

NoticeCapabilities: TypeAlias = "dict[str, Any]"
"""Client support for presenting live notices to the user."""

NoticeSeverity: TypeAlias = "Literal['info'] | Literal['warning'] | Literal['error'] | str"
"""Severity hint for a session notice."""


class NumberPropertySchema(TypedDict):
    """Schema for number (floating-point) properties in an elicitation form."""
    _meta: NotRequired[dict[str, Any] | None]
    default: NotRequired[float | None]
    """Default value."""
    description: NotRequired[str | None]
    """Human-readable description."""
    maximum: NotRequired[float | None]
    """Maximum value (inclusive)."""
    minimum: NotRequired[float | None]
    """Minimum value (inclusive)."""
    title: NotRequired[str | None]
    """Optional title for the property."""


class PermissionOption(TypedDict):
    """An option presented to the user when requesting permission."""
    _meta: NotRequired[dict[str, Any] | None]
    kind: PermissionOptionKind
    """Hint about the nature of this permission option."""
    name: str
    """Human-readable label to display to the user."""
    optionId: PermissionOptionId
    """Unique identifier for this permission option."""

PermissionOptionId: TypeAlias = "str"
"""Unique identifier for a permission option."""

PermissionOptionKind: TypeAlias = (
    "Literal['allow_once', "
    "'allow_always', "
    "'reject_once', "
    "'reject_always']"
)
"""The type of permission option being presented to the user."""


class Plan(TypedDict):
    """A checklist sent with the `plan` session update."""
    _meta: NotRequired[dict[str, Any] | None]
    entries: list[PlanEntry]
    """The list of tasks to be accomplished."""


class PlanCapabilities(TypedDict):
    """Capabilities for receiving `plan_update` and `plan_removed` session updates."""
    _meta: NotRequired[dict[str, Any] | None]


class PlanEntry(TypedDict):
    """A single entry in the execution plan."""
    _meta: NotRequired[dict[str, Any] | None]
    content: str
    """Human-readable description of what this task aims to accomplish."""
    priority: PlanEntryPriority
    """The relative importance of this task.
    Used to indicate which tasks are most critical to the overall goal."""
    status: PlanEntryStatus
    """Current execution status of this task."""

PlanEntryPriority: TypeAlias = "Literal['high', 'medium', 'low']"
"""Priority levels for plan entries."""

PlanEntryStatus: TypeAlias = "Literal['pending', 'in_progress', 'completed']"
"""Status of a plan entry in the execution flow."""

PlanId: TypeAlias = "str"
"""Unique identifier for a plan within a session."""


class PlanItems(TypedDict):
    """A plan represented as structured entries."""
    _meta: NotRequired[dict[str, Any] | None]
    entries: list[PlanEntry]
    """The list of tasks to be accomplished."""
    planId: PlanId
    """The plan ID to update."""


class PlanMarkdown(TypedDict):
    """A plan represented as Markdown."""
    _meta: NotRequired[dict[str, Any] | None]
    content: str
    """The complete plan as Markdown, not just the text that changed."""
    path: NotRequired[str | None]
    """The absolute path of the file that holds this plan."""
    planId: PlanId
    """The plan ID to update."""


class PlanRemoved(TypedDict):
    """Removal notice for a plan identified by ID."""
    _meta: NotRequired[dict[str, Any] | None]
    planId: PlanId
    """The plan ID to remove. Clients MUST ignore a removal for an unknown ID."""


class PlanUpdate(TypedDict):
    """A content update for a plan identified by ID."""
    _meta: NotRequired[dict[str, Any] | None]
    plan: PlanUpdateContent
    """Replaces the whole plan with this `planId`, even if its `type` changes."""


class ItemsPlanUpdateContent(TypedDict):
    """Structured plan entries."""
    _meta: NotRequired[dict[str, Any] | None]
    entries: list[PlanEntry]
    """The list of tasks to be accomplished."""
    planId: PlanId
    """The plan ID to update."""
    type: Literal["items"]


class MarkdownPlanUpdateContent(TypedDict):
    """The complete plan as Markdown."""
    _meta: NotRequired[dict[str, Any] | None]
    content: str
    """The complete plan as Markdown, not just the text that changed."""
    path: NotRequired[str | None]
    """The absolute path of the file that holds this plan."""
    planId: PlanId
    """The plan ID to update."""
    type: Literal["markdown"]

PlanUpdateContent: TypeAlias = "ItemsPlanUpdateContent | MarkdownPlanUpdateContent"
"""Updated content for a plan."""


class PromptCapabilities(TypedDict):
    """Prompt capabilities supported by the agent in `session/prompt` requests."""
    _meta: NotRequired[dict[str, Any] | None]
    audio: NotRequired[bool]
    """Agent supports `audio` content blocks."""
    embeddedContext: NotRequired[bool]
    """Agent supports embedded context in `session/prompt` requests."""
    image: NotRequired[bool]
    """Agent supports `image` content blocks."""


class PromptRequest(TypedDict):
    """Request parameters for sending a user prompt to the agent."""
    _meta: NotRequired[dict[str, Any] | None]
    prompt: list[ContentBlock]
    """The blocks of content that compose the user's message."""
    sessionId: SessionId
    """The ID of the session to send this user message to"""


class PromptResponse(TypedDict):
    """Response from processing a user prompt."""
    _meta: NotRequired[dict[str, Any] | None]
    stopReason: StopReason
    """Indicates why the agent stopped processing the turn."""
    usage: NotRequired[Usage | None]
    """**UNSTABLE**"""


class PromptSuggestion(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]
    prompt: list[ContentBlock]
    """The content of the suggested prompt."""


class PromptSuggestionsAudioCapabilities(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]


class PromptSuggestionsCapabilities(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]
    audio: NotRequired[PromptSuggestionsAudioCapabilities | None]
    """Whether prompt suggestions may include `audio` content blocks."""
    embeddedContext: NotRequired[PromptSuggestionsEmbeddedContextCapabilities | None]
    """Whether prompt suggestions may include `resource` content blocks."""
    image: NotRequired[PromptSuggestionsImageCapabilities | None]
    """Whether prompt suggestions may include `image` content blocks."""


class PromptSuggestionsEmbeddedContextCapabilities(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]


class PromptSuggestionsImageCapabilities(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]


class PromptSuggestionsUpdate(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]
    suggestions: list[PromptSuggestion]
    """The suggestions the Client can offer, ordered most likely first."""

ProtocolVersion: TypeAlias = "int"
"""Protocol version identifier."""


class ProviderCurrentConfig(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]
    apiType: LlmProtocol
    """Protocol currently used by this provider."""
    baseUrl: str
    """Base URL currently used by this provider."""

ProviderId: TypeAlias = "str"
"""**UNSTABLE**"""


class ProviderInfo(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]
    current: NotRequired[ProviderCurrentConfig | None]
    """Current effective non-secret routing config.
    Null or omitted means provider is disabled."""
    providerId: ProviderId
    """Provider identifier, for example "main" or "openai"."""
    required: bool
    """Whether this provider is mandatory and cannot be disabled via `providers/disable`.
    If true, clients MUST NOT call `providers/disable` for this provider ID."""
    supported: list[LlmProtocol]
    """Supported protocol types for this provider."""


class ProvidersCapabilities(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]


class ProxySuccessorNotification(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]
    method: str
    """Method name of the wrapped notification."""
    params: NotRequired[Any]
    """Params of the wrapped notification, forwarded unchanged."""


class ProxySuccessorRequest(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]
    method: str
    """Method name of the wrapped request."""
    params: NotRequired[Any]
    """Params of the wrapped request, forwarded unchanged."""

ProxySuccessorResponse: TypeAlias = "Any"
"""**UNSTABLE**"""


class ReadTextFileRequest(TypedDict):
    """Request to read content from a text file."""
    _meta: NotRequired[dict[str, Any] | None]
    limit: NotRequired[int | None]
    """Maximum number of lines to read."""
    line: NotRequired[int | None]
    """Line number to start reading from (1-based)."""
    path: str
    """Absolute path to the file to read."""
    sessionId: SessionId
    """The session ID for this request."""


class ReadTextFileResponse(TypedDict):
    """Response containing the contents of a text file."""
    _meta: NotRequired[dict[str, Any] | None]
    content: str
    """Content payload returned by this response."""


class ReleaseTerminalRequest(TypedDict):
    """Request to release a terminal and free its resources."""
    _meta: NotRequired[dict[str, Any] | None]
    sessionId: SessionId
    """The session ID for this request."""
    terminalId: TerminalId
    """The ID of the terminal to release."""


class ReleaseTerminalResponse(TypedDict):
    """Response to terminal/release method"""
    _meta: NotRequired[dict[str, Any] | None]

RequestId: TypeAlias = "None | int | str"
"""JSON RPC Request Id"""


class CancelledRequestPermissionOutcome(TypedDict):
    """The prompt turn was cancelled before the user responded."""
    outcome: Literal["cancelled"]


class SelectedRequestPermissionOutcome(TypedDict):
    """The user selected one of the provided options."""
    _meta: NotRequired[dict[str, Any] | None]
    optionId: PermissionOptionId
    """The ID of the option the user selected."""
    outcome: Literal["selected"]

RequestPermissionOutcome: TypeAlias = (
    "CancelledRequestPermissionOutcome | "
    "SelectedRequestPermissionOutcome"
)
"""The outcome of a permission request."""


class RequestPermissionRequest(TypedDict):
    """Request for user permission to execute a tool call."""
    _meta: NotRequired[dict[str, Any] | None]
    options: list[PermissionOption]
    """Available permission options for the user to choose from."""
    sessionId: SessionId
    """The session ID for this request."""
    toolCall: ToolCallUpdate
    """Details about the tool call requiring permission."""


class RequestPermissionResponse(TypedDict):
    """Response to a permission request."""
    _meta: NotRequired[dict[str, Any] | None]
    outcome: RequestPermissionOutcome
    """The user's decision on the permission request."""


class RequiresActionStateUpdate(TypedDict):
    """Foreground work is blocked on user action."""
    _meta: NotRequired[dict[str, Any] | None]


class ResourceLink(TypedDict):
    """A resource that the server is capable of reading, included in a prompt or tool call result."""
    _meta: NotRequired[dict[str, Any] | None]
    annotations: NotRequired[Annotations | None]
    """Optional annotations that help clients decide how to display or route this content."""
    description: NotRequired[str | None]
    """Optional human-readable details shown with this protocol object."""
    mimeType: NotRequired[str | None]
    """MIME type describing the encoded media payload."""
    name: str
    """Human-readable name shown for this protocol object."""
    size: NotRequired[int | None]
    """Optional size of the linked resource in bytes, if known."""
    title: NotRequired[str | None]
    """Optional display title for end-user UI."""
    uri: str
    """URI associated with this resource or media payload."""


class ResumeSessionRequest(TypedDict):
    """Request parameters for resuming an existing session."""
    _meta: NotRequired[dict[str, Any] | None]
    additionalDirectories: NotRequired[list[str]]
    """Additional workspace roots to activate for this session. Each path MUST be absolute."""
    configOptions: NotRequired[list[InitialSessionConfigOption]]
    """**UNSTABLE**"""
    cwd: str
    """The working directory for this session. Must be an absolute path."""
    mcpServers: NotRequired[list[McpServer]]
    """List of MCP servers to connect to for this session."""
    sessionId: SessionId
    """The ID of the session to resume."""
    systemPrompt: NotRequired[SystemPrompt | None]
    """System-level instructions for the resumed session."""


class ResumeSessionResponse(TypedDict):
    """Response from resuming an existing session."""
    _meta: NotRequired[dict[str, Any] | None]
    configOptions: NotRequired[list[SessionConfigOption] | None]
    """Initial session configuration options if supported by the Agent."""
    modes: NotRequired[SessionModeState | None]
    """Initial mode state if supported by the Agent"""

Role: TypeAlias = "Literal['assistant', 'user']"
"""The sender or recipient of messages and data in a conversation."""


class RunningStateUpdate(TypedDict):
    """Foreground work is in progress."""
    _meta: NotRequired[dict[str, Any] | None]


class SelectedPermissionOutcome(TypedDict):
    """The user selected one of the provided options."""
    _meta: NotRequired[dict[str, Any] | None]
    optionId: PermissionOptionId
    """The ID of the option the user selected."""


class SessionAdditionalDirectoriesCapabilities(TypedDict):
    """Capabilities for additional session directories support."""
    _meta: NotRequired[dict[str, Any] | None]


class SessionArchiveCapabilities(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]

SessionArchiveFilter: TypeAlias = "Literal['exclude'] | Literal['include'] | Literal['only'] | str"
"""**UNSTABLE**"""


class SessionCancelCapabilities(TypedDict):
    """Capability to cancel work in a subagent session without ending that session."""
    _meta: NotRequired[dict[str, Any] | None]


class SessionCapabilities(TypedDict):
    """Session capabilities supported by the agent."""
    _meta: NotRequired[dict[str, Any] | None]
    additionalDirectories: NotRequired[SessionAdditionalDirectoriesCapabilities | None]
    """Whether the agent supports `additionalDirectories` on supported session lifecycle requests."""
    archive: NotRequired[SessionArchiveCapabilities | None]
    """**UNSTABLE**"""
    close: NotRequired[SessionCloseCapabilities | None]
    """Whether the agent supports `session/close`."""
    delete: NotRequired[SessionDeleteCapabilities | None]
    """Whether the agent supports `session/delete`."""
    fork: NotRequired[SessionForkCapabilities | None]
    """**UNSTABLE**"""
    list: NotRequired[SessionListCapabilities | None]
    """Whether the agent supports `session/list`."""
    options: NotRequired[SessionOptionsCapabilities | None]
    """**UNSTABLE**"""
    resume: NotRequired[SessionResumeCapabilities | None]
    """Whether the agent supports `session/resume`."""
    status: NotRequired[SessionStatusCapabilities | None]
    """**UNSTABLE**"""
    systemPrompt: NotRequired[SessionSystemPromptCapabilities | None]
    """Whether the agent supports `systemPrompt` on session lifecycle requests."""
    title: NotRequired[SessionTitleCapabilities | None]
    """**UNSTABLE**"""


class SessionCloseCapabilities(TypedDict):
    """Capabilities for the `session/close` method."""
    _meta: NotRequired[dict[str, Any] | None]


class SessionConfigBoolean(TypedDict):
    """A boolean on/off toggle session configuration option payload."""
    currentValue: bool
    """The current value of the boolean option."""

SessionConfigGroupId: TypeAlias = "str"
"""Unique identifier for a session configuration option value group."""

SessionConfigId: TypeAlias = "str"
"""Unique identifier for a session configuration option."""


class SelectSessionConfigOption(TypedDict):
    """Single-value selector (dropdown)."""
    _meta: NotRequired[dict[str, Any] | None]
    category: NotRequired[SessionConfigOptionCategory | None]
    """Optional semantic category for this option (UX only)."""
    currentValue: SessionConfigValueId
    """The currently selected value."""
    description: NotRequired[str | None]
    """Optional description for the Client to display to the user."""
    id: SessionConfigId
    """Unique identifier for the configuration option."""
    name: str
    """Human-readable label for the option."""
    options: SessionConfigSelectOptions
    """The set of selectable options."""
    type: Literal["select"]


class BooleanSessionConfigOption(TypedDict):
    """Boolean on/off toggle."""
    _meta: NotRequired[dict[str, Any] | None]
    category: NotRequired[SessionConfigOptionCategory | None]
    """Optional semantic category for this option (UX only)."""
    currentValue: bool
    """The current value of the boolean option."""
    description: NotRequired[str | None]
    """Optional description for the Client to display to the user."""
    id: SessionConfigId
    """Unique identifier for the configuration option."""
    name: str
    """Human-readable label for the option."""
    type: Literal["boolean"]

SessionConfigOption: TypeAlias = "SelectSessionConfigOption | BooleanSessionConfigOption"
"""A session configuration option selector and its current state."""

SessionConfigOptionCategory: TypeAlias = (
    "Literal['mode'] | "
    "Literal['model'] | "
    "Literal['model_config'] | "
    "Literal['speed'] | "
    "Literal['thought_level'] | "
    "str"
)
"""Semantic category for a session configuration option."""


class SessionConfigOptionsCapabilities(TypedDict):
    """Session configuration option capabilities supported by the client."""
    _meta: NotRequired[dict[str, Any] | None]
    boolean: NotRequired[BooleanConfigOptionCapabilities | None]
    """Whether the client supports boolean session configuration options."""


class SessionConfigSelect(TypedDict):
    """A single-value selector (dropdown) session configuration option payload."""
    currentValue: SessionConfigValueId
    """The currently selected value."""
    options: SessionConfigSelectOptions
    """The set of selectable options."""


class SessionConfigSelectGroup(TypedDict):
    """A group of possible values for a session configuration option."""
    _meta: NotRequired[dict[str, Any] | None]
    group: SessionConfigGroupId
    """Unique identifier for this group."""
    name: str
    """Human-readable label for this group."""
    options: list[SessionConfigSelectOption]
    """The set of option values in this group."""


class SessionConfigSelectOption(TypedDict):
    """A possible value for a session configuration option."""
    _meta: NotRequired[dict[str, Any] | None]
    description: NotRequired[str | None]
    """Optional description for this option value."""
    name: str
    """Human-readable label for this option value."""
    value: SessionConfigValueId
    """Unique identifier for this option value."""

SessionConfigSelectOptions: TypeAlias = (
    "list[SessionConfigSelectOption] | "
    "list[SessionConfigSelectGroup]"
)
"""Possible values for a session configuration option."""

SessionConfigValueId: TypeAlias = "str"
"""Unique identifier for a session configuration option value."""

SessionCursorsCapabilities: TypeAlias = "dict[str, Any]"
"""**UNSTABLE**"""


class SessionDeleteCapabilities(TypedDict):
    """Capabilities for the `session/delete` method."""
    _meta: NotRequired[dict[str, Any] | None]


class SessionForkCapabilities(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]

SessionId: TypeAlias = "str"
"""A unique identifier for a conversation session between a client and agent."""


class SessionInfo(TypedDict):
    """Information about a session returned by session/list"""
    _meta: NotRequired[dict[str, Any] | None]
    additionalDirectories: NotRequired[list[str]]
    """Additional workspace roots reported for this session. Each path MUST be absolute."""
    archived: NotRequired[bool | None]
    """**UNSTABLE**"""
    cwd: str
    """The working directory for this session. Must be an absolute path."""
    sessionId: SessionId
    """Unique identifier for the session"""
    title: NotRequired[str | None]
    """Human-readable title for the session"""
    updatedAt: NotRequired[str | None]
    """ISO 8601 timestamp of last activity"""


class SessionInfoUpdate(TypedDict):
    """Update to session metadata. All fields are optional to support partial updates."""
    _meta: NotRequired[dict[str, Any] | None]
    title: NotRequired[str | None]
    """Human-readable title for the session. Set to null to clear."""
    updatedAt: NotRequired[str | None]
    """ISO 8601 timestamp of last activity. Set to null to clear."""


class SessionListCapabilities(TypedDict):
    """Capabilities for the `session/list` method."""
    _meta: NotRequired[dict[str, Any] | None]


class SessionMessage(TypedDict):
    """An upsert for an inter-session message."""
    _meta: NotRequired[dict[str, Any] | None]
    content: NotRequired[list[ContentBlock] | None]
    """Omitted leaves content unchanged. `null` or `[]` clears it.
    A non-empty array replaces all content."""
    messageId: MessageId
    """Identifier of this message within the enclosing session's transcript."""
    recipientMessageId: NotRequired[MessageId | None]
    """On an outgoing view, the `messageId` of the same message's incoming view in the
    recipient's transcript."""
    recipientSessionId: NotRequired[SessionId | None]
    """The receiving session."""
    senderMessageId: NotRequired[MessageId | None]
    """On an incoming view, the `messageId` of the same message's outgoing view in the
    sender's transcript."""
    senderSessionId: NotRequired[SessionId | None]
    """The sending session."""


class SessionMessageChunk(TypedDict):
    """A streamed content block of an inter-session message."""
    _meta: NotRequired[dict[str, Any] | None]
    content: ContentBlock
    """A single content block appended to the message."""
    messageId: MessageId
    """Identifier of this message within the enclosing session's transcript."""


class SessionMode(TypedDict):
    """A mode the agent can operate in."""
    _meta: NotRequired[dict[str, Any] | None]
    description: NotRequired[str | None]
    """Optional human-readable details shown with this protocol object."""
    id: SessionModeId
    """Stable identifier used to refer to this protocol object in later messages."""
    name: str
    """Human-readable name shown for this protocol object."""

SessionModeId: TypeAlias = "str"
"""Unique identifier for a Session Mode."""


class SessionModeState(TypedDict):
    """The set of modes and the one currently active."""
    _meta: NotRequired[dict[str, Any] | None]
    availableModes: list[SessionMode]
    """The set of modes that the Agent can operate in"""
    currentModeId: SessionModeId
    """The current mode the Agent is in."""


class SessionNotification(TypedDict):
    """Notification containing a session update from the agent."""
    _meta: NotRequired[dict[str, Any] | None]
    sessionId: SessionId
    """The ID of the session this update pertains to."""
    update: SessionUpdate
    """The actual update content."""


class SessionOptionsCapabilities(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]


class SessionOptionsRequest(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]
    additionalDirectories: NotRequired[list[str]]
    """Additional workspace roots to resolve options for. Each path MUST be absolute."""
    cwd: str
    """The working directory to resolve options for. Must be an absolute path."""
    sessionId: NotRequired[SessionId | None]
    """The session to resolve options for."""


class SessionOptionsResponse(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]
    configOptions: NotRequired[list[SessionConfigOption] | None]
    """The config options the session would start with, with the same rules as on
    `NewSessionResponse`."""
    modes: NotRequired[SessionModeState | None]
    """The mode state the session would start with, if the Agent supports modes."""


class SessionReference(TypedDict):
    """A display-only reference to another session that this tool call operates on,
    such as a subagent it created, delegated to, or is waiting on."""
    _meta: NotRequired[dict[str, Any] | None]
    sessionId: SessionId
    """The referenced session."""


class SessionResumeCapabilities(TypedDict):
    """Capabilities for the `session/resume` method."""
    _meta: NotRequired[dict[str, Any] | None]

SessionStatus: TypeAlias = "Literal['open'] | Literal['saved'] | str"
"""**UNSTABLE**"""


class SessionStatusCapabilities(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]


class SessionStatusRequest(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]
    sessionId: SessionId
    """The ID of the session to check."""


class SessionStatusResponse(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]
    status: SessionStatus
    """Whether the Agent has the session in memory."""


class SessionSystemPromptCapabilities(TypedDict):
    """Capabilities for client-provided system prompts."""
    _meta: NotRequired[dict[str, Any] | None]
    mode: NotRequired[SessionSystemPromptModeCapabilities | None]
    """Delivery modes the agent supports in addition to `append`."""


class SessionSystemPromptModeCapabilities(TypedDict):
    """System prompt delivery modes the agent supports in addition to `append`."""
    _meta: NotRequired[dict[str, Any] | None]
    override: NotRequired[SessionSystemPromptOverrideCapabilities | None]
    """Whether the agent supports `override` mode."""


class SessionSystemPromptOverrideCapabilities(TypedDict):
    """Capabilities for the `override` system prompt mode."""
    _meta: NotRequired[dict[str, Any] | None]


class SessionTitleCapabilities(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]


class UserMessageChunkSessionUpdate(TypedDict):
    """A chunk of the user's message being streamed."""
    _meta: NotRequired[dict[str, Any] | None]
    content: ContentBlock
    """A single item of content"""
    messageId: NotRequired[MessageId | None]
    """A unique identifier for the message this chunk belongs to."""
    sessionUpdate: Literal["user_message_chunk"]


class AgentMessageChunkSessionUpdate(TypedDict):
    """A chunk of the agent's response being streamed."""
    _meta: NotRequired[dict[str, Any] | None]
    content: ContentBlock
    """A single item of content"""
    messageId: NotRequired[MessageId | None]
    """A unique identifier for the message this chunk belongs to."""
    sessionUpdate: Literal["agent_message_chunk"]


class AgentThoughtChunkSessionUpdate(TypedDict):
    """A chunk of the agent's internal reasoning being streamed."""
    _meta: NotRequired[dict[str, Any] | None]
    content: ContentBlock
    """A single item of content"""
    messageId: NotRequired[MessageId | None]
    """A unique identifier for the message this chunk belongs to."""
    sessionUpdate: Literal["agent_thought_chunk"]


class ToolCallSessionUpdate(TypedDict):
    """Notification that a new tool call has been initiated."""
    _meta: NotRequired[dict[str, Any] | None]
    content: NotRequired[list[ToolCallContent]]
    """Content produced by the tool call."""
    kind: NotRequired[ToolKind]
    """The category of tool being invoked.
    Helps clients choose appropriate icons and UI treatment."""
    locations: NotRequired[list[ToolCallLocation]]
    """File locations affected by this tool call.
    Enables "follow-along" features in clients."""
    name: NotRequired[str | None]
    """Programmatic name of the tool being invoked."""
    rawInput: NotRequired[Any]
    """Raw input parameters sent to the tool."""
    rawOutput: NotRequired[Any]
    """Raw output returned by the tool."""
    sessionUpdate: Literal["tool_call"]
    status: NotRequired[ToolCallStatus]
    """Current execution status of the tool call."""
    title: str
    """Human-readable title describing what the tool is doing."""
    toolCallId: ToolCallId
    """Unique identifier for this tool call within the session."""


class ToolCallUpdateSessionUpdate(TypedDict):
    """Update on the status or results of a tool call."""
    _meta: NotRequired[dict[str, Any] | None]
    content: NotRequired[list[ToolCallContent] | None]
    """Replace the content collection."""
    kind: NotRequired[ToolKind | None]
    """Update the tool kind."""
    locations: NotRequired[list[ToolCallLocation] | None]
    """Replace the locations collection."""
    name: NotRequired[str | None]
    """Update the programmatic name of the tool being invoked."""
    rawInput: NotRequired[Any]
    """Update the raw input."""
    rawOutput: NotRequired[Any]
    """Update the raw output."""
    sessionUpdate: Literal["tool_call_update"]
    status: NotRequired[ToolCallStatus | None]
    """Update the execution status."""
    title: NotRequired[str | None]
    """Update the human-readable title."""
    toolCallId: ToolCallId
    """The ID of the tool call being updated."""


class PlanSessionUpdate(TypedDict):
    """The agent's execution plan for complex tasks.
    See protocol docs: [Agent Plan](https://agentclientprotocol.com/protocol/v1/agent-plan)"""
    _meta: NotRequired[dict[str, Any] | None]
    entries: list[PlanEntry]
    """The list of tasks to be accomplished."""
    sessionUpdate: Literal["plan"]


class PlanUpdateSessionUpdate(TypedDict):
    """Replaces the plan with this ID. Agents MUST NOT send this update unless
    the Client advertised `plan`."""
    _meta: NotRequired[dict[str, Any] | None]
    plan: PlanUpdateContent
    """Replaces the whole plan with this `planId`, even if its `type` changes."""
    sessionUpdate: Literal["plan_update"]


class PlanRemovedSessionUpdate(TypedDict):
    """Removes the plan with this ID. Agents MUST NOT send this update unless
    the Client advertised `plan`."""
    _meta: NotRequired[dict[str, Any] | None]
    planId: PlanId
    """The plan ID to remove. Clients MUST ignore a removal for an unknown ID."""
    sessionUpdate: Literal["plan_removed"]


class AvailableCommandsUpdateSessionUpdate(TypedDict):
    """Available commands are ready or have changed"""
    _meta: NotRequired[dict[str, Any] | None]
    availableCommands: list[AvailableCommand]
    """Commands the agent can execute"""
    sessionUpdate: Literal["available_commands_update"]


class CurrentModeUpdateSessionUpdate(TypedDict):
    """The current mode of the session has changed"""
    _meta: NotRequired[dict[str, Any] | None]
    currentModeId: SessionModeId
    """The ID of the current mode"""
    sessionUpdate: Literal["current_mode_update"]


class ConfigOptionUpdateSessionUpdate(TypedDict):
    """Session configuration options have been updated."""
    _meta: NotRequired[dict[str, Any] | None]
    configOptions: list[SessionConfigOption]
    """The full set of configuration options and their current values."""
    sessionUpdate: Literal["config_option_update"]


class SessionInfoUpdateSessionUpdate(TypedDict):
    """Session metadata has been updated (title, timestamps, custom metadata)"""
    _meta: NotRequired[dict[str, Any] | None]
    sessionUpdate: Literal["session_info_update"]
    title: NotRequired[str | None]
    """Human-readable title for the session. Set to null to clear."""
    updatedAt: NotRequired[str | None]
    """ISO 8601 timestamp of last activity. Set to null to clear."""


class UsageUpdateSessionUpdate(TypedDict):
    """Context window and cost update for the session."""
    _meta: NotRequired[dict[str, Any] | None]
    cost: NotRequired[Cost | None]
    """Cumulative session cost (optional)."""
    sessionUpdate: Literal["usage_update"]
    size: int
    """Total context window size in tokens."""
    used: int
    """Tokens currently in context."""


class NoticeSessionUpdate(TypedDict):
    """Information for the user that is not part of session history."""
    _meta: NotRequired[dict[str, Any] | None]
    description: NotRequired[str | None]
    """Optional plain-text detail or guidance."""
    sessionUpdate: Literal["notice"]
    severity: NoticeSeverity
    """Presentation severity hint."""
    title: str
    """Required non-empty plain-text title that can stand alone."""


class CompactionUpdateSessionUpdate(TypedDict):
    """A context compaction has been created or updated."""
    _meta: NotRequired[dict[str, Any] | None]
    compactionId: CompactionId
    """The Agent-owned ID of this compaction, unique within the session."""
    error: NotRequired[str | None]
    """Human-readable error details for the compaction."""
    sessionUpdate: Literal["compaction_update"]
    status: CompactionStatus
    """Current lifecycle status."""
    summary: NotRequired[list[ContentBlock] | None]
    """Complete replacement user-displayable summary content for the compaction."""


class CompactionSummaryChunkSessionUpdate(TypedDict):
    """A content block appended to a context compaction's retained summary."""
    _meta: NotRequired[dict[str, Any] | None]
    compactionId: CompactionId
    """ID of the compaction whose summary receives this content."""
    content: ContentBlock
    """One content block to append."""
    sessionUpdate: Literal["compaction_summary_chunk"]


class PromptSuggestionsUpdateSessionUpdate(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]
    sessionUpdate: Literal["prompt_suggestions_update"]
    suggestions: list[PromptSuggestion]
    """The suggestions the Client can offer, ordered most likely first."""


class CursorUpdateSessionUpdate(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]
    anchor: NotRequired[CursorAnchor | None]
    """Where the cursor is, relative to an entity the Client holds."""
    capabilities: NotRequired[CursorCapabilities | None]
    """The methods that currently accept this cursor."""
    cursorId: CursorId
    """The Agent-owned ID of this cursor, unique within the session."""
    sessionUpdate: Literal["cursor_update"]


class SubagentUpdateSessionUpdate(TypedDict):
    """Announces a child session created and owned by this session, or updates
    that ownership association's metadata."""
    _meta: NotRequired[dict[str, Any] | None]
    additionalDirectories: NotRequired[list[str] | None]
    """Additional workspace roots for the child. Each path MUST be absolute."""
    capabilities: NotRequired[SubagentSessionCapabilities | None]
    """Client-initiated session mutations permitted for this subagent session."""
    cwd: NotRequired[str | None]
    """The child's working directory. Must be an absolute path."""
    description: NotRequired[str | None]
    """The parent's human-readable description of the child's role or purpose."""
    sessionId: SessionId
    """The opaque session ID identifying the child in all ACP messages."""
    sessionUpdate: Literal["subagent_update"]
    state: NotRequired[StateUpdate | None]
    """Current state snapshot for the child session."""
    title: NotRequired[str | None]
    """The parent's human-readable display title for this child. It need not be unique."""


class SessionMessageSessionUpdate(TypedDict):
    """A message upsert observed in this session's transcript, sent to or
    received from another session."""
    _meta: NotRequired[dict[str, Any] | None]
    content: NotRequired[list[ContentBlock] | None]
    """Omitted leaves content unchanged. `null` or `[]` clears it.
    A non-empty array replaces all content."""
    messageId: MessageId
    """Identifier of this message within the enclosing session's transcript."""
    recipientMessageId: NotRequired[MessageId | None]
    """On an outgoing view, the `messageId` of the same message's incoming view in the
    recipient's transcript."""
    recipientSessionId: NotRequired[SessionId | None]
    """The receiving session."""
    senderMessageId: NotRequired[MessageId | None]
    """On an incoming view, the `messageId` of the same message's outgoing view in the
    sender's transcript."""
    senderSessionId: NotRequired[SessionId | None]
    """The sending session."""
    sessionUpdate: Literal["session_message"]


class SessionMessageChunkSessionUpdate(TypedDict):
    """One content block appended to a sent or received session message."""
    _meta: NotRequired[dict[str, Any] | None]
    content: ContentBlock
    """A single content block appended to the message."""
    messageId: MessageId
    """Identifier of this message within the enclosing session's transcript."""
    sessionUpdate: Literal["session_message_chunk"]

SessionUpdate: TypeAlias = (
    "UserMessageChunkSessionUpdate | "
    "AgentMessageChunkSessionUpdate | "
    "AgentThoughtChunkSessionUpdate | "
    "ToolCallSessionUpdate | "
    "ToolCallUpdateSessionUpdate | "
    "PlanSessionUpdate | "
    "PlanUpdateSessionUpdate | "
    "PlanRemovedSessionUpdate | "
    "AvailableCommandsUpdateSessionUpdate | "
    "CurrentModeUpdateSessionUpdate | "
    "ConfigOptionUpdateSessionUpdate | "
    "SessionInfoUpdateSessionUpdate | "
    "UsageUpdateSessionUpdate | "
    "NoticeSessionUpdate | "
    "CompactionUpdateSessionUpdate | "
    "CompactionSummaryChunkSessionUpdate | "
    "PromptSuggestionsUpdateSessionUpdate | "
    "CursorUpdateSessionUpdate | "
    "SubagentUpdateSessionUpdate | "
    "SessionMessageSessionUpdate | "
    "SessionMessageChunkSessionUpdate"
)
"""Different types of updates that can be sent during session processing."""


class SetProviderRequest(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]
    apiType: LlmProtocol
    """Protocol type for this provider."""
    baseUrl: str
    """Base URL for requests sent through this provider."""
    headers: NotRequired[dict[str, str]]
    """Full headers map for this provider.
    May include authorization, routing, or other integration-specific headers."""
    providerId: ProviderId
    """Provider ID to configure."""


class SetProviderResponse(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]


class BooleanSetSessionConfigOptionRequest(TypedDict):
    """A boolean value (`type: "boolean"`)."""
    _meta: NotRequired[dict[str, Any] | None]
    configId: SessionConfigId
    """The ID of the configuration option to set."""
    sessionId: SessionId
    """The ID of the session to set the configuration option for."""
    type: Literal["boolean"]
    value: bool
    """The boolean value."""


class ValueIdSetSessionConfigOptionRequest(TypedDict):
    """A `SessionConfigValueId` string value."""
    _meta: NotRequired[dict[str, Any] | None]
    configId: SessionConfigId
    """The ID of the configuration option to set."""
    sessionId: SessionId
    """The ID of the session to set the configuration option for."""
    value: SessionConfigValueId
    """The value ID."""

SetSessionConfigOptionRequest: TypeAlias = (
    "BooleanSetSessionConfigOptionRequest | "
    "ValueIdSetSessionConfigOptionRequest"
)
"""Request parameters for setting a session configuration option."""


class SetSessionConfigOptionResponse(TypedDict):
    """Response to `session/set_config_option` method."""
    _meta: NotRequired[dict[str, Any] | None]
    configOptions: list[SessionConfigOption]
    """The full set of configuration options and their current values."""


class SetSessionModeRequest(TypedDict):
    """Request parameters for setting a session mode."""
    _meta: NotRequired[dict[str, Any] | None]
    modeId: SessionModeId
    """The ID of the mode to set."""
    sessionId: SessionId
    """The ID of the session to set the mode for."""


class SetSessionModeResponse(TypedDict):
    """Response to `session/set_mode` method."""
    _meta: NotRequired[dict[str, Any] | None]


class SetSessionTitleRequest(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]
    sessionId: SessionId
    """The ID of the session to retitle."""
    title: str
    """The new title for the session."""


class SetSessionTitleResponse(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]
    title: str
    """The title the Agent stored."""


class RunningStateUpdateVariant(TypedDict):
    """Foreground work is in progress."""
    _meta: NotRequired[dict[str, Any] | None]
    state: Literal["running"]


class IdleStateUpdateVariant(TypedDict):
    """Foreground work is not in progress. The parent can give the child more work."""
    _meta: NotRequired[dict[str, Any] | None]
    state: Literal["idle"]
    stopReason: NotRequired[str | None]
    """Why foreground work stopped. The value selects one of this type's variants, which may add fields of their own."""
    usage: NotRequired[Usage | None]
    """**UNSTABLE** Token usage for completed foreground work."""


class RequiresActionStateUpdateVariant(TypedDict):
    """Foreground work is blocked on user action."""
    _meta: NotRequired[dict[str, Any] | None]
    state: Literal["requires_action"]


class UnknownStateUpdateVariant(TypedDict):
    """The Agent cannot currently determine foreground activity."""
    _meta: NotRequired[dict[str, Any] | None]
    state: Literal["unknown"]

StateUpdate: TypeAlias = (
    "RunningStateUpdateVariant | "
    "IdleStateUpdateVariant | "
    "RequiresActionStateUpdateVariant | "
    "UnknownStateUpdateVariant"
)
"""Current foreground-work state of a reusable child session."""

StopReason: TypeAlias = (
    "Literal['end_turn', "
    "'max_tokens', "
    "'max_turn_requests', "
    "'refusal', "
    "'cancelled']"
)
"""Reasons why an agent stops processing a prompt turn."""

StringFormat: TypeAlias = "Literal['email', 'uri', 'date', 'date-time']"
"""String format types for string properties in elicitation schemas."""


class StringMultiSelectItems(TypedDict):
    """String item schema for multi-select enum properties."""
    _meta: NotRequired[dict[str, Any] | None]
    enum: list[str]
    """Allowed enum values."""


class StringPropertySchema(TypedDict):
    """Schema for string properties in an elicitation form."""
    _meta: NotRequired[dict[str, Any] | None]
    default: NotRequired[str | None]
    """Default value."""
    description: NotRequired[str | None]
    """Human-readable description."""
    enum: NotRequired[list[str] | None]
    """Enum values for untitled single-select enums.
    Optional. Omitted and `null` are equivalent and mean no untitled single-select choices are
    declared by `enum`."""
    format: NotRequired[StringFormat | None]
    """String format."""
    maxLength: NotRequired[int | None]
    """Maximum string length."""
    minLength: NotRequired[int | None]
    """Minimum string length."""
    oneOf: NotRequired[list[EnumOption] | None]
    """Titled enum options for titled single-select enums.
    Optional. Omitted and `null` are equivalent and mean no titled single-select choices are
    declared by `oneOf`."""
    pattern: NotRequired[str | None]
    """Pattern the string must match."""
    title: NotRequired[str | None]
    """Optional title for the property."""


class SubagentCapabilities(TypedDict):
    """Capability marker for exposing reusable child sessions as restricted ACP sessions."""
    _meta: NotRequired[dict[str, Any] | None]


class SubagentSessionCapabilities(TypedDict):
    """Client-initiated session mutations permitted for a specific subagent session."""
    _meta: NotRequired[dict[str, Any] | None]
    cancel: NotRequired[SessionCancelCapabilities | None]
    """Permits the client to cancel this child's current work without ending
    the session. Omitted or `null` means unsupported. An object (including
    `{}`) means supported."""


class SubagentUpdate(TypedDict):
    """Notification that the enclosing parent session created and owns a child session."""
    _meta: NotRequired[dict[str, Any] | None]
    additionalDirectories: NotRequired[list[str] | None]
    """Additional workspace roots for the child. Each path MUST be absolute."""
    capabilities: NotRequired[SubagentSessionCapabilities | None]
    """Client-initiated session mutations permitted for this subagent session."""
    cwd: NotRequired[str | None]
    """The child's working directory. Must be an absolute path."""
    description: NotRequired[str | None]
    """The parent's human-readable description of the child's role or purpose."""
    sessionId: SessionId
    """The opaque session ID identifying the child in all ACP messages."""
    state: NotRequired[StateUpdate | None]
    """Current state snapshot for the child session."""
    title: NotRequired[str | None]
    """The parent's human-readable display title for this child. It need not be unique."""


class SystemPrompt(TypedDict):
    """Client-provided system-level instructions for a session."""
    _meta: NotRequired[dict[str, Any] | None]
    content: list[ContentBlock]
    """The system prompt content."""
    mode: SystemPromptMode
    """How the Agent combines `content` with its own instructions."""

SystemPromptMode: TypeAlias = "Literal['append'] | Literal['override'] | str"
"""How the Agent combines a client-provided system prompt with its own instructions."""


class Terminal(TypedDict):
    """Embed a terminal created with `terminal/create` by its id."""
    _meta: NotRequired[dict[str, Any] | None]
    terminalId: TerminalId
    """Identifier of the terminal instance to embed in the content stream."""


class TerminalExitStatus(TypedDict):
    """Exit status of a terminal command."""
    _meta: NotRequired[dict[str, Any] | None]
    exitCode: NotRequired[int | None]
    """The process exit code (may be null if terminated by signal)."""
    signal: NotRequired[str | None]
    """The signal that terminated the process (may be null if exited normally)."""

TerminalId: TypeAlias = "str"
"""Typed identifier used for terminal values on the wire."""


class TerminalOutputRequest(TypedDict):
    """Request to get the current output and status of a terminal."""
    _meta: NotRequired[dict[str, Any] | None]
    sessionId: SessionId
    """The session ID for this request."""
    terminalId: TerminalId
    """The ID of the terminal to get output from."""


class TerminalOutputResponse(TypedDict):
    """Response containing the terminal output and exit status."""
    _meta: NotRequired[dict[str, Any] | None]
    exitStatus: NotRequired[TerminalExitStatus | None]
    """Exit status if the command has completed."""
    output: str
    """The terminal output captured so far."""
    truncated: bool
    """Whether the output was truncated due to byte limits."""


class TextContent(TypedDict):
    """Text provided to or from an LLM."""
    _meta: NotRequired[dict[str, Any] | None]
    annotations: NotRequired[Annotations | None]
    """Optional annotations that help clients decide how to display or route this content."""
    text: str
    """Text payload carried by this content block."""


class TextResourceContents(TypedDict):
    """Text-based resource contents."""
    _meta: NotRequired[dict[str, Any] | None]
    mimeType: NotRequired[str | None]
    """MIME type describing the encoded media payload."""
    text: str
    """Text payload carried by this content block."""
    uri: str
    """URI associated with this resource or media payload."""


class TitledMultiSelectItems(TypedDict):
    """Items definition for titled multi-select enum properties."""
    _meta: NotRequired[dict[str, Any] | None]
    anyOf: list[EnumOption]
    """Titled enum options."""


class ToolCall(TypedDict):
    """Represents a tool call that the language model has requested."""
    _meta: NotRequired[dict[str, Any] | None]
    content: NotRequired[list[ToolCallContent]]
    """Content produced by the tool call."""
    kind: NotRequired[ToolKind]
    """The category of tool being invoked.
    Helps clients choose appropriate icons and UI treatment."""
    locations: NotRequired[list[ToolCallLocation]]
    """File locations affected by this tool call.
    Enables "follow-along" features in clients."""
    name: NotRequired[str | None]
    """Programmatic name of the tool being invoked."""
    rawInput: NotRequired[Any]
    """Raw input parameters sent to the tool."""
    rawOutput: NotRequired[Any]
    """Raw output returned by the tool."""
    status: NotRequired[ToolCallStatus]
    """Current execution status of the tool call."""
    title: str
    """Human-readable title describing what the tool is doing."""
    toolCallId: ToolCallId
    """Unique identifier for this tool call within the session."""


class ContentToolCallContent(TypedDict):
    """Standard content block (text, images, resources)."""
    _meta: NotRequired[dict[str, Any] | None]
    content: ContentBlock
    """The actual content block."""
    type: Literal["content"]


class DiffToolCallContent(TypedDict):
    """File modification shown as a diff."""
    _meta: NotRequired[dict[str, Any] | None]
    newText: str
    """The new content after modification."""
    oldText: NotRequired[str | None]
    """The original content (omitted or `null` for new files)."""
    path: str
    """The absolute file path being modified."""
    type: Literal["diff"]


class TerminalToolCallContent(TypedDict):
    """Embed a terminal created with `terminal/create` by its id."""
    _meta: NotRequired[dict[str, Any] | None]
    terminalId: TerminalId
    """Identifier of the terminal instance to embed in the content stream."""
    type: Literal["terminal"]


class SessionToolCallContent(TypedDict):
    """A display-only reference to another session, such as a subagent."""
    _meta: NotRequired[dict[str, Any] | None]
    sessionId: SessionId
    """The referenced session."""
    type: Literal["session"]

ToolCallContent: TypeAlias = (
    "ContentToolCallContent | "
    "DiffToolCallContent | "
    "TerminalToolCallContent | "
    "SessionToolCallContent"
)
"""Content produced by a tool call."""

ToolCallId: TypeAlias = "str"
"""Unique identifier for a tool call within a session."""


class ToolCallLocation(TypedDict):
    """A file location being accessed or modified by a tool."""
    _meta: NotRequired[dict[str, Any] | None]
    line: NotRequired[int | None]
    """Optional 1-based line number within the file."""
    path: str
    """The absolute file path being accessed or modified."""

ToolCallStatus: TypeAlias = "Literal['pending', 'in_progress', 'completed', 'failed']"
"""Execution status of a tool call."""


class ToolCallUpdate(TypedDict):
    """An update to an existing tool call."""
    _meta: NotRequired[dict[str, Any] | None]
    content: NotRequired[list[ToolCallContent] | None]
    """Replace the content collection."""
    kind: NotRequired[ToolKind | None]
    """Update the tool kind."""
    locations: NotRequired[list[ToolCallLocation] | None]
    """Replace the locations collection."""
    name: NotRequired[str | None]
    """Update the programmatic name of the tool being invoked."""
    rawInput: NotRequired[Any]
    """Update the raw input."""
    rawOutput: NotRequired[Any]
    """Update the raw output."""
    status: NotRequired[ToolCallStatus | None]
    """Update the execution status."""
    title: NotRequired[str | None]
    """Update the human-readable title."""
    toolCallId: ToolCallId
    """The ID of the tool call being updated."""

ToolKind: TypeAlias = (
    "Literal['read', "
    "'edit', "
    "'delete', "
    "'move', "
    "'search', "
    "'execute', "
    "'think', "
    "'fetch', "
    "'switch_mode', "
    "'other']"
)
"""Categories of tools that can be invoked."""


class UnarchiveSessionRequest(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]
    sessionId: SessionId
    """The ID of the session to unarchive."""


class UnarchiveSessionResponse(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]


class UnknownStateUpdate(TypedDict):
    """The Agent cannot currently determine foreground activity."""
    _meta: NotRequired[dict[str, Any] | None]


class UnstructuredCommandInput(TypedDict):
    """All text that was typed after the command name is provided as input."""
    _meta: NotRequired[dict[str, Any] | None]
    hint: str
    """A hint to display when the input hasn't been provided yet"""


class Usage(TypedDict):
    """**UNSTABLE**"""
    _meta: NotRequired[dict[str, Any] | None]
    cachedReadTokens: NotRequired[int | None]
    """Total cache read tokens."""
    cachedWriteTokens: NotRequired[int | None]
    """Total cache write tokens."""
    inputTokens: int
    """Total input tokens across all turns."""
    outputTokens: int
    """Total output tokens across all turns."""
    thoughtTokens: NotRequired[int | None]
    """Total thought/reasoning tokens"""
    totalTokens: int
    """Sum of all token types across session."""


class UsageUpdate(TypedDict):
    """Context window and cost update for a session."""
    _meta: NotRequired[dict[str, Any] | None]
    cost: NotRequired[Cost | None]
    """Cumulative session cost (optional)."""
    size: int
    """Total context window size in tokens."""
    used: int
    """Tokens currently in context."""


class WaitForTerminalExitRequest(TypedDict):
    """Request to wait for a terminal command to exit."""
    _meta: NotRequired[dict[str, Any] | None]
    sessionId: SessionId
    """The session ID for this request."""
    terminalId: TerminalId
    """The ID of the terminal to wait for."""


class WaitForTerminalExitResponse(TypedDict):
    """Response containing the exit status of a terminal command."""
    _meta: NotRequired[dict[str, Any] | None]
    exitCode: NotRequired[int | None]
    """The process exit code (may be null if terminated by signal)."""
    signal: NotRequired[str | None]
    """The signal that terminated the process (may be null if exited normally)."""


class WriteTextFileRequest(TypedDict):
    """Request to write content to a text file."""
    _meta: NotRequired[dict[str, Any] | None]
    content: str
    """The text content to write to the file."""
    path: str
    """Absolute path to the file to write."""
    sessionId: SessionId
    """The session ID for this request."""


class WriteTextFileResponse(TypedDict):
    """Response to `fs/write_text_file`"""
    _meta: NotRequired[dict[str, Any] | None]
