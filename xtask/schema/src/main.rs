//! Prints the JSON Schema of a version of the protocol, with everything unstable, from the crate
//! `agent-client-protocol-schema`: `acp-schema v1`.

use std::process::ExitCode;

use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Value, json};

/// All messages of a version.
macro_rules! messages {
    ($version:ident, $generator:ident) => {{
        use agent_client_protocol_schema::$version::*;
        json!([
            $generator.subschema_for::<AgentRequest>(),
            $generator.subschema_for::<AgentResponse>(),
            $generator.subschema_for::<AgentNotification>(),
            $generator.subschema_for::<ClientRequest>(),
            $generator.subschema_for::<ClientResponse>(),
            $generator.subschema_for::<ClientNotification>(),
            $generator.subschema_for::<ProtocolLevelNotification>(),
            $generator.subschema_for::<ProxyRequest>(),
            $generator.subschema_for::<ProxyResponse>(),
            $generator.subschema_for::<ProxyNotification>(),
        ])
    }};
}

fn main() -> ExitCode {
    let mut settings = SchemaSettings::draft2020_12();
    // The types of the SDKs are named by these titles.
    settings.untagged_enum_variant_titles = true;
    let mut generator = settings.into_generator();
    let messages = match std::env::args().nth(1).as_deref() {
        Some("v1") => messages!(v1, generator),
        Some("v2") => messages!(v2, generator),
        _ => {
            eprintln!("usage: acp-schema v1|v2");
            return ExitCode::FAILURE;
        }
    };
    println!("{:#}", schema(generator, messages));
    ExitCode::SUCCESS
}

fn schema(mut generator: SchemaGenerator, messages: Value) -> Value {
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Agent Client Protocol",
        "anyOf": messages,
        "$defs": generator.take_definitions(true),
    });
    refer_apart(&mut schema);
    // So that the output does not depend on which maps are sorted.
    schema.sort_all_objects();
    schema
}

/// Moves references with sibling members into `allOf`, as readers of older drafts expect.
fn refer_apart(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if members.len() > 1
                && let Some(reference) = members.remove("$ref")
            {
                members.insert("allOf".to_owned(), json!([{ "$ref": reference }]));
            }
            members.values_mut().for_each(refer_apart);
        }
        Value::Array(items) => items.iter_mut().for_each(refer_apart),
        _ => {}
    }
}
