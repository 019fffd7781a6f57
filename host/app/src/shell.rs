//! Paths, and commands about them, as typed into a shell.

use std::fmt::Write;
use std::path::Path;

use acp_chain_rpc::untrusted::Untrusted;

/// The command by which a user agrees to a project.
pub fn trust(root: &Path) -> String {
    format!("`acp-chain trust {}`", word(root))
}

/// A path as one word: on Windows of `cmd` and `PowerShell`, and elsewhere of a POSIX shell.
pub fn word(path: &Path) -> String {
    if cfg!(windows) {
        word_of_windows(path)
    } else {
        word_of_posix(path)
    }
}

/// A path as one word of `cmd`, and of `PowerShell` unless it has a `$` or a backtick. No path has quotes there.
fn word_of_windows(path: &Path) -> String {
    let text = Untrusted::new(path.display()).to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "\\/._-+:".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text
    } else if text.contains(['$', '`']) && !text.contains('\'') {
        format!("'{text}'")
    } else {
        format!("\"{text}\"")
    }
}

/// A path as one word of a POSIX shell. Unprintable characters are escaped for bash and zsh.
fn word_of_posix(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+=@%,:".contains(byte);
    match path.to_str() {
        Some(text) if !text.is_empty() && bytes.iter().all(plain) => text.to_owned(),
        Some(text) if Untrusted::new(text).to_string() == text => {
            format!("'{}'", text.replace('\'', r"'\''"))
        }
        _ => {
            let mut word = "$'".to_owned();
            for byte in bytes {
                let _ = match byte {
                    b'\'' | b'\\' => write!(word, "\\{}", char::from(*byte)),
                    b' '..=b'~' => write!(word, "{}", char::from(*byte)),
                    byte => write!(word, "\\x{byte:02x}"),
                };
            }
            word + "'"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_and_unprintable_characters_are_escaped() {
        for (path, expected) in [
            ("/home/me/work", "/home/me/work"),
            ("/home/me/my work", "'/home/me/my work'"),
            ("/home/me/ö;rm", "'/home/me/ö;rm'"),
            ("/it's", r"'/it'\''s'"),
            ("/a\n`b`\u{202e}'", r"$'/a\x0a`b`\xe2\x80\xae\''"),
        ] {
            assert_eq!(word_of_posix(Path::new(path)), expected);
        }
    }

    #[test]
    fn on_windows_a_path_is_one_word_and_keeps_its_backslashes() {
        for (path, expected) in [
            (r"C:\work\it", r"C:\work\it"),
            (r"C:\Program Files\it", r#""C:\Program Files\it""#),
            (r"C:\it's", r#""C:\it's""#),
            (r"C:\a$b", r"'C:\a$b'"),
            (r"C:\a&b", r#""C:\a&b""#),
        ] {
            assert_eq!(word_of_windows(Path::new(path)), expected);
        }
    }
}
