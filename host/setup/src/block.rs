//! Our lines in a file of code: a block between two markers, independent of all other lines.

use crate::error::Malformed;

const BEGIN: &str = "acp-chain: begin";
const END: &str = "acp-chain: end";

/// The range of a block in a text: from the beginning of its first line to the end of its last.
fn find(text: &str, comment: &str) -> Result<Option<std::ops::Range<usize>>, Malformed> {
    let (begins, ends) = (format!("{comment} {BEGIN}"), format!("{comment} {END}"));
    let (mut start, mut found, mut at) = (None, None, 0);
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let wrong = |wrong: &str| Malformed::new(number + 1, wrong);
        if line.starts_with(&begins) {
            if start.is_some() || found.is_some() {
                return Err(wrong("a second block of acp-chain begins here"));
            }
            start = Some((at, number));
        }
        at += line.len();
        if line.starts_with(&ends) {
            let Some((start, _)) = start.take() else {
                return Err(wrong(
                    "a block of acp-chain ends here, but its first line is missing",
                ));
            };
            found = Some(start..at);
        }
    }
    match start {
        Some((_, number)) => Err(Malformed::new(
            number + 1,
            format!("a block of acp-chain begins here, but its last line, `{ends}`, is missing"),
        )),
        None => Ok(found),
    }
}

/// Whether a text contains a block.
pub fn is_in(text: &str, comment: &str) -> Result<bool, Malformed> {
    Ok(find(text, comment)?.is_some())
}

/// The place of a new block in a text: its end, or in front of the line with which files of Emacs end by convention,
/// `;;; FILE ends here`. Behind that line there are only comments, so that it is in no list and no text.
fn place(text: &str, comment: &str) -> usize {
    let mut at = text.len();
    for line in text.split_inclusive('\n').rev() {
        let content = line.trim();
        if !content.is_empty() && !content.starts_with(comment) {
            break;
        }
        at -= line.len();
        if content.ends_with(" ends here") {
            return at;
        }
    }
    text.len()
}

/// Puts code into the block of a text; a new block is at the end, except for comments with which the file ends.
pub fn put(text: &str, comment: &str, editor: &str, code: &str) -> Result<String, Malformed> {
    let block = format!(
        "{comment} {BEGIN} (`acp-chain setup {editor}` wrote this, and `acp-chain setup {editor} --undo` removes it)\n\
         {code}{comment} {END}\n"
    );
    let mut text = text.to_owned();
    match find(&text, comment)? {
        Some(range) => text.replace_range(range, &block),
        None => {
            let mut at = place(&text, comment);
            if at == text.len() && !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
                at = text.len();
            }
            text.insert_str(at, &block);
        }
    }
    Ok(text)
}

/// Removes the block from a text.
pub fn take(text: &str, comment: &str) -> Result<String, Malformed> {
    let mut text = text.to_owned();
    if let Some(range) = find(&text, comment)? {
        text.replace_range(range, "");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_put_replaced_and_taken_and_the_rest_stays() {
        for before in ["", "(one)\n", "(one)\r\n;; acp-chain\r\n"] {
            let once = put(before, ";;", "emacs", "(two)\n").unwrap();
            assert!(once.starts_with(before) && once.contains("\n(two)\n;; acp-chain: end\n"));
            assert_eq!(put(&once, ";;", "emacs", "(two)\n").unwrap(), once);
            let more = put(&(once.clone() + "(three)\n"), ";;", "emacs", "(four)\n").unwrap();
            assert_eq!(more, once.replace("(two)", "(four)") + "(three)\n");
            assert_eq!(take(&more, ";;").unwrap(), before.to_owned() + "(three)\n");
        }
    }

    #[test]
    fn a_block_is_in_front_of_the_line_with_which_a_file_ends() {
        for (before, ends) in [
            ("(one)\n", ";;; init.el ends here"),
            ("(one)\n\n", ";;; init.el ends here\n\n"),
            (
                "(one)\n",
                ";;; init.el ends here\n;; Local Variables:\n;; End:\n",
            ),
            (";; Local Variables:\n;; End:\n", ";;; init.el ends here\n"),
        ] {
            let text = before.to_owned() + ends;
            let ours = put(&text, ";;", "emacs", "(two)\n").unwrap();
            assert!(
                ours.starts_with(&format!("{before};; acp-chain: begin"))
                    && ours.ends_with(&format!("end\n{ends}")),
                "{ours}"
            );
            assert_eq!(take(&ours, ";;").unwrap(), text);
        }
        // It may be within a text.
        let text = "(one \"\n;;; it ends here\n\")\n";
        let ours = put(text, ";;", "emacs", "(two)\n").unwrap();
        assert!(ours.starts_with(text), "{ours}");
    }

    #[test]
    fn markers_that_do_not_match_are_told_with_their_line() {
        for (text, line) in [
            ("a\n;; acp-chain: begin\n", 2),
            (";; acp-chain: end\n", 1),
            (
                ";; acp-chain: begin\n;; acp-chain: begin\n;; acp-chain: end\n",
                2,
            ),
        ] {
            assert_eq!(take(text, ";;").unwrap_err().line, line, "{text}");
        }
    }
}
