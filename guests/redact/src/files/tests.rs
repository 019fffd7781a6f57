use acp_chain_secrets::{Detector, Effort, Marker, pattern};
use proptest::prelude::*;

use super::*;

fn detector() -> Detector {
    Detector::new([pattern("acme", "acme-[0-9]{4}").expect("right")]).expect("right")
}

/// The agent reads a file; returns what it gets.
fn read(files: &Files, path: &str, content: &str, part: bool) -> String {
    let redacted = detector()
        .marking(Marker::Redacted)
        .redact(content, &mut Effort::default())
        .expect("looked at");
    let name = ("s".to_owned(), path.to_owned());
    let read = FileRead {
        name,
        first: !part,
        limit: None,
    };
    files.reads.borrow_mut().insert(1, read);
    files.on_content(1, content, redacted.as_ref());
    redacted.map_or_else(|| content.to_owned(), |redacted| redacted.text)
}

/// The agent writes a file; returns what is written.
fn write(files: &Files, path: &str, text: &str) -> Result<String, UnclearMarker> {
    let restored = files.on_write("s", path, text, |name| name == "acme")?;
    Ok(restored.unwrap_or_else(|| text.to_owned()))
}

const TWO: &str = "# keys\nA=acme-1111\nB=acme-2222\n# end\n";

#[test]
fn a_file_is_written_back_with_its_secrets_whatever_was_changed_around_them() {
    for (change, expected) in [
        (&[][..], TWO),
        (
            &[("# keys", "# all keys\nX=1")],
            "# all keys\nX=1\nA=acme-1111\nB=acme-2222\n# end\n",
        ),
        (&[("# end\n", "")], "# keys\nA=acme-1111\nB=acme-2222\n"),
        (
            &[("# keys", "#"), ("# end", "# fin")],
            "#\nA=acme-1111\nB=acme-2222\n# fin\n",
        ),
        (
            &[("A=", "C="), ("B=", "A="), ("C=", "B=")],
            "# keys\nB=acme-2222\nA=acme-1111\n# end\n",
        ),
        (
            &[("A=[redacted: acme]\n", "")],
            "# keys\nB=acme-2222\n# end\n",
        ),
        (
            &[("A=", "AA=")],
            "# keys\nAA=acme-1111\nB=acme-2222\n# end\n",
        ),
        (
            &[("\n", "\r\n")],
            "# keys\r\nA=acme-1111\r\nB=acme-2222\r\n# end\r\n",
        ),
    ] {
        let files = Files::default();
        let mut text = read(&files, "/p/.env", TWO, false);
        for (from, to) in change {
            text = text.replace(from, to);
        }
        assert_eq!(write(&files, "/p/.env", &text).as_deref(), Ok(expected));
    }
}

#[test]
fn a_written_file_can_be_changed_again() {
    let files = Files::default();
    let text = read(&files, "/p/.env", TWO, false);
    let text = text.replace("# keys", "# one");
    assert!(write(&files, "/p/.env", &text).is_ok());
    let text = text
        .replace("A=[redacted: acme]\n", "")
        .replace("# one", "# two");
    let written = write(&files, "/p/.env", &text);
    assert_eq!(written.as_deref(), Ok("# two\nB=acme-2222\n# end\n"));
}

#[test]
fn no_other_file_gets_a_secret() {
    let files = Files::default();
    let text = read(&files, "/p/.env", TWO, false);
    for path in ["/p/other", "/p/./.env", "/p/.ENV"] {
        let unclear = write(&files, path, &text).expect_err("refused");
        assert_eq!(unclear.line, 2);
        assert!(unclear.to_string().contains("read this file first"));
    }
    let restored = files.on_write("another", "/p/.env", &text, |_| true);
    assert!(restored.is_err());
}

#[test]
fn an_unclear_marker_is_refused_with_its_line() {
    let same = "k: acme-1111\nk: acme-2222\n";
    for (content, text, line) in [
        // Which of the two was removed?
        (same, "k: [redacted: acme]\n", 1),
        (
            same,
            "k: [redacted: acme]\nk: [redacted: acme]\nk: [redacted: acme]\n",
            1,
        ),
        (TWO, "new: [redacted: acme]\n", 1),
        (
            TWO,
            "# keys\nX=[redacted: acme]\nY=[redacted: acme]\n# end\n",
            2,
        ),
    ] {
        let files = Files::default();
        read(&files, "/p/.env", content, false);
        let unclear = write(&files, "/p/.env", text).expect_err("refused");
        assert_eq!(unclear.line, line, "{text}");
        assert!(unclear.to_string().contains("several of this name"));
    }
}

#[test]
fn of_one_secret_any_marker_is_clear() {
    let files = Files::default();
    read(&files, "/p/a", "a: acme-1111\nb: acme-1111\n", false);
    let written = write(&files, "/p/a", "x [redacted: acme] y [redacted: acme]\n");
    assert_eq!(written.as_deref(), Ok("x acme-1111 y acme-1111\n"));
}

#[test]
fn a_marker_that_was_in_the_file_stays_one() {
    let files = Files::default();
    let content = "doc: [redacted: acme]\nkey: acme-1111\nsee [redacted: other]\n";
    let text = read(&files, "/p/a", content, false);
    assert_eq!(write(&files, "/p/a", &text).as_deref(), Ok(content));
    // Markers that the agent wrote itself are not secrets.
    let files = Files::default();
    let own = "doc: [redacted: other], [redacted: , [redacted: a\nb]\n";
    assert_eq!(write(&files, "/p/b", own).as_deref(), Ok(own));
}

#[test]
fn parts_of_a_file_are_known_together() {
    let files = Files::default();
    read(&files, "/p/a", "a: acme-1111\n", true);
    read(&files, "/p/a", "b: acme-2222\n", true);
    let written = write(&files, "/p/a", "b: [redacted: acme]\na: [redacted: acme]\n");
    assert_eq!(written.as_deref(), Ok("b: acme-2222\na: acme-1111\n"));
}

#[test]
fn a_write_that_failed_or_was_undone_leaves_the_secrets_where_they_were() {
    let files = Files::default();
    read(&files, "/p/.env", "A=acme-1111\nB=acme-2222\n", false);
    let written = write(&files, "/p/.env", "A=[redacted: acme]\n");
    assert_eq!(written.as_deref(), Ok("A=acme-1111\n"));
    let both = "A=[redacted: acme]\nB=[redacted: acme]\nC=1\n";
    let written = write(&files, "/p/.env", both);
    assert_eq!(written.as_deref(), Ok("A=acme-1111\nB=acme-2222\nC=1\n"));
}

#[test]
fn one_part_does_not_determine_the_secrets_of_the_others() {
    let files = Files::default();
    read(&files, "/p/a", "a: acme-1111\n", true);
    let written = write(&files, "/p/a", "a: [redacted: acme]\n");
    assert_eq!(written.as_deref(), Ok("a: acme-1111\n"));
    let other = write(&files, "/p/a", "a: [redacted: acme]\nb: [redacted: acme]\n");
    assert_eq!(other.expect_err("refused").line, 2);
}

#[test]
fn a_part_from_the_first_line_to_the_end_is_the_whole_file() {
    for (first, limit, whole) in [
        (true, None, true),
        (true, Some(3), true),
        (true, Some(2), false),
        (false, None, false),
    ] {
        let name = ("s".to_owned(), "/p/a".to_owned());
        let read = FileRead { name, first, limit };
        assert_eq!(read.is_whole("a\nb\n"), whole, "{first} {limit:?}");
    }
}

#[test]
fn a_part_that_is_read_again_changes_nothing() {
    let same = "k: acme-1111\nk: acme-2222\n";
    let files = Files::default();
    let text = read(&files, "/p/a", same, false);
    read(&files, "/p/a", "k: acme-2222\n", true);
    assert_eq!(write(&files, "/p/a", &text).as_deref(), Ok(same));
    let files = Files::default();
    read(&files, "/p/a", "a: acme-1111\n", true);
    let text = read(&files, "/p/a", "a: acme-1111\nb: acme-2222\n", true);
    read(&files, "/p/a", "b: acme-2222\n", true);
    let written = write(&files, "/p/a", &text);
    assert_eq!(written.as_deref(), Ok("a: acme-1111\nb: acme-2222\n"));
    assert_eq!(files.known.borrow()[0].1.text, text);
}

#[test]
fn the_stored_amount_is_bounded() {
    let files = Files::default();
    let long = format!("{}\nacme-1111\n", "x".repeat(MOST_OF_ONE / 2));
    for number in 0..20 {
        read(&files, &format!("/p/{number}"), &long, false);
    }
    let kept = files.known.borrow();
    assert!(kept.len() < 10, "{}", kept.len());
    assert_eq!(kept.back().expect("the last").0.1, "/p/19");
    drop(kept);
    read(&files, "/p/long", &long.repeat(3), false);
    assert!(write(&files, "/p/long", "[redacted: acme]").is_err());
}

/// Files with two secrets and a text that looks like a marker, in lines that are often alike.
fn content() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("a"),
        Just("k: acme-1111"),
        Just("k: acme-2222"),
        Just("acme-1111 acme-2222"),
        Just("[redacted: acme]"),
        Just("[redacted: "),
        Just("b\r"),
        Just(""),
    ];
    proptest::collection::vec(line, 0..8).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn a_file_that_is_read_and_written_back_is_the_same(content in content()) {
        let files = Files::default();
        let text = read(&files, "/p/a", &content, false);
        // And once more.
        for _ in 0..2 {
            let written = write(&files, "/p/a", &text);
            prop_assert_eq!(written.as_deref(), Ok(&*content));
        }
    }

    #[test]
    fn whatever_is_written_a_secret_gets_into_no_other_file(
        one in content(), other in "[a-z\n]{0,20}", text in content(), edits in content(),
    ) {
        let files = Files::default();
        let seen = read(&files, "/p/one", &one, false);
        read(&files, "/p/other", &other, false);
        let detector = detector();
        let redacted = detector.marking(Marker::Redacted).redact(&text, &mut Effort::default()).expect("looked at");
        let text = redacted.map_or(text, |redacted| redacted.text);
        for text in [seen, text, edits.replace("acme-", "x")] {
            for path in ["/p/other", "/p/new"] {
                if let Ok(written) = write(&files, path, &text) {
                    prop_assert!(!written.contains("acme-"), "{written}");
                }
            }
        }
    }

    /// A line gets only its own secret, the one of all markers of the name, or the only changed one.
    #[test]
    fn lines_that_are_kept_keep_their_secrets(
        content in content(), kept in proptest::collection::vec(any::<bool>(), 8),
    ) {
        let files = Files::default();
        let seen = read(&files, "/p/a", &content, false);
        let pick = |text: &str| {
            let lines = text.split('\n').zip(&kept).filter(|(_, kept)| **kept);
            lines.map(|(line, _)| line.to_owned()).collect::<Vec<_>>().join("\n")
        };
        if let Ok(written) = write(&files, "/p/a", &pick(&seen)) {
            prop_assert_eq!(written, pick(&content));
        }
    }
}
