//! A turn between both ends, and their handling of unexpected messages.

use std::path::Path;

use acp_chain_acp::{NEW, PERMISSION, PROMPT, READ, code};

use super::agent::{Agent, Script};
use super::client::{Services, new_session, prompt};
use super::*;

#[derive(Default)]
struct Echo;

impl Script for Echo {
    const UNKNOWN: &'static str = "unknown";

    fn begin(&self) -> Vec<Value> {
        vec![json!("begins")]
    }

    fn call(&self, _prompt: &Value, folder: &str) -> Value {
        json!(folder)
    }

    fn say(&self, prompt: &Value, is_allowed: bool) -> Vec<String> {
        vec![format!("{} {is_allowed}", prompt[0]["text"])]
    }
}

fn served(services: &Services, method: &str, params: Value) -> Value {
    services.serve(&Request(request(1, method, params)))
}

#[test]
fn a_turn_asks_for_a_permission_and_ends_when_it_is_decided() {
    let (mut agent, mut client) = (Agent::<Echo>::default(), End::default());
    let begun = agent.take(client.request(NEW, new_session("/project".as_ref()), ()));
    let prompt = prompt(&begun[0]["result"]["sessionId"], "hello");
    let said = agent.take(client.request(PROMPT, prompt, ()));
    assert_eq!(said[0]["params"]["update"], "begins");
    let Arrival::Request(asked) = client.take(said[1].clone()) else {
        panic!("it asks for a permission: {said:?}");
    };
    assert_eq!(asked.params()["toolCall"], "/project");
    let unknown = agent.take(client.request("test/unknown", Value::Null, ()));
    assert_eq!(unknown[0]["error"]["code"], code::METHOD_NOT_FOUND);
    let ended = agent.take(Services::new(None, "unknown").serve(&asked));
    let text = &ended[0]["params"]["update"]["content"]["text"];
    assert_eq!(text, "\"hello\" true");
    assert_eq!(ended[1]["result"]["stopReason"], "end_turn");
}

#[test]
fn a_request_is_answered_once() {
    let mut end = End::default();
    let [first, second] = [1, 2].map(|kept| end.request("a", Value::Null, kept));
    assert_eq!(first, json!({ "jsonrpc": "2.0", "id": 1, "method": "a" }));
    let theirs = end.take(first.clone());
    assert_eq!(theirs, Arrival::Request(Request(first.clone())));
    let error = answer(&second["id"], Err(json!("no")));
    let refused = Arrival::Answer(2, Err(json!("no")));
    for expected in [refused, Arrival::Stray(error.clone())] {
        assert_eq!(end.take(error.clone()), expected);
    }
    assert_eq!(end.open().next(), Some((1, &mut 1)));
    assert_eq!(end.give_up().collect::<Vec<_>>(), [1]);
    let late = answer(&first["id"], Ok(Value::Null));
    assert_eq!(end.take(late.clone()), Arrival::Stray(late));
}

#[test]
fn a_client_prefers_to_allow_once() {
    let all = ["reject_once", "allow_always", "allow_once"];
    let options = all.map(|kind| json!({ "optionId": kind, "kind": kind }));
    for (count, chosen) in [(1, Value::Null), (2, json!(all[1])), (3, json!(all[2]))] {
        let params = json!({ "options": options[..count] });
        let answer = served(&Services::new(None, ""), PERMISSION, params);
        assert_eq!(answer["result"]["outcome"]["optionId"], chosen);
    }
}

#[test]
fn a_client_reads_files_of_its_folder_and_no_others() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let services = Services::new(Some(root.join("src")), "");
    let read = |path: &str| served(&services, READ, json!({ "path": root.join(path) }));
    let content = &read("src/lib.rs")["result"]["content"];
    assert_eq!(content, include_str!("lib.rs"));
    for path in ["src", "Cargo.toml", "src/../Cargo.toml", "src/none"] {
        assert!(read(path)["error"].is_object(), "{path}");
    }
}

#[test]
fn an_answer_is_understood_however_software_writes_it() {
    for (answer, outcome) in [
        (json!({ "result": 7, "error": null }), Ok(json!(7))),
        (
            json!({ "result": 7, "error": null, "method": null, "params": null }),
            Ok(json!(7)),
        ),
        (json!({ "result": null, "error": 7 }), Err(json!(7))),
        (json!({ "result": null, "error": null }), Ok(Value::Null)),
    ] {
        for id in [json!(1), json!(1.0)] {
            let mut end = End::default();
            end.request(NEW, Value::Null, ());
            let mut message = answer.clone();
            message["id"] = id;
            let Arrival::Answer((), told) = end.take(message) else {
                panic!("{answer} is an answer");
            };
            assert_eq!(told, outcome, "{answer}");
        }
    }
    let mut end = End::<()>::default();
    end.request(NEW, Value::Null, ());
    for id in [json!("1"), json!(1.5), json!(null)] {
        let stray = end.take(json!({ "id": id, "result": 7 }));
        assert!(matches!(stray, Arrival::Stray(_)), "{stray:?}");
    }
}
