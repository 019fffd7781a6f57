//! The component's interface: the exported `resources`, in terms of the types of this crate.

use super::Resources;
use crate::bindings::acp_chain::proxy::types;
use crate::bindings::resources::acp_chain::proxy::calls::Outcome;
use crate::bindings::resources::exports::acp_chain::proxy::resources as wit;
use crate::component::ExportedProxy;
use crate::{Call, Component, Json};

impl<P: ExportedProxy + Resources> wit::Guest for Component<P> {
    fn list_resources(session: Option<String>) -> Result<wit::Catalog, String> {
        let texts = |all: Vec<Json>| all.into_iter().map(String::from).collect();
        let catalog = super::list(session.as_deref())?;
        Ok(wit::Catalog {
            instructions: catalog.instructions,
            resources: texts(catalog.resources),
            templates: texts(catalog.templates),
        })
    }

    fn read_resource(read: wit::ResourceRead) -> Result<Outcome, types::RpcError> {
        let call = Call::new(read.id, read.session, read.uri);
        let done = super::read(call)?;
        Ok(done.map_or(Outcome::Pending, |result| Outcome::Done(result.into())))
    }
}
