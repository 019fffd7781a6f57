//! Whether what a proxy decided can be carried out on its message.

use std::borrow::Cow;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::work::Work;
use super::{Action, ChannelError, Decision, Edit, Grant};
use crate::rpc::{self, Kind, Message};

/// By which rules a decision is judged.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    pub grant: &'a Grant,
    /// The method by which the message was granted: of a response, the request's.
    pub method: &'a str,
    /// The longest message that may come out.
    pub longest: usize,
    /// Whether it is a call of one of the proxy's own tools, which nobody else would answer.
    pub own: bool,
}

/// What becomes of the message, if it can take it, its texts are JSON, and the proxy may do it.
/// Edits are made here, so that one that has no place is an error of the proxy.
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
    let changes = || rules.grant.may_change(rules.method);
    let answers = || rules.grant.may_answer(rules.method);
    // Whoever may answer a request may also keep it for a while, or refuse it.
    let stops = || changes().or_else(|_| answers());
    match decision {
        Decision::Forward => Ok(Action::Forward),
        Decision::Edit(_) if kind == Kind::Error => Err(misfit(kind, "edit")),
        Decision::Edit(edits) => {
            changes()?;
            replaced(message, &edited(message.body(), &edits, work)?, rules)
        }
        Decision::Replace(body) => {
            changes()?;
            check_length(body.len(), rules.longest)?;
            work.spend(body.len())?;
            check_json(&body)?;
            replaced(message, &body, rules)
        }
        Decision::Respond(_) if kind != Kind::Request => Err(misfit(kind, "respond")),
        Decision::Respond(result) => {
            answers()?;
            respond(&result, rules, work)
        }
        Decision::Reject(_) if kind == Kind::Notification => Err(misfit(kind, "reject")),
        Decision::Reject(error) if kind == Kind::Request => {
            stops()?;
            short(Message::error(&error), rules).map(Action::Answer)
        }
        Decision::Reject(error) => {
            changes()?;
            short(Message::error(&error), rules).map(Action::Replace)
        }
        Decision::Discard if kind != Kind::Notification => Err(misfit(kind, "discard")),
        Decision::Discard => changes().map(|()| Action::Discard),
        Decision::Hold if kind == Kind::Request => stops().map(|()| Action::Hold),
        Decision::Hold => changes().map(|()| Action::Hold),
    }
}

/// What becomes of the call of a tool: it is answered, now or later.
fn check_answer(decision: Decision, rules: Rules, work: &mut Work) -> Result<Action, ChannelError> {
    match decision {
        Decision::Respond(result) => respond(&result, rules, work),
        Decision::Reject(error) => short(Message::error(&error), rules).map(Action::Answer),
        Decision::Hold => Ok(Action::Hold),
        _ => Err(ChannelError::Invalid(
            "the call of a tool takes `respond` or `reject` only".to_owned(),
        )),
    }
}

fn respond(result: &str, rules: Rules, work: &mut Work) -> Result<Action, ChannelError> {
    check_length(result.len(), rules.longest)?;
    work.spend(result.len())?;
    check_json(result)?;
    short(Message::result(result), rules).map(Action::Answer)
}

/// The message with another body. It stays in its session, unless the proxy may speak up there
/// itself.
fn replaced(message: &Message, body: &str, rules: Rules) -> Result<Action, ChannelError> {
    let new = message.with_body(body);
    if new.session() != message.session() || names_sessions(body) > 1 {
        rules.grant.may_originate(rules.method).map_err(|_| {
            ChannelError::Denied(format!(
                "it moves the message to another session, for which `originate` would have to \
                 cover {:?}",
                rules.method
            ))
        })?;
    }
    short(new, rules).map(Action::Replace)
}

/// How many members of a body could be taken for its `sessionId`: readers disagree about equal names,
/// and some about capitals.
fn names_sessions(body: &str) -> usize {
    struct Count;
    impl<'de> Visitor<'de> for Count {
        type Value = usize;

        fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<usize, A::Error> {
            let mut count = 0;
            while let Some((name, IgnoredAny)) = map.next_entry::<&RawValue, IgnoredAny>()? {
                let name = serde_json::from_str::<Cow<str>>(name.get());
                count += usize::from(name.is_ok_and(|name| name.eq_ignore_ascii_case("sessionId")));
            }
            Ok(count)
        }
    }
    let mut reader = serde_json::Deserializer::from_str(body);
    // What is no object names no session.
    reader.deserialize_map(Count).unwrap_or(0)
}

fn short(message: Message, rules: Rules) -> Result<Message, ChannelError> {
    check_length(message.len(), rules.longest)?;
    Ok(message)
}

/// An error if a message is over the limit `message`.
pub fn check_length(len: usize, longest: usize) -> Result<(), ChannelError> {
    match len <= longest {
        true => Ok(()),
        false => Err(ChannelError::Invalid(format!(
            "a message of {len} bytes is over the limit of {longest}"
        ))),
    }
}

fn edited(body: &str, edits: &[Edit], work: &mut Work) -> Result<String, ChannelError> {
    let mut body = body.to_owned();
    for Edit { pointer, value } in edits {
        work.look_up(&body, pointer)?;
        if let Some(value) = value {
            work.spend(value.len())?;
            check_json(value)?;
        }
        body = rpc::edit(&body, pointer, value.as_deref())
            .map_err(|error| ChannelError::Invalid(error.to_string()))?;
    }
    Ok(body)
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

/// An error unless the text is JSON.
pub fn check_json(text: &str) -> Result<(), ChannelError> {
    match serde_json::from_str::<&RawValue>(text) {
        Ok(_) => Ok(()),
        Err(error) => Err(ChannelError::Invalid(format!("not JSON: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Methods;
    use super::*;

    fn edit(pointer: &str, value: Option<&str>) -> Edit {
        Edit {
            pointer: pointer.to_owned(),
            value: value.map(str::to_owned),
        }
    }

    fn judge(message: &Message, decision: Decision, grant: &Grant) -> Result<Action, ChannelError> {
        let rules = Rules {
            grant,
            method: "m",
            longest: 100,
            own: false,
        };
        check(message, decision, rules, &mut Work::default())
    }

    #[test]
    fn edits_are_made_one_after_the_other() {
        let message = Message::request("m", r#"{"a":[1]}"#);
        let edits = vec![
            edit("/a/-", Some("2")),
            edit("/a/0", None),
            edit("/b", Some("{}")),
        ];
        let Ok(Action::Replace(edited)) = judge(&message, Decision::Edit(edits), &Grant::all())
        else {
            panic!("they can be made")
        };
        assert_eq!(edited.body(), r#"{"a":[2],"b":{}}"#);
    }

    #[test]
    fn an_edit_that_cannot_be_made_is_an_error() {
        let request = Message::request("m", r#"{"a":[1]}"#);
        for wrong in [
            edit("/x/y", Some("1")),
            edit("/x", None),
            edit("/a", Some("{")),
        ] {
            let checked = judge(&request, Decision::Edit(vec![wrong]), &Grant::all());
            assert!(matches!(checked, Err(ChannelError::Invalid(_))));
        }
        let error = Message::error(&rpc::Error::new(1, "x"));
        let edits = Decision::Edit(vec![edit("/code", Some("2"))]);
        let checked = judge(&error, edits, &Grant::all());
        assert!(matches!(checked, Err(ChannelError::Invalid(_))));
    }

    /// Each decision needs its own power, and no other helps.
    #[test]
    fn nothing_is_decided_that_is_not_granted() {
        let request = Message::request("m", "{}");
        let notification = Message::notification("m", "{}");
        let result = Message::result("{}");
        let respond = || Decision::Respond("{}".to_owned());
        let reject = || Decision::Reject(rpc::Error::new(1, "no"));
        let replace = || Decision::Replace("[]".to_owned());
        let (change, answer) = ("change", "answer");
        for (message, decision, power) in [
            (&request, replace(), change),
            (&request, Decision::Edit(Vec::new()), change),
            (&request, respond(), answer),
            (&notification, replace(), change),
            (&notification, Decision::Discard, change),
            (&notification, Decision::Hold, change),
            (&result, replace(), change),
            (&result, reject(), change),
        ] {
            let (mut only, mut without) = (none(), Grant::all());
            let all = Grant::all().change;
            match power {
                "change" => (only.change, without.change) = (all, Methods::default()),
                _ => (only.answer, without.answer) = (all, Methods::default()),
            }
            assert!(
                judge(message, decision.clone(), &only).is_ok(),
                "{decision:?}"
            );
            let denied = judge(message, decision.clone(), &without);
            assert!(
                matches!(denied, Err(ChannelError::Denied(_))),
                "{decision:?}"
            );
        }
        let answers = Grant {
            answer: Grant::all().answer,
            ..none()
        };
        for decision in [reject(), Decision::Hold] {
            assert!(judge(&request, decision.clone(), &Grant::default()).is_ok());
            assert!(judge(&request, decision.clone(), &answers).is_ok());
            assert!(judge(&request, decision, &none()).is_err());
        }
        assert!(judge(&request, Decision::Forward, &none()).is_ok());
    }

    fn none() -> Grant {
        Grant {
            change: Methods::default(),
            ..Grant::default()
        }
    }

    #[test]
    fn a_changed_message_stays_in_its_session() {
        let message = Message::request("m", r#"{"sessionId":"one"}"#);
        let other = || Decision::Replace(r#"{"sessionId":"two"}"#.to_owned());
        let denied = judge(&message, other(), &Grant::default());
        assert!(matches!(denied, Err(ChannelError::Denied(_))));
        assert!(judge(&message, other(), &Grant::all()).is_ok());
        let both = r#"{"\u0073essionID":"two","sessionId":"one"}"#;
        let denied = judge(
            &message,
            Decision::Replace(both.to_owned()),
            &Grant::default(),
        );
        assert!(matches!(denied, Err(ChannelError::Denied(_))));
        let same = Decision::Replace(r#"{"sessionId":"one","more":1}"#.to_owned());
        assert!(judge(&message, same, &Grant::default()).is_ok());
    }

    #[test]
    fn nothing_longer_than_the_limit_comes_out() {
        let long = format!("\"{}\"", "x".repeat(100));
        for decision in [Decision::Replace(long.clone()), Decision::Respond(long)] {
            let checked = judge(&Message::request("m", "{}"), decision, &Grant::all());
            assert!(matches!(checked, Err(ChannelError::Invalid(_))));
        }
    }
}
