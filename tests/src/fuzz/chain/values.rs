//! Stored values: the outcomes of the proxies' requests, which come at once or later, in their order.

use super::Driver;

impl Driver {
    /// Takes the router's requests. If there are some, one of them may have its outcome now.
    pub(super) fn give_value(&mut self) {
        self.take_value_requests();
        if self.values.is_empty() || self.world.lock().choose(2) == 0 {
            return;
        }
        self.give_next();
    }

    /// Gives the outcomes of all requests. Returns whether there were any.
    pub(super) fn give_all_values(&mut self) -> bool {
        self.take_value_requests();
        let are_some = !self.values.is_empty();
        while !self.values.is_empty() {
            self.give_next();
        }
        are_some
    }

    fn take_value_requests(&mut self) {
        while let Some(request) = self.router.take_value_request() {
            self.values.push_back(request.number);
        }
    }

    fn give_next(&mut self) {
        let Some(number) = self.values.pop_front() else {
            return;
        };
        let outcome = if number % 4 == 0 {
            Err("the disk is full")
        } else {
            Ok(r#"{"version":1}"#)
        };
        self.router.receive_value(number, outcome);
    }
}
