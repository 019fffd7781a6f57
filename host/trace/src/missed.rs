//! Counts lines that a slow reader did not receive.

use std::collections::BTreeMap;

use crate::Line;

/// The number of connections whose lines are counted separately. The lines of further ones are counted together.
const CONNECTIONS: usize = 4096;

/// The numbers of lines that a slow reader did not receive, by connection.
#[derive(Debug, Default)]
pub struct Missed(BTreeMap<Box<str>, u64>);

impl Missed {
    /// Whether no line was missed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Counts a line of this connection.
    pub fn count(&mut self, connection: &str) {
        let is_known = self.0.len() < CONNECTIONS;
        let of = if is_known { connection } else { "" };
        *self.0.entry(of.into()).or_default() += 1;
    }

    /// Returns lines that report the numbers, and resets them.
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
    fn lines_are_counted_by_connection_up_to_a_bound() {
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
        // Past the bound, lines of all connections are counted together.
        assert_eq!(said[""], Some(11));
        assert!(missed.is_empty() && missed.take("now").next().is_none());
    }
}
