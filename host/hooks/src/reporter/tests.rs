use super::*;
use crate::dialect;

// Any files that every system has, in place of programs.
const NODE: &str = "/";
const SHELL: &str = "/dev";
const CLIENT: &str = "/usr";
const PYTHON: &str = "/etc";

/// A process of this id and program.
fn process(id: u32, program: &str) -> Ancestor {
    Ancestor {
        id,
        start: u64::from(id),
        program: Identity::of(Path::new(program)),
        is_shell: program == SHELL,
        takes_commands: program == SHELL,
        has_command: false,
    }
}

/// The shell that runs the hook's command.
fn own(id: u32) -> Ancestor {
    Ancestor {
        has_command: true,
        ..process(id, SHELL)
    }
}

fn script(id: u32) -> Ancestor {
    Ancestor {
        takes_commands: false,
        ..process(id, SHELL)
    }
}

fn is_right(usual: &Usual, dialect_name: &str, line: &[Ancestor]) -> bool {
    let dialect = dialect(dialect_name).unwrap();
    let client = Identity::of(Path::new(CLIENT)).filter(|_| !dialect.is_plugin);
    usual.check(line, dialect, client.as_ref()).is_ok()
}

#[test]
fn what_an_agent_starts_for_its_hooks_is_like_the_first_and_what_a_tool_starts_is_not() {
    let usual = Usual::default();
    // Even the first one is the hook's client.
    let stranger = [process(5, PYTHON), process(10, NODE)];
    assert!(!is_right(&usual, "claude", &stranger));
    let [agent, session, other_session] = [10, 11, 12].map(|id| process(id, NODE));
    // `npx` starts the agent by a shell.
    let above_agent = [process(1, SHELL), process(2, NODE)];
    let launched = |from: &[Ancestor]| {
        let above = [&agent].into_iter().chain(&above_agent);
        from.iter().chain(above).cloned().collect::<Vec<_>>()
    };
    let client = process(20, CLIENT);
    for (from, expected) in [
        // The first one.
        (vec![client.clone(), own(21), session.clone()], true),
        (vec![client.clone(), own(22), session.clone()], true),
        (vec![client.clone(), own(22), other_session], true),
        // Another program that has the token.
        (vec![process(23, PYTHON), own(24), session.clone()], false),
        // The client, but not by the hook's command.
        (vec![client.clone(), session.clone()], false),
        (
            vec![client.clone(), process(25, SHELL), session.clone()],
            false,
        ),
        // By this command, in a tool's shell, script or program.
        (
            vec![client.clone(), own(26), process(27, SHELL), session.clone()],
            false,
        ),
        (
            vec![
                client.clone(),
                own(26),
                process(27, PYTHON),
                session.clone(),
            ],
            false,
        ),
        (
            vec![
                client.clone(),
                own(26),
                process(28, NODE),
                process(27, SHELL),
            ],
            false,
        ),
        // What has taken the place of the hook's shell looks like it.
        (vec![client.clone(), own(29), session.clone()], true),
    ] {
        let line = launched(&from);
        assert_eq!(is_right(&usual, "claude", &line), expected, "{line:?}");
    }
}

#[test]
fn a_shell_that_runs_a_script_starts_hooks_only_where_one_did_before() {
    let session = process(11, NODE);
    let tool = [process(20, CLIENT), own(21), script(30), session.clone()];
    let first = [process(20, CLIENT), own(21), session];
    let usual = Usual::default();
    assert!(is_right(&usual, "claude", &first));
    assert!(!is_right(&usual, "claude", &tool));
    let wrapped = [process(20, CLIENT), own(21), process(11, NODE), script(12)];
    let again = [process(20, CLIENT), own(21), process(13, NODE), script(14)];
    let usual = Usual::default();
    assert!(is_right(&usual, "claude", &wrapped));
    assert!(is_right(&usual, "claude", &again));
}

#[test]
fn a_plugin_reports_from_the_program_of_the_agent() {
    let usual = Usual::default();
    let agent = process(10, NODE);
    for (line, expected) in [
        (vec![agent.clone()], true),
        (vec![agent.clone()], true),
        // The process of another session.
        (vec![process(11, NODE), agent.clone()], true),
        (vec![process(12, PYTHON), agent.clone()], false),
        (vec![process(13, NODE), process(14, SHELL), agent], false),
    ] {
        assert_eq!(is_right(&usual, "cline", &line), expected, "{line:?}");
    }
}

#[test]
fn where_no_shell_starts_the_first_one_none_is_needed() {
    let usual = Usual::default();
    let session = process(11, NODE);
    let line = [process(20, CLIENT), session.clone()];
    assert!(is_right(&usual, "auggie", &line) && is_right(&usual, "auggie", &line));
    let by_command = [process(20, CLIENT), own(21), session.clone()];
    assert!(is_right(&usual, "auggie", &by_command));
    let by_tool = [process(20, CLIENT), process(21, SHELL), session];
    assert!(!is_right(&usual, "auggie", &by_tool));
}
