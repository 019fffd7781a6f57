//! A real MCP client in the place of the agent, on either bridge.

#![expect(
    deprecated,
    reason = "servers of older versions ask for roots and samples, and log"
)]

use acp_chain_tests::declared::{address, command};
use acp_chain_tests::host::InProcess;
use acp_chain_tests::web;
pub use acp_chain_tests::wire::in_time as watched;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientConfig, CreateMessageRequestParams,
    CreateMessageResult, ElicitRequestParams, ElicitResult, ErrorData, ListRootsResult,
    LoggingMessageNotificationParam, ProgressNotificationParam, ProtocolVersion,
    ResourceUpdatedNotificationParam, Root,
};
use rmcp::service::{
    NotificationContext, RequestContext, RoleClient, RunningService, ServiceError,
};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt};
use serde_json::{Value, json};
use tokio::sync::mpsc;

/// An agent whose MCP client uses only HTTP, and one whose MCP client uses stdio.
pub const HTTP: &str = r#"{"protocolVersion":2,"capabilities":{"session":{"mcp":{"http":{}}}}}"#;
pub const STDIO: &str = r#"{"protocolVersion":1}"#;

/// Agents with each bridge.
pub const BOTH: [&str; 2] = [HTTP, STDIO];

/// The text of the client's model.
pub const SAMPLE: &str = "the model's words";

/// How a client begins.
pub fn legacy() -> ClientLifecycleMode {
    ClientLifecycleMode::Initialize
}

/// The same in MCP 2026-07-28.
pub fn modern() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    }
}

/// The same in a version that the server knows.
pub fn either() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: None,
    }
}

/// A notification of the server to its client.
#[derive(Debug, PartialEq)]
pub enum ServerNotice {
    Progress(f64),
    Log(Value),
    Updated(String),
    ToolsChanged,
}

/// A client with one root, a model and a user.
pub struct Handler(mpsc::UnboundedSender<ServerNotice>);

fn made<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

impl ClientHandler for Handler {
    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        Ok(ListRootsResult::new(vec![Root::new("file:///project")]))
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let content = json!({ "type": "text", "text": SAMPLE });
        made(json!({ "model": "m", "role": "assistant", "content": content }))
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        made(json!({ "action": "accept", "content": { "name": "Ada" } }))
    }

    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let _ = self.0.send(ServerNotice::Progress(progress.progress));
    }

    async fn on_logging_message(
        &self,
        log: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let _ = self.0.send(ServerNotice::Log(log.data));
    }

    async fn on_resource_updated(
        &self,
        updated: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let _ = self.0.send(ServerNotice::Updated(updated.uri));
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        let _ = self.0.send(ServerNotice::ToolsChanged);
    }

    fn get_info(&self) -> ClientConfig {
        let capabilities = json!({ "roots": {}, "sampling": {}, "elicitation": { "form": {} } });
        let about = json!({ "name": "client", "version": "1" });
        let capabilities = serde_json::from_value(capabilities).expect("capabilities");
        ClientConfig::new(
            capabilities,
            serde_json::from_value(about).expect("a client"),
        )
    }
}

/// A running client.
pub struct Caller {
    pub client: RunningService<RoleClient, Handler>,
    pub told: mpsc::UnboundedReceiver<ServerNotice>,
}

impl Caller {
    /// Connects to the server of a declaration.
    pub async fn connect(declared: &Value, mode: ClientLifecycleMode) -> Self {
        let (tell, told) = mpsc::unbounded_channel();
        let handler = Handler(tell);
        let client = if declared["type"] == "http" {
            let (url, bearer) = address(declared);
            let secret = bearer.strip_prefix("Bearer ").expect("a bearer");
            let config = StreamableHttpClientTransportConfig::with_uri(url).auth_header(secret);
            let transport = StreamableHttpClientTransport::with_client(web::client(), config);
            watched("a client", handler.serve_with_lifecycle(transport, mode)).await
        } else {
            let transport = TokioChildProcess::new(command(declared)).expect("the shim");
            watched("a client", handler.serve_with_lifecycle(transport, mode)).await
        };
        let client = client.unwrap_or_else(|error| panic!("{error}: {declared}"));
        Self { client, told }
    }

    /// Calls a tool.
    pub async fn call(&self, name: &'static str, arguments: Value) -> CallToolResult {
        let called = self.try_call(name, arguments).await;
        called.unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The same for a call that may fail.
    pub async fn try_call(
        &self,
        name: &'static str,
        arguments: Value,
    ) -> Result<CallToolResult, ServiceError> {
        let Value::Object(arguments) = arguments else {
            panic!("arguments are an object");
        };
        let params = CallToolRequestParams::new(name).with_arguments(arguments);
        watched(name, self.client.call_tool(params)).await
    }

    /// The next progress notification.
    pub async fn progress(&mut self) -> ServerNotice {
        let wants = |told| matches!(told, ServerNotice::Progress(_)).then_some(told);
        self.hears("progress", wants).await
    }

    /// Waits for a notification that this accepts.
    pub async fn hears<T>(
        &mut self,
        what: &str,
        mut wants: impl FnMut(ServerNotice) -> Option<T>,
    ) -> T {
        loop {
            let told = watched(what, self.told.recv()).await;
            let told = told.unwrap_or_else(|| panic!("{what}: the client ended"));
            if let Some(found) = wants(told) {
                return found;
            }
        }
    }
}

/// The texts of a result.
pub fn text(result: &CallToolResult) -> String {
    let result = serde_json::to_value(result).expect("JSON");
    let content = result["content"].as_array().expect("content").iter();
    content.filter_map(|block| block["text"].as_str()).collect()
}

/// A chain of these proxies in front of such an agent, with one session, and the declarations of the proxies'
/// servers that the agent receives.
pub async fn bridged(proxies: &[(&str, &str)], agent: &str) -> (InProcess, Vec<Value>) {
    let mut chain = InProcess::initialized_with(proxies, agent).await;
    let declared = chain.session("session-1", "[]").await;
    (chain, declared)
}
