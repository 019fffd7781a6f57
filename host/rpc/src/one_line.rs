//! JSON text without line breaks. In JSON, line breaks stand only between values, as white space: in strings they are
//! escaped.

use bytes::Bytes;

/// The text with spaces in place of line breaks. A text without any is not copied.
pub fn one_line(text: Bytes) -> Bytes {
    if memchr::memchr2(b'\n', b'\r', &text).is_none() {
        return text;
    }
    let mut line = Vec::from(text);
    for byte in &mut line {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    line.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_breaks_become_spaces_and_all_else_stays() {
        let kept = Bytes::from_static(br#"{"a":"\n"}"#);
        assert_eq!(one_line(kept.clone()).as_ptr(), kept.as_ptr());
        assert_eq!(one_line(Bytes::from_static(b"{\r\n1e400}")), "{  1e400}");
    }
}
