use std::os::unix::ffi::OsStringExt as _;

use super::*;

#[test]
fn words_that_cannot_be_recorded_are_named() {
    let odd = OsString::from_vec(b"odd\xff".to_vec());
    let wrong = own("mine", &["sh".into(), odd]).unwrap_err();
    assert!(
        wrong.to_string().starts_with("`odd\u{fffd}` is not UTF-8"),
        "{wrong}"
    );
}
