//! Resources, prompts and completion: how they are listed, read, picked and completed, and the requests that a call may
//! send its caller.

use acp_chain_proxy::testing::{Host, SentKind};
use acp_chain_proxy::{
    Call, ChannelError, CompleteRequest, Completion, Content, Contents, Error, GetPromptRequest,
    Peer, Prompt, PromptMessage, Prompts, Proxy, Reference, Resource, Resources, Result, export,
    prompts_changed, resource_changed, resources_changed,
};
use serde_json::{Value, json};

#[derive(Default)]
struct Desk;

impl Proxy for Desk {}

impl Resources for Desk {
    fn resources(&self, _: Option<&str>) -> Vec<Resource> {
        let map = Resource::new("desk:/map", "map")
            .title("The map")
            .description("What is where.")
            .mime_type("text/plain");
        vec![map, Resource::template("desk:/notes/{name}", "note")]
    }

    async fn read(&self, call: Call<String>) -> Result<Option<Contents>> {
        match call.arguments.as_str() {
            "desk:/map" => Ok(Some(Contents::text("here").mime_type("text/plain"))),
            "desk:/photo" => Ok(Some(Contents::blob("QQ=="))),
            "desk:/secret" => Err("it is locked".into()),
            "desk:/name" if call.can("elicitation") => {
                let asked = json!({ "message": "What is your name?" });
                let answer = call.ask("elicitation/create", asked).await?;
                let name: Option<String> = answer.at("/content/name");
                Ok(name.map(Contents::text))
            }
            "desk:/name" => {
                // The caller did not declare this capability.
                let refused = call.ask("elicitation/create", json!({})).await;
                Ok(Some(Contents::text(refused.unwrap_err().message)))
            }
            "desk:/news" => {
                resources_changed()?;
                prompts_changed()?;
                resource_changed("desk:/map")?;
                Ok(Some(Contents::text("told")))
            }
            _ => Ok(None),
        }
    }

    fn reading_instructions(&self, _: Option<&str>) -> Option<String> {
        Some("Begin with the map.".into())
    }
}

impl Prompts for Desk {
    fn prompts(&self, _: Option<&str>) -> Vec<Prompt> {
        let tidy = Prompt::new("tidy", "Tidies the desk.").title("Tidy");
        vec![
            tidy.requires("drawer", "Which.")
                .takes("how", "In which way."),
        ]
    }

    async fn get(&self, call: Call<GetPromptRequest>) -> Result<Vec<PromptMessage>> {
        let text = format!(
            "Tidy {}{}",
            call.arguments.text("drawer"),
            call.arguments.text("how")
        );
        let done = Content::text("Done.");
        Ok(vec![
            PromptMessage::user(Content::text(&text)),
            PromptMessage::assistant(done),
        ])
    }
}

impl Completion for Desk {
    async fn complete(&self, call: Call<CompleteRequest>) -> Result<Vec<String>> {
        let CompleteRequest { of, value, .. } = &call.arguments;
        match of {
            Reference::Prompt(_) => Ok((0..101).map(|at| format!("{value}{at}")).collect()),
            Reference::Template(_) => Ok(Vec::new()),
        }
    }
}

export!(Desk: Resources, Prompts, Completion);

fn host() -> Host {
    Host::start_exported::<Desk>(json!({})).expect("takes no configuration")
}

fn read(host: &mut Host, uri: &str) -> std::result::Result<Value, Error> {
    let call = host.read_resource(Some("s"), uri);
    host.result(call).expect("it is not pending")
}

#[test]
fn resources_and_templates_are_listed_apart() {
    let listed = host().list_resources(Some("s")).expect("resources");
    assert_eq!(listed.instructions.as_deref(), Some("Begin with the map."));
    assert_eq!(
        listed.resources,
        [json!({
            "uri": "desk:/map", "name": "map", "title": "The map", "description": "What is where.",
            "mimeType": "text/plain",
        })]
    );
    assert_eq!(
        listed.templates,
        [json!({ "uriTemplate": "desk:/notes/{name}", "name": "note" })]
    );
}

#[test]
fn a_resource_is_read_under_the_uri_that_was_asked_for() {
    let host = &mut host();
    assert_eq!(
        read(host, "desk:/map"),
        Ok(
            json!({ "contents": [{ "uri": "desk:/map", "mimeType": "text/plain", "text": "here" }] })
        )
    );
    assert_eq!(
        read(host, "desk:/photo"),
        Ok(json!({ "contents": [{ "uri": "desk:/photo", "blob": "QQ==" }] }))
    );
    let gone = read(host, "desk:/gone").expect_err("it is not there");
    assert_eq!(
        (gone.code, &*gone.message),
        (-32002, "there is no resource `desk:/gone`")
    );
    let locked = read(host, "desk:/secret").expect_err("it is locked");
    assert_eq!(
        (locked.code, &*locked.message),
        (Error::INTERNAL, "it is locked")
    );
}

#[test]
fn a_call_sends_its_caller_a_request_and_waits() {
    let mut host = host();
    let call = host.read_resource(None, "desk:/name");
    let sent = host.sent();
    assert_eq!((sent[0].to, sent[0].what), (Peer::Agent, SentKind::Request));
    assert_eq!(sent[0].method, "elicitation/create");
    assert_eq!(sent[0].at("/message"), "What is your name?");
    assert_eq!(host.result(call), None);
    host.answer(
        sent[0].id,
        json!({ "action": "accept", "content": { "name": "Ada" } }),
    );
    let result = host
        .result(call)
        .expect("it is answered")
        .expect("a result");
    assert_eq!(result["contents"][0]["text"], "Ada");
    // A cancelled call cancels its requests.
    let call = host.read_resource(None, "desk:/name");
    host.cancel(call);
    let sent = host.sent();
    assert_eq!(sent.last().map(|sent| sent.what), Some(SentKind::Cancel));
    // A caller without the capability gets no request.
    host.meta(json!({}));
    let refused = read(&mut host, "desk:/name").expect("a result");
    let told = refused["contents"][0]["text"].as_str().expect("a text");
    assert!(told.contains("the capability `elicitation`"), "{told}");
}

#[test]
fn a_prompt_is_listed_with_its_arguments_and_picked_with_texts() {
    let mut host = host();
    assert_eq!(
        host.list_prompts(None),
        Ok(vec![json!({
            "name": "tidy", "title": "Tidy", "description": "Tidies the desk.",
            "arguments": [
                { "name": "drawer", "description": "Which.", "required": true },
                { "name": "how", "description": "In which way.", "required": false },
            ],
        })])
    );
    let call = host.get_prompt(None, "tidy", &[("drawer", "the left one")]);
    assert_eq!(
        host.result(call),
        Some(Ok(json!({ "messages": [
            { "role": "user", "content": { "type": "text", "text": "Tidy the left one" } },
            { "role": "assistant", "content": { "type": "text", "text": "Done." } },
        ] })))
    );
}

#[test]
fn a_hundred_values_are_given_and_how_many_there_are() {
    let mut host = host();
    let argument = |of| CompleteRequest {
        of,
        argument: "drawer".into(),
        value: "d".into(),
        known: [].into(),
    };
    let call = host.complete(None, argument(Reference::Prompt("tidy".into())));
    let result = host
        .result(call)
        .expect("it is not pending")
        .expect("a result");
    let completion = &result["completion"];
    assert_eq!(completion["values"].as_array().map(Vec::len), Some(100));
    assert_eq!(
        (&completion["total"], &completion["hasMore"]),
        (&json!(101), &json!(true))
    );
    assert_eq!(completion["values"][0], "d0");
    let call = host.complete(None, argument(Reference::Template("desk:/{a}".into())));
    let result = host
        .result(call)
        .expect("it is not pending")
        .expect("a result");
    assert_eq!(
        result["completion"],
        json!({ "values": [], "total": 0, "hasMore": false })
    );
}

#[test]
fn changes_are_reported_with_the_power_only() {
    let mut host = host();
    assert!(read(&mut host, "desk:/news").is_ok());
    assert!(host.resources_changed() && !host.resources_changed());
    assert!(host.prompts_changed());
    assert!(host.resource_changed("desk:/map") && !host.resource_changed("desk:/map"));
    host.powers(&[]);
    assert!(host.list_resources(None).is_err());
    assert!(host.list_prompts(None).is_err());
    assert!(matches!(resources_changed(), Err(ChannelError::Denied(_))));
}
