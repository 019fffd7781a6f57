//! Tools that send their caller requests.

use acp_chain_proxy::{Answer, Call, Json, Result, Tool};
use serde_json::{Value, json};

use crate::{Conformance, object};

pub(crate) fn tools(nothing: &Value, prompt: &Value, message: &Value) -> Vec<Tool<Conformance>> {
    let mut tools = vec![
        Tool::raw("test_sampling", "Samples.", prompt, sampling),
        Tool::raw("test_elicitation", "Elicits.", message, elicitation),
        Tool::raw(
            "test_elicitation_sep1034_defaults",
            "Defaults.",
            nothing,
            defaults,
        ),
        Tool::raw(
            "test_elicitation_sep1330_enums",
            "Choices.",
            nothing,
            choices,
        ),
        Tool::raw(
            "test_input_required_result_elicitation",
            "Greets.",
            nothing,
            greeting,
        ),
        Tool::raw(
            "test_input_required_result_multiple_inputs",
            "Asks all.",
            nothing,
            several,
        ),
        Tool::raw(
            "test_input_required_result_multi_round",
            "Asks twice.",
            nothing,
            rounds,
        ),
    ];
    for name in ["sampling", "capabilities"] {
        let name = format!("test_input_required_result_{name}");
        tools.push(Tool::raw(name, "Samples.", nothing, capital));
    }
    for name in ["request_state", "tampered_state"] {
        let name = format!("test_input_required_result_{name}");
        tools.push(Tool::raw(name, "Confirms.", nothing, confirmed));
    }
    let roots = "test_input_required_result_list_roots";
    tools.push(Tool::raw(roots, "Lists roots.", nothing, roots_of));
    tools
}

fn ask<A>(call: &Call<A>, message: &str, properties: &Value, required: &[&str]) -> Answer {
    let schema = object(properties, required);
    let params = json!({ "mode": "form", "message": message, "requestedSchema": schema });
    call.ask("elicitation/create", params)
}

fn sample<A>(call: &Call<A>, text: &str, most: u32) -> Answer {
    let message = json!({ "role": "user", "content": { "type": "text", "text": text } });
    let params = json!({ "messages": [message], "maxTokens": most });
    call.ask("sampling/createMessage", params)
}

/// Asks for one text, and returns the whole answer.
pub(crate) async fn elicit<A>(call: &Call<A>, message: &str, name: &str) -> Result<Json> {
    let properties = json!({ (name): { "type": "string" } });
    Ok(ask(call, message, &properties, &[name]).await?)
}

async fn sampling(_: &Conformance, call: Call<Json>) -> Result<String> {
    let prompt: String = call.arguments.at("/prompt").ok_or("it lacks a prompt")?;
    let answer = sample(&call, &prompt, 100).await?;
    let text: Option<String> = answer.at("/content/text");
    Ok(format!("LLM response: {}", text.unwrap_or_default()))
}

fn elicited(answer: &Json) -> String {
    let action: Option<String> = answer.at("/action");
    let content: Option<Json> = answer.at("/content");
    let content = content.map(|content| content.to_string());
    let (action, content) = (action.unwrap_or_default(), content.unwrap_or_default());
    format!("Elicitation completed: action={action}, content={content}")
}

async fn elicitation(_: &Conformance, call: Call<Json>) -> Result<String> {
    let message: String = call.arguments.at("/message").ok_or("it lacks a message")?;
    let properties = json!({ "username": { "type": "string" }, "email": { "type": "string" } });
    Ok(elicited(&ask(&call, &message, &properties, &[]).await?))
}

async fn defaults(_: &Conformance, call: Call<Json>) -> Result<String> {
    let states = ["active", "inactive", "pending"];
    let properties = json!({
        "name": { "type": "string", "default": "John Doe" },
        "age": { "type": "integer", "default": 30 },
        "score": { "type": "number", "default": 95.5 },
        "status": { "type": "string", "enum": states, "default": "active" },
        "verified": { "type": "boolean", "default": true },
    });
    Ok(elicited(&ask(&call, "Defaults", &properties, &[]).await?))
}

async fn choices(_: &Conformance, call: Call<Json>) -> Result<String> {
    let values = ["one", "two", "three"];
    let titled = values.map(|value| json!({ "const": value, "title": format!("The {value}") }));
    let properties = json!({
        "untitledSingle": { "type": "string", "enum": values },
        "titledSingle": { "type": "string", "oneOf": titled },
        "legacyEnum": { "type": "string", "enum": values, "enumNames": values },
        "untitledMulti": { "type": "array", "items": { "type": "string", "enum": values } },
        "titledMulti": { "type": "array", "items": { "anyOf": titled } },
    });
    Ok(elicited(&ask(&call, "Choices", &properties, &[]).await?))
}

async fn greeting(_: &Conformance, call: Call<Json>) -> Result<String> {
    let answer = elicit(&call, "What is your name?", "name").await?;
    let name: Option<String> = answer.at("/content/name");
    Ok(format!("Hello, {}!", name.unwrap_or_default()))
}

async fn capital(_: &Conformance, call: Call<Json>) -> Result<String> {
    Ok(sample(&call, "What is the capital of France?", 100)
        .await?
        .to_string())
}

async fn confirmed(_: &Conformance, call: Call<Json>) -> Result<&'static str> {
    elicit(&call, "Please confirm", "ok").await?;
    Ok("state-ok")
}

async fn roots_of(_: &Conformance, call: Call<Json>) -> Result<String> {
    Ok(call.ask("roots/list", json!({})).await?.to_string())
}

/// Sends all requests at once.
async fn several(_: &Conformance, call: Call<Json>) -> Result<String> {
    let name = ask(
        &call,
        "What is your name?",
        &json!({ "name": { "type": "string" } }),
        &["name"],
    );
    let greeting = sample(&call, "Generate a greeting", 50);
    let roots = call.ask("roots/list", json!({}));
    Ok(format!(
        "{} {} {}",
        name.await?,
        greeting.await?,
        roots.await?
    ))
}

/// Sends one request after the other.
async fn rounds(_: &Conformance, call: Call<Json>) -> Result<&'static str> {
    elicit(&call, "Step 1: What is your name?", "name").await?;
    elicit(&call, "Step 2: What is your favorite color?", "color").await?;
    Ok("both steps are done")
}
