use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio, id};

use super::*;

/// A shell that waits for its input to end, after a line with its id.
const WAITS: &str = "echo $$; cat; :";

/// Starts a shell, and returns it with the id that it, or one below it, prints.
fn start(script: &str) -> (Child, u32) {
    let mut shell = Command::new("sh")
        .args(["-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let output = shell.stdout.as_mut().unwrap();
    BufReader::new(output).read_line(&mut line).unwrap();
    (shell, line.trim().parse().unwrap())
}

fn end(mut shell: Child) {
    drop(shell.stdin.take());
    shell.wait().unwrap();
}

#[test]
fn a_process_is_below_the_program_that_has_started_it_and_below_no_other() {
    let (top, below) = start(&format!("sh -c '{WAITS}'; :"));
    let Descent::Below(line) = descent(below, top.id(), WAITS) else {
        panic!("it is below");
    };
    let ids: Vec<_> = line.iter().map(|process| process.id).collect();
    assert_eq!(ids, [below, top.id()]);
    let about = |process: &Ancestor| {
        (
            process.is_shell,
            process.takes_commands,
            process.has_command,
        )
    };
    assert_eq!(about(&line[0]), (true, true, true));
    assert_eq!(about(&line[1]), (true, true, false));
    assert!(line[0].program.is_some() && line[0].program == line[1].program);
    let (other, _) = start(WAITS);
    for (process, program) in [
        (below, other.id()),
        (top.id(), below),
        (id(), top.id()),
        (u32::MAX, top.id()),
    ] {
        assert_eq!(descent(process, program, WAITS), Descent::Apart);
    }
    let own = descent(top.id(), top.id(), WAITS);
    assert!(matches!(own, Descent::Below(line) if line.len() == 1));
    let above = descent(below, id(), WAITS);
    assert!(matches!(above, Descent::Below(line) if line.len() == 3));
    end(other);
    end(top);
}

#[test]
fn a_process_that_runs_by_itself_is_not_emulated() {
    assert!(!is_emulated());
}

#[test]
fn what_a_program_has_left_behind_is_below_nothing() {
    // A background process has no input unless redirected.
    let (mut top, orphan) = start("exec 3<&0; sh -c 'echo $$; cat <&3; :' & wait");
    let (program, stdin) = (top.id(), top.stdin.take());
    let before = descent(orphan, program, "");
    assert!(matches!(before, Descent::Below(line) if line.len() == 2));
    top.kill().unwrap();
    top.wait().unwrap();
    assert_eq!(descent(orphan, program, ""), Descent::Apart);
    drop(stdin);
}

#[test]
fn a_shell_with_a_script_was_given_no_commands() {
    for (words, expected) in [
        (&["sh", "-c", "true"][..], true),
        (&["bash", "-lc", "true"], true),
        (&["zsh", "-l", "-c", "true"], true),
        (&["-bash"], true),
        (&["bash", "--norc", "-i"], true),
        (&["sh", "/usr/bin/agent", "-c", "x"], false),
        (&["bash", "--norc", "script"], false),
    ] {
        let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
        assert_eq!(takes_commands(&words), expected, "{words:?}");
    }
    for (name, expected) in [
        ("/usr/bin/dash", true),
        ("-zsh", true),
        ("/bin/bash (deleted)", true),
        ("/usr/bin/ssh", false),
        ("", false),
    ] {
        assert_eq!(is_shell(name), expected, "{name}");
    }
}
