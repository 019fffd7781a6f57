//! A task list that the agent keeps through tools, one for each session, shown to the user as the session's plan. See
//! the README for its needs and limits.

mod list;

use std::cell::{Cell, RefCell};

use acp_chain_proxy::{
    Action, Call, ChannelError, Json, NoArguments, Peer, Proxy, Response, Result, Structured,
    Subscription, Tool, Tools, Version, export, mark, save, warn,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use list::{Change, List, New, Status, Task};

/// The maximum number of sessions with lists; past it, the least recently changed one is evicted.
const MOST_LISTS: usize = 16;

#[derive(Default, Deserialize, Serialize)]
struct Todo {
    /// By session; the most recently changed is last.
    lists: RefCell<Vec<(String, List)>>,
    version: Cell<Version>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Add {
    /// The tasks, in the order in which they are to be done.
    #[schemars(length(min = 1, max = 100))]
    tasks: Vec<New>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Update {
    #[schemars(length(min = 1, max = 100))]
    changes: Vec<Change>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Remove {
    /// Which tasks.
    #[serde(default)]
    ids: Vec<u32>,
    /// Also removes all tasks that are completed.
    #[serde(default)]
    completed: bool,
}

/// The result of every tool.
#[derive(Serialize, JsonSchema)]
struct ListResult {
    /// The whole list after the call.
    tasks: Vec<Task>,
    /// How many are not completed.
    open: usize,
    /// Problems with saving or showing the list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

impl Proxy for Todo {
    const SUBSCRIPTIONS: &[Subscription] = &[Version::SUBSCRIPTION];

    fn restore(&mut self, saved: Json) -> Result<()> {
        *self = saved.parse()?;
        Ok(())
    }

    async fn on_response(&self, response: Response) -> Result {
        if let Some(version) = Version::agreed(&response) {
            self.version.set(version);
            self.keep();
        }
        Ok(Action::Forward)
    }
}

impl Tools for Todo {
    fn instructions(&self, _session: Option<&str>) -> Option<String> {
        let text = "A task list for this session, which the user sees as the plan. Use it for work of \
                    three or more steps: add all steps at once before you begin, set one to \
                    in_progress when you start it and to completed as soon as it is done, and add what \
                    turns up on the way. Every tool answers with the whole list.";
        Some(text.into())
    }

    fn tools(&self, _session: Option<&str>) -> Vec<Tool<Self>> {
        vec![
            Tool::new(
                "add",
                "Adds tasks to the end of the list, best all of them at once. Gives the list with the \
                 ids of the tasks.",
                Self::add,
            )
            .title("Add tasks")
            .only_adds()
            .closed_world(),
            Tool::new(
                "update",
                "Changes the status (pending, in_progress, completed), the priority or the text of one \
                 or more tasks, by their ids. Either all changes are made or none.",
                Self::update,
            )
            .title("Update tasks")
            .idempotent()
            .closed_world(),
            Tool::new(
                "remove",
                "Removes tasks that are no longer wanted, by their ids, or all that are completed. A \
                 task that is done is better set to completed.",
                Self::remove,
            )
            .title("Remove tasks")
            .closed_world(),
            Tool::new("list", "Gives all tasks, and changes nothing.", Self::list)
                .title("List tasks")
                .read_only()
                .closed_world(),
        ]
    }
}

#[allow(
    clippy::unused_async,
    reason = "a tool is an async fn, also if it waits for nothing"
)]
impl Todo {
    async fn add(&self, call: Call<Add>) -> Result<Structured<ListResult>> {
        self.change(call.session, |list| list.add(call.arguments.tasks))
    }

    async fn update(&self, call: Call<Update>) -> Result<Structured<ListResult>> {
        self.change(call.session, |list| list.update(call.arguments.changes))
    }

    async fn remove(&self, call: Call<Remove>) -> Result<Structured<ListResult>> {
        let Remove { ids, completed } = call.arguments;
        self.change(call.session, |list| {
            list.remove(&ids)?;
            if completed {
                list.remove_completed();
            }
            Ok(())
        })
    }

    async fn list(&self, call: Call<NoArguments>) -> Result<Structured<ListResult>> {
        let session = known(call.session)?;
        Ok(shown(self.of(&session).tasks(), Vec::new()))
    }
}

impl Todo {
    /// Changes the list of a session, saves it, and shows it. If saving or showing fails, the change stays, and the
    /// notes name the failure.
    fn change(
        &self,
        session: Option<String>,
        change: impl FnOnce(&mut List) -> std::result::Result<(), String>,
    ) -> Result<Structured<ListResult>> {
        let session = known(session)?;
        let mut list = self.of(&session);
        change(&mut list)?;
        let tasks = list.tasks().to_vec();
        self.put(&session, list);
        let mut notes = Vec::new();
        if !self.keep() {
            notes.push("The list is not saved, and is lost if this server restarts.".into());
        }
        if let Err(error) = show(self.version.get(), &session, &tasks) {
            notes.push(match error {
                ChannelError::Denied(_) => {
                    "The user does not see this list as a plan: this proxy lacks the power `plans.show`."
                        .into()
                }
                error => format!("The user does not see this change yet: {error}."),
            });
        }
        Ok(shown(&tasks, notes))
    }

    /// Saves the lists. Returns false if that fails.
    fn keep(&self) -> bool {
        let saved = save(self);
        if let Err(error) = &saved {
            warn!("the lists are not saved: {error}");
        }
        saved.is_ok()
    }

    fn of(&self, session: &str) -> List {
        let lists = self.lists.borrow();
        let list = lists.iter().find(|(of, _)| of == session);
        list.map(|(_, list)| list.clone()).unwrap_or_default()
    }

    fn put(&self, session: &str, list: List) {
        let mut lists = self.lists.borrow_mut();
        lists.retain(|(of, _)| of != session);
        if lists.len() == MOST_LISTS {
            lists.remove(0);
        }
        lists.push((session.to_owned(), list));
    }
}

/// The session of a list; an error until it is known.
fn known(session: Option<String>) -> std::result::Result<String, &'static str> {
    session.ok_or(
        "the session of this call is unknown; call again in a turn, while no other session has one",
    )
}

fn shown(tasks: &[Task], notes: Vec<String>) -> Structured<ListResult> {
    let open = |task: &&Task| task.status != Status::Completed;
    Structured(ListResult {
        tasks: tasks.to_vec(),
        open: tasks.iter().filter(open).count(),
        notes,
    })
}

/// Sends the user the list as the plan of the session; in version 2, which has several, as a separate one.
fn show(version: Version, session: &str, tasks: &[Task]) -> std::result::Result<(), ChannelError> {
    let entry = |task: &Task| json!({ "content": task.text, "priority": task.priority, "status": task.status });
    let entries: Vec<Value> = tasks.iter().map(entry).collect();
    let update = match version {
        Version::V1 => json!({ "sessionUpdate": "plan", "entries": entries }),
        Version::V2 => json!({
            "sessionUpdate": "plan_update",
            "plan": { "type": "items", "planId": mark(), "entries": entries },
        }),
    };
    let params = json!({ "sessionId": session, "update": update });
    Peer::Client.notify("session/update", params)
}

export!(Todo: Tools);

#[cfg(test)]
mod tests;
