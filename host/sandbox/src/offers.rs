//! The optional interfaces of a component, and the channel's types in each.

use wasmtime::Store;
use wasmtime::component::{Instance, InstancePre};

use super::convert;
use super::state::State;
use super::version;
use acp_chain_channel::{ChannelError, Decision, Delivery, Offer, Offers};
use acp_chain_rpc::member;

/// The bindings of one optional interface.
macro_rules! interface {
    ($module:ident, $interface:literal) => {
        #[allow(
            missing_docs,
            clippy::pedantic,
            reason = "generated from wit/proxy.wit"
        )]
        mod $module {
            wasmtime::component::bindgen!({
                path: "wit",
                inline: $interface,
                world: "acp-chain:host/offer",
                exports: { default: async },
            });

            use self::acp_chain::proxy::calls::Outcome;
            use self::acp_chain::proxy::types::RpcError;
            pub use self::exports::acp_chain::proxy::$module as wit;

            /// The interface of a running component, if it has it.
            pub fn of(
                store: &mut super::Store<super::State>,
                instance: &super::Instance,
                has: bool,
            ) -> wasmtime::Result<Option<Offer>> {
                has.then(|| Offer::new(store, instance)).transpose()
            }

            /// The outcome of a call.
            pub fn decision(
                outcome: Result<Outcome, RpcError>,
            ) -> Result<super::Decision, super::ChannelError> {
                match outcome {
                    Ok(Outcome::Done(result)) => Ok(super::Decision::Respond(result)),
                    Ok(Outcome::Pending) => Ok(super::Decision::Hold),
                    Err(RpcError {
                        code,
                        message,
                        data,
                    }) => super::convert::reject(code, message, data),
                }
            }
        }
    };
}

interface!(
    tools,
    "package acp-chain:host; world offer { export acp-chain:proxy/tools@0.1.2; }"
);
interface!(
    resources,
    "package acp-chain:host; world offer { export acp-chain:proxy/resources@0.1.2; }"
);
interface!(
    prompts,
    "package acp-chain:host; world offer { export acp-chain:proxy/prompts@0.1.2; }"
);
interface!(
    completion,
    "package acp-chain:host; world offer { export acp-chain:proxy/completion@0.1.2; }"
);

/// The offers of a component with these exports; an error if an interface differs from the host's.
pub fn of_component(exports: &[&str], pre: &InstancePre<State>) -> wasmtime::Result<Offers> {
    let has = |offer: &Offer| {
        let mut interfaces = exports.iter().filter_map(|name| version::interface(name));
        interfaces.any(|interface| interface == offer.as_str())
    };
    let all: Vec<_> = Offer::ALL.into_iter().filter(has).collect();
    for offer in &all {
        match offer {
            Offer::Tools => tools::OfferPre::new(pre.clone()).map(drop)?,
            Offer::Resources => resources::OfferPre::new(pre.clone()).map(drop)?,
            Offer::Prompts => prompts::OfferPre::new(pre.clone()).map(drop)?,
            Offer::Completion => completion::OfferPre::new(pre.clone()).map(drop)?,
        }
    }
    Ok(all.into_iter().collect())
}

/// The interfaces of a running component.
pub struct Interfaces {
    tools: Option<tools::Offer>,
    resources: Option<resources::Offer>,
    prompts: Option<prompts::Offer>,
    completion: Option<completion::Offer>,
    pub offers: Offers,
}

impl Interfaces {
    pub fn new(
        store: &mut Store<State>,
        instance: &Instance,
        offers: Offers,
    ) -> wasmtime::Result<Self> {
        Ok(Self {
            tools: tools::of(store, instance, offers.has(Offer::Tools))?,
            resources: resources::of(store, instance, offers.has(Offer::Resources))?,
            prompts: prompts::of(store, instance, offers.has(Offer::Prompts))?,
            completion: completion::of(store, instance, offers.has(Offer::Completion))?,
            offers,
        })
    }

    /// Lists the offers of an interface. The result is JSON: an object whose members are named after their contents.
    /// The inner error is the component's.
    pub async fn list(
        &self,
        store: &mut Store<State>,
        offer: Offer,
        session: Option<&str>,
    ) -> wasmtime::Result<Result<String, String>> {
        let array = |texts: &[String]| format!("[{}]", texts.join(","));
        let said = |instructions: &Option<String>| {
            // A text always serializes.
            serde_json::to_string(instructions).unwrap_or_default()
        };
        match (offer, &self.tools, &self.resources, &self.prompts) {
            (Offer::Tools, Some(tools), ..) => {
                let tools = tools.acp_chain_proxy_tools();
                let listed = tools.call_list_tools(store, session).await?;
                Ok(listed.map(|catalog| {
                    let (said, tools) = (said(&catalog.instructions), array(&catalog.tools));
                    format!(r#"{{"instructions":{said},"tools":{tools}}}"#)
                }))
            }
            (Offer::Resources, _, Some(resources), _) => {
                let resources = resources.acp_chain_proxy_resources();
                let listed = resources.call_list_resources(store, session).await?;
                Ok(listed.map(|catalog| {
                    let said = said(&catalog.instructions);
                    let resources = array(&catalog.resources);
                    let templates = array(&catalog.templates);
                    format!(
                        r#"{{"instructions":{said},"resources":{resources},"templates":{templates}}}"#
                    )
                }))
            }
            (Offer::Prompts, _, _, Some(prompts)) => {
                let prompts = prompts.acp_chain_proxy_prompts();
                let listed = prompts.call_list_prompts(store, session).await?;
                Ok(listed.map(|prompts| format!(r#"{{"prompts":{}}}"#, array(&prompts))))
            }
            _ => Ok(Err(lacks(offer))),
        }
    }

    /// Calls the component for an MCP request.
    pub async fn call(
        &self,
        store: &mut Store<State>,
        call: &Delivery,
    ) -> wasmtime::Result<Result<Result<Decision, ChannelError>, String>> {
        let body = call.message.body();
        let text = |object: &str, name: &str| -> String {
            let text = member(object, name).and_then(|text| serde_json::from_str(text).ok());
            text.unwrap_or_default()
        };
        let json = |object: &str, name: &str| member(object, name).unwrap_or("{}").to_owned();
        let id = call.id;
        let session = call.session.as_deref().map(str::to_owned);
        let Some(offer) = Offer::of(&call.method) else {
            return Ok(Err(format!(
                "it has no interface for the method {}",
                call.method
            )));
        };
        let (tools, resources) = (&self.tools, &self.resources);
        let decision = match (offer, tools, resources, &self.prompts, &self.completion) {
            (Offer::Tools, Some(tools), ..) => {
                let call = tools::wit::ToolCall {
                    id,
                    session,
                    name: text(body, "name"),
                    arguments: json(body, "arguments"),
                };
                let tools = tools.acp_chain_proxy_tools();
                tools::decision(tools.call_call_tool(store, &call).await?)
            }
            (Offer::Resources, _, Some(resources), ..) => {
                let uri = text(body, "uri");
                let read = resources::wit::ResourceRead { id, session, uri };
                let resources = resources.acp_chain_proxy_resources();
                resources::decision(resources.call_read_resource(store, &read).await?)
            }
            (Offer::Prompts, _, _, Some(prompts), _) => {
                let call = prompts::wit::PromptCall {
                    id,
                    session,
                    name: text(body, "name"),
                    arguments: json(body, "arguments"),
                };
                let prompts = prompts.acp_chain_proxy_prompts();
                prompts::decision(prompts.call_get_prompt(store, &call).await?)
            }
            (Offer::Completion, .., Some(completion)) => {
                let (argument, context) = (json(body, "argument"), json(body, "context"));
                let call = completion::wit::CompletionCall {
                    id,
                    session,
                    reference: json(body, "ref"),
                    argument: text(&argument, "name"),
                    value: text(&argument, "value"),
                    context: json(&context, "arguments"),
                };
                let completion = completion.acp_chain_proxy_completion();
                completion::decision(completion.call_complete(store, &call).await?)
            }
            _ => return Ok(Err(lacks(offer))),
        };
        Ok(Ok(decision))
    }
}

fn lacks(offer: Offer) -> String {
    format!("it has no {}", offer.as_str())
}

/// The part of a call for `channel.read`: its arguments, if any.
pub fn shown(call: &Delivery) -> &str {
    let body = call.message.body();
    let arguments = match Offer::of(&call.method) {
        Some(Offer::Tools | Offer::Prompts) => member(body, "arguments"),
        _ => None,
    };
    arguments.unwrap_or("{}")
}
