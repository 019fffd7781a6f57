//! A tool: how it is listed, and what it does.

use std::fmt;
use std::rc::Rc;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::schema::{self, Schema};
use super::{IntoToolResult, ToolResult};
use crate::call::RunningCall;
use crate::{Call, Json, Result};

/// A tool: how it is listed, and what it does.
///
/// The function is a method of the proxy that takes a [`Call`] and returns a [`Result`] of any type that [converts to a
/// result](IntoToolResult). The function may wait, as handlers may. An `Err` is a failure of the tool, whose text the
/// model reads, unless it is a [`ProtocolError`](crate::ProtocolError).
pub struct Tool<P> {
    members: Members,
    input: Schema,
    output: Option<Schema>,
    run: Run<P>,
}

type Run<P> = Box<dyn Fn(Rc<P>, Call<Json>) -> RunningCall<ToolResult>>;

impl<P> Tool<P> {
    /// A tool whose arguments are of a type `A` with a schema: doc comments document its fields. Arguments that do
    /// not match are a failure of the tool, whose text shows where the mistake is. The output schema, if any, is that
    /// of `R`.
    ///
    /// The description is for the model: what the tool does, when to use it, what it returns.
    pub fn new<A, R>(
        name: impl Into<String>,
        description: impl Into<String>,
        run: impl AsyncFn(&P, Call<A>) -> Result<R> + 'static,
    ) -> Self
    where
        P: 'static,
        A: DeserializeOwned + JsonSchema + 'static,
        R: IntoToolResult + 'static,
    {
        Self {
            members: Members::new(name.into(), description.into()),
            input: Schema::Of(schema::input::<A>),
            output: R::OUTPUT_SCHEMA.map(Schema::Of),
            run: typed(|arguments| schema::parse(&arguments), run),
        }
    }

    /// A tool whose schema is given as JSON text, or as a value whose `Display` is JSON, such as that of `json!`. Its
    /// arguments are JSON that keeps its spelling. A component with only such tools is some 70 kB smaller.
    pub fn raw<R>(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: impl fmt::Display,
        run: impl AsyncFn(&P, Call<Json>) -> Result<R> + 'static,
    ) -> Self
    where
        P: 'static,
        R: IntoToolResult + 'static,
    {
        Self {
            members: Members::new(name.into(), description.into()),
            input: Schema::Text(input_schema.to_string()),
            output: R::OUTPUT_SCHEMA.map(Schema::Of),
            run: typed(Ok, run),
        }
    }

    /// The schema of the structured content, as JSON text, if the result type does not provide it.
    #[must_use]
    pub fn output_schema(mut self, schema: impl fmt::Display) -> Self {
        self.output = Some(Schema::Text(schema.to_string()));
        self
    }

    /// A name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.members.title = Some(title.into());
        self
    }

    /// A hint: the tool changes nothing. Without this hint, a tool is assumed to make changes.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.members.hints().read_only_hint = Some(true);
        self
    }

    /// A hint: the tool only adds. Without this hint, a tool is assumed to be destructive.
    #[must_use]
    pub fn only_adds(mut self) -> Self {
        self.members.hints().destructive_hint = Some(false);
        self
    }

    /// A hint: a second call with the same arguments changes nothing more.
    #[must_use]
    pub fn idempotent(mut self) -> Self {
        self.members.hints().idempotent_hint = Some(true);
        self
    }

    /// A hint: the tool's domain is closed, like that of a memory, and not the open world, like that of a web search.
    /// Without this hint, it is assumed to be the open world.
    #[must_use]
    pub fn closed_world(mut self) -> Self {
        self.members.hints().open_world_hint = Some(false);
        self
    }

    pub(super) fn name(&self) -> &str {
        &self.members.name
    }

    /// Begins a call.
    pub(super) fn run(&self, proxy: Rc<P>, call: Call<Json>) -> RunningCall<ToolResult> {
        (self.run)(proxy, call)
    }

    /// MCP's `Tool`; an error if a schema is not JSON.
    pub(super) fn listed(&self) -> std::result::Result<Json, String> {
        let wrong = |error| format!("the tool `{}` cannot be listed: {error}", self.members.name);
        let mut tool = Json::of(&self.members).map_err(wrong)?;
        let schemas = [
            ("/inputSchema", Some(&self.input)),
            ("/outputSchema", self.output.as_ref()),
        ];
        for (place, schema) in schemas {
            if let Some(schema) = schema {
                let schema = schema.json().map_err(wrong)?;
                tool.put(place, schema).map_err(wrong)?;
            }
        }
        Ok(tool)
    }
}

impl<P> fmt::Debug for Tool<P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Tool")
            .field("name", &self.members.name)
            .finish_non_exhaustive()
    }
}

/// A method of the proxy, with its types erased.
fn typed<P: 'static, A: 'static, R: IntoToolResult + 'static>(
    parse: fn(Json) -> Result<A>,
    run: impl AsyncFn(&P, Call<A>) -> Result<R> + 'static,
) -> Run<P> {
    let run = Rc::new(run);
    Box::new(move |proxy, call| {
        let run = Rc::clone(&run);
        Box::pin(async move {
            let arguments = parse(call.arguments)?;
            let call = Call::new(call.id, call.session, arguments);
            run(&proxy, call).await?.into_tool_result()
        })
    })
}

/// The members of MCP's `Tool` that are not schemas.
#[derive(Serialize)]
struct Members {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<Hints>,
}

/// MCP's `ToolAnnotations`.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::struct_field_names, reason = "so they are called in MCP")]
struct Hints {
    #[serde(skip_serializing_if = "Option::is_none")]
    read_only_hint: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    destructive_hint: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    idempotent_hint: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    open_world_hint: Option<bool>,
}

impl Members {
    fn new(name: String, description: String) -> Self {
        Self {
            name,
            title: None,
            description,
            annotations: None,
        }
    }

    fn hints(&mut self) -> &mut Hints {
        self.annotations.get_or_insert_default()
    }
}
