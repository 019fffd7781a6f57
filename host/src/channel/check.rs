//! Whether what a proxy decided can be carried out on its message.

use serde_json::value::RawValue;

use super::{Action, ChannelError, Decision, Edit};
use crate::rpc::{self, Kind, Message};

/// The action, if the message can take it and its texts are JSON. Edits are made here, so that
/// one that has no place is an error of the proxy.
pub fn check(message: &Message, decision: Decision) -> Result<Action, ChannelError> {
    let kind = message.kind();
    let action = match decision {
        Decision::Edit(_) if kind == Kind::Error => return Err(misfit(kind, "edit")),
        Decision::Edit(edits) => return Ok(Action::Replace(edited(message.body(), &edits)?)),
        Decision::Plain(action) => action,
    };
    match &action {
        Action::Replace(body) => check_json(body)?,
        Action::Respond(_) if kind != Kind::Request => return Err(misfit(kind, "respond")),
        Action::Respond(result) => check_json(result)?,
        Action::Reject(_) if kind == Kind::Notification => return Err(misfit(kind, "reject")),
        Action::Discard if kind != Kind::Notification => return Err(misfit(kind, "discard")),
        Action::Forward | Action::Hold | Action::Reject(_) | Action::Discard => {}
    }
    Ok(action)
}

/// How many bytes the edits of one action may read in all. The host makes them in one go, and
/// nothing else moves meanwhile.
const EDITED: usize = 256 << 20;

fn edited(body: &str, edits: &[Edit]) -> Result<String, ChannelError> {
    let mut body = body.to_owned();
    let mut work = 0;
    for Edit { pointer, value } in edits {
        work += body.len();
        if work > EDITED {
            let text = "so many edits of so long a body; use `replace`";
            return Err(ChannelError::Invalid(text.to_owned()));
        }
        if let Some(value) = value {
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
    use super::*;

    fn edit(pointer: &str, value: Option<&str>) -> Edit {
        Edit {
            pointer: pointer.to_owned(),
            value: value.map(str::to_owned),
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
        let Ok(Action::Replace(body)) = check(&message, Decision::Edit(edits)) else {
            panic!("they can be made")
        };
        assert_eq!(body, r#"{"a":[2],"b":{}}"#);
    }

    #[test]
    fn an_edit_that_cannot_be_made_is_an_error() {
        let request = Message::request("m", r#"{"a":[1]}"#);
        for wrong in [
            edit("/x/y", Some("1")),
            edit("/x", None),
            edit("/a", Some("{")),
        ] {
            let checked = check(&request, Decision::Edit(vec![wrong]));
            assert!(matches!(checked, Err(ChannelError::Invalid(_))));
        }
        let error = Message::error(&rpc::Error::new(1, "x"));
        let checked = check(&error, Decision::Edit(vec![edit("/code", Some("2"))]));
        assert!(matches!(checked, Err(ChannelError::Invalid(_))));
    }
}
