//! Turns through a chain with one component.

use crate::editor::Editor;
use crate::stage::{PROXY, Stage};
use crate::verdict::{Verdict, ensure};
use crate::{Reason, agent};

/// The prompts on which the component acts (`component.wat`), and what it changes the last one to.
const TRAP: &str = "@trap";
const LOOP: &str = "@loop";
const CHANGE: &str = "@change";
const CHANGED: &str = "changed by a component";

/// What its tool answers.
const ANSWERED: &str = "answered by a component";

/// A turn passes the component, which changes the prompt.
pub fn chain(stage: &Stage) -> Verdict {
    let mut editor = Editor::launch(stage, false)?;
    changes(&mut editor)?;
    let said = editor.turn("untouched")?;
    ensure(said.contains("untouched"), || {
        format!("a prompt that the component forwards arrived as {said:?}")
    })?;
    editor.close()?;
    Ok("a turn passed a component, which changed what the agent got".to_owned())
}

/// A component that breaks is started again, and the chain goes on.
pub fn trap(stage: &Stage) -> Verdict {
    breaks(stage, TRAP)?;
    Ok("the prompt on which a component broke was refused, and the next one passed".to_owned())
}

/// A component that computes without an end is stopped, and the chain goes on.
pub fn endless(stage: &Stage) -> Verdict {
    breaks(stage, LOOP)?;
    Ok("a component that did not end was stopped, and the next prompt passed".to_owned())
}

/// The agent reaches a tool of the component over the bridge, by a program that it starts.
pub fn bridge(stage: &Stage) -> Verdict {
    let mut editor = Editor::launch(stage, false)?;
    let said = editor.turn(agent::CALL)?;
    ensure(said.contains(ANSWERED), || {
        format!("the agent called a tool of the component, and got {said:?}")
    })?;
    editor.close()?;
    Ok("the agent called a tool of a component over stdio".to_owned())
}

/// The component breaks on a prompt, and works again on the next.
fn breaks(stage: &Stage, prompt: &str) -> Result<(), Reason> {
    let mut editor = Editor::launch(stage, false)?;
    let error = editor.failed_turn(prompt)?;
    ensure(error.contains(PROXY), || {
        format!("the error does not name the proxy: {error}")
    })?;
    changes(&mut editor)?;
    editor.close()
}

/// The component changes a prompt.
fn changes(editor: &mut Editor) -> Result<(), Reason> {
    let said = editor.turn(CHANGE)?;
    ensure(said.contains(CHANGED), || {
        format!("a prompt that the component changes arrived as {said:?}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stage::COMPONENT;

    #[test]
    fn the_component_has_the_texts_that_are_looked_for() {
        for text in [CHANGED, ANSWERED] {
            let mut places = COMPONENT.windows(text.len());
            assert!(places.any(|place| place == text.as_bytes()), "{text}");
        }
    }
}
