//! Generated paths, rules and calls.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::reference::{Facts, Rule};

/// Names of files, as an attacker and as a user may choose them, separated by `|`.
const NAMES: &str = "a.rs|a.rs|src|src|proj|secret|secret|me|home|.git|hooks|config|HEAD|a.git|.env|etc|acp-chain.toml|\
    acp-chain|config.toml|mcp.json|x.wasm|AppData|café|cafe\u{301}|CAFÉ|Secret|SECRET|\
    ſecret|ＳＥＣＲＥＴ|sec\u{200c}ret|.Git|．git|.g\u{131}t|.git.|.git |secret. .|secret::$DATA|\
    secret:x|SECRET~1|sec~1|SE12ab~3|GIT~1|RUNNER~1|secret.txt|SECRET~1.TXT|...|. .|..|..|.| \
    |secret\\a.rs|a\0b|a\nb|sec\u{202e}ret|\u{f02e}git|g\u{131}t|proc|dev|self|cwd|root|fd|\
    3|*|?|con|aux.rs|\u{fffd}|a／b|％|c:|C:x|é~1";

const STARTS: &str = "/|/|/|/|/proj/|/proj/|/proj/|/home/me/|/home/me/.wt/|//|///||./|../|~/|~|$HOME/|\
    %HOME%\\|C:\\|c:/|C:\\proj\\|C:|\\|\\\\srv\\share\\|\\\\?\\C:\\|file:///|file:|\
    FILE:///%2e/|ssh://host/|/proc/self/root/|/proc/self/cwd/|/./proc/self/cwd/|/dev/fd/3/|\
    /proc/| /|／";

const BETWEEN: &[&str] = &[
    "/", "/", "/", "/", "/", "/", "//", "/./", "/x/../", "\\", "/../", "／",
];

/// The items of a list.
fn items(list: &'static str) -> Vec<&'static str> {
    list.split('|').collect()
}

pub fn path() -> impl Strategy<Value = String> {
    let names = vec((select(BETWEEN), select(items(NAMES))), 0..5);
    (
        select(items(STARTS)),
        names,
        select(&["", "", "", "", "/", " ", "/.", "/.."][..]),
    )
        .prop_map(|(start, names, end)| {
            let mut path = start.to_owned();
            for (number, (between, name)) in names.iter().enumerate() {
                if number > 0 {
                    path.push_str(between);
                }
                path.push_str(name);
            }
            path + end
        })
}

/// Paths that rules are likely to reach.
pub fn likely_path() -> impl Strategy<Value = String> {
    let names = vec(select(items(NAMES)[..24].to_vec()), 0..4);
    let start = select(
        &[
            "/proj",
            "/proj",
            "/home/me",
            "/home/me/.wt",
            "",
            "C:\\proj",
            "c:",
        ][..],
    );
    (start, names).prop_map(|(start, names)| {
        let separator = if start.contains(':') { "\\" } else { "/" };
        let names = names.iter().map(|name| format!("{separator}{name}"));
        let path = format!("{start}{}", names.collect::<String>());
        if path.is_empty() { "/".into() } else { path }
    })
}

pub fn paths() -> impl Strategy<Value = String> {
    prop_oneof![path(), likely_path()]
}

/// Paths of calls. Plain paths must occur often, or no call would be allowed.
pub fn call_path() -> impl Strategy<Value = String> {
    let usual = select(
        &[
            "/proj/a.rs",
            "/proj/src/a.rs",
            "/proj/src/b",
            "/home/me/secret/a.rs",
        ][..],
    );
    prop_oneof![6 => usual.prop_map(String::from), 2 => likely_path(), 1 => path()]
}

const GLOBS: &str = "./**|./**|./src/**|**|/**|/proj/**|/home/me/**|**/.env|**/.git/**|./.git/**|\
    ./.git/hooks/*|**/secret/**|/proj/secret/**|/home/me/secret/*|./secret/**|/etc/**|./*|\
    ./*.rs|./{src,secret,.git}/*|./|**/?ecret|**/[s-t]ecret|**/[A-Z]ecret/**|./caf?|**/café|\
    ./**/café/**|/proj/acp-chain.toml|./**/mcp.json|**/config|./**/src/**/*|C:\\proj\\**|\
    c:/proj/secret/*|C:/**|**/secret.*";

const DENYING: &str =
    "\\\\srv\\share\\**|./SECRET~1/**|**/ＳＥＣＲＥＴ|**/*ecret|./x/secret/**|/proc/**|./a／b";

const CWDS: &str = "/proj|/proj|/proj|/proj/|/home/me|/home/me/.wt|/|/home/me/secret||.|rel|//proj|/proj/..|\
    C:\\proj|c:/|C:|\\\\srv\\share|/proj\n|/./proj//.git";

const TITLES: &str = "Edit|Edit a|edit a|rm -rf ~|Edit\na|Ed\u{200b}it|Ｅdit b";
const CALL_KINDS: &[&str] = &[
    "read",
    "read",
    "search",
    "edit",
    "edit",
    "delete",
    "move",
    "execute",
    "other",
    "_own",
    "READ",
    "switch_mode",
];
const RULE_KINDS: &[&str] = &[
    "read", "search", "edit", "delete", "move", "execute", "other", "_own",
];

pub fn rule() -> impl Strategy<Value = Rule> {
    let decision = select(&["allow", "allow", "deny", "ask"][..]);
    decision.prop_flat_map(|decision| {
        let globs: Vec<_> = match decision {
            "allow" => items(GLOBS),
            _ => [items(GLOBS), items(DENYING)].concat(),
        };
        let kinds = option::weighted(0.4, vec(select(RULE_KINDS), 1..8));
        let titles = option::weighted(0.2, vec(select(&["Edit*", "edit ?", "*rm*"][..]), 1..3));
        let globs = option::weighted(0.8, vec(select(globs), 1..4));
        (kinds, titles, globs).prop_map(move |(kinds, titles, globs)| Rule {
            decision,
            kinds,
            titles,
            globs,
        })
    })
}

/// A member of a call: its JSON, and its meaning.
pub type Member = (String, Facts);

pub fn text(text: &str) -> String {
    serde_json::to_string(text).expect("a string")
}

/// A JSON string with every character escaped.
pub fn escaped(text: &str) -> String {
    let units = text.encode_utf16().map(|unit| format!("\\u{unit:04x}"));
    format!("\"{}\"", units.collect::<String>())
}

pub fn with_facts(member: impl Into<String>, fill: impl FnOnce(&mut Facts)) -> Member {
    let mut facts = Facts::default();
    fill(&mut facts);
    (member.into(), facts)
}

pub fn unclear(member: &str) -> Member {
    with_facts(member, |facts| facts.unclear = true)
}

pub fn title() -> impl Strategy<Value = Member> {
    prop_oneof![
        30 => select(items(TITLES)).prop_map(|title| with_facts(format!(r#""title":{}"#, text(title)), |facts| {
            facts.titles.insert(title.into());
        })),
        10 => select(items(TITLES)).prop_map(|title| with_facts(format!(r#""\u0074itle":{}"#, escaped(title)), |facts| {
            facts.titles.insert(title.into());
        })),
        5 => Just(with_facts(r#""title":null"#, |_| ())),
        1 => Just(unclear(r#""title":7"#)),
        1 => (select(items(TITLES)), select(items(TITLES))).prop_map(|(one, two)| {
            with_facts(format!(r#""title":{},"title":{}"#, text(one), text(two)), |facts| {
                facts.titles.extend([one.to_owned(), two.to_owned()]);
                facts.unclear = true;
            })
        }),
    ]
}

pub fn kind() -> impl Strategy<Value = Member> {
    prop_oneof![
        40 => select(CALL_KINDS).prop_map(|kind| with_facts(format!(r#""kind":{}"#, text(kind)), |facts| {
            facts.kinds.insert(kind.into());
        })),
        1 => Just(unclear(r#""kind":["read"]"#)),
        1 => select(CALL_KINDS).prop_map(|kind| with_facts(format!(r#""KIND":{}"#, text(kind)), |facts| {
            facts.kinds.insert(kind.into());
            facts.unclear = true;
        })),
    ]
}

pub fn list(
    name: &'static str,
    item: impl Strategy<Value = Member>,
) -> impl Strategy<Value = Member> {
    vec(item, 0..3).prop_map(move |items| {
        let json: Vec<_> = items.iter().map(|(json, _)| &**json).collect();
        let json = format!(r#""{name}":[{}]"#, json.join(","));
        with_facts(json, |facts| {
            for (_, item) in items {
                facts.and(item);
            }
        })
    })
}

pub fn location() -> impl Strategy<Value = Member> {
    prop_oneof![
        30 => call_path().prop_map(|path| with_facts(format!(r#"{{"path":{},"line":1}}"#, text(&path)), |facts| {
            facts.paths.insert(path);
        })),
        1 => Just(unclear(r#"{"uri":"/proj/a"}"#)),
        1 => (paths(), paths()).prop_map(|(one, two)| {
            with_facts(format!(r#"{{"path":{},"path":{}}}"#, text(&one), text(&two)), |facts| {
                facts.paths.extend([one, two]);
                facts.unclear = true;
            })
        }),
    ]
}

pub fn content() -> impl Strategy<Value = Member> {
    let operation = select(
        &[
            "add", "modify", "modify", "modify", "delete", "move", "copy", "new",
        ][..],
    );
    prop_oneof![
        20 => Just(with_facts(r#"{"type":"terminal","terminalId":"1"}"#, |_| ())),
        30 => (call_path(), select(&["diff", "diff", "diff", "diff", "diff", "diff", "diff", "patch"][..])).prop_map(|(path, kind)| {
            with_facts(format!(r#"{{"type":"{kind}","path":{},"newText":""}}"#, text(&path)), |facts| {
                facts.paths.insert(path);
                facts.shown.insert("edit");
                facts.unclear = kind != "diff";
            })
        }),
        20 => (operation, call_path(), option::weighted(0.8, call_path()), any::<bool>()).prop_map(|(operation, path, old, link)| {
            let other = old.as_ref().map_or(String::new(), |old| format!(r#","oldPath":{}"#, text(old)));
            let link = if link && operation == "add" { "symlink" } else { "text" };
            let change = format!(r#"{{"operation":"{operation}","path":{}{other},"fileType":"{link}"}}"#, text(&path));
            with_facts(format!(r#"{{"type":"diff","changes":[{change}]}}"#), |facts| {
                let two = operation == "move" || operation == "copy";
                facts.unclear = operation == "new" || (two && old.is_none()) || link == "symlink";
                facts.shown.insert("edit");
                facts.shown.extend(["delete", "move"].into_iter().filter(|kind| *kind == operation));
                facts.paths.extend([path].into_iter().chain(old));
            })
        }),
        1 => Just(with_facts(r#"{"type":"diff"}"#, |facts| {
            facts.shown.insert("edit");
            facts.unclear = true;
        })),
    ]
}

/// All members of a call except its id.
pub fn call_members() -> impl Strategy<Value = Member> {
    let some = |weight| option::weighted(weight, Just(()));
    let members = (
        some(0.5),
        title(),
        some(0.8),
        kind(),
        some(0.8),
        list("locations", location()),
        some(0.4),
        list("content", content()),
    );
    members.prop_map(|(a, title, b, kind, c, locations, d, content)| {
        let members = [(a, title), (b, kind), (c, locations), (d, content)];
        let members = members
            .into_iter()
            .filter_map(|(some, member)| some.map(|()| member));
        let mut all = (String::new(), Facts::default());
        for (json, facts) in members {
            all.0 = format!("{},{json}", all.0);
            all.1.and(facts);
        }
        all
    })
}

pub fn cwd() -> impl Strategy<Value = &'static str> {
    select(items(CWDS))
}
