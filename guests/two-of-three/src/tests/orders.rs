//! What the user tells the proxy in a prompt. The name of the proxy is `proxy` here.

use super::*;

#[test]
fn the_user_clears_labels_by_name_and_the_agent_is_not_told() {
    let mut host = host(json!({}));
    begin(&mut host);
    pass(&mut host, &[fetch()]);
    prompt(&mut host, "proxy: clear A C");
    let (asked, title) = question(&mut host);
    assert!(title.contains("clear A, C?"), "{title}");
    answer(&mut host, asked, "yes");
    let after = seen(&mut host);
    assert!(after.passed.is_empty(), "{after:?}");
    assert!(after.told.contains("[no label]"), "{after:?}");
    pass(&mut host, &[file("read", "/proj/.env")]);
}

#[test]
fn without_a_yes_nothing_is_cleared() {
    let mut host = host(json!({}));
    begin(&mut host);
    pass(&mut host, &[fetch()]);
    prompt(&mut host, "proxy: clear A");
    let (asked, _) = question(&mut host);
    answer(&mut host, asked, "no");
    seen(&mut host);
    run(&mut host, &file("read", "/proj/.env"));
    question(&mut host);
}

#[test]
fn the_labels_are_shown() {
    let mut host = host(json!({}));
    begin(&mut host);
    pass(&mut host, &[fetch()]);
    prompt(&mut host, "proxy: labels");
    let after = seen(&mut host);
    assert_eq!(after.answers.len(), 1, "{after:?}");
    assert!(
        after.told.contains("[A·C]") && after.told.contains("WebFetch"),
        "{after:?}"
    );
}

#[test]
fn an_unknown_order_is_answered_with_those_that_there_are() {
    let mut host = host(json!({}));
    prompt(&mut host, "proxy: forget it");
    let after = seen(&mut host);
    assert!(
        after.passed.is_empty() && after.told.contains("clear A"),
        "{after:?}"
    );
}
