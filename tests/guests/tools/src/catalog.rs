//! The list of tools.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::bindings::tools::Catalog;

/// Changes to the list, most of which make it invalid.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Config {
    /// The instructions for the model.
    instructions: Option<String>,
    /// Fail `list-tools` with this reason.
    list_error: Option<String>,
    /// Add a tool with this input schema.
    bad_schema: Option<Value>,
    /// Add this text as a tool, JSON or not.
    bad_tool: Option<String>,
    /// List `echo` twice.
    duplicate: bool,
    /// Add so many tools: `many-0`, `many-1`, …
    many: usize,
}

pub(crate) fn list(config: &Config, extra: bool) -> Result<Catalog, String> {
    if let Some(reason) = &config.list_error {
        return Err(reason.clone());
    }
    let mut tools: Vec<Value> = vec![
        with_input(
            "echo",
            "Gives back the text.",
            json!({ "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] }),
        ),
        add(),
        with_output("bad-output", "Gives a sum that is a text."),
    ];
    tools.extend(
        [
            ("session", "Says which session calls."),
            ("fail", "Fails."),
            ("protocol-error", "Is an error of the protocol."),
            ("slow", "Is done when the client has answered `_test/gate`."),
            ("elicit", "Is done when its caller has answered."),
            ("meta", "Gives back what its caller said beside the call."),
            ("progress", "Tells three times how far it is."),
            ("trap", "Panics."),
            ("spin", "Is busy for ever."),
            ("bad-result", "Gives what is not a result."),
            ("not-json", "Gives what is not JSON."),
            ("change", "Adds the tool `extra`."),
            (
                "hold-forever",
                "Is never settled, not even when it is given up.",
            ),
        ]
        .map(|(name, description)| plain(name, description)),
    );
    if extra {
        tools.push(plain("extra", "Was not there before."));
    }
    if config.duplicate {
        tools.push(plain("echo", "Is there twice."));
    }
    if let Some(schema) = &config.bad_schema {
        tools.push(with_input(
            "bad-schema",
            "Takes what nobody knows.",
            schema.clone(),
        ));
    }
    for n in 0..config.many {
        tools.push(plain(&format!("many-{n}"), "One of many."));
    }
    let tools = tools.iter().map(Value::to_string);
    Ok(Catalog {
        instructions: config.instructions.clone(),
        tools: tools.chain(config.bad_tool.clone()).collect(),
    })
}

fn plain(name: &str, description: &str) -> Value {
    with_input(name, description, json!({ "type": "object" }))
}

fn with_input(name: &str, description: &str, schema: Value) -> Value {
    json!({ "name": name, "description": description, "inputSchema": schema })
}

fn with_output(name: &str, description: &str) -> Value {
    let mut tool = plain(name, description);
    tool["outputSchema"] = json!({
        "type": "object", "properties": { "sum": { "type": "number" } }, "required": ["sum"],
    });
    tool
}

fn add() -> Value {
    let mut tool = with_output("add", "Adds two numbers.");
    tool["title"] = json!("Sum");
    tool["annotations"] = json!({ "readOnlyHint": true });
    tool["inputSchema"] = json!({
        "type": "object",
        "properties": { "a": { "type": "number" }, "b": { "type": "number" } },
        "required": ["a", "b"],
        "additionalProperties": false,
    });
    tool
}
