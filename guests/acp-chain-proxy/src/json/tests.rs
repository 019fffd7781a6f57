use proptest::prelude::*;
use serde_json::json;

use super::*;

const ODD: &str =
    r#"{"b":1e400,"a":[-0.0,"\u0041\/",{"b":1}],"a~/":1234567890123456789012345,"a":[0.10,2]}"#;

fn odd() -> Json {
    ODD.parse().expect("valid")
}

#[test]
fn what_is_not_touched_keeps_its_spelling() {
    let mut json = odd();
    json.members_mut()
        .expect("an object")
        .insert("z", Json::null());
    assert_eq!(json.to_string(), ODD.replace("2]}", "2],\"z\":null}"));
}

#[test]
fn a_changed_part_stays_in_its_place() {
    let mut json = odd();
    assert!(json.edit("/a/1", |number: u8| number + 1));
    assert_eq!(json.to_string(), ODD.replace("0.10,2", "0.10,3"));
}

#[test]
fn an_edit_of_another_type_changes_nothing() {
    let mut json = odd();
    assert!(!json.edit("/a/1", |text: String| text));
    assert!(!json.edit("/nothing/there", |text: String| text));
    assert_eq!(json.to_string(), ODD);
}

#[test]
fn pointers_follow_the_rfc() {
    let json = odd();
    assert_eq!(json.at::<Json>("").expect("all").to_string(), ODD);
    assert_eq!(
        json.at::<Json>("/a~0~1").expect("escaped").to_string(),
        "1234567890123456789012345"
    );
    assert_eq!(
        json.at::<u8>("/a/1"),
        Some(2),
        "the last of two equal names counts"
    );
    for nothing in ["a", "/a/01", "/a/+1", "/a/2", "/b/c", "/a/-"] {
        assert_eq!(json.at::<Json>(nothing), None, "{nothing}");
    }
}

#[test]
fn put_makes_the_objects_on_the_way() {
    let mut json: Json = r#"{"x":1,"_meta":null}"#.parse().expect("valid");
    json.put("/_meta/shout", json!({ "chunks": 3 }))
        .expect("there is a place");
    assert_eq!(
        json.to_string(),
        r#"{"x":1,"_meta":{"shout":{"chunks":3}}}"#
    );
    assert!(json.put("/x/y", 1).is_err());
    assert_eq!(json.at::<u8>("/_meta/shout/chunks"), Some(3));
}

#[test]
fn text_that_is_not_json_is_refused() {
    for text in ["", "{", "1 2", "nul", "{\"a\":}"] {
        assert!(text.parse::<Json>().is_err(), "{text}");
    }
}

proptest! {
    #[test]
    fn taking_apart_and_writing_again_loses_nothing(text in ".{0,20}", number in any::<f64>()) {
        let spelt = json!({ "a": [text, number, { "b": null }], (text.clone()): {} }).to_string();
        let mut json: Json = spelt.parse().expect("valid");
        take_apart(&mut json);
        prop_assert_eq!(json.to_string(), spelt);
    }
}

fn take_apart(json: &mut Json) {
    if let Some(items) = json.items_mut() {
        items.iter_mut().for_each(take_apart);
    } else if let Some(members) = json.members_mut() {
        members.iter_mut().for_each(|(_, value)| take_apart(value));
    }
}
