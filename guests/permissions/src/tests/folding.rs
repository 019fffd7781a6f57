//! Folding covers at least everything that file systems consider equal.

use acp_chain_calls::fold::{fold, is_ignorable};
use acp_chain_unicode::{is_default_ignorable, nfc, nfd, nfkc, nfkd};
use caseless::default_case_fold_str;
use proptest::prelude::*;

#[test]
fn every_character_folds_like_its_case_folding_and_its_forms() {
    for c in ('\0'..'\u{f000}').chain('\u{f080}'..'\u{32000}') {
        let text = c.to_string();
        let folded = fold(&text);
        assert_eq!(fold(&folded), folded, "{c:?} again");
        for (form, other) in [
            ("case folding", default_case_fold_str(&text)),
            ("upper case", text.to_uppercase()),
            ("lower case", text.to_lowercase()),
            ("NFC", nfc(&text)),
            ("NFD", nfd(&text)),
            ("NFKC", nfkc(&text)),
            ("NFKD", nfkd(&text)),
        ] {
            assert_eq!(fold(&other), folded, "{form} of {c:?}");
        }
    }
}

#[test]
fn invisible_characters_are_those_of_unicode() {
    for c in '\0'..=char::MAX {
        assert_eq!(is_ignorable(c), is_default_ignorable(c), "{c:?}");
    }
}

#[test]
fn invisible_characters_are_ignored() {
    // Code points that HFS+ ignores, by Apple's technical note 1150.
    let ignored = [
        '\u{200c}'..='\u{200f}',
        '\u{202a}'..='\u{202e}',
        '\u{206a}'..='\u{206f}',
    ];
    for c in ignored
        .into_iter()
        .flatten()
        .chain(['\u{feff}', '\u{ad}', '\u{fe0f}'])
    {
        assert_eq!(fold(&format!(".g{c}it")), ".git", "{c:?}");
    }
}

#[test]
fn letters_that_windows_and_smb_map_to_private_ones_are_found() {
    assert_eq!(fold("\u{f02e}g\u{0131}t\u{f03a}x"), ".git:x");
}

proptest! {
    #[test]
    fn texts_that_match_without_case_by_unicode_fold_to_the_same(
        text in "[a-zA-ZÀ-ſα-ωΑ-Ωﬀ-ﬆ\u{300}-\u{345}İıßẞǰΐᾳ가각\u{200b}]{0,12}",
    ) {
        let folded = fold(&text);
        prop_assert_eq!(fold(&folded), &*folded);
        let decomposed = nfd(&text);
        let case_folded = default_case_fold_str(&decomposed);
        for other in [
            nfkc(&case_folded),
            case_folded,
            nfc(&text),
            nfkd(&text),
        ] {
            prop_assert_eq!(fold(&other), &*folded, "{}", other);
        }
    }
}
