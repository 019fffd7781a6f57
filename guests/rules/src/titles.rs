//! Titles of sessions, which agents make of the first prompt, and so of the rules.

use acp_chain_proxy::{Action, Edit, Head, Json};
use serde::Deserialize;

use crate::mark;

/// The longest list that is examined, in bytes.
const LONGEST: u64 = 4 * 1024 * 1024;

#[derive(Deserialize)]
struct Session {
    title: Option<Json>,
}

/// The action for an update of a session's title.
pub(crate) fn of_update(head: &Head) -> Action {
    let edit = head
        .read::<String>("/update/title")
        .and_then(|title| mend("/update/title".to_owned(), &title));
    action(edit.into_iter().collect())
}

/// The action for a list of sessions.
pub(crate) fn of_list(head: &Head) -> Action {
    let sessions = match head.size {
        ..=LONGEST => head.read::<Vec<Session>>("/sessions"),
        _ => None,
    };
    let listed = sessions.into_iter().flatten().enumerate();
    let edits = listed.filter_map(|(at, session)| {
        let title: String = session.title?.at("")?;
        mend(format!("/sessions/{at}/title"), &title)
    });
    action(edits.collect())
}

fn mend(place: String, title: &str) -> Option<Edit> {
    let title = match &*mark::title(title)? {
        "" => Json::null(),
        title => title.into(),
    };
    Some(Edit::set(place, title))
}

fn action(edits: Vec<Edit>) -> Action {
    match &edits[..] {
        [] => Action::Forward,
        _ => Action::Edit(edits),
    }
}
