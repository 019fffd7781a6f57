//! Carries messages through the host for `cargo xtask bench --instructions`, which counts instructions: from the bytes
//! of an incoming line to the bytes of the outgoing one, through proxies without a sandbox.

mod stage;

use std::time::SystemTime;
use std::{env, io};

use acp_chain_channel::Peer;
use acp_chain_channel::limits::LINE;
use acp_chain_router::trace::{
    Beginning, Decision, Event, Observer, OnFailure, Recorder, Role, Trace,
};
use acp_chain_rpc::transport::{Incoming, LenientReader, LineReader};
use acp_chain_rpc::{self as rpc, Message};
use acp_chain_trace::{Line, Sink};
use bytes::{Buf, Bytes};
use stage::Stage;

fn main() {
    let args: Vec<_> = env::args().skip(1).collect();
    let [what, hops, count, trace] = &args[..] else {
        // `cargo bench` without a choice of benches starts this too: there is nothing to count.
        return;
    };
    let (hops, count): (usize, usize) = (
        hops.parse().expect("a number of proxies"),
        count.parse().expect("a number of messages"),
    );
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let proxies = (0..hops).map(|hop| stage::stub(&format!("stub-{hop}")));
        let mut stage = Stage::new(proxies.collect(), recorder(trace));
        let left = match what.as_str() {
            "update" => updates(&mut stage, count).await,
            "request" => requests(&mut stage, count),
            _ => panic!("unknown benchmark {what}"),
        };
        assert_eq!(left, count, "all messages are sent");
    });
}

/// No trace, a trace without sinks, or one with a sink or an observer.
fn recorder(trace: &str) -> Option<Recorder> {
    let trace = match trace {
        "none" => return None,
        "unheard" => Trace::default(),
        "observed" => Trace::default().observed(Receipts, OnFailure::Halt),
        "heard" => Trace::default().to(NullSink),
        _ => panic!("unknown trace {trace}"),
    };
    Some(trace.tracer().connection(Beginning {
        role: Role::Agent,
        proxies: Vec::new(),
        agent: None,
        chain: None,
    }))
}

/// Discards all lines.
struct NullSink;

impl Sink for NullSink {
    fn write(&mut self, _: &[Line]) -> io::Result<()> {
        Ok(())
    }
}

/// Passes over what receipts pass over of an answer.
struct Receipts;

impl Observer for Receipts {
    fn passes_over(method: &str, message: &Message, decision: Option<Decision>) -> bool {
        match decision {
            Some(decision) => decision == Decision::Forward,
            None => method == "session/update" && message.update() != Some("tool_call"),
        }
    }

    fn began(&mut self, _: &Line, _: Option<&str>) -> io::Result<()> {
        Ok(())
    }

    fn happened(&mut self, _: &str, _: SystemTime, _: &Event) -> io::Result<()> {
        Ok(())
    }

    fn ended(&mut self, _: &str, _: SystemTime) -> io::Result<()> {
        Ok(())
    }

    fn settle(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Carries chunks of an answer, read as from a pipe.
async fn updates(stage: &mut Stage, count: usize) -> usize {
    let lines = format!("{}\n", stage::update(100)).repeat(count);
    let reader = LineReader::new(io::Cursor::new(lines.into_bytes()), LINE);
    let mut incoming: Box<dyn Incoming> = Box::new(LenientReader::new(reader));
    let mut left = 0;
    while incoming.read().await.expect("memory can be read") {
        while let Some(frame) = incoming.next_frame() {
            let message = rpc::read(frame).expect("it is a message");
            left += usize::from(stage.carry(Peer::Agent, message, |outbox| !outbox.is_empty()));
        }
    }
    left
}

/// Carries prompts, and the agent's answer to each.
fn requests(stage: &mut Stage, count: usize) -> usize {
    let mut left = 0;
    for number in 0..count {
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":{number},"method":"session/prompt","params":{{"sessionId":"session-1","prompt":[{{"type":"text","text":"ping"}}]}}}}"#
        );
        let request = Message::parse(line.into()).expect("it is a request");
        let sent = stage.carry(Peer::Client, request, |outbox| {
            let line = outbox.chunk().strip_suffix(b"\n").expect("a line leaves");
            Message::parse(Bytes::copy_from_slice(line)).expect("it is a request")
        });
        let id = sent.id().expect("it has an id");
        let answer = format!(
            r#"{{"jsonrpc":"2.0","id":{},"result":{{"stopReason":"end_turn"}}}}"#,
            id.as_str()
        );
        let answer = Message::parse(answer.into()).expect("it is an answer");
        left += usize::from(stage.carry(Peer::Agent, answer, |outbox| !outbox.is_empty()));
    }
    left
}
