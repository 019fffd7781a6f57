//! The native proxies, in the order of the chain, and the orders about their programs.

use super::joined::JoinedProxies;
use crate::hop::Hop;
use crate::native_peer::Order;
use crate::route::HopIndex;

pub(super) struct Programs {
    hops: Vec<HopIndex>,
    orders: Vec<Order>,
}

impl Programs {
    /// The native proxies among the user's own, whose programs run already.
    pub fn new(own: &[Hop]) -> Self {
        let hops = (0..own.len()).filter(|index| own[*index].native().is_some());
        Self {
            hops: hops.collect(),
            orders: Vec::new(),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = HopIndex> {
        self.hops.iter().copied()
    }

    pub fn is_empty(&self) -> bool {
        self.hops.is_empty()
    }

    /// Adds a native proxy of a project.
    pub fn join(&mut self, index: HopIndex, joined: &JoinedProxies) {
        self.hops.insert(joined.among(&self.hops), index);
    }

    /// Removes a native proxy of a project.
    pub fn leave(&mut self, index: HopIndex) {
        self.hops.retain(|program| *program != index);
        self.order(Order::Remove(index));
    }

    pub fn order(&mut self, order: Order) {
        self.orders.push(order);
    }

    pub fn take_orders(&mut self) -> Vec<Order> {
        std::mem::take(&mut self.orders)
    }
}
