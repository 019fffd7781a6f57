//! What clients are answered, from the catalog or from why there is none.

use std::borrow::Cow;

use super::catalog::Catalog;
use super::schema::{Refused, WORK};
use super::{Call, Request, Server, Waiting, Wants, outcome};
use crate::mcp::protocol::{self, Version, invalid, key, quoted};
use crate::mcp::seat::Output;
use crate::rpc::{Error, Id, Kind, Message, code};

/// What the server can.
const CAPABILITIES: &str = r#""capabilities":{"tools":{"listChanged":true}}"#;

/// What may still be done in one go, for all that waited. What does not fit is refused, so that a
/// burst costs no more than some of its requests.
struct Budget {
    /// Of [`WORK`].
    checks: usize,
    /// Of answers, in bytes.
    text: usize,
}

impl Server {
    /// Serves everything that waits, from the catalog or from why there is none.
    pub(super) fn serve(&mut self, catalog: Result<&Catalog, &str>, out: &mut Vec<Output>) {
        let mut budget = Budget {
            checks: WORK,
            text: protocol::KEPT,
        };
        for Waiting { request, wants } in std::mem::take(&mut self.waiting) {
            let ask = request.ask;
            let served = match wants {
                Wants::Initialize => Ok(self.initialized(request.version, catalog)),
                Wants::Discover => Ok(self.discovered(catalog)),
                Wants::Page(cursor) => self.page(&request, cursor, catalog),
                Wants::Call {
                    name,
                    arguments,
                    token,
                } => match self.call(request, name, arguments, token, catalog, &mut budget) {
                    Ok(output) => {
                        out.push(output);
                        continue;
                    }
                    Err(error) => Err(error),
                },
            };
            let served = served.and_then(|text| {
                let left = budget.text.checked_sub(text.len());
                budget.text = left.ok_or_else(|| protocol::heavy(&self.name))?;
                Ok(text)
            });
            out.push(match served {
                Ok(text) => protocol::result(ask, &text),
                Err(error) => protocol::failed(ask, &error),
            });
        }
    }

    /// An error that is the component's fault.
    pub(super) fn fault(&self, reason: &str) -> Error {
        let text = format!("The proxy {:?} is at fault: {reason}", self.name);
        Error::new(code::INTERNAL_ERROR, text)
    }

    pub(super) fn software(&self) -> String {
        let (name, version) = (quoted(&self.name), env!("CARGO_PKG_VERSION"));
        format!(r#"{{"name":{name},"version":"{version}"}}"#)
    }

    pub(super) fn initialized(&self, version: Version, catalog: Result<&Catalog, &str>) -> String {
        format!(
            r#"{{"protocolVersion":"{}",{CAPABILITIES},"serverInfo":{}{}}}"#,
            version.as_str(),
            self.software(),
            instructions(catalog)
        )
    }

    pub(super) fn discovered(&self, catalog: Result<&Catalog, &str>) -> String {
        let spoken = Version::ALL.map(|version| quoted(version.as_str()));
        format!(
            r#"{{"supportedVersions":[{}],{CAPABILITIES}{}{}}}"#,
            spoken.join(","),
            instructions(catalog),
            self.stateless()
        )
    }

    /// What 2026-07-28 adds to a result that may be kept.
    pub(super) fn stateless(&self) -> String {
        let (key, software) = (key::SERVER_INFO, self.software());
        format!(
            r#","resultType":"complete","ttlMs":0,"cacheScope":"private","_meta":{{"{key}":{software}}}"#
        )
    }

    pub(super) fn page(
        &self,
        request: &Request,
        cursor: Option<String>,
        catalog: Result<&Catalog, &str>,
    ) -> Result<String, Error> {
        let catalog = catalog.map_err(|reason| self.fault(reason))?;
        let from = match &cursor {
            None => Some(0),
            Some(cursor) => cursor.split_once('.').and_then(|(generation, from)| {
                let is_of_this = generation == self.generation.to_string();
                from.parse().ok().filter(|_| is_of_this)
            }),
        };
        let page = from.and_then(|from| catalog.page(from));
        let Some((tools, next)) = page else {
            return Err(invalid(
                "The cursor is of no page; the list may have changed, so begin anew",
            ));
        };
        let next = next.map(|at| format!(r#","nextCursor":"{}.{at}""#, self.generation));
        let added = match request.version {
            Version::Stateless => self.stateless(),
            _ => String::new(),
        };
        let next = next.unwrap_or_default();
        Ok(format!(r#"{{"tools":{tools}{next}{added}}}"#))
    }

    fn call(
        &mut self,
        request: Request,
        name: String,
        arguments: String,
        token: Option<Id>,
        catalog: Result<&Catalog, &str>,
        budget: &mut Budget,
    ) -> Result<Output, Error> {
        let catalog = catalog.map_err(|reason| self.fault(reason))?;
        let Some(tool) = catalog.tool(&name) else {
            let name = protocol::clipped(&name);
            return Err(invalid(format!("Unknown tool: {name}")));
        };
        let checked = tool.input.check(&arguments, &mut budget.checks);
        if checked == Err(Refused::Work) {
            return Err(protocol::heavy(&self.name));
        }
        if let Err(Refused::Mismatch(reason)) = checked {
            let told = format!("The arguments do not match the inputSchema of {name} {reason}");
            return match request.version >= Version::V2025November {
                true => {
                    let result = outcome::mismatch(&told, request.version);
                    Ok(protocol::result(request.ask, &result))
                }
                false => Err(invalid(told)),
            };
        }
        self.last += 1;
        let call = Call {
            request,
            tool: tool.clone(),
            token,
            progress: None,
        };
        self.calls.insert(self.last, call);
        Ok(Output::CallTool {
            question: self.last,
            name,
            arguments,
        })
    }

    pub(super) fn called(&self, call: &Call, outcome: Message) -> Output {
        let (ask, version) = (call.request.ask, call.request.version);
        if outcome.kind() != Kind::Result {
            return protocol::answer(ask, outcome);
        }
        match outcome::checked(outcome.body(), &call.tool, version) {
            Ok(Cow::Owned(text)) => protocol::result(ask, &text),
            Ok(_) => protocol::answer(ask, outcome),
            Err(reason) => {
                let name = &call.tool.name;
                let reason = format!("what its tool {name:?} gave is no CallToolResult: {reason}");
                protocol::failed(ask, &self.fault(&reason))
            }
        }
    }
}

fn instructions(catalog: Result<&Catalog, &str>) -> String {
    let text = catalog
        .ok()
        .and_then(|catalog| catalog.instructions.as_deref());
    text.map(|text| format!(r#","instructions":{text}"#))
        .unwrap_or_default()
}
