//! What passes a guard is the same to every reader: a message about which readers may differ is
//! refused before it gets there, for the guard might read it in one way, and whoever it is for in
//! another.

use acp_chain_powers::{is_like_one_of_protocol, is_of_protocol};

use super::Router;
use crate::chain::parcel::{HopIndex, Parcel};
use crate::channel::subject;
use crate::rpc::{Error, Message, canonical, code};

impl Router {
    /// Lets a message come to a guard, as it is or as an error; none if it was refused.
    pub(super) fn admit(&mut self, index: HopIndex, mut parcel: Parcel) -> Option<Parcel> {
        let Err(why) = self.judge(index, &mut parcel) else {
            return Some(parcel);
        };
        let name = &self.hops[index].name;
        let method = crate::untrusted::quote(&parcel.method, crate::untrusted::MAX_QUOTE);
        let text = format!("acp-chain: {method} cannot pass the guard `{name}`: {why}");
        self.note_discarded(parcel.toward.opposite(), &text);
        let error = Message::error(&Error::new(code::INVALID_REQUEST, text));
        if parcel.is_response() {
            parcel.message = error;
            return Some(parcel);
        }
        self.answer_here(parcel, error);
        None
    }

    fn judge(&self, index: HopIndex, parcel: &mut Parcel) -> Result<(), String> {
        if parcel.canonical {
            return Ok(());
        }
        let sender = parcel.toward.opposite();
        if !is_of_protocol(&subject(&parcel.message, sender, &parcel.method)) {
            return Err(format!(
                "the protocol has no such message from the {}",
                sender.as_str()
            ));
        }
        if let Some(known) = is_like_one_of_protocol(&parcel.method) {
            return Err(format!("some readers take its name for `{known}`"));
        }
        if parcel.message.is_ambiguous() || self.hops[index].subscription(parcel).is_some() {
            canonical(&parcel.message).map_err(|why| why.to_string())?;
            parcel.canonical = true;
        }
        Ok(())
    }
}
