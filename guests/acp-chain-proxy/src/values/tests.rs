//! Updates that others come before.

use std::cell::Cell;

use serde_json::json;

use super::*;
use crate::testing::{Host, values::put};
use crate::{Action, Peer, Proxy, Request, Result, Subscription};

/// Updates a value, which another connection stores meanwhile, as often as the request says.
#[derive(Default)]
struct Late;

impl Proxy for Late {
    const SUBSCRIPTIONS: &[Subscription] = &[Subscription::requests("update")];

    async fn on_request(&self, request: Request) -> Result {
        let left: Cell<u32> = Cell::new(request.params.parse()?);
        let updated = update(Keeper::User, "name", |value| {
            if left.get() > 0 {
                left.set(left.get() - 1);
                put(Keeper::User, "name", Some(&left.get().to_string()));
            }
            Some(format!("{} and mine", value.unwrap_or("none")))
        });
        let Value { value, version, .. } = updated.await?;
        Ok(Action::Respond(json!([value, version]).into()))
    }
}

/// The response to an update that others come before so often.
fn updated(times: usize) -> std::result::Result<serde_json::Value, Error> {
    let mut host = Host::start::<Late>(json!({})).expect("takes no configuration");
    host.request(Peer::Client, "update", times);
    let response = host.sent().remove(0);
    response.body.map(|body| body.parse().expect("JSON"))
}

#[test]
fn an_update_is_of_the_newest_value() {
    assert_eq!(updated(0), Ok(json!(["none and mine", 1])));
    assert_eq!(updated(1), Ok(json!(["0 and mine", 2])));
    assert_eq!(updated(ATTEMPTS - 1), Ok(json!(["0 and mine", ATTEMPTS])));
}

#[test]
fn an_update_that_never_fits_is_an_error() {
    let error = updated(ATTEMPTS).expect_err("the value is another one each time");
    assert!(error.message.contains("\"name\" is not stored"), "{error}");
}
