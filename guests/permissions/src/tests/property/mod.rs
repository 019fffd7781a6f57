//! Decisions about generated calls, rules and paths, compared with a simple reference.

mod generate;
mod reference;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use self::generate::{Member, call_members, cwd, paths, rule};
use self::reference::{Facts, Rule, decide};
use super::*;

#[derive(Clone, Debug)]
enum Event {
    /// An update of a call.
    Update(&'static str, Member),
    /// An update of an unknown call.
    Missed,
    EndOfTurn,
    Loaded,
    Restart,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        12 => (select(&["t", "t", "u"][..]), call_members()).prop_map(|(id, member)| Event::Update(id, member)),
        1 => Just(Event::Missed),
        1 => Just(Event::EndOfTurn),
        1 => Just(Event::Loaded),
        1 => Just(Event::Restart),
    ]
}

/// The reference's knowledge after these events.
fn known(events: &[Event]) -> Facts {
    let (mut call, mut missed, mut named) = (Facts::default(), false, false);
    for event in events {
        match event {
            Event::Update("t", (_, facts)) => {
                named = true;
                call.and(facts.clone());
                call.unclear |= missed;
            }
            Event::Update(..) => {}
            Event::Missed => missed = true,
            Event::EndOfTurn => {
                missed = false;
                call = Facts {
                    unclear: named,
                    ..Facts::default()
                };
            }
            Event::Loaded => {
                call = Facts {
                    unclear: named,
                    ..Facts::default()
                }
            }
            Event::Restart => (call, missed, named) = (Facts::default(), true, false),
        }
    }
    call.unclear |= missed;
    call
}

fn happen(host: &mut Host, event: &Event, cwd: Option<&str>) {
    let update = |host: &mut Host, update: &str| {
        let params = format!(r#"{{"sessionId":"s","update":{update}}}"#);
        host.notify(Peer::Agent, "session/update", raw(&params));
    };
    match event {
        Event::Update(id, (members, _)) => {
            update(
                host,
                &format!(r#"{{"sessionUpdate":"tool_call","toolCallId":"{id}"{members}}}"#),
            );
        }
        Event::Missed => update(
            host,
            r#"{"sessionUpdate":"tool_call_update","kind":"read"}"#,
        ),
        Event::EndOfTurn => update(host, r#"{"sessionUpdate":"state_update","state":"idle"}"#),
        Event::Loaded => open_in(host, cwd),
        Event::Restart => host.restart().expect("restores the saved state"),
    }
    host.sent();
}

fn open_in(host: &mut Host, cwd: Option<&str>) {
    let load = json!({ "sessionId": "s", "cwd": cwd });
    let id = host.request(Peer::Client, "session/load", load);
    host.answer(id, json!({}));
    host.sent();
}

fn config(rules: &[Rule]) -> Value {
    let rules = rules.iter().map(|rule| {
        let mut entry = json!({ "decision": rule.decision });
        let keys = [
            ("kind", &rule.kinds),
            ("title", &rule.titles),
            ("path", &rule.globs),
        ];
        for (key, values) in keys {
            if let Some(values) = values {
                entry[key] = json!(values);
            }
        }
        entry
    });
    json!({ "rules": rules.collect::<Vec<_>>() })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, ..ProptestConfig::default() })]

    #[test]
    fn every_decision_is_that_of_the_reference(
        rules in vec(rule(), 1..4),
        cwd in prop_oneof![Just(Some("/proj")), option::weighted(0.95, cwd())],
        events in vec(event(), 0..4),
        asked in call_members(),
    ) {
        let mut host = Host::start::<Permissions>(config(&rules)).expect("rules that are right");
        host.powers(LEAST);
        open_in(&mut host, cwd);
        for event in &events {
            happen(&mut host, event, cwd);
        }
        let options = options(ALL);
        let params = format!(r#"{{"sessionId":"s","toolCall":{{"toolCallId":"t"{}}},"options":{options}}}"#, asked.0);
        let decided = choose(&mut host, raw(&params));

        let mut call = known(&events);
        call.and(asked.1);
        prop_assert_eq!(decided, decide(&rules, &call, cwd), "{:?} {:?}", call, cwd);
    }

    #[test]
    fn every_path_is_reached_as_the_reference_says(
        rule in rule(),
        cwd in option::weighted(0.95, cwd()),
        path in paths(),
    ) {
        let rule = Rule { kinds: None, titles: None, ..rule };
        let mut host = Host::start::<Permissions>(config(std::slice::from_ref(&rule))).expect("a rule that is right");
        open_in(&mut host, cwd);
        let mut call = Facts::default();
        call.paths.insert(path.clone());
        call.kinds.insert("edit".into());
        call.titles.insert(String::new());
        let decided = ask(&mut host, super::call("edit", "", &[&path]));
        prop_assert_eq!(decided, decide(&[rule], &call, cwd), "{:?} {:?}", path, cwd);
    }
}
