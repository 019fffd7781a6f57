//! What file systems take for the same name. They fold large and small letters (NTFS, APFS, ext4 with
//! `casefold`), compose or decompose (APFS, HFS+, ZFS), some by compatibility (ZFS), and pass over
//! code points that are not seen (HFS+, ext4). Each by a table of its own: here all of them at once.

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use icu_properties::CodePointSetData;
use icu_properties::props::DefaultIgnorableCodePoint;

/// Two names that some file system takes for the same have the same folded form.
pub(crate) fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    // One step can make work for another: `ẞ` becomes `ß`, and that `ss`.
    let mut folded = text.to_owned();
    for _ in 0..MOST_ROUNDS {
        let next = once(&folded);
        if next == folded {
            break;
        }
        folded = next;
    }
    // So that a character is one again.
    let composing = ComposingNormalizerBorrowed::new_nfkc();
    composing.normalize(&folded).into_owned()
}

/// Nothing that Unicode has takes more than three.
const MOST_ROUNDS: usize = 8;

fn once(text: &str) -> String {
    let decomposing = DecomposingNormalizerBorrowed::new_nfkd();
    let decomposed = decomposing.normalize(text);
    let seen = decomposed.chars().filter(|c| !is_ignorable(*c)).map(mapped);
    // Large first: `ı` and `ſ` are no large letters, but have one.
    let letters = seen.flat_map(char::to_uppercase);
    let letters: String = letters.flat_map(char::to_lowercase).collect();
    decomposing.normalize(&letters).into_owned()
}

/// Whether a character is one that is not seen, such as a joiner of zero width or a mark for the
/// direction of text.
pub(crate) fn is_ignorable(c: char) -> bool {
    CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(c)
}

/// SMB and WSL keep what Windows does not have in names (`:`, `\`, a dot at the end) as private
/// characters.
fn mapped(c: char) -> char {
    match c {
        '\u{f001}'..='\u{f07f}' => char::from_u32(u32::from(c) - 0xf000).unwrap_or(c),
        _ => c,
    }
}
