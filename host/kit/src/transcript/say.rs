//! Plays the actions of a transcript.

use tokio::time::{sleep, timeout};

use super::act::{Act, Call, Kind, Said};
use super::json::{Json, plain};
use super::outcome::Outcome;
use super::pattern::JsonPattern;
use super::play::{Player, Stop, list};
use super::wire::RESTART;
use acp_chain_acp::{CANCEL_REQUEST, HOOK};
use acp_chain_channel::Peer;

/// The metadata of an MCP client.
const META: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"agent","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;

impl Player<'_> {
    /// Plays an action, and waits until everything is idle.
    pub(super) async fn act(&mut self, at: usize, act: &Act) -> Result<(), Stop> {
        match act {
            Act::Says(end, said) => self.says(*end, said).await?,
            Act::Calls(call) => self.calls(call).await?,
            Act::Session(name, params) => {
                let params = params.fill(&self.captures).ok_or_else(cannot_be_sent)?;
                self.begin_session(name, &params).await?;
            }
            Act::After(time) => sleep(*time).await,
            Act::Fails(proxy) => self.watch(proxy)?.fail_next(),
            Act::Restarts(proxy, saved) => self.restarts(at, proxy, saved.as_ref()).await?,
            // The first lines of a transcript say what there is before anything is played.
            Act::HasStored(of, values) if at >= self.script.beginning() => {
                self.put(of, values).await?;
            }
            Act::HasStored(..) | Act::Gets(..) | Act::Logs(..) | Act::Stores(..) => {}
        }
        self.rest().await;
        Ok(())
    }

    async fn says(&mut self, peer: Peer, said: &Said) -> Result<(), Stop> {
        let body = said.body.as_ref();
        let body = body.map(|body| body.fill(&self.captures).ok_or_else(cannot_be_sent));
        let body = body.transpose()?;
        let name = said.name.clone().unwrap_or_default();
        let session = self.session.clone();
        let with_session = |method: &str| with_session(method, body.clone(), session.as_deref());
        match &said.kind {
            Kind::Request(method) => {
                self.asked.insert((peer, name.clone()), method.clone());
                let (id, params) = (plain(&name), with_session(method));
                self.end(peer).wire.ask(&id, method, &params).await?;
            }
            Kind::Notification(method) => {
                let params = with_session(method);
                self.end(peer).wire.tell(method, &params).await?;
            }
            Kind::Cancel => {
                let params = Json::Object([("requestId".to_owned(), Json::Text(name))].into());
                self.end(peer).wire.tell(CANCEL_REQUEST, &params).await?;
            }
            Kind::Result | Kind::Error => {
                let Some(id) = self.end(peer).got.get(&name).cloned() else {
                    let peer = peer.as_str();
                    return Err(Stop(format!(
                        "the {peer} did not receive the request `{name}`, and cannot answer it"
                    )));
                };
                let (slot, body) = match said.kind {
                    Kind::Result => ("result", body.unwrap_or_else(empty)),
                    _ => ("error", body.unwrap_or_else(failed)),
                };
                self.end(peer).wire.answer(&id, slot, &body).await?;
            }
        }
        Ok(())
    }

    /// Calls an MCP server, in the stateless dialect.
    async fn calls(&mut self, call: &Call) -> Result<(), Stop> {
        let Some(server) = self.servers.get(&call.server).cloned() else {
            let known = list(self.servers.keys());
            return Err(Stop(format!(
                "the agent has no MCP server `{}`, it has {known}; a proxy with a server needs the power `tools`",
                call.server
            )));
        };
        let params = call.params.fill(&self.captures);
        let mut params = params.ok_or_else(cannot_be_sent)?;
        if let Json::Object(members) = &mut params {
            let meta = Json::read(META).unwrap_or(Json::Null);
            members.entry("_meta".to_owned()).or_insert(meta);
        }
        let message = [
            ("serverId", Json::Text(server)),
            ("requestId", Json::Text(call.name.clone())),
            ("method", Json::Text(call.method.clone())),
            ("params", params),
        ];
        let message = message.map(|(name, value)| (name.to_owned(), value));
        self.calls.insert(call.name.clone());
        let (id, message) = (plain(&call.name), Json::Object(message.into()));
        self.agent.wire.ask(&id, "mcp/message", &message).await?;
        Ok(())
    }

    async fn restarts(
        &mut self,
        at: usize,
        proxy: &str,
        expected: Option<&JsonPattern>,
    ) -> Result<(), Stop> {
        let watch = self.watch(proxy)?.clone();
        let Ok(saved) = timeout(RESTART, watch.restarted()).await else {
            self.pending.push(Outcome::Missing(at));
            return Ok(());
        };
        let saved = saved.map_or(Json::Null, |text| {
            Json::read(&text).unwrap_or(Json::Text(text))
        });
        let matched = expected.map(|pattern| pattern.matches(&saved, &self.captures));
        match (expected, matched) {
            (_, Some(Some(captures))) => self.captures = captures,
            (Some(pattern), Some(None)) => {
                let pattern = self.adapt(pattern, &saved);
                let act = Act::Restarts(proxy.to_owned(), Some(pattern));
                self.pending.push(Outcome::Changed(at, act));
            }
            _ => {}
        }
        Ok(())
    }
}

/// Whether messages of a method have a `sessionId`.
pub(super) fn in_session(method: &str) -> bool {
    let is_own = !matches!(method, "session/new" | "session/list");
    is_own
        && ["session/", "fs/", "terminal/", HOOK]
            .iter()
            .any(|start| method.starts_with(start))
}

/// The params of a message, with the `sessionId` added if the method has one.
fn with_session(method: &str, body: Option<Json>, session: Option<&str>) -> Json {
    let mut body = body.unwrap_or_else(empty);
    if let (Json::Object(members), Some(session)) =
        (&mut body, session.filter(|_| in_session(method)))
    {
        let own = || Json::Text(session.to_owned());
        members.entry("sessionId".to_owned()).or_insert_with(own);
    }
    body
}

fn empty() -> Json {
    Json::Object(indexmap::IndexMap::new())
}

/// The default error in an answer.
fn failed() -> Json {
    Json::read(r#"{"code":-32603,"message":"it failed"}"#).unwrap_or(Json::Null)
}

/// The error about a message that [`JsonPattern::fill`] cannot fill.
pub(super) fn cannot_be_sent() -> Stop {
    Stop(
        "a `<name>` in this step has no value, because the message that should capture it did not match; or the message \
         is too long"
            .to_owned(),
    )
}
