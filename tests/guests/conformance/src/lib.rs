//! A test proxy with everything that MCP's public conformance suite requires of a server and components support:
//! tools, resources, prompts, completion, and requests to the client. The names and texts are those of the suite's
//! scenarios.

mod asks;

use acp_chain_proxy::{
    Call, CompleteRequest, Completion, Content, Contents, Error, GetPromptRequest, Json, Prompt,
    PromptMessage, Prompts, ProtocolError, Proxy, Resource, Resources, Result, Tool, ToolResult,
    Tools, export,
};
use serde_json::{Value, json};

/// The smallest image and sound, in Base64.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

/// Missing client capability (MCP 2026-07-28).
const MISSING: i32 = -32021;

#[derive(Default)]
struct Conformance;

impl Proxy for Conformance {}

impl Tools for Conformance {
    fn tools(&self, _: Option<&str>) -> Vec<Tool<Self>> {
        let nothing = json!({ "type": "object" });
        let text = |name: &str| json!({ "type": "object", "properties": { (name): { "type": "string" } }, "required": [name] });
        let region = json!({ "type": "string", "x-mcp-header": "Region" });
        let headers = json!({ "type": "object", "properties": { "region": region } });
        let plain = |name: &str| Tool::raw(name, name, &nothing, Self::blocks(name));
        let mut tools = vec![
            Tool::raw("test_error_handling", "Fails.", &nothing, Self::fail),
            Tool::raw(
                "test_tool_with_progress",
                "Says how far it is.",
                &nothing,
                Self::progress,
            ),
            Tool::raw(
                "test_missing_capability",
                "Needs sampling.",
                &nothing,
                Self::needs,
            ),
            Tool::raw(
                "many-headers",
                "Its arguments are repeated.",
                headers,
                Self::fail,
            ),
        ];
        tools.extend(
            [
                "test_simple_text",
                "test_image_content",
                "test_audio_content",
                "test_embedded_resource",
                "test_multiple_content_types",
            ]
            .map(plain),
        );
        tools.extend(asks::tools(&nothing, &text("prompt"), &text("message")));
        tools
    }
}

#[allow(clippy::unused_async, reason = "a tool may wait, and these do not")]
impl Conformance {
    /// A tool that returns the blocks for this name.
    fn blocks(name: &str) -> impl AsyncFn(&Self, Call<Json>) -> Result<Vec<Content>> + 'static {
        let image = || Content::image(PNG, "image/png");
        let embedded = || embedded("test://embedded-resource");
        let blocks = match name {
            "test_image_content" => vec![image()],
            "test_audio_content" => vec![Content::audio(WAV, "audio/wav")],
            "test_embedded_resource" => vec![embedded()],
            "test_multiple_content_types" => vec![Content::text("Several"), image(), embedded()],
            _ => vec![Content::text("This is a simple text response for testing.")],
        };
        async move |_: &Self, _: Call<Json>| Ok(blocks.clone())
    }

    async fn fail(&self, _: Call<Json>) -> Result<ToolResult> {
        Err("This tool intentionally returns an error for testing".into())
    }

    async fn progress(&self, call: Call<Json>) -> Result<&'static str> {
        for progress in [0.0, 50.0, 100.0] {
            call.progress(progress, Some(100.0), None);
        }
        Ok("done")
    }

    async fn needs(&self, call: Call<Json>) -> Result<&'static str> {
        if call.can("sampling") {
            return Ok("It can.");
        }
        let mut error = Error::new(MISSING, "it takes sampling");
        error.data = Some(json!({ "requiredCapabilities": { "sampling": {} } }).into());
        Err(ProtocolError(error).into())
    }
}

fn embedded(uri: &str) -> Content {
    let resource = json!({ "uri": uri, "mimeType": "text/plain", "text": "Embedded." });
    Content::raw(json!({ "type": "resource", "resource": resource }).into())
}

impl Resources for Conformance {
    fn resources(&self, _: Option<&str>) -> Vec<Resource> {
        let of = |name: &str, mime_type: &str| {
            Resource::new(format!("test://{name}"), name)
                .description(name)
                .mime_type(mime_type)
        };
        vec![
            of("static-text", "text/plain"),
            of("static-binary", "image/png"),
            of("watched-resource", "text/plain"),
            Resource::template("test://template/{id}/data", "data").mime_type("application/json"),
        ]
    }

    async fn read(&self, call: Call<String>) -> Result<Option<Contents>> {
        let uri = &*call.arguments;
        let id = uri.strip_prefix("test://template/");
        if let Some(id) = id.and_then(|id| id.strip_suffix("/data")) {
            let data =
                json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
            let contents = Contents::text(data.to_string());
            return Ok(Some(contents.mime_type("application/json")));
        }
        Ok(match uri {
            "test://static-text" | "test://watched-resource" => {
                Some(Contents::text(uri).mime_type("text/plain"))
            }
            "test://static-binary" => Some(Contents::blob(PNG).mime_type("image/png")),
            _ => None,
        })
    }
}

impl Prompts for Conformance {
    fn prompts(&self, _: Option<&str>) -> Vec<Prompt> {
        vec![
            Prompt::new("test_simple_prompt", "Is simple."),
            Prompt::new("test_prompt_with_arguments", "Takes two.")
                .requires("arg1", "One.")
                .requires("arg2", "Another."),
            Prompt::new("test_prompt_with_embedded_resource", "Has a resource.")
                .requires("resourceUri", "Which."),
            Prompt::new("test_prompt_with_image", "Has an image."),
            Prompt::new("test_input_required_result_prompt", "Asks for more."),
        ]
    }

    async fn get(&self, call: Call<GetPromptRequest>) -> Result<Vec<PromptMessage>> {
        let picked = &call.arguments;
        let text = |text: &str| PromptMessage::user(Content::text(text));
        Ok(match &*picked.name {
            "test_prompt_with_arguments" => {
                let (one, other) = (picked.text("arg1"), picked.text("arg2"));
                vec![text(&format!(
                    "Prompt with arguments: arg1='{one}', arg2='{other}'"
                ))]
            }
            "test_prompt_with_embedded_resource" => vec![
                PromptMessage::user(embedded(picked.text("resourceUri"))),
                text("Please process the embedded resource above."),
            ],
            "test_prompt_with_image" => vec![
                PromptMessage::user(Content::image(PNG, "image/png")),
                text("Please analyze the image."),
            ],
            "test_input_required_result_prompt" => {
                let given = asks::elicit(&call, "What context?", "context").await?;
                vec![text(&given.to_string())]
            }
            _ => vec![text("This is a simple prompt for testing.")],
        })
    }
}

impl Completion for Conformance {
    async fn complete(&self, _: Call<CompleteRequest>) -> Result<Vec<String>> {
        Ok(["one", "two"].map(str::to_owned).to_vec())
    }
}

/// The JSON Schema of an object.
fn object(properties: &Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required })
}

export!(Conformance: Tools, Resources, Prompts, Completion);
