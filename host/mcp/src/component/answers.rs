//! Answers to clients, from a component's list or from the reason why it is unavailable.

use super::catalog::Catalog;
use super::operation::Operation;
use super::{Component, WaitingRequest};
use crate::protocol::{self, Version, array, invalid, key, object, quoted, software};
use crate::seat::Outputs;
use acp_chain_channel::Offer;
use acp_chain_rpc::{Error, code};
use acp_chain_schema::WORK;

/// The remaining work for the requests that wait for one list. Requests past it are rejected, which limits the cost of
/// a burst.
pub(super) struct Budget {
    /// Units of [`WORK`].
    pub checks: usize,
    /// Bytes of answers.
    text: usize,
}

impl Component {
    /// Serves all requests that wait for a list, from its catalog or from the reason why it is unavailable.
    pub(super) fn serve(
        &mut self,
        list: Offer,
        catalog: Result<&Catalog, &str>,
        out: &mut Outputs,
    ) {
        let mut budget = Budget {
            checks: WORK,
            text: protocol::KEPT,
        };
        let waiting = self.waiting.extract_if(.., |waiting| waiting.list == list);
        for WaitingRequest {
            request,
            operation,
            charge,
            ..
        } in waiting.collect::<Vec<_>>()
        {
            let ask = request.ask;
            let served = match operation {
                Operation::Discover(mut said) => {
                    let instructions = catalog.ok().and_then(|list| list.instructions.clone());
                    said.extend(instructions);
                    if let Some(next) = self.next_with_instructions(Some(list)) {
                        self.waiting.push(WaitingRequest {
                            request,
                            operation: Operation::Discover(said),
                            list: next,
                            charge,
                        });
                        continue;
                    }
                    Ok(self.hello(&said))
                }
                Operation::Page(of, cursor) => self.page(list, of, cursor, catalog),
                Operation::Call(wanted) => {
                    let called = self.call(request, wanted, catalog, &mut budget, out);
                    out.settle(ask, called);
                    continue;
                }
            };
            let served = served.and_then(|text| {
                let left = budget.text.checked_sub(text.len());
                budget.text = left.ok_or_else(|| protocol::heavy(&self.name))?;
                out.result(ask, &text);
                Ok(())
            });
            out.settle(ask, served);
        }
    }

    /// The error for a fault of the component.
    pub(super) fn fault(&self, reason: &str) -> Error {
        let text = format!("The proxy {:?} is at fault: {reason}", self.name);
        Error::new(code::INTERNAL_ERROR, text)
    }

    /// The server's capabilities, as JSON text.
    fn capable(&self) -> String {
        let all = Offer::ALL.into_iter();
        let all = all.filter(|offer| self.offers.has(*offer));
        let all = all.map(|offer| match offer {
            Offer::Tools => ("tools", Some(r#"{"listChanged":true}"#)),
            Offer::Resources => (
                "resources",
                Some(r#"{"subscribe":true,"listChanged":true}"#),
            ),
            Offer::Prompts => ("prompts", Some(r#"{"listChanged":true}"#)),
            Offer::Completion => ("completions", Some("{}")),
        });
        object(&all.collect::<Vec<_>>())
    }

    /// The answer to `server/discover`.
    pub(super) fn hello(&self, instructions: &[String]) -> String {
        let capable = self.capable();
        let instructions = match instructions {
            [] => None,
            said => Some(quoted(&said.join("\n\n"))),
        };
        let spoken = Version::ALL.map(|version| quoted(version.as_str()));
        let spoken = array(&spoken.each_ref().map(String::as_str));
        self.stateless(&[
            ("supportedVersions", Some(&spoken)),
            ("capabilities", Some(&capable)),
            ("instructions", instructions.as_deref()),
        ])
    }

    /// A cacheable result with these members, in the form of 2026-07-28.
    fn stateless(&self, members: &[(&str, Option<&str>)]) -> String {
        let software = software(&self.name);
        let meta = object(&[(key::SERVER_INFO, Some(&software))]);
        let added = [
            ("resultType", Some(r#""complete""#)),
            ("ttlMs", Some("0")),
            ("cacheScope", Some(r#""private""#)),
            ("_meta", Some(&*meta)),
        ];
        object(&[members, &added].concat())
    }

    fn page(
        &self,
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
                "The cursor is invalid; the list may have changed, so start again without a cursor",
            ));
        };
        let next = next.map(|at| quoted(&format!("{generation}.{at}")));
        let members = [(member, Some(&*items)), ("nextCursor", next.as_deref())];
        Ok(self.stateless(&members))
    }
}
