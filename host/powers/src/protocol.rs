//! The messages of the protocol, and names that resemble its methods.

use std::borrow::Cow;
use std::sync::LazyLock;

use foldhash::HashMap;

use crate::{Actions, Cover, FIXED, Power, Subject};

/// A name without differences of case.
pub fn fold(name: &str) -> Cow<'_, str> {
    if name
        .bytes()
        .all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase())
    {
        name.into()
    } else {
        // Through upper case, so that `ſ` becomes `s`.
        name.to_uppercase().to_lowercase().into()
    }
}

/// The covers of messages that can be read, by method. They include every message of the protocol that proxies receive.
static READABLE: LazyLock<HashMap<&str, Vec<&'static Cover>>> = LazyLock::new(|| {
    let mut readable: HashMap<&str, Vec<&'static Cover>> = HashMap::default();
    let covers = Power::all().flat_map(|power| power.covers);
    for cover in covers.filter(|cover| cover.actions.intersects(Actions::READ)) {
        for method in cover.methods {
            readable.entry(method).or_default().push(cover);
        }
    }
    readable
});

/// The method of the protocol with which some parsers may confuse this other name: they ignore case, or skip invisible
/// characters.
pub fn is_like_one_of_protocol(method: &str) -> Option<&'static str> {
    if READABLE.contains_key(method) {
        return None;
    }
    let seen = |letter: &char| !letter.is_whitespace() && !letter.is_control();
    let unseen = [
        '\u{ad}', '\u{200b}', '\u{200c}', '\u{200d}', '\u{2060}', '\u{feff}',
    ];
    let plain: String = method
        .chars()
        .filter(|letter| seen(letter) && !unseen.contains(letter))
        .collect();
    let (known, _) = READABLE.get_key_value(fold(plain.trim_end_matches('/')).as_ref())?;
    Some(known)
}

/// The names of members, by what they are without differences of case.
static MEMBERS: LazyLock<HashMap<Cow<'static, str>, &'static str>> =
    LazyLock::new(|| members().map(|name| (fold(name), name)).collect());

/// The names of members at the places of the table, each perhaps several times.
fn members() -> impl Iterator<Item = &'static str> {
    let covers = Power::all().flat_map(|power| power.covers);
    let places =
        covers.flat_map(|cover| cover.places.iter().chain(cover.shown.into_iter().flatten()));
    let fixed = FIXED.iter().flat_map(|fixed| fixed.places);
    let names = places
        .chain(fixed)
        .flat_map(|place| place.split('/').skip(1));
    // Options are one place as a whole, and so are changes of files, but guards read them.
    let names = names.chain(["optionId", "oldPath", "operation"]);
    names.filter(|name| !name.is_empty() && !name.starts_with(['*', '{']))
}

/// The name of a member of the protocol with which parsers that ignore case confuse this other name. `folded` is the
/// name without differences of case.
pub fn is_like_member(name: &str, folded: &str) -> Option<&'static str> {
    let known = *MEMBERS.get(folded)?;
    (known != name).then_some(known)
}

/// Whether the protocol has messages of this method, sender and kind. `true` for methods outside the protocol.
pub fn is_of_protocol(subject: &Subject) -> bool {
    let Some(covers) = READABLE.get(subject.method) else {
        return true;
    };
    let mut covers = covers.iter();
    covers.any(|cover| cover.sender == subject.sender && cover.kinds.has(subject.kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_resemble_a_method_of_the_protocol_are_found() {
        for name in [
            "Session/Prompt",
            "\u{17f}ession/prompt",
            "session/pro\u{ad}mpt",
            "session/prompt\0",
            " session/prompt/",
        ] {
            assert_eq!(
                is_like_one_of_protocol(name),
                Some("session/prompt"),
                "{name:?}"
            );
        }
        for name in [
            "session/prompt",
            "_session/prompt",
            "session/prompts",
            "_vendor/Ask",
            "",
        ] {
            assert_eq!(is_like_one_of_protocol(name), None, "{name:?}");
        }
    }

    #[test]
    fn names_that_differ_from_those_of_members_in_case_alone_are_found() {
        for (name, known) in [
            ("Prompt", Some("prompt")),
            ("sessionid", Some("sessionId")),
            ("SESSIONID", Some("sessionId")),
            ("\u{17f}essionId", Some("sessionId")),
            ("OptionId", Some("optionId")),
            ("_META", Some("_meta")),
            ("prompt", None),
            ("sessionId", None),
            ("session_id", None),
            ("Path-Of", None),
            ("", None),
        ] {
            assert_eq!(is_like_member(name, &fold(name)), known, "{name:?}");
        }
        // No two names of the protocol are told apart by case alone.
        for name in members() {
            assert_eq!(is_like_member(name, &fold(name)), None, "{name}");
        }
    }
}
