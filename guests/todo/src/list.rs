//! A task list. It never exceeds its bounds, and a change that cannot be made in full is not made at all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The maximum number of tasks in a list.
pub(crate) const MOST_TASKS: usize = 100;
/// The maximum length of a task's text, in bytes.
pub(crate) const LONGEST_TASK: usize = 400;

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    #[default]
    Pending,
    InProgress,
    Completed,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Priority {
    High,
    #[default]
    Medium,
    Low,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub(crate) struct Task {
    pub(crate) id: u32,
    pub(crate) text: String,
    pub(crate) status: Status,
    pub(crate) priority: Priority,
}

/// A task to add.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct New {
    /// What is to be done, in one sentence.
    text: String,
    #[serde(default)]
    status: Status,
    #[serde(default)]
    priority: Priority,
}

/// A change to a task; what is left out stays.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Change {
    id: u32,
    status: Option<Status>,
    priority: Option<Priority>,
    /// A new text.
    text: Option<String>,
}

/// The tasks of one session.
#[derive(Clone, Default, Deserialize, Serialize)]
pub(crate) struct List {
    last: u32,
    tasks: Vec<Task>,
}

impl List {
    pub(crate) fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    pub(crate) fn add(&mut self, new: Vec<New>) -> Result<(), String> {
        let room = MOST_TASKS - self.tasks.len();
        if new.len() > room {
            return Err(format!(
                "nothing is added: a list holds {MOST_TASKS} tasks, and this one has room for {room} \
                 more; remove what is done"
            ));
        }
        let mut tasks = Vec::new();
        for (id, new) in (self.last + 1..).zip(new) {
            let New {
                text,
                status,
                priority,
            } = new;
            let text = fitting(&text)?;
            tasks.push(Task {
                id,
                text,
                status,
                priority,
            });
        }
        self.last = tasks.last().map_or(self.last, |task| task.id);
        self.tasks.extend(tasks);
        Ok(())
    }

    pub(crate) fn update(&mut self, changes: Vec<Change>) -> Result<(), String> {
        let mut tasks = self.tasks.clone();
        for change in changes {
            let task = tasks.iter_mut().find(|task| task.id == change.id);
            let task = task.ok_or_else(|| self.unknown(change.id))?;
            task.status = change.status.unwrap_or(task.status);
            task.priority = change.priority.unwrap_or(task.priority);
            if let Some(text) = change.text {
                task.text = fitting(&text)?;
            }
        }
        self.tasks = tasks;
        Ok(())
    }

    pub(crate) fn remove(&mut self, ids: &[u32]) -> Result<(), String> {
        let there = |id: &&u32| !self.tasks.iter().any(|task| task.id == **id);
        if let Some(unknown) = ids.iter().find(there) {
            return Err(self.unknown(*unknown));
        }
        self.tasks.retain(|task| !ids.contains(&task.id));
        Ok(())
    }

    pub(crate) fn remove_completed(&mut self) {
        self.tasks.retain(|task| task.status != Status::Completed);
    }

    fn unknown(&self, id: u32) -> String {
        let ids: Vec<_> = self.tasks.iter().map(|task| task.id.to_string()).collect();
        match ids.as_slice() {
            [] => format!("nothing is changed: there is no task {id}, the list is empty"),
            ids => {
                let ids = ids.join(", ");
                format!("nothing is changed: there is no task {id}; there are {ids}")
            }
        }
    }
}

/// A text on one line.
fn fitting(text: &str) -> Result<String, String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.len() {
        0 => Err("nothing is changed: a task needs a text".into()),
        1..=LONGEST_TASK => Ok(text),
        _ => {
            let begin = &text[..text.floor_char_boundary(40)];
            Err(format!(
                "nothing is changed: a task has at most {LONGEST_TASK} bytes, and `{begin}…` has more"
            ))
        }
    }
}
