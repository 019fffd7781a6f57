//! What proxies would have done in a dry run, until the user is told.

use std::sync::Arc;

use foldhash::{HashMap, HashMapExt};

use acp_chain_channel::MessageId;
use acp_chain_channel::limits::{Account, Charge, NOTICES};
use acp_chain_hops::route::HopIndex;
use acp_chain_hops::routed::Routed;
use acp_chain_recorder::{About, Would};
use acp_chain_rpc::Kind;

/// The message that a proxy would have done something with.
#[derive(Debug)]
pub(super) struct DeedObject {
    pub kind: Kind,
    pub about: About,
}

impl DeedObject {
    pub fn of(routed: &Routed) -> Self {
        Self {
            kind: routed.message.kind(),
            about: about(routed),
        }
    }
}

/// What a line of the trace says of a message.
pub(super) fn about(routed: &Routed) -> About {
    About {
        message: routed.number,
        request: routed.exchange,
        method: routed.method.clone(),
        session: routed.session().cloned(),
    }
}

/// What a proxy would have done, as often as it would have been.
pub(super) struct Deed {
    pub hop: HopIndex,
    pub would: Would,
    pub kind: Kind,
    pub method: Arc<str>,
    session: Option<Arc<str>>,
    pub count: u64,
    _charge: Charge,
}

impl Deed {
    fn is(&self, hop: HopIndex, would: Would, object: &DeedObject) -> bool {
        self.hop == hop
            && self.would == would
            && self.kind == object.kind
            && self.method == object.about.method
            && self.session == object.about.session
    }
}

/// What the user is yet to be told.
pub(super) struct Deeds {
    /// The messages that proxies would hold, and have not settled.
    held: HashMap<(HopIndex, MessageId), DeedObject>,
    untold: Vec<Deed>,
    account: Account,
    /// How many did not fit.
    left_out: u64,
}

impl Deeds {
    /// None; their account is a part of `kept`.
    pub fn new(kept: &Account) -> Self {
        Self {
            held: HashMap::new(),
            untold: Vec::new(),
            account: kept.part(NOTICES),
            left_out: 0,
        }
    }

    /// Notes that a proxy would hold a message. Their number is limited where the proxy's ledger is.
    pub fn hold(&mut self, hop: HopIndex, id: MessageId, object: DeedObject) {
        self.held.insert((hop, id), object);
    }

    /// Takes a message that a proxy would hold, unless it has settled it.
    pub fn take_held(&mut self, hop: HopIndex, id: MessageId) -> Option<DeedObject> {
        self.held.remove(&(hop, id))
    }

    pub fn add(&mut self, hop: HopIndex, would: Would, object: &DeedObject) {
        let mut untold = self.untold.iter_mut();
        if let Some(known) = untold.find(|deed| deed.is(hop, would, object)) {
            known.count += 1;
            return;
        }
        let About {
            method, session, ..
        } = &object.about;
        let names = method.len() + session.as_ref().map_or(0, |name| name.len());
        let Some(charge) = self.account.charge(size_of::<Deed>() + names) else {
            self.left_out += 1;
            return;
        };
        self.untold.push(Deed {
            hop,
            would,
            kind: object.kind,
            method: method.clone(),
            session: session.clone(),
            count: 1,
            _charge: charge,
        });
    }

    /// Takes what is to be told at the end of a turn of this session, and how many are left out: what belongs to other
    /// sessions waits for the ends of their turns.
    pub fn take(&mut self, session: &Arc<str>) -> (Vec<Deed>, u64) {
        let is_told = |deed: &mut Deed| deed.session.as_ref().is_none_or(|its| its == session);
        let told = self.untold.extract_if(.., is_told).collect();
        (told, std::mem::take(&mut self.left_out))
    }
}
