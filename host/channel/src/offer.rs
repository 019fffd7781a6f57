//! The offers of a component to the agent besides its handler: one optional interface each.

/// An optional interface. All interfaces of a component form one MCP server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Offer {
    /// Called by the model.
    Tools,
    /// Read by the agent.
    Resources,
    /// Picked by the user.
    Prompts,
    /// Suggestions for arguments.
    Completion,
}

impl Offer {
    /// All interfaces.
    pub const ALL: [Self; 4] = [
        Self::Tools,
        Self::Resources,
        Self::Prompts,
        Self::Completion,
    ];

    /// The name: also the first part of its MCP methods.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::Prompts => "prompts",
            Self::Completion => "completion",
        }
    }

    /// The MCP method that lists its entries; empty for [`Completion`](Self::Completion).
    pub fn list(self) -> &'static str {
        match self {
            Self::Tools => "tools/list",
            Self::Resources => "resources/list",
            Self::Prompts => "prompts/list",
            Self::Completion => "",
        }
    }

    /// The interface that a method of MCP belongs to.
    pub fn of(method: &str) -> Option<Self> {
        let (kind, _) = method.split_once('/')?;
        Self::ALL.into_iter().find(|offer| offer.as_str() == kind)
    }
}

/// The interfaces of a component.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offers(u8);

impl Offers {
    /// Whether a component has this interface.
    pub fn has(self, offer: Offer) -> bool {
        self.0 & 1 << offer as u8 != 0
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl FromIterator<Offer> for Offers {
    fn from_iter<T: IntoIterator<Item = Offer>>(all: T) -> Self {
        let all = all.into_iter();
        Self(all.fold(0, |all, offer| all | 1 << offer as u8))
    }
}

/// "tools, resources and prompts".
impl std::fmt::Display for Offers {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let all = Offer::ALL.into_iter().filter(|offer| self.has(*offer));
        let names: Vec<_> = all.map(Offer::as_str).collect();
        match &names[..] {
            [] => f.write_str("nothing"),
            [one] => f.write_str(one),
            [most @ .., last] => write!(f, "{} and {last}", most.join(", ")),
        }
    }
}

/// The member of an MCP request's `_meta` with its sender's capabilities (MCP 2026-07-28).
pub const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// The requests that a server may send its client during a call, and the client capability that each requires.
const ASKS: [(&str, &str); 3] = [
    ("sampling/createMessage", "sampling"),
    ("elicitation/create", "elicitation"),
    ("roots/list", "roots"),
];

/// The capability that a request to a client requires; `None` for requests that no server may send.
pub fn capability(method: &str) -> Option<&'static str> {
    let asks = ASKS.into_iter().find(|(asks, _)| *asks == method);
    asks.map(|(_, capability)| capability)
}

/// What a component reports as changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The list of this interface.
    List(Offer),
    /// The resource with this URI.
    Resource(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_belongs_to_one_interface_or_none() {
        for (method, of) in [
            ("tools/call", Some(Offer::Tools)),
            ("resources/templates/list", Some(Offer::Resources)),
            ("prompts/get", Some(Offer::Prompts)),
            ("completion/complete", Some(Offer::Completion)),
            ("ping", None),
            ("toolsx/list", None),
        ] {
            assert_eq!(Offer::of(method), of, "{method}");
        }
    }

    #[test]
    fn offers_are_written_as_in_a_sentence() {
        let shown = |all: &[Offer]| all.iter().copied().collect::<Offers>().to_string();
        assert_eq!(shown(&[]), "nothing");
        assert_eq!(shown(&[Offer::Prompts]), "prompts");
        assert_eq!(
            shown(&Offer::ALL),
            "tools, resources, prompts and completion"
        );
    }
}
