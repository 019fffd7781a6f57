//! Names, each sent to the page once.

use std::collections::HashMap;

/// The maximum length of a name, in characters; the rest is cut.
const LONGEST: usize = 200;

/// The maximum number of names. A trace's writer may invent one for each line.
const MOST: usize = 100_000;

/// The common name of all further ones.
const OTHERS: &str = "(others)";

/// Names, in order of arrival. The first is the empty name, the second stands for all names past the maximum.
#[derive(Debug)]
pub struct Names {
    known: HashMap<String, u32>,
    list: Vec<String>,
}

impl Default for Names {
    fn default() -> Self {
        let list = vec![String::new(), OTHERS.to_owned()];
        Self {
            known: HashMap::from([(String::new(), 0)]),
            list,
        }
    }
}

impl Names {
    /// The number of a name.
    pub fn number(&mut self, name: Option<&str>) -> u32 {
        let name = name.unwrap_or_default();
        if let Some(number) = self.known.get(name) {
            return *number;
        }
        if name.chars().nth(LONGEST).is_some() {
            let short: String = name.chars().take(LONGEST - 1).chain(['…']).collect();
            return self.number(Some(&short));
        }
        if self.list.len() >= MOST {
            return 1;
        }
        let number = u32::try_from(self.list.len()).unwrap_or(1);
        self.known.insert(name.to_owned(), number);
        self.list.push(name.to_owned());
        number
    }

    /// The names from this number on.
    pub fn since(&self, number: usize) -> &[String] {
        self.list.get(number..).unwrap_or_default()
    }

    /// The number of names.
    pub fn count(&self) -> usize {
        self.list.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_number_and_long_ones_are_cut() {
        let mut names = Names::default();
        let long = "ä".repeat(1000);
        let numbers = [
            None,
            Some("a"),
            Some("b"),
            Some("a"),
            Some(&*long),
            Some(&*long),
        ];
        let numbers = numbers.map(|name| names.number(name));
        assert_eq!(numbers, [0, 2, 3, 2, 4, 4]);
        assert_eq!(names.since(2)[..2], ["a", "b"]);
        assert_eq!(names.since(4)[0].chars().count(), LONGEST);
    }
}
