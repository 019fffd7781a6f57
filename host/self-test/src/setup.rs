//! Where `acp-chain setup` would write, and that a plan writes nothing.

use std::fs;

use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_setup::{EDITORS, Editor, Folders, Launch, Wanted, plan};

use crate::stage::Stage;
use crate::verdict::{Reason, Verdict, ensure};

/// A configuration of Zed with one agent.
const CONFIGURATION: &str =
    r#"{ "agent_servers": { "mine": { "type": "custom", "command": "mine", "args": [] } } }"#;

pub fn look(stage: &Stage) -> Verdict {
    plans(stage)?;
    let folders = Folders::of_user()
        .ok_or_else(|| Reason::NotHere("there is no home folder to look in".to_owned()))?;
    let mut places = Vec::new();
    for editor in &EDITORS {
        let found = editor.found(&folders);
        let file = found.into_iter().chain(editor.files(&folders)).next();
        let Some(file) = file else { continue };
        ensure(file.is_absolute(), || {
            let file = Untrusted::new(file.display());
            format!("the configuration of {} would be in {file}", editor.title)
        })?;
        let file = Untrusted::new(file.display());
        places.push(format!("{} at {file}", editor.title));
    }
    Ok(format!(
        "a plan changed nothing; `acp-chain setup` looks for {}",
        places.join(", ")
    ))
}

/// Plans a change of a configuration in a temporary home, which must stay as it is.
fn plans(stage: &Stage) -> Result<(), Reason> {
    let settings = stage.path("home/config");
    let folders = Folders {
        home: stage.path("home"),
        local_settings: settings.clone(),
        settings,
        nvim: "nvim".to_owned(),
    };
    let zed = Editor::named("zed").ok_or("Zed is not known")?;
    let file = zed.files(&folders).into_iter().next();
    let file = file.ok_or("Zed has no place for its configuration")?;
    let folder = file.parent().ok_or("Zed's configuration has no folder")?;
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(&file, CONFIGURATION))
        .map_err(|error| format!("{}: {error}", Untrusted::new(file.display())))?;
    let launch = Launch::new(&stage.path("acp-chain"), vec!["redact".to_owned()]);
    let wanted = Wanted {
        file: Some(file.clone()),
        ..Wanted::default()
    };
    let planned = launch.and_then(|launch| plan(zed, &folders, &wanted, &launch));
    let planned =
        planned.map_err(|error| format!("a change of Zed's cannot be planned: {error}"))?;
    let after = planned.change.and_then(|change| change.after);
    ensure(
        after.is_some_and(|after| after.contains("acp-chain")),
        || "the plan does not put acp-chain in front of the agent".to_owned(),
    )?;
    let left = fs::read_to_string(&file).unwrap_or_default();
    ensure(left == CONFIGURATION, || "the plan has written".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_in_a_temporary_home_writes_nothing() {
        let stage = Stage::set().unwrap();
        assert_eq!(plans(&stage), Ok(()));
        stage.clear().unwrap();
    }
}
