//! Answers to clients, from a component's list or from the reason why it is unavailable.

use super::catalog::Catalog;
use super::wants::Wants;
use super::{ComponentProvider, Request, Waiting};
use crate::protocol::{self, Version, invalid, key, object, quoted, software};
use crate::schema::WORK;
use crate::versions;
use acp_chain_channel::Offer;
use acp_chain_rpc::{Error, code};

/// The remaining work for the requests that wait for one list. Requests past it are rejected, which limits the cost of
/// a burst.
pub(super) struct Budget {
    /// Units of [`WORK`].
    pub checks: usize,
    /// Bytes of answers.
    text: usize,
}

impl ComponentProvider {
    /// Serves all requests that wait for a list, from its catalog or from the reason why it is unavailable.
    pub(super) fn serve(&mut self, list: Offer, catalog: Result<&Catalog, &str>) {
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
                Wants::Use(wanted) => {
                    let called = self.call(request, wanted, catalog, &mut budget);
                    self.out.settle(ask, called);
                    continue;
                }
            };
            let served = served.and_then(|text| {
                let left = budget.text.checked_sub(text.len());
                budget.text = left.ok_or_else(|| protocol::heavy(&self.name))?;
                Ok(text)
            });
            match served {
                Ok(text) => self.out.result(ask, &text),
                Err(error) => self.out.fail(ask, &error),
            }
        }
    }

    /// Serves a request that needs no list.
    pub(super) fn serve_now(&mut self, request: Request, wants: Wants) -> Result<(), Error> {
        match wants {
            Wants::Hello(said) => {
                let hello = self.hello(&request, &said);
                self.out.result(request.ask, &hello);
            }
            Wants::Use(wanted) => self.make(request, wanted, None),
            // A page needs a list.
            Wants::Page(method, _) => return Err(protocol::no_method(method)),
        }
        Ok(())
    }

    /// The error for a fault of the component.
    pub(super) fn fault(&self, reason: &str) -> Error {
        let text = format!("The proxy {:?} is at fault: {reason}", self.name);
        Error::new(code::INTERNAL_ERROR, text)
    }

    /// The members of the server's capabilities, as JSON text.
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
        let capable = format!("{{{}}}", self.capable());
        let instructions = match instructions {
            [] => None,
            said => Some(quoted(&said.join("\n\n"))),
        };
        if request.version < Version::Stateless {
            return object(&[
                ("protocolVersion", Some(&quoted(request.version.as_str()))),
                ("capabilities", Some(&capable)),
                ("serverInfo", Some(&software(&self.name))),
                ("instructions", instructions.as_deref()),
            ]);
        }
        let spoken = Version::ALL.map(|version| quoted(version.as_str()));
        self.stateless(&[
            (
                "supportedVersions",
                Some(&format!("[{}]", spoken.join(","))),
            ),
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
                "The cursor is invalid; the list may have changed, so start again without a cursor",
            ));
        };
        let next = next.map(|at| format!("\"{generation}.{at}\""));
        let members = [(member, Some(&*items)), ("nextCursor", next.as_deref())];
        Ok(match request.version {
            Version::Stateless => self.stateless(&members),
            _ => versions::older(method, &object(&members)).into_owned(),
        })
    }
}
