//! Messages of the ends, generated from the protocol's schemas and a seed.

use acp_chain_messages::{DECISIONS, Kind, Method, Side, methods};

use acp_chain_channel::Peer;
use acp_chain_mcp::declaration;

/// Pseudorandom numbers, the same for each seed (splitmix64).
#[derive(Clone)]
pub struct Traffic(u64);

/// A message, and its answer.
#[derive(Clone, Debug)]
pub struct Exchange {
    pub method: &'static Method,
    params: Vec<u8>,
    outcome: Vec<u8>,
    fails: bool,
}

impl Traffic {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        // Bounds are small.
        usize::try_from(self.next() % bound as u64).unwrap_or_default()
    }

    /// The decisions of the generator for one message: mostly few.
    fn decisions(&mut self) -> Vec<u8> {
        let most = [8, 64, DECISIONS][self.below(3)];
        let count = self.below(most + 1);
        (0..count).map(|_| self.next().to_le_bytes()[0]).collect()
    }

    /// A random exchange of a method.
    pub fn exchange(&mut self, method: &'static Method) -> Exchange {
        Exchange {
            method,
            params: self.decisions(),
            outcome: self.decisions(),
            fails: self.below(4) == 0,
        }
    }
}

impl Exchange {
    /// The smallest exchange of a method.
    pub fn least(method: &'static Method) -> Self {
        Self {
            method,
            params: Vec::new(),
            outcome: Vec::new(),
            fails: false,
        }
    }

    /// The end that sends the message.
    pub fn sender(&self) -> Peer {
        match self.method.side {
            Side::Client => Peer::Agent,
            _ => Peer::Client,
        }
    }

    /// The parameters.
    pub fn params(&self) -> String {
        self.method.params(&self.params)
    }

    /// The answer, if it is a request.
    pub fn outcome(&self) -> Option<Result<String, String>> {
        if self.fails {
            self.method.error(&self.outcome).map(Err)
        } else {
            self.method.result(&self.outcome).map(Ok)
        }
    }

    /// Smaller exchanges of the same method, the smallest first.
    pub fn smaller(&self) -> impl Iterator<Item = Self> + '_ {
        let longest = self.params.len().max(self.outcome.len());
        let lengths = [
            0, 1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384,
        ];
        let lengths = lengths.into_iter().filter(move |length| *length < longest);
        lengths.map(|length| {
            let cut = |decisions: &Vec<u8>| decisions[..length.min(decisions.len())].to_vec();
            Self {
                method: self.method,
                params: cut(&self.params),
                outcome: cut(&self.outcome),
                fails: self.fails,
            }
        })
    }

    /// Whether the message declares MCP servers of ACP, which the host handles itself.
    pub fn declares_servers(&self) -> bool {
        let declared = declaration::read(&self.params());
        declared.map_or(true, |declared| declared.iter().any(|entry| entry.over_acp))
    }
}

/// The methods of the protocol that an end may send, and that the host does not handle itself.
pub fn all() -> impl Iterator<Item = &'static Method> {
    let ours = |method: &&Method| {
        matches!(method.side, Side::Agent | Side::Client) && !method.name.starts_with("mcp/")
    };
    methods().iter().filter(ours)
}

/// The requests among [`all`] methods.
pub fn requests() -> impl Iterator<Item = &'static Method> {
    all().filter(|method| method.kind == Kind::Request)
}
