use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use super::*;

/// A program that reports a version.
fn script(version: &str) -> String {
    format!("#!/bin/sh\necho acp-chain {version}\n")
}

/// A program in a folder of its own.
fn program(folder: &Path, version: &str) -> Program {
    let path = folder.join("acp-chain");
    fs::write(&path, script(version)).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    Program { path }
}

fn staged(program: &Program, content: &str) -> Staged {
    let mut staged = program.stage().unwrap();
    staged.file.write_all(content.as_bytes()).unwrap();
    staged
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

#[test]
fn what_others_may_have_written_is_not_put_back() {
    let folder = tempfile::tempdir().unwrap();
    let program = program(folder.path(), "1.0.0");
    let previous = program.previous();
    std::os::unix::fs::symlink(program.path(), &previous).unwrap();
    let error = program.stage_previous().unwrap_err();
    assert!(matches!(error, UpdateError::NoPrevious(_)), "{error}");
    fs::remove_file(&previous).unwrap();
    fs::write(&previous, script("0.9.0")).unwrap();
    for (mode, is_taken) in [(0o757, false), (0o755, true)] {
        fs::set_permissions(&previous, fs::Permissions::from_mode(mode)).unwrap();
        match program.stage_previous() {
            Ok(_) => assert!(is_taken, "{mode:o}"),
            Err(error) => {
                assert!(!is_taken, "{mode:o}: {error}");
                assert!(error.to_string().contains("others may write to"), "{error}");
            }
        }
    }
    assert_eq!(names(folder.path()), ["acp-chain", "acp-chain.previous"]);
}

#[test]
fn an_error_names_the_program_and_no_temporary_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("missing/acp-chain");
    let cause = fs::metadata(&path).unwrap_err().to_string();
    let program = Program { path: path.clone() };
    let told = program.stage().unwrap_err().to_string();
    let expected = format!("{}: it cannot be written: {cause}", path.display());
    assert!(told.starts_with(&expected), "{told}");
    assert!(!told.contains(UNFINISHED), "{told}");
}

// One test: a program that another test starts would have the new file open for writing, too.
#[test]
fn a_program_is_replaced_by_one_that_runs_and_is_put_back() {
    let folder = tempfile::tempdir().unwrap();
    let program = program(folder.path(), "1.0.0");
    let error = program.stage_previous().unwrap_err();
    assert!(matches!(error, UpdateError::NoPrevious(_)), "{error}");
    let reported = staged(&program, &script("2.0.0")).put(Some("2.0.0"));
    assert_eq!(reported.unwrap(), "acp-chain 2.0.0");
    assert_eq!(fs::read_to_string(program.path()).unwrap(), script("2.0.0"));
    let kept = fs::read_to_string(program.previous()).unwrap();
    assert_eq!(kept, script("1.0.0"));
    let reported = program.stage_previous().unwrap().put(None).unwrap();
    assert_eq!(reported, "acp-chain 1.0.0");
    assert_eq!(fs::read_to_string(program.path()).unwrap(), script("1.0.0"));
    // The one that was replaced can be put back, too.
    let kept = fs::read_to_string(program.previous()).unwrap();
    assert_eq!(kept, script("2.0.0"));
    assert_eq!(names(folder.path()), ["acp-chain", "acp-chain.previous"]);

    // What does not run replaces nothing.
    for (content, expected) in [
        (script("3.0.0"), Some("2.0.0")),
        (script("2.0.0").replace("acp-chain", "other"), None),
        ("#!/bin/sh\nexit 1\n".to_owned(), None),
        ("#!/nowhere/sh\n".to_owned(), None),
    ] {
        let error = staged(&program, &content).put(expected).unwrap_err();
        assert!(matches!(error, UpdateError::DoesNotRun(_)), "{error}");
        assert_eq!(fs::read_to_string(program.path()).unwrap(), script("1.0.0"));
        assert_eq!(names(folder.path()), ["acp-chain", "acp-chain.previous"]);
    }
}
