//! Real clients, over each transport and in each form of MCP.

#![expect(deprecated, reason = "servers of older versions ask for roots")]

use acp_chain::bridge::{Arrival, BridgeKind};
use acp_chain::rpc::member;
use acp_chain_tests::declared::command;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientCapabilities, ClientConfig, ClientRequest,
    ErrorData, Implementation, ListRootsResult, ProgressNotificationParam, ProtocolVersion, Root,
};
use rmcp::service::{
    NotificationContext, PeerRequestOptions, RequestContext, RoleClient, RunningService,
};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt};
use tokio::sync::mpsc;

use super::server::{BridgeServer, Web, watched};

/// A client that has one root, and passes on the progress that it receives.
struct Handler(mpsc::UnboundedSender<f64>);

impl ClientHandler for Handler {
    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        Ok(ListRootsResult::new(vec![Root::new("file:///project")]))
    }

    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let _ = self.0.send(progress.progress);
    }

    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(
            ClientCapabilities::default(),
            Implementation::new("client", "1"),
        )
    }
}

type Client = RunningService<RoleClient, Handler>;

const BOTH: [BridgeKind; 2] = [BridgeKind::Http, BridgeKind::Stdio];

fn legacy() -> ClientLifecycleMode {
    ClientLifecycleMode::Initialize
}

fn modern() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    }
}

fn either() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: None,
    }
}

async fn connect(
    served: &BridgeServer,
    transport: BridgeKind,
    mode: ClientLifecycleMode,
) -> (Client, mpsc::UnboundedReceiver<f64>) {
    let declared = served.offer(transport).await;
    let (told, progress) = mpsc::unbounded_channel();
    let handler = Handler(told);
    let client = match transport {
        BridgeKind::Stdio => {
            let transport = TokioChildProcess::new(command(&declared)).expect("the shim");
            watched("a client", handler.serve_with_lifecycle(transport, mode)).await
        }
        BridgeKind::Http => {
            let web = Web::new(&declared);
            let secret = web.bearer.strip_prefix("Bearer ").expect("a bearer");
            let config = StreamableHttpClientTransportConfig::with_uri(web.url.as_str());
            let config = config.auth_header(secret);
            let transport = StreamableHttpClientTransport::with_client(web.client, config);
            watched("a client", handler.serve_with_lifecycle(transport, mode)).await
        }
    };
    (client.expect("a client"), progress)
}

async fn call(client: &Client, name: &'static str) -> String {
    let called = client.call_tool(CallToolRequestParams::new(name));
    let result = watched("a result", called).await.expect("a result");
    let text = serde_json::to_string(&result).expect("JSON");
    let content = member(&text, "content").expect("content");
    content.to_owned()
}

#[tokio::test]
async fn clients_list_and_call_tools_and_hear_of_progress_before_the_result() {
    for transport in BOTH {
        for mode in [legacy(), modern(), either()] {
            let served = BridgeServer::start();
            let (client, mut progress) = connect(&served, transport, mode).await;
            let tools = watched("the tools", client.list_all_tools()).await.unwrap();
            assert_eq!(tools[0].name, "add");
            assert!(call(&client, "add").await.contains('5'));
            assert!(call(&client, "progress").await.contains("done"));
            assert_eq!(watched("progress", progress.recv()).await, Some(1.0));
            watched("the end", client.cancel()).await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_client_that_asks_what_a_server_is_falls_back_to_initialize() {
    for transport in BOTH {
        let served = BridgeServer::legacy();
        let (client, _) = connect(&served, transport, either()).await;
        assert!(call(&client, "add").await.contains('5'));
    }
}

#[tokio::test]
async fn a_server_asks_its_client_for_roots_with_the_id_0() {
    for transport in BOTH {
        let served = BridgeServer::start();
        let (client, _) = connect(&served, transport, legacy()).await;
        assert!(call(&client, "roots").await.contains("file:///project"));
    }
}

#[tokio::test]
async fn a_call_that_is_cancelled_is_withdrawn_or_its_link_goes() {
    for transport in BOTH {
        for mode in [legacy(), modern()] {
            let stands_alone = transport == BridgeKind::Http && mode == modern();
            let mut served = BridgeServer::start();
            let (client, _) = connect(&served, transport, mode).await;
            let wait = CallToolRequest::new(CallToolRequestParams::new("wait"));
            let request = ClientRequest::CallToolRequest(wait);
            let options = PeerRequestOptions::no_options();
            let sent = client.send_cancellable_request(request, options);
            let pending = watched("the request", sent).await.unwrap();
            let link = loop {
                if let Arrival::Message { link, message, .. } = served.next().await
                    && &**message.method() == "tools/call"
                {
                    break link;
                }
            };
            watched("the cancellation", pending.cancel(None))
                .await
                .unwrap();
            if stands_alone {
                while served.closed().await != link {}
            } else {
                let said = async {
                    loop {
                        let arrival = served.next().await;
                        if let Arrival::Message { message, .. } = arrival
                            && &**message.method() == "notifications/cancelled"
                        {
                            return;
                        }
                    }
                };
                watched("notifications/cancelled", said).await;
            }
        }
    }
}

#[tokio::test]
async fn a_client_that_goes_ends_its_link() {
    for transport in BOTH {
        let mut served = BridgeServer::start();
        let (client, _) = connect(&served, transport, legacy()).await;
        let link = served.opened().await;
        watched("the end", client.cancel()).await.unwrap();
        assert_eq!(served.closed().await, link);
    }
}

#[tokio::test]
async fn a_client_learns_that_its_server_is_gone() {
    let mut served = BridgeServer::start();
    let (client, _) = connect(&served, BridgeKind::Stdio, legacy()).await;
    let link = served.opened().await;
    served.bridge(move |bridge| bridge.hang_up(link)).await;
    watched("the end", client.waiting()).await.unwrap();
    assert_eq!(served.closed().await, link);
}
