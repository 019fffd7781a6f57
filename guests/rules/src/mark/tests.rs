use super::*;

const RULES: &str = "Use tabs.\n\n- and [brackets]";

fn left(text: &str) -> String {
    cut(text, More::Never).text
}

#[test]
fn the_addition_is_found_at_every_position() {
    let added = marked(RULES);
    for (text, expected) in [
        (added.clone(), ""),
        (format!("hi{added}"), "hi"),
        (format!("hi\n\n{added}\nbye"), "hi\n\n\nbye"),
        (format!("{added}{added}"), ""),
        // As an agent may store it.
        (added.replace('\n', "\r\n"), ""),
        (added.split_whitespace().collect::<Vec<_>>().join(" "), ""),
    ] {
        assert_eq!(left(&text), expected, "{text}");
    }
}

#[test]
fn text_of_the_user_is_never_cut() {
    let added = marked(RULES);
    for text in [
        "[project rules ",
        "[project rules 0123456789abcdef: mine]",
        "[end of project rules 0123456789abcdef]",
        "acp-chain:rules/0123456789abcdef",
        &added[..added.len() - 1],
        &added[1..],
        &added.replace("tabs", "spaces"),
        &added.replace("[end of", "[and the end of"),
    ] {
        assert_eq!(left(text), text);
        // It does not hide the addition either.
        assert_eq!(left(&format!("{text}{added}")), text.trim_end());
    }
}

#[test]
fn text_that_agents_write_around_a_resource_is_removed_with_it() {
    let (added, uri) = (marked(RULES), uri());
    for (text, expected) in [
        (format!("hi {uri}"), "hi"),
        (format!("hi [@rules]({uri})"), "hi"),
        (format!("hi [{uri}]\n"), "hi"),
        (format!("hi [@{uri}] and <{uri}>, `{uri}`"), "hi  and ,"),
        (
            format!("hi\n<context ref=\"{uri}\">\n{added}\n</context>"),
            "hi",
        ),
        (format!("hi @{uri}\n\n@{uri}:\n{added}"), "hi"),
        (
            format!("a < b and [c]\n{uri}\nd > e"),
            "a < b and [c]\n\nd > e",
        ),
    ] {
        assert_eq!(left(&text), expected, "{text}");
    }
}

#[test]
fn the_beginning_of_a_possible_addition_is_reported() {
    let added = marked(RULES);
    for length in 1..added.len() {
        let text = format!("hi {}", &added[..length]);
        let cut = cut(&text, More::May);
        assert!(cut.open && !cut.found, "{text}");
    }
    for text in [
        "hi",
        "hi [proj",
        "hi [project rules 0123x",
        &format!("hi {added}"),
    ] {
        assert!(!cut(&format!("{text} "), More::May).open, "{text}");
    }
    let long = format!("{}{}", &added[..60], "x".repeat(LONGEST));
    assert!(!cut(&long, More::May).open, "it is never that long");
}
