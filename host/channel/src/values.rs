//! Values that a proxy stores beyond the connection: its calls for them. They are requests to the host, which count
//! like those to neighbours.

use std::sync::Arc;

use super::ledger::{denied, invalid};
use super::{ChannelError, Effect, Ledger, MessageId};
use crate::limits::{Quantity, STORED_KEY, STORED_VALUE};

/// Whose a stored value is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The user's: the same in all projects.
    User,
    /// That of the project in which the session with this id is.
    Project(Arc<str>),
}

impl Owner {
    /// The session that names the project.
    pub fn session(&self) -> Option<&Arc<str>> {
        match self {
            Self::User => None,
            Self::Project(session) => Some(session),
        }
    }
}

impl Ledger {
    /// `channel.load-value`.
    pub fn load_value(&mut self, of: Owner, key: &str) -> Result<MessageId, ChannelError> {
        self.may_keep(key)?;
        let key = key.to_owned();
        self.send_request(|id| Effect::Load { id, of, key })
    }

    /// `channel.store-value`.
    pub fn store_value(
        &mut self,
        of: Owner,
        key: &str,
        version: u64,
        value: Option<String>,
    ) -> Result<MessageId, ChannelError> {
        self.may_keep(key)?;
        if value
            .as_ref()
            .is_some_and(|value| value.len() > STORED_VALUE)
        {
            return Err(ChannelError::Full);
        }
        let key = key.to_owned();
        self.send_request(|id| Effect::Store {
            id,
            of,
            key,
            version,
            value,
        })
    }

    /// An error unless the proxy may have a value under this key.
    fn may_keep(&self, key: &str) -> Result<(), ChannelError> {
        self.may_speak()?;
        if !self.grant.has("values.keep") {
            return denied("none of its powers covers it: that takes `values.keep`");
        }
        if key.len() > STORED_KEY {
            let longest = Quantity::Size.show(STORED_KEY as u64);
            return invalid(format!("the key of a stored value may have {longest}"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Grant;
    use crate::limits::Limits;

    fn ledger(powers: &[&str], limits: Limits) -> Ledger {
        let grant = Grant::new("me", powers.iter().copied(), Vec::new()).unwrap();
        Ledger::new(1, limits.into(), grant.into())
    }

    #[test]
    fn values_take_their_power_and_a_start() {
        let mut ledger = ledger(&["values.keep"], Limits::default());
        let early = ledger.load_value(Owner::User, "k");
        assert!(matches!(early, Err(ChannelError::Denied(_))), "{early:?}");
        ledger.start();
        assert_eq!(ledger.load_value(Owner::User, "k"), Ok(1));
        let of = Owner::Project("s".into());
        assert_eq!(ledger.store_value(of, "k", 7, None), Ok(2));
        let (effects, _) = ledger.take_effects();
        assert!(
            matches!(
                &effects[..],
                [
                    Effect::Load { id: 1, of: Owner::User, key },
                    Effect::Store { id: 2, of: Owner::Project(session), key: same, version: 7, value: None },
                ] if key == "k" && same == "k" && &**session == "s"
            ),
            "{effects:?}"
        );

        let mut without = self::ledger(&["prompts.read"], Limits::default());
        without.start();
        let why = without.load_value(Owner::User, "k").unwrap_err();
        assert!(why.to_string().contains("`values.keep`"), "{why}");
        let why = without.store_value(Owner::User, "k", 0, None).unwrap_err();
        assert!(why.to_string().contains("`values.keep`"), "{why}");
        assert!(without.take_effects().0.is_empty());
    }

    #[test]
    fn keys_and_values_have_their_longest() {
        let mut ledger = ledger(&["values.keep"], Limits::default());
        ledger.start();
        let (key, value) = ("k".repeat(STORED_KEY), "v".repeat(STORED_VALUE));
        assert!(ledger.load_value(Owner::User, &key).is_ok());
        let stored = ledger.store_value(Owner::User, &key, 0, Some(value.clone()));
        assert!(stored.is_ok(), "{stored:?}");
        let long = ledger.load_value(Owner::User, &(key.clone() + "k"));
        let text = "the key of a stored value may have 256 B";
        assert_eq!(long, Err(ChannelError::Invalid(text.to_owned())));
        let long = ledger.store_value(Owner::User, &key, 0, Some(value + "v"));
        assert_eq!(long, Err(ChannelError::Full));
    }

    #[test]
    fn they_count_among_open_requests_and_the_bytes_of_a_call() {
        let limits = Limits {
            requests: 2,
            emitted_bytes: 1000,
            ..Limits::default()
        };
        let mut ledger = ledger(&["values.keep"], limits);
        ledger.start();
        let first = ledger.load_value(Owner::User, "k").unwrap();
        let large = ledger.store_value(Owner::User, "k", 0, Some("v".repeat(1000)));
        assert_eq!(
            large,
            Err(ChannelError::Full),
            "with the key it is too much"
        );
        ledger.load_value(Owner::User, "k").unwrap();
        let third = ledger.load_value(Owner::User, "k");
        assert_eq!(third, Err(ChannelError::Full));
        ledger.take_effects();
        ledger.answered(first);
        assert!(ledger.load_value(Owner::User, "k").is_ok());
    }
}
