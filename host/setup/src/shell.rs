//! Command lines as a shell reads them.

/// The words of a command line, and where each begins: quotes and backslashes are read as a shell does.
pub fn shell_words(line: &str) -> Vec<(String, usize)> {
    let mut words: Vec<(String, usize)> = Vec::new();
    let (mut inside, mut quote, mut escaped) = (false, None, false);
    for (at, c) in line.char_indices() {
        if !inside && c.is_whitespace() {
            continue;
        }
        if !inside {
            words.push((String::new(), at));
            inside = true;
        }
        let Some((word, _)) = words.last_mut() else {
            break;
        };
        if std::mem::take(&mut escaped) {
            word.push(c);
        } else if c == '\\' && quote != Some('\'') {
            escaped = true;
        } else if quote == Some(c) {
            quote = None;
        } else if quote.is_none() && matches!(c, '\'' | '"') {
            quote = Some(c);
        } else if quote.is_none() && c.is_whitespace() {
            inside = false;
        } else {
            word.push(c);
        }
    }
    words
}

/// A word as it is read by [`shell_words`].
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+@=%,:".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The words of a command line, as they are read by [`shell_words`].
pub fn shell_line(words: &[String]) -> String {
    let words: Vec<_> = words.iter().map(|word| shell_word(word)).collect();
    words.join(" ")
}
