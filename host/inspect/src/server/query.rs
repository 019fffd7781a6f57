//! The query of a request.

use url::form_urlencoded;

/// Names and values, as a page's `URLSearchParams` writes them.
pub struct Query(Vec<(String, String)>);

impl Query {
    /// Parses a query.
    pub fn of(query: Option<&str>) -> Self {
        let pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
        Self(pairs.into_owned().collect())
    }

    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut pairs = self.0.iter();
        pairs.find_map(|(other, value)| (other == name).then_some(&**value))
    }

    /// The value of a name, as a number.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.get(name)?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_of_the_page_are_parsed() {
        let query = Query::of(Some("text=a+%22b%22%26%C3%A4&from=7&x"));
        assert_eq!(query.get("text"), Some("a \"b\"&ä"));
        assert_eq!(
            (query.number("from"), query.number("text")),
            (Some(7), None)
        );
        assert_eq!(Query::of(None).get("text"), None);
    }
}
