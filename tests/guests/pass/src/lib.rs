//! A test proxy that sees everything and changes nothing. It can hold notifications for a while, and
//! settles them so that the order stays the same. Some requests break it: on `test/spin` it loops for
//! ever, on `test/grow` it allocates without end, and on `test/panic` it panics. The default failure
//! policy then restarts it, without any state.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use acp_chain_proxy::{
    Action, Configure, Head, MessageId, Notification, Peer, Proxy, Request, Response, Result,
    Subscription, export, settle,
};

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct Config {
    /// Whether bodies come with the messages.
    with_body: bool,
    /// Whether to subscribe only to a method that is never sent.
    elsewhere: bool,
    /// Hold one of so many notifications; none if 0.
    hold_every: u32,
    /// If 0, held notifications are settled before the next message of the same session and sender;
    /// otherwise after so many further messages of any session, and responses are not seen.
    late: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            with_body: true,
            elsewhere: false,
            hold_every: 0,
            late: 0,
        }
    }
}

struct Pass {
    config: Config,
    notifications: Cell<u32>,
    /// The held messages, each with the number of messages that may still pass it.
    held: RefCell<BTreeMap<MessageId, HeldMessage>>,
}

struct HeldMessage {
    sender: Peer,
    session: Option<String>,
    left: u32,
}

impl Configure for Pass {
    type Config = Config;

    fn new(config: Config) -> std::result::Result<Self, String> {
        Ok(Self {
            config,
            notifications: Cell::default(),
            held: RefCell::default(),
        })
    }
}

impl Pass {
    /// Settles the held messages that are due before this message.
    fn settle_before(&self, head: &Head) -> Result<()> {
        let late = self.config.late > 0;
        let mut due = Vec::new();
        for (id, held) in self.held.borrow_mut().iter_mut() {
            held.left = held.left.saturating_sub(1);
            let next = held.sender == head.sender && held.session == head.session;
            if if late { held.left == 0 } else { next } {
                due.push(*id);
            }
        }
        for id in due {
            self.held.borrow_mut().remove(&id);
            settle(id, Action::Forward)?;
        }
        Ok(())
    }
}

impl Proxy for Pass {
    fn subscriptions(&self) -> Vec<Subscription> {
        let methods = if self.config.elsewhere {
            "test/elsewhere"
        } else {
            "*"
        };
        let mut all = vec![
            Subscription::requests(methods),
            Subscription::notifications(methods),
        ];
        if self.config.late == 0 {
            all.push(Subscription::responses(methods));
        }
        if !self.config.with_body {
            all = all.into_iter().map(Subscription::without_body).collect();
        }
        all
    }

    async fn on_request(&self, request: Request) -> Result {
        self.settle_before(&request.head)?;
        match request.head.method.as_str() {
            "test/spin" => loop {
                std::hint::spin_loop();
            },
            "test/grow" => {
                let mut all = Vec::new();
                loop {
                    all.push(std::hint::black_box(vec![1_u8; 1 << 20]));
                }
            }
            "test/panic" => panic!("as requested"),
            _ => Ok(Action::Forward),
        }
    }

    async fn on_notification(&self, notification: Notification) -> Result {
        let head = notification.head;
        self.settle_before(&head)?;
        let count = self.notifications.get() + 1;
        self.notifications.set(count);
        if self.config.hold_every == 0 || !count.is_multiple_of(self.config.hold_every) {
            return Ok(Action::Forward);
        }
        self.held.borrow_mut().insert(
            head.id,
            HeldMessage {
                sender: head.sender,
                session: head.session,
                left: self.config.late,
            },
        );
        Ok(Action::Hold)
    }

    async fn on_response(&self, response: Response) -> Result {
        self.settle_before(&response.head)?;
        Ok(Action::Forward)
    }
}

export!(Pass);
