//! The needles of a rule: literal texts, with one of which every match begins.
//!
//! `xtask` also includes this file, to compute the needles of the catalogue beforehand.

use std::collections::BTreeSet;

use regex_syntax::hir::literal::{ExtractKind, Extractor};
use regex_syntax::hir::{Class, ClassBytesRange, Hir, HirKind};

/// The minimum length of a needle.
const SHORTEST: usize = 2;
/// The maximum length of a needle: longer ones are no more useful.
const LONGEST: usize = 12;
/// The maximum number of needles of one rule. Needles are shortened to reach it, where that helps.
const MANY: usize = 6;

/// Every match begins with one of these, in lower case. `None` if there are no such texts.
pub(crate) fn of(hir: &Hir) -> Option<Vec<String>> {
    let mut extractor = Extractor::new();
    extractor
        .kind(ExtractKind::Prefix)
        .limit_total(128)
        .limit_class(10);
    let sequence = extractor.extract(&small(hir));
    let literals = sequence.literals()?.iter().map(|literal| {
        let graphic = literal
            .as_bytes()
            .iter()
            .take_while(|byte| byte.is_ascii_graphic());
        graphic.map(|byte| char::from(*byte)).collect::<String>()
    });
    let literals: BTreeSet<String> = literals.collect();
    let shortened = |length: usize| {
        let cut = literals
            .iter()
            .map(|text| text[..text.len().min(length)].to_owned());
        let all: BTreeSet<String> = cut.collect();
        // A text that begins with another needle is redundant.
        let is_first = |text: &&String| {
            !all.iter()
                .any(|other| other != *text && text.starts_with(other.as_str()))
        };
        all.iter().filter(is_first).cloned().collect::<Vec<_>>()
    };
    let texts = (4..=LONGEST)
        .rev()
        .map(shortened)
        .find(|texts| texts.len() <= MANY);
    let texts = texts.unwrap_or_else(|| shortened(4));
    let long_enough = texts.iter().all(|text| text.len() >= SHORTEST);
    (long_enough && !texts.is_empty()).then_some(texts)
}

/// The regex in lower case, since needles are compared regardless of case.
fn small(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Literal(literal) => Hir::literal(literal.0.to_ascii_lowercase()),
        HirKind::Class(Class::Bytes(class)) => {
            let mut class = class.clone();
            class.case_fold_simple();
            class.difference(&regex_syntax::hir::ClassBytes::new([ClassBytesRange::new(
                b'A', b'Z',
            )]));
            Hir::class(Class::Bytes(class))
        }
        HirKind::Repetition(repetition) => {
            let mut repetition = repetition.clone();
            repetition.sub = Box::new(small(&repetition.sub));
            Hir::repetition(repetition)
        }
        HirKind::Capture(capture) => small(&capture.sub),
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(small).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(small).collect()),
        _ => hir.clone(),
    }
}
