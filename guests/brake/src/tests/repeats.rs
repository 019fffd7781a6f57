//! The same call again and again.

use serde_json::value::RawValue;

use super::*;

fn host_with(repeats: &Value) -> Host {
    let mut host = host(json!({ "turn": {}, "repeats": repeats }));
    begin(&mut host);
    host
}

/// The agent ends a call.
fn ended(host: &mut Host, id: &str, status: &str) {
    let update = json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "status": status });
    super::update(host, &update);
}

#[test]
fn the_same_call_runs_as_often_as_it_may() {
    let mut host = host_with(&json!({ "same-call": 3 }));
    for number in 0..3 {
        report(&mut host, Some(&format!("c{number}")), "make");
        // Another input.
        run(&mut host, number + 10);
    }
    assert_eq!(seen(&mut host).passed.len(), 6);
    let again = report(&mut host, Some("c3"), "make");
    let asked = question(&mut host);
    let title: String = asked.get("/toolCall/title").expect("a title");
    assert!(
        title.contains("the same call was made 4 times in this turn"),
        "{title}"
    );
    answer(&mut host, &asked, "go-on");
    assert_eq!(seen(&mut host).passed, [again]);
    for number in 4..6 {
        report(&mut host, Some(&format!("c{number}")), "make");
    }
    assert_eq!(seen(&mut host).passed.len(), 2);
    report(&mut host, Some("c6"), "make");
    question(&mut host);
}

#[test]
fn calls_without_ids_are_told_apart_by_their_inputs() {
    let mut host = host_with(&json!({ "same-call": 2, "action": "stop" }));
    for command in ["a", "b", "a", "b"] {
        report(&mut host, None, command);
    }
    assert_eq!(seen(&mut host).passed.len(), 4);
    report(&mut host, None, "a");
    let after = seen(&mut host);
    assert_eq!((after.refused.len(), after.stops), (1, 1), "{after:?}");
}

#[test]
fn a_call_that_is_shown_before_a_hook_reports_it_without_an_id_is_counted_once() {
    let mut host = host_with(&json!({ "same-call": 2, "action": "stop" }));
    let shown = json!({
        "sessionUpdate": "tool_call_update", "toolCallId": "c0", "status": "pending",
        "rawInput": { "command": "a" },
    });
    super::update(&mut host, &shown);
    report(&mut host, None, "a");
    ended(&mut host, "c0", "completed");
    report(&mut host, None, "a");
    assert_eq!(seen(&mut host).passed.len(), 2);
    report(&mut host, None, "a");
    let after = seen(&mut host);
    assert_eq!((after.refused.len(), after.stops), (1, 1), "{after:?}");
}

/// As Auggie does: its hooks know no ids, and report inputs in several lines.
#[test]
fn an_input_is_the_same_however_it_is_laid_out() {
    let mut host = host_with(&json!({ "same-call": 2, "action": "stop" }));
    let shown = |number: usize| {
        json!({
            "sessionUpdate": "tool_call", "toolCallId": format!("c{number}"),
            "rawInput": { "command": "echo \"a  b\\\" c\"", "wait": true },
        })
    };
    let report = |host: &mut Host, command: &str| {
        let input = format!(
            "{{\n  \"command\": {},\n  \"wait\": true\n}}",
            json!(command)
        );
        let call =
            format!(r#"{{ "title": "launch-process", "kind": "execute", "rawInput": {input} }}"#);
        let text = format!(r#"{{ "sessionId": "s", "toolCall": {call}, "canChange": true }}"#);
        let params: Box<RawValue> = serde_json::from_str(&text).expect("JSON");
        host.request(Peer::Agent, BEFORE_TOOL, params);
    };
    let same = "echo \"a  b\\\" c\"";
    // The first one is shown before its report, and the others after it.
    super::update(&mut host, &shown(0));
    report(&mut host, same);
    ended(&mut host, "c0", "completed");
    report(&mut host, same);
    super::update(&mut host, &shown(1));
    ended(&mut host, "c1", "completed");
    // Blanks within a text matter.
    report(&mut host, "echo \"a b\\\" c\"");
    assert_eq!(seen(&mut host).passed.len(), 3);
    report(&mut host, same);
    let after = seen(&mut host);
    assert_eq!((after.refused.len(), after.stops), (1, 1), "{after:?}");
}

#[test]
fn a_command_is_the_same_whatever_its_comments_blanks_and_quotes() {
    let mut host = host_with(&json!({ "same-call": 8, "action": "stop" }));
    let same = [
        "make -k \"all\" && ls; true",
        "make  -k\tall&&ls;true;",
        "make -k all && ls; true # again",
        "# once more\nmake -k all && ls\n\ntrue\n",
        "make -k \\\n 'all' && ls # the files\ntrue",
        "make -k al\"l\" && ls\n# and\ntrue",
        "ma''ke -k all && ls ; true #",
    ];
    let others = [
        "make -k all; ls; true",
        "make -k 'all && ls; true'",
        "make -k all && ls; tru",
        "make -k all && (ls; true)",
        "make -k all > log && ls; true",
    ];
    for (number, command) in same.iter().chain(&others).enumerate() {
        report(&mut host, Some(&format!("c{number}")), command);
    }
    assert_eq!(seen(&mut host).passed.len(), same.len() + others.len());
    for (number, is_last) in [(20, false), (21, true)] {
        report(&mut host, Some(&format!("c{number}")), same[0]);
        let after = seen(&mut host);
        assert_eq!(after.stops, usize::from(is_last), "{after:?}");
    }
}

/// What is said of a command differs each time; where there is no command, it is what the call does.
#[test]
fn a_description_makes_no_other_command() {
    let mut host = host_with(&json!({ "same-call": 1, "action": "stop" }));
    let show = |host: &mut Host, id: &str, input: Value| {
        let shown = json!({ "sessionUpdate": "tool_call", "toolCallId": id, "rawInput": input });
        super::update(host, &shown);
    };
    show(
        &mut host,
        "c0",
        json!({ "description": "look for the key" }),
    );
    show(
        &mut host,
        "c1",
        json!({ "description": "look for the door" }),
    );
    let shell = |script: &str| json!({ "command": ["bash", "-lc", script] });
    show(&mut host, "c2", shell("ls"));
    show(&mut host, "c3", shell("ls -a"));
    let commands = |text: &str| json!({ "commands": ["make", text] });
    show(&mut host, "c4", commands("ls -l"));
    show(&mut host, "c5", commands("ls -k"));
    let patch = |line: &str| {
        let text = format!("*** Begin Patch\n*** Add File: a\n+ # {line}\n*** End Patch");
        json!({ "command": text })
    };
    show(&mut host, "c8", patch("one"));
    show(&mut host, "c9", patch("two"));
    let described = |about: &str| json!({ "command": "make", "description": about });
    show(&mut host, "c6", described("builds it"));
    assert_eq!(seen(&mut host).stops, 0);
    let texts = json!({ "description": "now it works", "command": " make" }).to_string();
    show(&mut host, "c7", texts.into());
    assert_eq!(seen(&mut host).stops, 1);
    let pairs = [
        [shell("ls"), shell("ls # now")],
        [commands("ls -l"), commands("ls  -l")],
    ];
    for [first, again] in pairs {
        let mut other = host_with(&json!({ "same-call": 1, "action": "stop" }));
        show(&mut other, "c0", first);
        assert_eq!(seen(&mut other).stops, 0);
        show(&mut other, "c1", again);
        assert_eq!(seen(&mut other).stops, 1);
    }
}

#[test]
fn the_same_call_is_found_without_hooks_once_its_input_is_known() {
    let mut host = host_with(&json!({ "same-call": 2, "action": "stop" }));
    for number in 0..3 {
        let id = format!("c{number}");
        let begun = json!({
            "sessionUpdate": "tool_call", "toolCallId": id, "title": "Bash", "rawInput": {},
        });
        update(&mut host, &begun);
        assert_eq!(seen(&mut host).stops, 0);
        let known = json!({
            "sessionUpdate": "tool_call_update", "toolCallId": id, "rawInput": { "command": "make" },
        });
        update(&mut host, &known);
    }
    let after = seen(&mut host);
    assert_eq!(after.stops, 1, "{after:?}");
    assert!(
        after.told.contains("the same call was made 3 times"),
        "{after:?}"
    );
}

/// What the agent shows while its model writes the input differs each time.
#[test]
fn the_input_that_a_hook_reports_is_the_one_that_is_compared() {
    let mut host = host_with(&json!({ "same-call": 2, "action": "stop" }));
    for number in 0..3 {
        let id = format!("c{number}");
        let begun = json!({
            "sessionUpdate": "tool_call", "toolCallId": id, "rawInput": { "command": number.to_string() },
        });
        super::update(&mut host, &begun);
        assert_eq!(seen(&mut host).stops, 0);
        report(&mut host, Some(&id), "make");
    }
    let after = seen(&mut host);
    assert_eq!((after.refused.len(), after.stops), (1, 1), "{after:?}");
}

#[test]
fn a_call_that_fails_again_and_again_stops_the_turn() {
    let mut host = host_with(&json!({ "same-failure": 2, "action": "stop" }));
    for number in 0..2 {
        let id = format!("c{number}");
        report(&mut host, Some(&id), "make");
        assert_eq!(seen(&mut host).stops, 0);
        ended(&mut host, &id, "failed");
        // Said twice, and counted once.
        ended(&mut host, &id, "failed");
    }
    let after = seen(&mut host);
    assert_eq!(after.stops, 1, "{after:?}");
    assert!(
        after.told.contains("the same call has failed 2 times"),
        "{after:?}"
    );
}

#[test]
fn a_call_that_succeeds_in_between_does_not() {
    let mut host = host_with(&json!({ "same-failure": 2, "action": "stop" }));
    for (number, status) in ["failed", "completed", "failed"].into_iter().enumerate() {
        let id = format!("c{number}");
        report(&mut host, Some(&id), "make");
        ended(&mut host, &id, status);
    }
    assert_eq!(seen(&mut host).stops, 0);
}

#[test]
fn a_command_that_is_completed_with_an_exit_code_has_failed() {
    let mut host = host_with(&json!({ "same-failure": 1, "action": "stop" }));
    report(&mut host, Some("c"), "make");
    let completed = |output: Value| {
        json!({
            "sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed",
            "rawOutput": output,
        })
    };
    update(&mut host, &completed(json!({ "exit_code": 0 })));
    assert_eq!(seen(&mut host).stops, 0);
    update(&mut host, &completed(json!({ "metadata": { "exit": 2 } })));
    assert_eq!(seen(&mut host).stops, 1);
}

#[test]
fn a_late_yes_allows_no_repetition_in_another_turn() {
    let mut host = host(json!({ "turn": {}, "repeats": { "same-call": 1 } }));
    let turn = begin(&mut host);
    report(&mut host, Some("c0"), "make");
    report(&mut host, Some("c1"), "make");
    let asked = question(&mut host);
    end(&mut host, turn);
    begin(&mut host);
    report(&mut host, Some("c2"), "make");
    answer(&mut host, &asked, "go-on");
    assert!(seen(&mut host).questions.is_empty());
    report(&mut host, Some("c3"), "make");
    question(&mut host);
}

#[test]
fn another_turn_begins_to_count_again() {
    let mut host = host(json!({ "repeats": { "same-call": 1, "action": "stop" } }));
    for number in 0..3 {
        let turn = begin(&mut host);
        report(&mut host, Some(&format!("c{number}")), "make");
        assert_eq!(seen(&mut host).passed.len(), 1);
        end(&mut host, turn);
        seen(&mut host);
    }
}

#[test]
fn an_id_that_the_agent_gives_again_is_another_call() {
    let mut host = host_with(&json!({ "same-call": 3 }));
    for _ in 0..3 {
        report(&mut host, Some("call_0"), "make");
        // Reported again, as some proxy has changed it: the same call.
        report(&mut host, Some("call_0"), "make");
        ended(&mut host, "call_0", "completed");
    }
    assert_eq!(seen(&mut host).passed.len(), 6);
    report(&mut host, Some("call_0"), "make");
    question(&mut host);
}
