//! Checks whether a proxy's decision can be carried out on its message.

use acp_chain_acp::is_method;
use acp_chain_powers::{Actions, Grant, Mismatch, Subject};
use foldhash::HashSet;
use serde_json::value::RawValue;

use super::ledger::{denied, invalid};
use super::work::Work;
use super::{Action, ChannelError, Decision, doubts};
use acp_chain_rpc::{self as rpc, Kind, Message};

/// The rules for judging a decision.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    pub grant: &'a Grant,
    /// The message; for a response, with the request's method.
    pub subject: Subject<'a>,
    /// The longest message that may result, in bytes.
    pub longest: usize,
    /// Whether the message is a call of the proxy's own tool, resource or prompt, which only the proxy can answer.
    pub own: bool,
    /// Whether a guard has decided about the message.
    pub sealed: bool,
}

impl Rules<'_> {
    /// An error unless a power covers one of these actions.
    fn need(&self, actions: Actions) -> Result<(), ChannelError> {
        if self.sealed {
            return denied("a guard has decided about it, and only guards may change that");
        }
        allow(self.grant, actions, &self.subject)
    }
}

/// An error unless a grant covers one of these actions on a message.
pub fn allow(grant: &Grant, actions: Actions, subject: &Subject) -> Result<(), ChannelError> {
    if grant.covers(actions, subject) {
        return Ok(());
    }
    let lacking = acp_chain_powers::lacking(actions, subject);
    denied(format!("none of its powers covers it: {lacking}"))
}

/// The resulting action, if the decision fits the message, its texts are JSON, and the proxy's powers cover it. Edits
/// are made here, so an edit without a valid place is an error of the proxy.
pub fn check(
    message: &Message,
    decision: Decision,
    rules: Rules,
    work: &mut Work,
) -> Result<Action, ChannelError> {
    if rules.own {
        return check_answer(decision, rules, work);
    }
    let kind = message.kind();
    match decision {
        Decision::Forward => Ok(Action::Forward),
        Decision::Edit(_) if kind == Kind::Error => Err(misfit(kind, "edit")),
        Decision::Edit(edits) => {
            rules.need(Actions::CHANGE)?;
            let edits = edits
                .iter()
                .map(|edit| (&*edit.pointer, edit.value.as_deref()));
            let edits: Vec<_> = edits.collect();
            let body = edited(message.body(), &edits, work)?;
            let places = rules.grant.changeable(&rules.subject);
            if !edits.iter().all(|(pointer, _)| places.contain(pointer)) {
                compare(message.body(), &body, rules, work)?;
            }
            replaced(message, &body, rules, work)
        }
        Decision::Replace(body) => {
            // The replacement turns an error into a result.
            let subject = Subject {
                kind: if kind == Kind::Error {
                    Kind::Result
                } else {
                    kind
                },
                ..rules.subject
            };
            let rules = Rules { subject, ..rules };
            rules.need(Actions::CHANGE)?;
            check_length(body.len(), rules.longest)?;
            work.spend(body.len())?;
            check_json(&body)?;
            if rules.grant.changeable(&subject).contain("") {
                return replaced(message, &body, rules, work);
            }
            let body = compare(message.body(), &body, rules, work)?;
            replaced(message, &body, rules, work)
        }
        Decision::Respond(_) if kind != Kind::Request => Err(misfit(kind, "respond")),
        Decision::Respond(result) => {
            rules.need(Actions::ANSWER)?;
            check_named(rules.subject.method, &result)?;
            respond(&result, rules, work)
        }
        Decision::Reject(_) if kind == Kind::Notification => Err(misfit(kind, "reject")),
        Decision::Reject(error) => {
            rules.need(Actions::REFUSE)?;
            let error = short(Message::error(&error), rules)?;
            check_readers(rules.grant, rules.subject.method, error.body(), work)?;
            Ok(match kind {
                Kind::Request => Action::Answer(error),
                _ => Action::Replace(error),
            })
        }
        Decision::Discard if kind != Kind::Notification => Err(misfit(kind, "discard")),
        Decision::Discard => rules.need(Actions::REFUSE).map(|()| Action::Discard),
        Decision::Hold => rules.need(Actions::REFUSE).map(|()| Action::Hold),
    }
}

/// The resulting action for a call of the proxy's own offer, which must be answered or held.
fn check_answer(decision: Decision, rules: Rules, work: &mut Work) -> Result<Action, ChannelError> {
    match decision {
        Decision::Respond(result) => respond(&result, rules, work),
        Decision::Reject(error) => short(Message::error(&error), rules).map(Action::Answer),
        Decision::Hold => Ok(Action::Hold),
        _ => invalid("a call takes `respond` or `reject` only"),
    }
}

fn respond(result: &str, rules: Rules, work: &mut Work) -> Result<Action, ChannelError> {
    check_length(result.len(), rules.longest)?;
    work.spend(result.len())?;
    check_json(result)?;
    check_readers(rules.grant, rules.subject.method, result, work)?;
    short(Message::result(result), rules).map(Action::Answer)
}

/// The old body with the new values at the places that may change; everything else keeps its bytes. An error if
/// anything else differs.
fn compare(old: &str, new: &str, rules: Rules, work: &mut Work) -> Result<String, ChannelError> {
    let places = rules.grant.changeable(&rules.subject);
    let denied = |place: String| {
        let method = rules.subject.method;
        ChannelError::Denied(format!(
            "none of its powers lets it change {place:?} of {method:?}: every byte there must stay"
        ))
    };
    let changes = places.compare(raw(old)?, raw(new)?, work.left());
    let changes = changes.map_err(|mismatch| match mismatch {
        Mismatch::TooMuch => ChannelError::Full,
        Mismatch::Differs(place) => denied(place),
    })?;
    let changes = changes
        .iter()
        .map(|(place, value)| (&**place, value.map(RawValue::get)));
    let changes: Vec<_> = changes.collect();
    edited(old, &changes, work)
}

fn raw(text: &str) -> Result<&RawValue, ChannelError> {
    serde_json::from_str(text).map_err(|error| ChannelError::Invalid(format!("not JSON: {error}")))
}

/// The message with another body. It must keep its session, unless the proxy may send such messages itself, and its
/// kind of update.
fn replaced(
    message: &Message,
    body: &str,
    rules: Rules,
    work: &mut Work,
) -> Result<Action, ChannelError> {
    check_named(rules.subject.method, body)?;
    let new = message.with_body(body);
    if new.session() != message.session() || gains_session(&new, message) {
        let method = rules.subject.method;
        allow(rules.grant, Actions::SEND, &rules.subject).or_else(|_| {
            denied(format!(
                "it moves the message to another session, where it may not send {method:?}"
            ))
        })?;
    }
    let is_update = rules.subject.method == "session/update";
    let is_other = || new.update() != message.update() || rpc::is_unclear_update(body);
    if is_update && !rules.grant.is_unlimited() && is_other() {
        return denied("it turns the message into another kind of update");
    }
    // Ambiguities that the proxy did not cause may stay.
    let method = rules.subject.method;
    match check_readers(rules.grant, method, body, work) {
        Err(ChannelError::Denied(_))
            if rpc::look_through(message.body(), method).is_err()
                && !doubts::are_added(method, message.body(), body, work)? => {}
        checked => checked?,
    }
    short(new, rules).map(Action::Replace)
}

/// Whether some reader may take a changed message to be about a session that it was not about before.
fn gains_session(new: &Message, old: &Message) -> bool {
    let mut others = new.sessions();
    others.retain(|session| Some(session) != old.session());
    if others.is_empty() {
        return false;
    }
    let known: HashSet<_> = old.sessions().into_iter().collect();
    !others.iter().all(|session| known.contains(session))
}

fn short(message: Message, rules: Rules) -> Result<Message, ChannelError> {
    check_length(message.len(), rules.longest)?;
    Ok(message)
}

/// An error if a message is over the limit `message`.
pub fn check_length(len: usize, longest: usize) -> Result<(), ChannelError> {
    if len <= longest {
        return Ok(());
    }
    let text = format!("a message of {len} bytes is over the limit of {longest}");
    invalid(text)
}

fn edited(
    body: &str,
    edits: &[(&str, Option<&str>)],
    work: &mut Work,
) -> Result<String, ChannelError> {
    let invalid = |error: rpc::EditError| ChannelError::Invalid(error.to_string());
    work.look_up_at_once(body, edits.iter().map(|(pointer, _)| *pointer))?;
    for value in edits.iter().filter_map(|(_, value)| *value) {
        work.spend(value.len())?;
        check_json(value)?;
    }
    if let Some(body) = rpc::edit_at_once(body, edits).map_err(invalid)? {
        return Ok(body);
    }
    let mut body = body.to_owned();
    for (pointer, value) in edits {
        work.look_up(&body, pointer)?;
        let edited = match value {
            Some(value) => rpc::set(&body, pointer, value),
            None => rpc::edit(&body, pointer, None),
        };
        body = edited.map_err(invalid)?;
    }
    Ok(body)
}

/// An error if parsers may read a proxy's message of this method, or its answer to one, differently, so that a power
/// covers one reading, but not another.
pub fn check_readers(
    grant: &Grant,
    method: &str,
    body: &str,
    work: &mut Work,
) -> Result<(), ChannelError> {
    if grant.is_unlimited() {
        return Ok(());
    }
    work.spend(body.len())?;
    rpc::look_through(body, method)
        .map_err(|why| ChannelError::Denied(format!("parsers may read it differently: {why}")))
}

/// An error if the parameters or the result of a method of the protocol are a list: some readers take its elements for
/// the members.
pub fn check_named(method: &str, body: &str) -> Result<(), ChannelError> {
    if rpc::is_by_position(body) && is_method(method) {
        return invalid(format!(
            "the parameters and the result of {method} are objects"
        ));
    }
    Ok(())
}

fn misfit(kind: Kind, action: &str) -> ChannelError {
    let kind = match kind {
        Kind::Request => "a request",
        Kind::Notification => "a notification",
        Kind::Result => "a response",
        Kind::Error => "an error response",
    };
    ChannelError::Invalid(format!("{kind} cannot take the action `{action}`"))
}

/// Whether a JSON text is a string that neither has nor needs escapes (RFC 8259, section 7), as long texts of proxies
/// often are.
fn is_plain_string(text: &str) -> bool {
    let text = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    text.is_some_and(|text| {
        memchr::memchr2(b'"', b'\\', text.as_bytes()).is_none()
            // Without an early exit, so that many bytes are compared at once.
            && text.bytes().fold(u8::MAX, u8::min) >= b' '
    })
}

/// An error unless the text is JSON.
pub fn check_json(text: &str) -> Result<(), ChannelError> {
    if is_plain_string(text) {
        return Ok(());
    }
    raw(text).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Edit, Peer, subject};

    proptest::proptest! {
        #[test]
        fn a_plain_string_is_json(text in r#""[a"\\n\x00-\x1f\u{e4}]{0,4}"?"#) {
            let json = serde_json::from_str::<&RawValue>(&text).is_ok();
            proptest::prop_assert!(json || !is_plain_string(&text));
            proptest::prop_assert_eq!(check_json(&text).is_ok(), json);
        }
    }

    fn edit(pointer: &str, value: Option<&str>) -> Edit {
        Edit {
            pointer: pointer.to_owned(),
            value: value.map(str::to_owned),
        }
    }

    fn set(pointer: &str, value: &str) -> Decision {
        Decision::Edit(vec![edit(pointer, Some(value))])
    }

    fn replace(body: &str) -> Decision {
        Decision::Replace(body.to_owned())
    }

    fn grant(powers: &[&str]) -> Grant {
        Grant::new("me", powers.iter().copied(), Vec::new()).unwrap()
    }

    /// Judges a decision about a message from this side; `method` is that of the request for a response.
    fn judge_as(
        sender: Peer,
        method: &str,
        message: &Message,
        decision: Decision,
        grant: &Grant,
    ) -> Result<Action, ChannelError> {
        let rules = Rules {
            grant,
            subject: subject(message, sender, method),
            longest: 1000,
            own: false,
            sealed: false,
        };
        check(message, decision, rules, &mut Work::default())
    }

    fn judge(message: &Message, decision: Decision, grant: &Grant) -> Result<Action, ChannelError> {
        let method = message.method().clone();
        judge_as(Peer::Client, &method, message, decision, grant)
    }

    fn body(action: Result<Action, ChannelError>) -> String {
        match action {
            Ok(Action::Replace(message)) => message.body().to_owned(),
            other => panic!("it does not go on with another body: {other:?}"),
        }
    }

    fn assert_denied(action: Result<Action, ChannelError>, because: &str) {
        match action {
            Err(ChannelError::Denied(why)) => assert!(why.contains(because), "{why}"),
            other => panic!("it is not denied: {other:?}"),
        }
    }

    #[test]
    fn edits_are_made_one_after_the_other() {
        let message = Message::request("m", r#"{"a":[1]}"#);
        let edits = vec![
            edit("/a/-", Some("2")),
            edit("/a/0", None),
            edit("/b", Some("{}")),
        ];
        let edited = judge(&message, Decision::Edit(edits), &Grant::unlimited());
        assert_eq!(body(edited), r#"{"a":[2],"b":{}}"#);
    }

    #[test]
    fn an_edit_that_cannot_be_made_is_an_error() {
        let request = Message::request("m", r#"{"a":[1]}"#);
        for wrong in [
            edit("/a/x/y", Some("1")),
            edit("/x", None),
            edit("/a", Some("{")),
        ] {
            let checked = judge(&request, Decision::Edit(vec![wrong]), &Grant::unlimited());
            assert!(matches!(checked, Err(ChannelError::Invalid(_))));
        }
        let error = Message::error(&rpc::Error::new(1, "x"));
        let checked = judge(&error, set("/code", "2"), &Grant::unlimited());
        assert!(matches!(checked, Err(ChannelError::Invalid(_))));
    }

    #[test]
    fn parameters_and_results_of_the_protocol_are_no_list() {
        let prompt = Message::request("session/prompt", r#"{"prompt":[]}"#);
        let own = Message::request("_list", "{}");
        for listed in [
            Decision::Respond(r#"["end_turn"]"#.to_owned()),
            replace(r#" ["s",[]]"#),
        ] {
            let judged = judge(&prompt, listed.clone(), &Grant::unlimited());
            assert!(
                matches!(judged, Err(ChannelError::Invalid(_))),
                "{judged:?}"
            );
            assert!(judge(&own, listed, &Grant::unlimited()).is_ok());
        }
        // An object without members.
        let empty = Decision::Respond("[]".to_owned());
        assert!(judge(&prompt, empty, &Grant::unlimited()).is_ok());
    }

    /// Each decision needs its own power, and no other helps.
    #[test]
    fn nothing_is_decided_that_no_power_covers() {
        let prompt = Message::request("session/prompt", r#"{"prompt":[]}"#);
        let respond = || Decision::Respond("{}".to_owned());
        let reject = || Decision::Reject(rpc::Error::new(1, "no"));
        let (change, answer, read) = (
            grant(&["prompts.change"]),
            grant(&["prompts.answer"]),
            grant(&["prompts.read", "answers.change", "files.change"]),
        );
        assert!(judge(&prompt, set("/prompt", "[1]"), &change).is_ok());
        assert_denied(
            judge(&prompt, set("/prompt", "[1]"), &answer),
            "`prompts.change`",
        );
        assert!(judge(&prompt, respond(), &answer).is_ok());
        assert_denied(judge(&prompt, respond(), &change), "`prompts.answer`");
        for decision in [reject(), Decision::Hold] {
            assert!(judge(&prompt, decision.clone(), &change).is_ok());
            assert!(judge(&prompt, decision.clone(), &answer).is_ok());
            assert_denied(
                judge(&prompt, decision, &read),
                "`prompts.change` or `prompts.answer`",
            );
        }
        assert!(judge(&prompt, Decision::Forward, &Grant::default()).is_ok());
        let cancel = Message::notification("session/cancel", "{}");
        for decision in [Decision::Discard, Decision::Hold, replace("{}")] {
            let all = Grant::all_powers("me");
            assert_denied(judge(&cancel, decision, &all), "no proxy may");
        }
    }

    /// What a component did with the default grant, before there were powers.
    #[test]
    fn a_power_reaches_only_its_places() {
        let all_but = |keys: &[&str]| {
            let all = acp_chain_powers::Power::all().map(|power| power.key);
            Grant::new("me", all.filter(|key| !keys.contains(key)), Vec::new()).unwrap()
        };
        let signing_in = r#"{"protocolVersion":1,"authMethods":[]}"#;
        let own_command =
            r#"{"protocolVersion":1,"authMethods":[{"type":"terminal","args":["x"]}]}"#;
        let answer = Message::result(signing_in);
        for decision in [
            replace(own_command),
            set("/authMethods/-", r#"{"type":"terminal"}"#),
        ] {
            let judged = judge_as(Peer::Agent, "initialize", &answer, decision, &all_but(&[]));
            assert_denied(judged, "/authMethods");
        }
        let read = Message::request("fs/read_text_file", r#"{"sessionId":"s","path":"/p/a"}"#);
        let judged = judge_as(
            Peer::Agent,
            "fs/read_text_file",
            &read,
            set("/path", r#""/home/me/.ssh/id_ed25519""#),
            &all_but(&["files.redirect"]),
        );
        assert_denied(judged, "`files.redirect`");
        let call = r#"{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"1","kind":"execute","title":"rm -rf ~"}}"#;
        let call = Message::notification("session/update", call);
        for pointer in [
            "/update/kind",
            "/update/toolCallId",
            "/update/sessionUpdate",
            "/sessionId",
        ] {
            let edits = set(pointer, r#""read""#);
            let judged = judge_as(Peer::Agent, "session/update", &call, edits, &all_but(&[]));
            assert_denied(judged, pointer);
        }
        let judged = judge_as(
            Peer::Agent,
            "session/update",
            &call,
            set("/update/title", r#""ls""#),
            &all_but(&[]),
        );
        assert!(body(judged).contains(r#""title":"ls""#));
        let logout = Message::request("logout", "{}");
        let reject = Decision::Reject(rpc::Error::new(1, "no"));
        assert_denied(
            judge(&logout, reject, &all_but(&["sign-in.change"])),
            "sign-in.change",
        );
    }

    #[test]
    fn what_is_replaced_keeps_its_bytes_but_at_the_places_that_may_change() {
        let old = r#"{ "sessionId":"s", "n":1.0e2, "prompt":[{"text":"a"}], "_meta" : {"x":1} }"#;
        let message = Message::request("session/prompt", old);
        let grant = grant(&["prompts.change", "marks.add"]);
        let new = r#"{"_meta":{"x":1,"acp-chain/me":2},"prompt":[],"sessionId":"s","n":1.0e2}"#;
        assert_eq!(
            body(judge(&message, replace(new), &grant)),
            r#"{ "sessionId":"s", "n":1.0e2, "prompt":[], "_meta" : {"x":1,"acp-chain/me":2} }"#
        );
        for (wrong, place) in [
            (
                r#"{"sessionId":"s","n":100,"prompt":[],"_meta":{"x":1}}"#,
                "/n",
            ),
            (
                r#"{"sessionId":"s","n":1.0e2,"prompt":[],"_meta":{"x":2}}"#,
                "/_meta/x",
            ),
            (
                r#"{"sessionId":"s","n":1.0e2,"prompt":[],"_meta":{"x":1,"acp-chain/you":2}}"#,
                "you",
            ),
            (
                r#"{"sessionId":"t","n":1.0e2,"prompt":[],"_meta":{"x":1}}"#,
                "/sessionId",
            ),
            (
                r#"{"sessionId":"s","SessionId":"t","n":1.0e2,"prompt":[],"_meta":{"x":1}}"#,
                "/SessionId",
            ),
        ] {
            assert_denied(judge(&message, replace(wrong), &grant), place);
        }
        // Edits that reach further than their places, but change nothing else, have the same effect.
        let whole = set("/_meta", r#"{"x":1,"acp-chain/me":2}"#);
        assert!(
            body(judge(&message, whole, &grant))
                .ends_with(r#""_meta" : {"x":1,"acp-chain/me":2} }"#)
        );
        let removed = Decision::Edit(vec![edit("/n", None)]);
        assert_denied(judge(&message, removed, &grant), "/n");
    }

    #[test]
    fn an_update_stays_of_its_kind() {
        let grant = grant(&["other-updates.change", "answers.change"]);
        let update = r#"{"sessionId":"s","update":{"sessionUpdate":"_mine","x":1}}"#;
        let update = Message::notification("session/update", update);
        let judged = |decision| judge_as(Peer::Agent, "session/update", &update, decision, &grant);
        assert!(judged(set("/update/x", "2")).is_ok());
        let disguised = set("/update", r#"{"sessionUpdate":"agent_message_chunk"}"#);
        assert_denied(judged(disguised), "another kind of update");
    }

    #[test]
    fn only_guards_change_what_a_guard_has_decided() {
        let message = Message::request("session/prompt", r#"{"prompt":[]}"#);
        let grant = Grant::unlimited();
        for decision in [
            set("/prompt", "1"),
            Decision::Hold,
            replace("{}"),
            Decision::Respond("{}".into()),
        ] {
            let rules = Rules {
                grant: &grant,
                subject: subject(&message, Peer::Client, "session/prompt"),
                longest: 1000,
                own: false,
                sealed: true,
            };
            assert_denied(
                check(&message, decision, rules, &mut Work::default()),
                "a guard",
            );
        }
    }

    #[test]
    fn a_proxy_may_not_make_a_message_ambiguous() {
        let grant = Grant::new(
            "me",
            [
                "other-updates.read",
                "other-updates.change",
                "permissions.answer",
            ],
            Vec::new(),
        );
        let grant = grant.unwrap();
        let update = r#"{"sessionId":"s","update":{"sessionUpdate":"zzz"}}"#;
        let update = Message::notification("session/update", update);
        for mode in [
            r#"{"sessionUpdate":"zzz","SessionUpdate":"current_mode_update"}"#,
            r#"{"sessionUpdate":"current_mode_update","sessionUpdate":"zzz"}"#,
        ] {
            let edits = set("/update", mode);
            let judged = judge_as(Peer::Agent, "session/update", &update, edits, &grant);
            assert_denied(judged, "");
        }
        let asks = Message::request("session/request_permission", r#"{"sessionId":"s"}"#);
        let twice = r#"{"outcome":{"outcome":"cancelled","Outcome":"selected"}}"#;
        let twice = Decision::Respond(twice.to_owned());
        let judged = judge_as(Peer::Agent, asks.method(), &asks, twice, &grant);
        assert_denied(judged, "parsers may read it differently");
        // Ambiguities that the proxy did not cause are tolerated.
        let twice = r#"{"sessionId":"s","x":1,"X":2,"update":{"sessionUpdate":"zzz","a":1}}"#;
        let twice = Message::notification("session/update", twice);
        let edits = set("/update/a", "2");
        let judged = judge_as(Peer::Agent, "session/update", &twice, edits, &grant);
        assert!(body(judged).contains(r#""a":2"#));
    }

    #[test]
    fn a_proxy_may_not_make_an_ambiguous_message_more_ambiguous() {
        let grant = grant(&["other-updates.read", "other-updates.change"]);
        let update = r#"{"sessionId":"s","update":{"sessionUpdate":"zzz","a":1,"A":2}}"#;
        let update = Message::notification("session/update", update);
        let judged = |decision| judge_as(Peer::Agent, "session/update", &update, decision, &grant);
        for kind in [
            r#"{"sessionUpdate":"zzz","SessionUpdate":"current_mode_update","a":1,"A":2}"#,
            r#"{"SessionUpdate":"current_mode_update"}"#,
        ] {
            assert_denied(judged(set("/update", kind)), "another kind of update");
        }
        for (pointer, value) in [("/update/b", r#"{"c":1,"C":2}"#), ("/update/A", "3")] {
            assert_denied(
                judged(set(pointer, value)),
                "parsers may read it differently",
            );
        }
        let changed = body(judged(set("/update/b", "3")));
        assert!(changed.contains(r#""a":1,"A":2,"b":3"#), "{changed}");
    }

    #[test]
    fn a_changed_message_stays_in_its_session() {
        let named = |actions| acp_chain_powers::NamedMethods {
            methods: acp_chain_powers::Pattern::new("_m").unwrap(),
            actions,
        };
        let may = |actions| Grant::new("me", [], vec![named(actions)]).unwrap();
        let change = may(Actions::CHANGE);
        let message = Message::request("_m", r#"{"sessionId":"one"}"#);
        let other = || replace(r#"{"sessionId":"two"}"#);
        assert_denied(judge(&message, other(), &change), "another session");
        assert!(judge(&message, other(), &may(Actions::all())).is_ok());
        let both = r#"{"\u0073essionID":"two","sessionId":"one"}"#;
        assert_denied(judge(&message, replace(both), &change), "another session");
        let none = Message::request("_m", "{}");
        for spelling in ["sessionId", "SessionID", "ſessionId"] {
            let named = replace(&format!(r#"{{"{spelling}":"two"}}"#));
            assert_denied(judge(&none, named, &change), "another session");
        }
        assert!(
            judge(
                &message,
                replace(r#"{"sessionId":"one","more":1}"#),
                &change
            )
            .is_ok()
        );
    }

    #[test]
    fn no_message_over_the_limit_results() {
        let long = format!("\"{}\"", "x".repeat(1000));
        for decision in [Decision::Replace(long.clone()), Decision::Respond(long)] {
            let checked = judge(&Message::request("m", "{}"), decision, &Grant::unlimited());
            assert!(matches!(checked, Err(ChannelError::Invalid(_))));
        }
    }
}
