//! Questions to a user at a terminal, who answers yes or no.

use std::process::Stdio;

use acp_chain_tests::terminal::Terminal;

use super::world::{World, digest};

/// Runs a command about the project in a terminal in which the user types this line. Returns whether the command
/// succeeded, and the content of the terminal.
fn typed(world: &World, args: &[&str], line: &str) -> (bool, String) {
    let mut command = world.command(&world.program);
    command.args(args).arg("--manifest").arg(world.manifest());
    Terminal::open().unwrap().run(command, line).unwrap()
}

#[test]
fn only_yes_is_yes() {
    let world = World::new();
    world.package("it.wasm", "it", "1.0.0", &["prompts.read"]);
    for line in ["\n", "n\n", "yesterday\n", "\u{4}"] {
        let (is_success, shown) = typed(&world, &["add", "it.wasm"], line);
        assert!(
            !is_success && shown.contains("Nothing was changed."),
            "{line:?}: {shown}"
        );
        assert!(world.lock().is_empty() && world.components().is_empty());
    }
    let (is_success, shown) = typed(&world, &["add", "it.wasm"], "y\n");
    assert!(is_success, "{shown}");
    assert!(
        shown.contains("Install it as `it`, with these powers? [y/N] "),
        "{shown}"
    );
    assert!(shown.contains("`it` is installed, and used by "), "{shown}");
    assert_eq!(world.lock().extensions().count(), 1);
}

#[test]
fn no_question_is_asked_about_what_goes_elsewhere() {
    let world = World::new();
    world.package("it.wasm", "it", "1.0.0", &["prompts.read"]);
    let mut terminal = Terminal::open().unwrap();
    let mut command = world.command(&world.program);
    command
        .args(["add", "it.wasm", "--manifest"])
        .arg(world.manifest())
        .stdin(terminal.stream().unwrap())
        .stdout(Stdio::null())
        .stderr(terminal.stream().unwrap());
    let mut running = command.spawn().unwrap();
    drop(command);
    terminal.types("y\n").unwrap();
    let shown = terminal.shown();
    assert!(!running.wait().unwrap().success(), "{shown}");
    assert!(shown.contains("there is no terminal to ask on"), "{shown}");
    assert!(world.lock().is_empty() && world.components().is_empty());
}

#[test]
fn an_update_that_wants_more_waits_for_a_yes() {
    let world = World::new();
    let file = world.package("it.wasm", "it", "1.0.0", &[]);
    world.do_run(&["add", "it.wasm", "--yes"]);
    let agreed = world.locked("it").agreed;
    world.package("it.wasm", "it", "1.1.0", &["prompts.read"]);
    // `--yes` does not accept this update.
    let (_, shown) = typed(&world, &["update", "--yes"], "n\n");
    assert!(
        shown.contains("It needs your consent: it is pending"),
        "{shown}"
    );
    let locked = world.locked("it");
    assert_eq!(locked.agreed, agreed);
    assert_eq!(locked.pending.unwrap().digest, digest(&file));
    let (is_success, shown) = typed(&world, &["update"], "y\n");
    assert!(is_success && shown.contains("(prompts.read)"), "{shown}");
    let locked = world.locked("it");
    assert_eq!(
        (locked.agreed.digest, locked.pending),
        (digest(&file), None)
    );
}

#[test]
fn in_a_narrow_terminal_no_line_begins_that_does_not_in_a_wide_one() {
    let world = World::new();
    let powers = ["prompts.read", "prompts.change", "tool-calls.change"];
    world.package("it.wasm", "it", "1.0.0", &powers);
    let [wide, narrow] = [1000, 44].map(|columns| {
        let mut command = world.command(&world.program);
        command.args(["info", "it.wasm"]);
        let terminal = Terminal::open().unwrap();
        terminal.resize(24, columns).unwrap();
        let (is_success, shown) = terminal.run(command, "").unwrap();
        assert!(is_success, "{shown}");
        shown
    });
    assert!(wide.contains("  ! changes, delays or refuses"), "{wide}");
    let begun = |shown: &str| shown.lines().filter(|line| !line.starts_with(' ')).count();
    assert_eq!(begun(&narrow), begun(&wide), "{narrow}");
    let marks = |shown: &str| {
        shown
            .lines()
            .filter(|line| line.starts_with("  ! "))
            .count()
    };
    assert_eq!((marks(&narrow), marks(&wide)), (2, 2), "{narrow}");
    for line in narrow.lines() {
        let is_one_word = !line.trim().contains(' ');
        assert!(is_one_word || line.chars().count() <= 44, "{narrow}");
    }
    let words = |shown: &str| shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words(&narrow), words(&wide));
}
