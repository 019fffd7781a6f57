//! Newer versions of proxies, some of which do not start.

use acp_chain::chain::Swap;
use tokio::sync::oneshot;

use super::proxy::Script;
use super::{Driver, terms};

impl Driver {
    /// A newer version of one of the user's components comes, if there is any.
    pub(super) fn swap_one(&mut self) {
        let (hop, on_failure) = {
            let mut world = self.world.lock();
            let components = world.model.own_components();
            if components.is_empty() {
                return;
            }
            components[world.choose(components.len())]
        };
        self.router.swap(Swap {
            proxy: format!("proxy-{hop}"),
            source: Box::new(Script {
                world: self.world.clone(),
                hop,
            }),
            terms: terms(on_failure),
            on_failure: Some(on_failure),
            // The result is not needed.
            done: oneshot::channel().0,
            cut_short: Box::new(|_| ()),
        });
    }
}
