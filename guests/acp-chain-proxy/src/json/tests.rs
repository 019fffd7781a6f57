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
    for nothing in ["a", "/~", "/a~/", "/a/01", "/a/+1", "/a/2", "/b/c", "/a/-"] {
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

#[test]
fn edits_leave_everything_else_byte_for_byte() {
    let spelt = r#" {"a" : [1e400, {"b":-0.0}],  "\u0063":null, "c":"x" } "#;
    let json = spelt.trim().parse::<Json>().expect("valid");
    for (edit, old, new) in [
        (Edit::set("/a/0", json!(7)), "1e400", "7"),
        (Edit::set("/c", "y"), r#""x""#, r#""y""#),
        (Edit::set("/a/-", json!(7)), "-0.0}]", "-0.0},7]"),
        (
            Edit::set("/a/1/~1~0\"", json!(7)),
            "0.0}",
            r#"0.0,"/~\"":7}"#,
        ),
        (
            Edit::set("/d", json!(null)),
            r#""x" }"#,
            r#""x","d":null }"#,
        ),
        (Edit::remove("/a/0"), "1e400, ", ""),
        (Edit::remove("/a/1"), r#", {"b":-0.0}"#, ""),
        (Edit::remove("/a/1/b"), r#""b":-0.0"#, ""),
        (Edit::remove("/c"), r#", "c":"x""#, ""),
    ] {
        let edited = json.edited(&edit).expect("there is a place");
        assert_eq!(edited.to_string(), spelt.trim().replace(old, new));
    }
    for (text, edit, expected) in [
        ("{}", Edit::set("/a", json!(1)), r#"{"a":1}"#),
        ("[ ]", Edit::set("/-", json!(1)), "[1 ]"),
        ("[1]", Edit::set("", json!(2)), "2"),
        (
            "{\"a\":1}",
            Edit::set("/b/c", json!(2)),
            r#"{"a":1,"b":{"c":2}}"#,
        ),
        (r#"{"a":1,"a":2}"#, Edit::remove("/a"), r#"{"a":1}"#),
    ] {
        let edited = text.parse::<Json>().expect("valid").edited(&edit);
        assert_eq!(edited.expect("there is a place").to_string(), expected);
    }
}

/// The host's edits create the same objects.
#[test]
fn objects_are_made_on_the_way_to_a_place() {
    for (text, pointer, expected) in [
        (r#"{"a":1}"#, "/b/c", Some(r#"{"a":1,"b":{"c":7}}"#)),
        (
            r#"{"a":{ }}"#,
            "/a/b~1/c/d",
            Some(r#"{"a":{"b/":{"c":{"d":7}} }}"#),
        ),
        (
            r#"{"z":1e400,"a":null}"#,
            "/a/b",
            Some(r#"{"z":1e400,"a":{"b":7}}"#),
        ),
        (
            r#"{"a":[{}]}"#,
            "/a/0/b/c",
            Some(r#"{"a":[{"b":{"c":7}}]}"#),
        ),
        ("null", "/a/b", Some(r#"{"a":{"b":7}}"#)),
        ("null", "/a", Some(r#"{"a":7}"#)),
        (r#"{"a":"x"}"#, "/a/b", None),
        (r#"{"a":[]}"#, "/a/0/b", None),
        (r#"{"a":[null]}"#, "/a/0/b", None),
        (r#"{"a":{}}"#, "/a/b/-", None),
        ("7", "/a/b", None),
    ] {
        let json = text.parse::<Json>().expect("valid");
        let edited = json.edited(&Edit::set(pointer, json!(7)));
        let edited = edited.ok().map(|edited| edited.to_string());
        assert_eq!(edited.as_deref(), expected, "{text} {pointer}");
    }
}

#[test]
fn an_edit_without_a_place_is_an_error() {
    let json: Json = r#"{"a":[1],"b":"x"}"#.parse().expect("valid");
    for pointer in ["/a/1", "/a/x", "/a/01", "/b/c", "/a/-/b", "a"] {
        assert!(json.edited(&Edit::set(pointer, "x")).is_err(), "{pointer}");
    }
    for pointer in ["/c", "/a/-", "/a/1", ""] {
        assert!(json.edited(&Edit::remove(pointer)).is_err(), "{pointer}");
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

/// The strings of a value, with the pointers to them.
fn strings_of(value: &serde_json::Value, pointer: &str, found: &mut Vec<(String, String)>) {
    match value {
        serde_json::Value::String(text) => found.push((pointer.to_owned(), text.clone())),
        serde_json::Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                strings_of(item, &format!("{pointer}/{index}"), found);
            }
        }
        serde_json::Value::Object(members) => {
            for (name, member) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                strings_of(member, &format!("{pointer}/{name}"), found);
            }
        }
        _ => {}
    }
}

fn values() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        Just(json!(-1.5e3)),
        Just(json!(true)),
        "[a-z\\\\\"\n/~é]{0,8}".prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        let members = proptest::collection::vec(("[a-c/~\"]{0,3}", inner.clone()), 0..5);
        prop_oneof![
            proptest::collection::vec(inner, 0..5).prop_map(serde_json::Value::from),
            members.prop_map(|members| members.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn strings_are_found_in_place_as_by_a_parser(value in values(), pretty in any::<bool>()) {
        let text = if pretty {
            serde_json::to_string_pretty(&value)
        } else {
            serde_json::to_string(&value)
        };
        let json: Json = text.expect("JSON").parse().expect("JSON");
        let spelling = json.spelling();
        let mut expected = Vec::new();
        strings_of(&value, "", &mut expected);
        let (mut found, mut strings) = (Vec::new(), Strings::of(&spelling));
        while let Some(string) = strings.next().expect("JSON") {
            let range = string.range().start - 1..string.range().end + 1;
            prop_assert_eq!(json.place(&strings.pointer()), Some(range));
            found.push((strings.pointer(), string.decoded().into_owned()));
        }
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn a_place_is_where_a_parser_finds_the_part(value in values(), pointer in "(/[a-c0-2]){0,3}") {
        let json = Json::from(value);
        let part = json.place(&pointer).map(|range| json.spelling()[range].to_owned());
        let found = json.at::<serde_json::Value>(&pointer);
        let part = part.map(|part| serde_json::from_str::<serde_json::Value>(&part).expect("JSON"));
        prop_assert_eq!(part, found);
    }

    #[test]
    fn no_text_makes_the_strings_panic(text in "[\\[\\]{}\":,a\\\\ ]{0,40}", pointer in "(/[a-c0-2]){0,3}") {
        let mut strings = Strings::of(&text);
        while let Ok(Some(string)) = strings.next() {
            let _ = string.decoded();
            let _ = strings.pointer();
        }
        find::place(&text, find::tokens(&pointer).expect("a pointer"));
    }
}

#[test]
fn of_equal_names_the_last_has_the_place() {
    assert_eq!(odd().place("/a").map(|range| &ODD[range]), Some("[0.10,2]"));
    assert_eq!(odd().place("/a~1"), None);
}

#[test]
fn half_a_surrogate_pair_is_replaced() {
    let mut strings = Strings::of(r#""a\ud83d""#);
    let found = strings.next().expect("JSON").expect("a string");
    assert!(found.decoded().starts_with('a'));
}

#[test]
fn a_name_with_half_a_surrogate_pair_is_none_and_hides_no_other() {
    let text = r#"{"\ud800":1,"a":2}"#;
    let json: Json = text.parse().expect("valid");
    assert_eq!(json.at("/a"), Some(2));
    let lossy = "/\u{fffd}\u{fffd}\u{fffd}";
    assert_eq!(json.at::<u32>(lossy), None);
    assert_eq!(json.place(lossy), None);
}
