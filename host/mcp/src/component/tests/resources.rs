//! Resources: listed, read, and subscribed to.

use super::{Change, ComponentProvider, Offer, Table};
use crate::protocol;
use crate::tests::transcript::{alone, kept};

const RESOURCES: &str = r#"{"instructions":"Read them","resources":[
    {"uri":"map:/","name":"map","mimeType":"text/plain","x":1e400}],
    "templates":[{"uriTemplate":"file:{+path}","name":"file"}]}"#;

fn server(offers: &[Offer]) -> Table<ComponentProvider> {
    Table::new(ComponentProvider::new(
        "maps",
        offers.iter().copied().collect(),
        &kept(),
    ))
}

/// A server with resources only, and a client of this version on connection 1.
fn initialized(version: &str) -> Table<ComponentProvider> {
    let mut table = server(&[Offer::Resources]);
    table.connect(1);
    let params = format!(r#"{{"protocolVersion":"{version}","capabilities":{{}}}}"#);
    table.on(1, "initialize", &params);
    table.result(1, RESOURCES);
    table.tell(1, "notifications/initialized", "null");
    table
}

fn changed(table: &mut Table<ComponentProvider>, uri: &str) -> Vec<String> {
    table.changed(&Change::Resource(uri.to_owned()))
}

#[test]
fn a_client_lists_and_reads_resources() {
    let mut table = server(&[Offer::Resources]);
    table.connect(1);
    assert_eq!(
        table.on(1, "initialize", r#"{"protocolVersion":"2025-11-25"}"#),
        ["list resources 1"]
    );
    assert_eq!(
        table.result(1, RESOURCES),
        [concat!(
            r#"answer 2: result {"protocolVersion":"2025-11-25","#,
            r#""capabilities":{"resources":{"subscribe":true,"listChanged":true}},"#,
            r#""serverInfo":{"name":"maps","version":"0.1.0"},"instructions":"Read them"}"#
        )]
    );
    assert_eq!(
        table.on(1, "resources/list", "{}"),
        [concat!(
            r#"answer 3: result {"resources":[{"uri":"map:/","name":"map","#,
            r#""mimeType":"text/plain","x":1e400}]}"#
        )]
    );
    assert_eq!(
        table.on(1, "resources/templates/list", "{}"),
        [
            r#"answer 4: result {"resourceTemplates":[{"uriTemplate":"file:{+path}","name":"file"}]}"#
        ]
    );
    assert_eq!(
        table.on(1, "resources/read", r#"{"uri":"file:\u0061"}"#),
        [r#"call 2: resources/read {"uri":"file:a"}"#]
    );
    let read = r#"{"contents":[{"uri":"file:a","text":"A"},{"uri":"b:","blob":"QQ=="}]}"#;
    assert_eq!(table.result(2, read), [format!("answer 5: result {read}")]);
    for (method, params) in [
        ("tools/list", "{}"),
        ("prompts/list", "{}"),
        ("tools/call", "{}"),
    ] {
        assert!(
            table.on(1, method, params)[0].contains("-32601"),
            "{method}"
        );
    }
}

#[test]
fn only_in_the_newest_version_a_read_result_has_a_cache_lifetime() {
    let kept = r#"{"contents":[],"ttlMs":60,"cacheScope":"public"}"#;
    let mut table = initialized("2025-06-18");
    table.on(1, "resources/read", r#"{"uri":"map:/"}"#);
    assert_eq!(
        table.result(2, kept),
        [r#"answer 3: result {"contents":[]}"#]
    );
    table.alone("r", "resources/read", r#""uri":"map:/""#);
    assert_eq!(
        table.result(3, kept),
        [
            r#"answer 4: result {"contents":[],"ttlMs":60,"cacheScope":"public","resultType":"complete"}"#
        ]
    );
    table.alone("r", "resources/read", r#""uri":"map:/""#);
    assert_eq!(
        table.result(4, r#"{"contents":[]}"#),
        [
            r#"answer 5: result {"contents":[],"resultType":"complete","ttlMs":0,"cacheScope":"private"}"#
        ]
    );
}

#[test]
fn the_error_code_for_an_unknown_resource_depends_on_the_version() {
    let unknown = r#"{"code":-32002,"message":"no such file"}"#;
    let mut table = initialized("2025-11-25");
    table.on(1, "resources/read", r#"{"uri":"file:a"}"#);
    assert_eq!(
        table.error(2, unknown),
        [format!("answer 3: error {unknown}")]
    );
    table.alone("r", "resources/read", r#""uri":"file:a""#);
    assert_eq!(
        table.error(3, unknown),
        [r#"answer 4: error {"code":-32602,"message":"no such file"}"#]
    );
}

#[test]
fn invalid_resources_are_left_out_and_the_others_stay() {
    for (wrong, reason) in [
        (r#""a""#, "resource 1 of its list is not an object"),
        (
            r#"{"name":"n"}"#,
            "resource 1 of its list lacks a uri of 1 to 4096 bytes",
        ),
        (
            r#"{"uri":"a b:c","name":"n"}"#,
            "resource 1 of its list has a uri that does not begin with a scheme",
        ),
        (
            r#"{"uri":"/etc","name":"n"}"#,
            "resource 1 of its list has a uri that does not begin with a scheme",
        ),
        (r#"{"uri":"a:"}"#, r#"its resource "a:" lacks a name"#),
        (
            r#"{"uri":"\u006dap:/","name":"n"}"#,
            r#"it lists two resources "map:/""#,
        ),
    ] {
        let mut table = server(&[Offer::Resources]);
        table.alone("r", "resources/list", "");
        let fine = r#"{"uri":"map:/","name":"map"}"#;
        let listed = table.result(1, &format!(r#"{{"resources":[{fine},{wrong}]}}"#));
        let notice =
            format!("notice: of the proxy `maps`, resources that it lists are left out: {reason}");
        assert!(listed[0].starts_with(&notice), "{listed:?}");
        let listing = format!(r#"answer 1: result {{"resources":[{fine}],"#);
        assert!(listed[1].starts_with(&listing), "{listed:?}");
    }
    let mut table = server(&[Offer::Resources]);
    table.alone("r", "resources/templates/list", "");
    let listed = table.result(1, r#"{"templates":[{"uriTemplate":"","name":"n"}]}"#);
    assert!(listed[0].contains("template 0 of its list lacks a uriTemplate"));
}

#[test]
fn invalid_contents_are_an_error_that_names_the_proxy_and_the_resource() {
    for (result, reason) in [
        ("{}", "it lacks `contents`"),
        (
            r#"{"contents":[{"text":"x"}]}"#,
            "its `contents` is not an array of objects with a `uri`",
        ),
        (
            r#"{"contents":[{"uri":"a:"}]}"#,
            "its `contents` are not each either a `text` or a `blob`",
        ),
    ] {
        let mut table = initialized("2025-11-25");
        table.on(1, "resources/read", r#"{"uri":"a:"}"#);
        let answer = table.result(2, result);
        let expected = format!(
            r#"answer 3: error {{"code":-32603,"message":"The proxy \"maps\" is at fault: its result for \"a:\" is not a ReadResourceResult: {reason}"#
        );
        assert!(answer[0].starts_with(&expected), "{answer:?}");
    }
    let mut table = initialized("2025-11-25");
    let long = format!(r#"{{"uri":"a:{}"}}"#, "x".repeat(4096));
    for (params, reason) in [
        ("{}", "resources/read lacks a uri"),
        (&long, "the uri is longer than 4096 bytes"),
    ] {
        let answer = table.on(1, "resources/read", params);
        assert!(
            answer[0].contains(&format!(r#"-32602,"message":"{reason}""#)),
            "{answer:?}"
        );
    }
}

#[test]
fn a_change_of_a_resource_is_reported_to_its_subscribers_only() {
    let mut table = initialized("2025-11-25");
    table.connect(2);
    assert_eq!(
        table.on(1, "resources/subscribe", r#"{"uri":"map:/"}"#),
        ["answer 4: result {}"]
    );
    assert_eq!(
        table.alone(
            "l",
            "subscriptions/listen",
            r#""notifications":{"resourcesListChanged":true,"toolsListChanged":true,"resourceSubscriptions":["map:/","a:"]}"#
        ),
        [concat!(
            r#"tell l: notifications/subscriptions/acknowledged "#,
            r#"{"_meta":{"io.modelcontextprotocol/subscriptionId":"l"},"notifications":"#,
            r#"{"resourcesListChanged":true,"resourceSubscriptions":["a:","map:/"]}}"#
        )]
    );
    assert_eq!(
        changed(&mut table, "map:/"),
        [
            r#"tell 1: notifications/resources/updated {"uri":"map:/"}"#,
            concat!(
                r#"tell l: notifications/resources/updated {"uri":"map:/","#,
                r#""_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}"#
            )
        ]
    );
    assert_eq!(changed(&mut table, "a:").len(), 1);
    assert!(changed(&mut table, "b:").is_empty());
    table.on(1, "resources/unsubscribe", r#"{"uri":"map:/"}"#);
    table.withdraw(5);
    assert!(changed(&mut table, "map:/").is_empty());
    // Subscriptions end with their connection.
    table.on(1, "resources/subscribe", r#"{"uri":"map:/"}"#);
    table.disconnect(1);
    assert!(changed(&mut table, "map:/").is_empty());
}

#[test]
fn subscriptions_are_limited() {
    let mut table = initialized("2025-11-25");
    for at in 0..1024 {
        let params = format!(r#"{{"uri":"a:{at}"}}"#);
        assert!(table.on(1, "resources/subscribe", &params)[0].ends_with("result {}"));
    }
    assert!(table.on(1, "resources/subscribe", r#"{"uri":"b:"}"#)[0].contains("-33000"));
    let uris: Vec<_> = (0..1025).map(|at| format!(r#""a:{at}""#)).collect();
    let params = format!(
        r#""notifications":{{"resourceSubscriptions":[{}]}}"#,
        uris.join(",")
    );
    assert!(table.alone("l", "subscriptions/listen", &params)[0].contains("-33000"));
}

#[test]
fn unsubscribing_works_at_the_limit() {
    let mut table = initialized("2025-11-25");
    let uri = |at: usize| format!(r#"{{"uri":"a:{at:04000}"}}"#);
    let mut full = (1..protocol::OPEN as u64).flat_map(|client| {
        let ats = (0..60).map(move |at| (client, at));
        ats.collect::<Vec<_>>()
    });
    let refused = full.find(|(client, at)| {
        if *at == 0 && *client > 1 {
            table.connect(*client);
            table.on(*client, "initialize", r#"{"protocolVersion":"2025-11-25"}"#);
        }
        table.on(*client, "resources/subscribe", &uri(*at))[0].contains("-33000")
    });
    assert!(refused.is_some());
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        let answer = table.on(1, method, &uri(0));
        assert!(answer[0].ends_with("result {}"), "{method}: {answer:?}");
    }
    let (client, at) = refused.unwrap_or_default();
    let answer = table.on(client, "resources/subscribe", &uri(at));
    assert!(answer[0].ends_with("result {}"), "there is room again");
}

#[test]
fn the_instructions_for_tools_and_resources_are_joined() {
    let mut table = server(&[Offer::Tools, Offer::Resources, Offer::Prompts]);
    table.connect(1);
    assert_eq!(
        table.on(1, "initialize", r#"{"protocolVersion":"2025-11-25"}"#),
        ["list tools 1"]
    );
    assert_eq!(
        table.result(1, r#"{"instructions":"Call them","tools":[]}"#),
        ["list resources 2"]
    );
    let answer = table.result(2, RESOURCES);
    assert!(answer[0].contains(r#""instructions":"Call them\n\nRead them""#));
    assert!(answer[0].contains(concat!(
        r#""capabilities":{"tools":{"listChanged":true},"#,
        r#""resources":{"subscribe":true,"listChanged":true},"prompts":{"listChanged":true}}"#
    )));
    // Both lists are known now.
    assert!(table.on(1, "server/discover", &alone(""))[0].contains("Read them"));
}

#[test]
fn a_change_of_one_list_does_not_affect_another() {
    let mut table = server(&[Offer::Tools, Offer::Resources]);
    table.connect(1);
    table.on(1, "initialize", r#"{"protocolVersion":"2025-11-25"}"#);
    table.result(1, r#"{"tools":[]}"#);
    table.result(2, RESOURCES);
    table.tell(1, "notifications/initialized", "null");
    assert_eq!(
        table.changed(&Change::List(Offer::Resources)),
        ["tell 1: notifications/resources/list_changed"]
    );
    assert!(table.on(1, "tools/list", "{}")[0].starts_with("answer 3: result"));
    assert_eq!(table.on(1, "resources/list", "{}"), ["list resources 3"]);
    assert!(table.changed(&Change::List(Offer::Prompts)).is_empty());
}
