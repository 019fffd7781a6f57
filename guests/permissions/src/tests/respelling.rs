//! A path that is denied stays denied, however it is spelt.

use acp_chain_unicode::{nfc, nfd, nfkd};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::*;

const NAMES: &[&str] = &[
    "secret",
    ".git",
    "café",
    "Straße",
    "a b",
    "id_rsa.txt",
    "Ελλάς",
];

/// Another name for the same file, on some file system.
fn respell(name: &str, way: u8, at: Index) -> String {
    let places: Vec<_> = name.char_indices().map(|(place, _)| place).collect();
    let (before, behind) = name.split_at(*at.get(&places));
    match way {
        0 => name.to_uppercase(),
        1 => format!("{before}{}", behind.to_lowercase()),
        2 => nfd(name),
        3 => {
            let decomposed = nfkd(name);
            nfc(&decomposed)
        }
        4 => format!("{before}\u{200c}{behind}"),
        5 => format!("{before}\u{feff}{behind}"),
        6 => format!("{name}."),
        7 => format!("{name} "),
        8 => format!("{name}::$DATA"),
        9 => name.replace('ß', "SS").replace('s', "ſ"),
        10 => {
            let full = |c: char| char::from_u32(u32::from(c) + 0xfee0).unwrap_or(c);
            let wide = |c: char| if c.is_ascii_graphic() { full(c) } else { c };
            name.chars().map(wide).collect()
        }
        _ => name.to_owned(),
    }
}

const BETWEEN: &[&str] = &["/", "//", "/./", "/x/../", "\\", "\\.\\", "/\u{200b}/"];

proptest! {
    #[test]
    fn a_glob_with_wildcards_denies_however_it_and_the_path_are_composed(
        name in select(NAMES),
        decomposed in any::<bool>(),
        way in (0..6u8, any::<Index>()),
        place in select(&[("NAME*", "NAMEx"), ("*NAME", "xNAME"), ("NAME?", "NAMEx"), ("[w-y]NAME", "xNAME")][..]),
    ) {
        let own: String = if decomposed { nfd(name) } else { name.to_owned() };
        let (glob, path) = place;
        let glob = format!("**/{}", glob.replace("NAME", &own));
        let path = format!("/proj/{}", path.replace("NAME", &respell(name, way.0, way.1)));
        let mut host = host(json!([{ "decision": "deny", "path": glob }]));
        prop_assert_eq!(ask(&mut host, call("read", "", &[&path])), "reject_once", "{:?} {}", path, glob);
    }

    #[test]
    fn what_is_denied_stays_denied_however_it_is_spelt(
        names in vec(select(NAMES), 1..4),
        file in select(NAMES),
        ways in vec((0..16u8, any::<Index>()), 5),
        more in vec((0..16u8, any::<Index>()), 5),
        between in vec(select(BETWEEN), 5),
        start in select(&["/", "//", "///", "\\", "/proc/self/root/", "/x/../", "file:///", " /", "/\u{200b}/"][..]),
        glob in select(&["NAMES/**", "NAMES/FILE", "**/FILE", "NAMES", "**/FIRST/**", "./**"][..]),
    ) {
        let directory = format!("/{}", names.join("/"));
        let glob = match glob {
            "./**" => glob.to_owned(),
            glob => glob.replace("NAMES", &directory).replace("FILE", file).replace("FIRST", names[0]),
        };
        let file = (!glob.eq(&directory)).then_some(file);
        let mut path = start.to_owned();
        for (number, name) in names.iter().copied().chain(file).enumerate() {
            if number > 0 {
                path.push_str(between[number]);
            }
            let (way, more) = (ways[number], more[number]);
            path.push_str(&respell(&respell(name, way.0, way.1), more.0, more.1));
        }
        let mut host = host(json!([{ "decision": "deny", "path": glob }]));
        open(&mut host, &directory);
        prop_assert_eq!(ask(&mut host, call("read", "", &[&path])), "reject_once", "{:?} {}", path, glob);
    }
}
