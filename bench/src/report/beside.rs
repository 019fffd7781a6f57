//! The table of a program beside an earlier one.

use super::table::section;
use crate::measures::Comparison;

/// A figure that is worse by more than this is listed.
const MUCH: f64 = 1.05;

const HEAD: &str = "|start|a turn|100 B|10 kB|8 MiB|a prompt of 8 MiB|memory";

/// The table, with figures as multiples of the earlier costs.
#[must_use]
pub fn beside(all: &[Comparison]) -> String {
    let (mut rows, mut worse) = (Vec::new(), Vec::new());
    for chain in all {
        let mut row = vec![chain.name.clone()];
        for (cost, what) in chain.costs.iter().zip(HEAD.split('|').skip(1)) {
            row.push(match cost {
                None => "–".to_owned(),
                Some(cost) => {
                    if cost.times > MUCH {
                        worse.push(format!("- {}, {what}: {:.3}\n", chain.name, cost.times));
                    }
                    let half = cost.times * cost.uncertainty / 2.0;
                    format!("{:.3} ± {half:.3}", cost.times)
                }
            });
        }
        rows.push(row);
    }
    let mut text = String::new();
    section(&mut text, "Times the cost before", HEAD, rows);
    text += if worse.is_empty() {
        "No figure is worse by more than 5 %.\n"
    } else {
        "Worse by more than 5 %:\n\n"
    };
    for figure in worse {
        text += &figure;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measures::Cost;
    use crate::subjects::{Family, Subject};

    #[test]
    fn figures_that_are_worse_are_named() {
        let cost = |times| {
            Some(Cost {
                times,
                uncertainty: 0.02,
            })
        };
        let subject = Subject::new(Family::Empty, 0);
        let mut chain = Comparison {
            name: subject.to_string(),
            subject,
            costs: vec![None; HEAD.split('|').count() - 1],
        };
        chain.costs[0] = cost(1.05);
        let good = beside(std::slice::from_ref(&chain));
        assert!(good.contains("1.050 ± 0.011"), "{good}");
        assert!(good.ends_with("No figure is worse by more than 5 %.\n"));
        chain.costs[2] = cost(1.06);
        let bad = beside(&[chain]);
        let named = "Worse by more than 5 %:\n\n- acp-chain, no proxies, 100 B: 1.060\n";
        assert!(bad.ends_with(named), "{bad}");
    }
}
