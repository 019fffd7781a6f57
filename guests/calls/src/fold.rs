//! Names that file systems consider equal. They fold case (NTFS, APFS, ext4 with `casefold`), compose or decompose
//! (APFS, HFS+, ZFS), some by compatibility (ZFS), and ignore invisible code points (HFS+, ext4). Each has its own
//! table: here all of them apply at once.

use unicode_normalization::UnicodeNormalization;

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
    folded.nfkc().collect()
}

/// No character of Unicode takes more than three.
const MOST_ROUNDS: usize = 8;

fn once(text: &str) -> String {
    let seen = text.nfkd().filter(|c| !is_ignorable(*c)).map(mapped);
    // Upper case first: `ı` and `ſ` are not upper case, but have an upper-case form.
    let letters = seen.flat_map(char::to_uppercase);
    letters.flat_map(char::to_lowercase).nfkd().collect()
}

/// Whether a character is invisible, such as a zero-width joiner or a text direction mark: Unicode's property
/// `Default_Ignorable_Code_Point`.
pub fn is_ignorable(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fff8}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// SMB and WSL map characters that are invalid in Windows names (`:`, `\`, a trailing dot) to private ones.
fn mapped(c: char) -> char {
    match c {
        '\u{f001}'..='\u{f07f}' => char::from_u32(u32::from(c) - 0xf000).unwrap_or(c),
        _ => c,
    }
}
