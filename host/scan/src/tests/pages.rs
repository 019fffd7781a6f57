//! What reports show of texts from outside.

use crate::find::Recording;
use crate::findings::{Decision, DecisionKind, Findings, Place, Problem, SecretKind, Within};
use crate::format::Format;
use crate::report::Report;
use crate::tokens::{Prices, Tokens};

const HOSTILE: &str = "</td><script>alert('1')</script>\u{202e}&\"";

fn report() -> Report {
    let mut found = Findings::default();
    found.totals.entry(Format::Claude).or_default().calls = 2;
    found.totals.entry(Format::Claude).or_default().recordings = 1;
    let place = Place {
        recording: 0,
        line: 7,
    };
    let kind = DecisionKind {
        decision: Decision::Denied,
        proxy: HOSTILE.to_owned(),
        why: HOSTILE.to_owned(),
    };
    found.decided(kind).add(2, place, || HOSTILE.to_owned());
    let kind = SecretKind {
        name: HOSTILE.to_owned(),
        within: Within::Prompt,
    };
    found.secret(kind).add(1, place, || HOSTILE.to_owned());
    let tokens = Tokens {
        input: 1_000_000,
        ..Tokens::default()
    };
    found.used(Format::Claude, HOSTILE, tokens);
    found.cost(HOSTILE, 1);
    found.problem(Problem::Cut, place);
    let recording = Recording {
        format: Format::Claude,
        path: HOSTILE.into(),
        size: 1,
    };
    let prices: Prices = serde_json::from_str(r#"{"input":3,"output":15}"#).unwrap();
    let report = Report::of(vec![HOSTILE.to_owned()], &[recording], found);
    report.with_prices(&prices, HOSTILE)
}

#[test]
fn a_page_has_no_markup_from_recordings_and_nothing_from_elsewhere() {
    let page = report().to_html();
    assert!(!page.contains("<script"), "{page}");
    assert!(!page.contains("alert('"), "{page}");
    assert!(page.contains("&lt;script&gt;"), "{page}");
    for remote in ["http:", "https:", "src=", "href=", "url("] {
        assert!(!page.contains(remote), "{remote}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn a_report_for_programs_has_the_numbers() {
    let report: serde_json::Value = serde_json::from_str(&report().to_json().unwrap()).unwrap();
    assert_eq!(report["version"], 1);
    assert_eq!(report["recordings"][0]["format"], "claude");
    assert_eq!(report["recordings"][0]["calls"], 2);
    assert_eq!(report["decisions"][0]["decision"], "denied");
    assert_eq!(report["decisions"][0]["count"], 2);
    assert_eq!(report["decisions"][0]["examples"][0]["line"], 7);
    assert_eq!(report["secrets"][0]["within"], "prompt");
    assert_eq!(report["used"][0]["input"], 1_000_000);
    assert_eq!(report["priced"]["millionths"], 3_000_000);
    assert_eq!(report["problems"][0]["count"], 1);
    assert_eq!(report["problems"][0]["line"], 7);
}

#[test]
fn a_text_shows_amounts_as_people_write_them() {
    let text = report().to_string();
    assert!(text.contains("by your prices: 3.00 "), "{text}");
    assert!(text.contains("as the agents report: 0.000001 "), "{text}");
    assert!(text.contains("denied: 2"), "{text}");
}

#[test]
fn the_findings_of_workers_add_up_in_the_order_of_the_recordings() {
    let found = |recording: usize| {
        let mut found = Findings::default();
        for line in 1..=30 {
            let kind = DecisionKind {
                decision: Decision::Asked,
                proxy: "p".to_owned(),
                why: "rule 1".to_owned(),
            };
            let place = Place { recording, line };
            found.decided(kind).add(1, place, || "make".to_owned());
        }
        found
    };
    let mut all = Findings::default();
    for recording in [1, 0] {
        all.merge(found(recording));
    }
    let group = all.decisions.into_values().next().unwrap();
    assert_eq!(group.count, 60);
    assert!(group.examples.iter().all(|(place, _)| place.recording == 0));
}
