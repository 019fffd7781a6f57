//! The process that stands in for a remote agent: it copies messages between its standard streams and the agent, byte
//! for byte.
//!
//! It is a separate process, since a running chain may connect to nothing. Where the system supports it, one process
//! serves all chains of a server, which passes it the streams of each.

use std::sync::{Arc, OnceLock};

use acp_chain_remote::client::{self, Target};
use tokio::runtime::Builder;

use crate::Error;
use acp_chain_channel::limits::LINE;
use acp_chain_rpc::transport::{Frame, Outbox, Transport};
use acp_chain_rpc::{self as rpc, Id, Message, code, one_line};
use acp_chain_system::handover;

/// Serves all streams passed over the socket at standard input, until the sender closes it.
pub fn serve_all(target: Target) -> Result<(), Error> {
    let target = Arc::new(target);
    let runtime = Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(Error::Runtime)?;
    let within = runtime.enter();
    let end = loop {
        let (input, output) = match handover::take() {
            Ok(Some(streams)) => streams,
            Ok(None) => break Ok(()),
            Err(error) => break Err(Error::Io(error)),
        };
        let target = target.clone();
        runtime.spawn(async move {
            let client = Transport::lines(input, output, LINE);
            if let Err(error) = join(client, &target).await {
                tracing::error!("{error}");
            }
        });
    };
    drop(within);
    // Looking up an address would delay the end.
    runtime.shutdown_background();
    end
}

/// Serves standard input and output.
pub async fn serve(target: &Target) -> Result<(), Error> {
    let (input, output) = crate::streams()?;
    let client = Transport::lines(input, output, LINE);
    join(client, target).await
}

/// Connects to the agent, and copies messages both ways until either end disconnects. Fails if the agent caused that; if
/// the agent has sent nothing, the client's first request is answered with the error.
async fn join(client: Transport, target: &Target) -> Result<(), Error> {
    let agent = client::connect(target, LINE)?;
    let (mut from_client, mut to_agent) = (client.incoming, agent.outgoing);
    let (mut from_agent, mut to_client) = (agent.incoming, client.outgoing);
    let first = OnceLock::new();
    let mut has_received = false;
    let sent = async {
        let mut outbox = Outbox::default();
        while let Ok(true) = from_client.read().await {
            while let Some(frame) = from_client.next_frame() {
                first.get_or_init(|| id(&frame));
                push(frame, &mut outbox)?;
                let written = to_agent.write_all(&mut outbox).await;
                written.map_err(Error::Io)?;
            }
        }
        // The other direction ends, too.
        to_agent.close();
        std::future::pending().await
    };
    let received = async {
        let mut outbox = Outbox::default();
        while from_agent.read().await.map_err(Error::Io)? {
            while let Some(frame) = from_agent.next_frame() {
                has_received = true;
                push(frame, &mut outbox)?;
                // A client that disconnects closes our input, too.
                let _ = to_client.write_all(&mut outbox).await;
            }
        }
        Ok(())
    };
    let done: Result<(), Error> = tokio::select! {
        failed = sent => failed,
        ended = received => ended,
    };
    if let (Err(error), false, Some(Some(id))) = (&done, has_received, first.get()) {
        let error = rpc::Error::new(code::INTERNAL_ERROR, format!("acp-chain: {error}"));
        let mut outbox = Outbox::default();
        Message::error(&error).write(Some(id.as_str()), &mut outbox);
        let _ = to_client.write_all(&mut outbox).await;
    }
    done
}

/// The id of a request.
fn id(frame: &Frame) -> Option<Id> {
    match frame {
        Frame::Line(line) => Message::parse(line.clone()).ok()?.id(),
        Frame::Message(message) => message.id(),
        Frame::TooLong { .. } | Frame::Torn(_) => None,
    }
}

/// Appends a message to others.
fn push(frame: Frame, outbox: &mut Outbox) -> Result<(), Error> {
    match frame {
        Frame::Line(line) => {
            outbox.push(&one_line(line));
            outbox.push_str("\n");
        }
        Frame::Message(message) => message.write(None, outbox),
        // The peer disconnected in the middle of a message.
        Frame::Torn(_) => {}
        Frame::TooLong { len, limit, .. } => return Err(Error::TooLong(len, limit)),
    }
    Ok(())
}
