//! Resources for the agent: the part that an author writes.

#[cfg(target_arch = "wasm32")]
mod component;

use std::rc::Rc;

use serde::Serialize;

use crate::call::{self, RunningCall};
use crate::host::{self, Change};
use crate::{Call, ChannelError, Error, Json, ProtocolError, Proxy, Result};

/// A proxy with resources for the agent, which reads them by their URIs. The host offers them in the proxy's MCP
/// server, like [tools](crate#a-proxy-may-have-tools-for-the-agent). It requires the power `tools`, and
/// `export!(Name: Resources)`.
///
/// ```
/// use acp_chain_proxy::{Call, Contents, Proxy, Resource, Resources, Result, export};
///
/// #[derive(Default)]
/// struct Manual;
///
/// impl Proxy for Manual {}
///
/// impl Resources for Manual {
///     fn resources(&self, _session: Option<&str>) -> Vec<Resource> {
///         vec![Resource::new("manual:/start", "start").description("How to begin.")]
///     }
///
///     async fn read(&self, call: Call<String>) -> Result<Option<Contents>> {
///         Ok((call.arguments == "manual:/start").then(|| Contents::text("Begin here.")))
///     }
/// }
///
/// export!(Manual: Resources);
/// ```
#[allow(async_fn_in_trait, reason = "a component has one thread")]
pub trait Resources: Proxy {
    /// The resources and templates for a session. Called when the session's agent lists them, and again after
    /// [`resources_changed`]. `session` is `None` until the agent has named the session.
    fn resources(&self, session: Option<&str>) -> Vec<Resource>;

    /// The contents of a resource, by its URI: any that the agent chose, listed or not. `None` if there is no such
    /// resource; an `Err` is a protocol error. `read` may wait, as handlers may.
    async fn read(&self, call: Call<String>) -> Result<Option<Contents>>;

    /// How to use the resources, for the model.
    #[allow(unused_variables, reason = "the name is part of the documentation")]
    fn reading_instructions(&self, session: Option<&str>) -> Option<String> {
        None
    }
}

/// A resource or a resource template, as it is listed.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri_template: Option<String>,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<String>,
}

impl Resource {
    /// A resource under this URI.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self::of(Some(uri.into()), None, name.into())
    }

    /// A template for the URIs of resources (RFC 6570), as `file:{+path}`.
    pub fn template(uri_template: impl Into<String>, name: impl Into<String>) -> Self {
        Self::of(None, Some(uri_template.into()), name.into())
    }

    fn of(uri: Option<String>, uri_template: Option<String>, name: String) -> Self {
        Self {
            uri,
            uri_template,
            name,
            title: None,
            description: None,
            mime_type: None,
        }
    }

    /// A name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// What the resource is, and when to read it, for the model.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Its type, like `text/markdown`.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }
}

/// The contents of a resource.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Contents {
    uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blob: Option<String>,
}

impl Contents {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: Some(text.into()),
            ..Self::default()
        }
    }

    /// Bytes, in Base64.
    pub fn blob(base64: impl Into<String>) -> Self {
        Self {
            blob: Some(base64.into()),
            ..Self::default()
        }
    }

    /// Their type, like `text/markdown`.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }
}

/// Reports that the result of [`Resources::resources`] has changed.
pub fn resources_changed() -> std::result::Result<(), ChannelError> {
    host::changed(&Change::Resources)
}

/// Reports that the contents of the resource with this URI have changed: subscribers are notified.
pub fn resource_changed(uri: &str) -> std::result::Result<(), ChannelError> {
    host::changed(&Change::Resource(uri.to_owned()))
}

/// The catalog for a session.
pub(crate) struct Catalog {
    pub(crate) instructions: Option<String>,
    pub(crate) resources: Vec<Json>,
    pub(crate) templates: Vec<Json>,
}

trait ErasedResources {
    fn list(&self, session: Option<&str>) -> std::result::Result<Catalog, String>;
    fn read(self: Rc<Self>, call: Call<String>) -> RunningCall<Option<Contents>>;
}

impl<P: Resources> ErasedResources for P {
    fn list(&self, session: Option<&str>) -> std::result::Result<Catalog, String> {
        let (mut resources, mut templates) = (Vec::new(), Vec::new());
        for resource in self.resources(session) {
            let listed = Json::of(&resource);
            let listed = listed.map_err(|error| {
                format!("the resource `{}` cannot be listed: {error}", resource.name)
            })?;
            match resource.uri {
                Some(_) => resources.push(listed),
                None => templates.push(listed),
            }
        }
        Ok(Catalog {
            instructions: self.reading_instructions(session),
            resources,
            templates,
        })
    }

    fn read(self: Rc<Self>, call: Call<String>) -> RunningCall<Option<Contents>> {
        Box::pin(async move { Resources::read(&*self, call).await })
    }
}

call::provider!(RESOURCES: ErasedResources of Resources, "its resources were used before `init`");

pub(crate) fn list(session: Option<&str>) -> std::result::Result<Catalog, String> {
    provider()?.list(session)
}

/// MCP's code for an unknown resource.
const NOT_FOUND: i32 = -32002;

#[derive(Serialize)]
struct ReadResourceResult {
    contents: [Contents; 1],
}

/// Reads a resource; `None` if the call is pending.
pub(crate) fn read(call: Call<String>) -> std::result::Result<Option<Json>, Error> {
    let proxy = provider().map_err(call::internal)?;
    call::make(call.id, async move {
        let uri = call.arguments.clone();
        let contents = proxy.read(call).await?.ok_or_else(|| {
            let text = format!("there is no resource `{uri}`");
            ProtocolError(Error::new(NOT_FOUND, text))
        })?;
        let contents = [Contents { uri, ..contents }];
        Ok(Json::of(&ReadResourceResult { contents })?)
    })
}
