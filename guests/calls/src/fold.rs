//! Names that file systems consider equal. They fold case (NTFS, APFS, ext4 with `casefold`), compose or decompose
//! (APFS, HFS+, ZFS), some by compatibility (ZFS), and ignore invisible code points (HFS+, ext4). Each has its own
//! table: here all of them apply at once.

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use icu_properties::CodePointSetData;
use icu_properties::props::DefaultIgnorableCodePoint;

/// The folded form, which is the same for all names that some file system considers equal.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    // One step can require another: `ẞ` becomes `ß`, and that `ss`.
    let mut folded = text.to_owned();
    for _ in 0..MOST_ROUNDS {
        let next = once(&folded);
        if next == folded {
            break;
        }
        folded = next;
    }
    // Recompose characters.
    let composing = ComposingNormalizerBorrowed::new_nfkc();
    composing.normalize(&folded).into_owned()
}

/// No character of Unicode takes more than three.
const MOST_ROUNDS: usize = 8;

fn once(text: &str) -> String {
    let decomposing = DecomposingNormalizerBorrowed::new_nfkd();
    let decomposed = decomposing.normalize(text);
    let seen = decomposed.chars().filter(|c| !is_ignorable(*c)).map(mapped);
    // Upper case first: `ı` and `ſ` are not upper case, but have an upper-case form.
    let letters = seen.flat_map(char::to_uppercase);
    let letters: String = letters.flat_map(char::to_lowercase).collect();
    decomposing.normalize(&letters).into_owned()
}

/// Whether a character is invisible, such as a zero-width joiner or a text direction mark.
pub fn is_ignorable(c: char) -> bool {
    CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(c)
}

/// SMB and WSL map characters that are invalid in Windows names (`:`, `\`, a trailing dot) to private ones.
fn mapped(c: char) -> char {
    match c {
        '\u{f001}'..='\u{f07f}' => char::from_u32(u32::from(c) - 0xf000).unwrap_or(c),
        _ => c,
    }
}
