//! A client of a server, over the Rust SDK: it plays the transcript in `../README.md`, and prints what it receives.
//!
//! `remote-client URL FOLDER`

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    CancelNotification, ClientCapabilities, ContentBlock, FileSystemCapabilities,
    InitializeRequest, LoadSessionRequest, NewSessionRequest, PromptRequest, PromptResponse,
    ReadTextFileRequest, ReadTextFileResponse, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, SelectedPermissionOutcome, SessionId, SessionNotification,
    SessionUpdate, TextContent,
};
use agent_client_protocol::{Agent, Client, Error};
use agent_client_protocol::{on_receive_notification, on_receive_request};
use agent_client_protocol_http::HttpClient;
use serde_json::{Value, json};
use tokio::sync::Notify;

/// The streamed text, by session.
#[derive(Default)]
struct StreamedText {
    texts: Mutex<HashMap<SessionId, String>>,
    changed: Notify,
}

impl StreamedText {
    fn take_in(&self, notification: SessionNotification) {
        let (SessionUpdate::UserMessageChunk(chunk) | SessionUpdate::AgentMessageChunk(chunk)) =
            notification.update
        else {
            return;
        };
        if let ContentBlock::Text(text) = chunk.content {
            let mut texts = self.texts.lock().expect("no holder panics");
            *texts.entry(notification.session_id).or_default() += &text.text;
            self.changed.notify_one();
        }
    }

    /// Waits until a session's text ends with `end`, and takes the text out. Answers may overtake streamed text.
    async fn until(&self, session: &SessionId, end: &str) -> String {
        loop {
            let mut texts = self.texts.lock().expect("no holder panics");
            if texts.get(session).is_some_and(|text| text.ends_with(end)) {
                return texts.remove(session).unwrap_or_default();
            }
            drop(texts);
            self.changed.notified().await;
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<_> = std::env::args().skip(1).collect();
    let [url, folder] = &args[..] else {
        return Err("usage: remote-client URL FOLDER".into());
    };
    let streamed = Arc::new(StreamedText::default());
    let heard = streamed.clone();
    Client
        .v1()
        .on_receive_notification(
            async move |notification: SessionNotification, _connection| {
                heard.take_in(notification);
                Ok(())
            },
            on_receive_notification!(),
        )
        .on_receive_request(
            async move |_: ReadTextFileRequest, responder, _connection| {
                responder.respond(ReadTextFileResponse::new("Always be kind."))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: RequestPermissionRequest, responder, _connection| {
                let options: Vec<_> = request.options.iter().map(|one| &one.option_id).collect();
                say(
                    "permission",
                    json!({"title": request.tool_call.fields.title, "options": options}),
                );
                let allow = SelectedPermissionOutcome::new(options[0].clone());
                responder.respond(RequestPermissionResponse::new(
                    RequestPermissionOutcome::Selected(allow),
                ))
            },
            on_receive_request!(),
        )
        .connect_with(HttpClient::with_endpoint(url)?, |agent| {
            play(agent, streamed, folder.clone())
        })
        .await?;
    say("closed", json!({}));
    Ok(())
}

async fn play(
    agent: ConnectionTo<Agent>,
    streamed: Arc<StreamedText>,
    folder: String,
) -> Result<(), Error> {
    let files = FileSystemCapabilities::new().read_text_file(true);
    let initialize = InitializeRequest::new(ProtocolVersion::V1)
        .client_capabilities(ClientCapabilities::new().fs(files));
    let initialized = agent.send_request(initialize).block_task().await?;
    say(
        "initialize",
        json!({
            "agent": initialized.agent_info.map(|agent| agent.name),
            "loadSession": initialized.agent_capabilities.load_session,
        }),
    );

    let one = new_session(&agent, &folder).await?;
    let blocks = [
        "streamed in pieces",
        "permission edit Write the notes /project/notes.txt",
        "key AKIAIOSFODNN7EXAMPLQ, the end",
    ];
    let answer = prompt(&agent, &one, &blocks).await?;
    let text = streamed.until(&one, "]").await;
    say(
        "prompt",
        json!({"text": text, "stopReason": answer.stop_reason}),
    );

    let two = new_session(&agent, &folder).await?;
    let running = prompt(&agent, &two, &["echo running.\nwait"]);
    let meanwhile = async {
        streamed.until(&two, "running.").await;
        let answer = prompt(&agent, &one, &["echo meanwhile."]).await?;
        let text = streamed.until(&one, "meanwhile.").await;
        say(
            "meanwhile",
            json!({"text": text, "stopReason": answer.stop_reason}),
        );
        agent.send_notification(CancelNotification::new(two.clone()))
    };
    let (answer, meanwhile) = tokio::join!(running, meanwhile);
    meanwhile?;
    say("cancel", json!({"stopReason": answer?.stop_reason}));

    let refused = prompt(
        &agent,
        &one,
        &[r#"fail {"code":-32042,"message":"no luck","data":{"n":1}}"#],
    );
    if let Err(error) = refused.await {
        say(
            "error",
            json!({"code": i32::from(error.code), "message": error.message, "data": error.data}),
        );
    }

    // With its envelope, the text stays below the 1 MiB that WebSocket clients accept.
    let large = "x".repeat((1 << 20) - 4096) + ".";
    let answer = prompt(&agent, &one, &[&format!("echo {large}")]).await?;
    let text = streamed.until(&one, ".").await;
    say(
        "large",
        json!({"same": text == large, "stopReason": answer.stop_reason}),
    );

    let stored = SessionId::new("stored");
    let load = LoadSessionRequest::new(stored.clone(), &folder);
    agent.send_request(load).block_task().await?;
    say(
        "load",
        json!({"text": streamed.until(&stored, "answer.").await}),
    );
    Ok(())
}

async fn new_session(agent: &ConnectionTo<Agent>, folder: &str) -> Result<SessionId, Error> {
    let session = agent.send_request(NewSessionRequest::new(folder));
    let session = session.block_task().await?.session_id;
    say("session", json!({"id": session}));
    Ok(session)
}

async fn prompt(
    agent: &ConnectionTo<Agent>,
    session: &SessionId,
    blocks: &[&str],
) -> Result<PromptResponse, Error> {
    let blocks = blocks.iter().copied().map(TextContent::new);
    let prompt = PromptRequest::new(session.clone(), blocks.map(ContentBlock::Text).collect());
    agent.send_request(prompt).block_task().await
}

fn say(step: &str, got: Value) {
    println!("{}", json!({step: got}));
}
