//! What clients are answered, from a list or from why there is none.

use super::catalog::Catalog;
use super::wants::Wants;
use super::{ComponentProvider, Request, Waiting};
use crate::protocol::{self, Version, invalid, key, quoted};
use crate::schema::WORK;
use crate::seat::Output;
use acp_chain_channel::Offer;
use acp_chain_rpc::{Error, code};

/// What may still be done in one go, for all that waited. What does not fit is refused, so that a
/// burst costs no more than some of its requests.
pub(super) struct Budget {
    /// Of [`WORK`].
    pub checks: usize,
    /// Of answers, in bytes.
    text: usize,
}

impl ComponentProvider {
    /// Serves everything that waits for a list, from that or from why there is none.
    pub(super) fn serve(
        &mut self,
        list: Offer,
        catalog: Result<&Catalog, &str>,
        out: &mut Vec<Output>,
    ) {
        let mut budget = Budget {
            checks: WORK,
            text: protocol::KEPT,
        };
        let waiting = self.waiting.extract_if(.., |waiting| waiting.list == list);
        for Waiting { request, wants, .. } in waiting.collect::<Vec<_>>() {
            let ask = request.ask;
            let served = match wants {
                Wants::Hello(mut said) => {
                    let instructions = catalog.ok().and_then(|list| list.instructions.clone());
                    said.extend(instructions);
                    if let Some(next) = self.next_with_instructions(Some(list)) {
                        self.waiting.push(Waiting {
                            request,
                            wants: Wants::Hello(said),
                            list: next,
                        });
                        continue;
                    }
                    Ok(self.hello(&request, &said))
                }
                Wants::Page(of, cursor) => self.page(&request, list, of, cursor, catalog),
                Wants::Use(wanted) => match self.call(request, wanted, catalog, &mut budget) {
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

    /// Serves what takes no list.
    pub(super) fn serve_now(
        &mut self,
        request: Request,
        wants: Wants,
        out: &mut Vec<Output>,
    ) -> Result<(), Error> {
        match wants {
            Wants::Hello(said) => {
                let hello = self.hello(&request, &said);
                out.push(protocol::result(request.ask, &hello));
            }
            Wants::Use(wanted) => out.push(self.call_unlisted(request, wanted)),
            // There is no page without a list.
            Wants::Page(method, _) => return Err(protocol::no_method(method)),
        }
        Ok(())
    }

    /// An error that is the component's fault.
    pub(super) fn fault(&self, reason: &str) -> Error {
        let text = format!("The proxy {:?} is at fault: {reason}", self.name);
        Error::new(code::INTERNAL_ERROR, text)
    }

    fn software(&self) -> String {
        let (name, version) = (quoted(&self.name), env!("CARGO_PKG_VERSION"));
        format!(r#"{{"name":{name},"version":"{version}"}}"#)
    }

    /// What the server can.
    fn capable(&self) -> String {
        let all = Offer::ALL.into_iter();
        let all = all.filter(|offer| self.offers.has(*offer));
        let all = all.map(|offer| match offer {
            Offer::Tools => r#""tools":{"listChanged":true}"#,
            Offer::Resources => r#""resources":{"subscribe":true,"listChanged":true}"#,
            Offer::Prompts => r#""prompts":{"listChanged":true}"#,
            Offer::Completion => r#""completions":{}"#,
        });
        all.collect::<Vec<_>>().join(",")
    }

    /// The answer to `initialize` or `server/discover`.
    fn hello(&self, request: &Request, instructions: &[String]) -> String {
        let capable = self.capable();
        let instructions = match instructions {
            [] => String::new(),
            said => format!(r#","instructions":{}"#, quoted(&said.join("\n\n"))),
        };
        if request.version < Version::Stateless {
            let (version, software) = (request.version.as_str(), self.software());
            return format!(
                r#"{{"protocolVersion":"{version}","capabilities":{{{capable}}},"serverInfo":{software}{instructions}}}"#
            );
        }
        let spoken = Version::ALL.map(|version| quoted(version.as_str()));
        format!(
            r#"{{"supportedVersions":[{}],"capabilities":{{{capable}}}{instructions}{}}}"#,
            spoken.join(","),
            self.stateless()
        )
    }

    /// What 2026-07-28 adds to a result that may be kept.
    fn stateless(&self) -> String {
        let (key, software) = (key::SERVER_INFO, self.software());
        format!(
            r#","resultType":"complete","ttlMs":0,"cacheScope":"private","_meta":{{"{key}":{software}}}"#
        )
    }

    fn page(
        &self,
        request: &Request,
        list: Offer,
        method: &str,
        cursor: Option<String>,
        catalog: Result<&Catalog, &str>,
    ) -> Result<String, Error> {
        let catalog = catalog.map_err(|reason| self.fault(reason))?;
        let generation = self.lists.get(&list).map_or(0, |list| list.generation);
        let from = match &cursor {
            None => Some(0),
            Some(cursor) => cursor.split_once('.').and_then(|(of, from)| {
                let is_of_this = of == generation.to_string();
                from.parse().ok().filter(|_| is_of_this)
            }),
        };
        let page = from.and_then(|from| match method {
            "tools/list" => Some(("tools", catalog.tools.page(from)?)),
            "resources/list" => Some(("resources", catalog.resources.page(from)?)),
            "prompts/list" => Some(("prompts", catalog.prompts.page(from)?)),
            _ => Some(("resourceTemplates", catalog.templates.page(from)?)),
        });
        let Some((member, (items, next))) = page else {
            return Err(invalid(
                "The cursor is of no page; the list may have changed, so begin anew",
            ));
        };
        let next = next.map(|at| format!(r#","nextCursor":"{generation}.{at}""#));
        let added = match request.version {
            Version::Stateless => self.stateless(),
            _ => String::new(),
        };
        let next = next.unwrap_or_default();
        Ok(format!(r#"{{"{member}":{items}{next}{added}}}"#))
    }
}
