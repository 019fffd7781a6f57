use super::*;
use crate::Reader;

fn exported(format: Format, trace: &str) -> String {
    let lines = Reader::new(trace.as_bytes()).map(|line| line.unwrap().1);
    let mut out = Vec::new();
    export(format, lines, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn formats_have_the_names_by_which_they_are_asked_for() {
    for format in Format::ALL {
        assert_eq!(format.name().parse::<Format>().unwrap(), format);
    }
    let told = "pcap".parse::<Format>().unwrap_err().to_string();
    assert_eq!(
        told,
        "there is no format `pcap`; there are conductor, chrome, har"
    );
}

#[test]
fn an_empty_trace_is_an_empty_document() {
    assert_eq!(exported(Format::Conductor, ""), "");
    for format in [Format::Chrome, Format::Har] {
        let text = exported(format, "");
        serde_json::from_str::<serde_json::Value>(&text).unwrap();
    }
}
