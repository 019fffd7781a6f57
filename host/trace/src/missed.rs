//! Lines that somebody did not get.

use std::collections::BTreeMap;

use crate::Line;

/// For how many connections they are counted separately; for the others they are counted together.
const CONNECTIONS: usize = 4096;

/// Counts lines that somebody who cannot follow did not get, by connection.
#[derive(Debug, Default)]
pub struct Missed(BTreeMap<Box<str>, u64>);

impl Missed {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Counts a line of this connection.
    pub fn count(&mut self, connection: &str) {
        let is_known = self.0.len() < CONNECTIONS;
        let of = if is_known { connection } else { "" };
        *self.0.entry(of.into()).or_default() += 1;
    }

    /// The lines that say how many were missed, once.
    pub fn take(&mut self, time: &str) -> impl Iterator<Item = Line> {
        std::mem::take(&mut self.0)
            .into_iter()
            .map(move |(connection, count)| Line {
                time: time.to_owned(),
                connection: connection.into(),
                dropped: Some(count),
                ..Line::default()
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_by_connection_as_long_as_there_are_not_too_many() {
        let mut missed = Missed::default();
        for number in 0..CONNECTIONS + 10 {
            missed.count(&number.to_string());
        }
        missed.count("7");
        let said: BTreeMap<_, _> = missed
            .take("now")
            .map(|line| (line.connection, line.dropped))
            .collect();
        assert_eq!(said.len(), CONNECTIONS + 1);
        // Past the bound, those of known connections are counted with the rest.
        assert_eq!(said[""], Some(11));
        assert!(missed.is_empty() && missed.take("now").next().is_none());
    }
}
