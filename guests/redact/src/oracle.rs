//! What the tests compare with: another engine, which sees the whole text.

use regex_automata::nfa::thompson::pikevm::PikeVM;

use crate::detector::Detector;
use crate::patterns::Pattern;

pub(crate) struct Oracle<'p> {
    patterns: &'p [Pattern],
    engine: PikeVM,
}

impl<'p> Oracle<'p> {
    pub(crate) fn new(patterns: &'p [Pattern]) -> Self {
        let regexes: Vec<_> = patterns.iter().map(|(_, regex)| *regex).collect();
        let engine = PikeVM::new_many(&regexes).expect("right");
        Self { patterns, engine }
    }

    pub(crate) fn redact(&self, text: &str) -> String {
        let (mut out, mut copied) = (String::new(), 0);
        for found in self.engine.find_iter(&mut self.engine.create_cache(), text) {
            let (name, _) = self.patterns[found.pattern()];
            out.push_str(&text[copied..found.start()]);
            out.push_str(&Detector::marker(name));
            copied = found.end();
        }
        out + &text[copied..]
    }
}
