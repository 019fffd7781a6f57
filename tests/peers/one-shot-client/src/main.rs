//! A client over the Rust SDK: starts the agent that the command line names, sends it one prompt,
//! prints the text that streams back, and grants every permission request.
//!
//! `one-shot-client PROMPT AGENT [ARGS…]`

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ContentBlock, InitializeRequest, NewSessionRequest, PermissionOptionKind, PromptRequest,
    RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse,
    SelectedPermissionOutcome, SessionNotification, SessionUpdate, TextContent,
};
use agent_client_protocol::{AcpAgent, Agent, Client, Error};
use agent_client_protocol::{on_receive_notification, on_receive_request};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let prompt = args
        .next()
        .ok_or("usage: one-shot-client PROMPT AGENT [ARGS…]")?;
    let agent = AcpAgent::from_args(args)?;

    Client
        .v1()
        .on_receive_notification(
            async move |notification: SessionNotification, _connection| {
                print_text(&notification.update);
                Ok(())
            },
            on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: RequestPermissionRequest, responder, _connection| {
                responder.respond(RequestPermissionResponse::new(allow(&request)))
            },
            on_receive_request!(),
        )
        .connect_with(agent, |agent| one_turn(agent, prompt))
        .await?;
    Ok(())
}

async fn one_turn(agent: ConnectionTo<Agent>, prompt: String) -> Result<(), Error> {
    let initialize = InitializeRequest::new(ProtocolVersion::V1);
    agent.send_request(initialize).block_task().await?;
    let cwd = std::env::current_dir().map_err(Error::into_internal_error)?;
    let session = agent
        .send_request(NewSessionRequest::new(cwd))
        .block_task()
        .await?;
    let prompt = vec![ContentBlock::Text(TextContent::new(prompt))];
    let prompt = PromptRequest::new(session.session_id, prompt);
    let answer = agent.send_request(prompt).block_task().await?;
    println!("\nstop reason: {:?}", answer.stop_reason);
    Ok(())
}

fn print_text(update: &SessionUpdate) {
    if let SessionUpdate::AgentMessageChunk(chunk) = update
        && let ContentBlock::Text(text) = &chunk.content
    {
        print!("{}", text.text);
    }
}

fn allow(request: &RequestPermissionRequest) -> RequestPermissionOutcome {
    let allowing = |kind| request.options.iter().find(|option| option.kind == kind);
    allowing(PermissionOptionKind::AllowOnce)
        .or_else(|| allowing(PermissionOptionKind::AllowAlways))
        .map_or(RequestPermissionOutcome::Cancelled, |option| {
            RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(
                option.option_id.clone(),
            ))
        })
}
