//! `acp-chain powers`: every power, in words.

use acp_chain_powers::{Power, markdown};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain powers
  acp-chain powers --markdown")]
pub struct Powers {
    /// Print Markdown tables, with the messages and places that each power covers
    #[arg(long)]
    markdown: bool,
}

impl Powers {
    pub fn main(self) {
        if self.markdown {
            return say!("{}", markdown().trim_end());
        }
        let longest = Power::all().map(|power| power.key.len()).max().unwrap_or(0);
        for power in Power::all() {
            let (key, words, reason) = (power.key, power.words, power.reason);
            let danger = power.danger.as_str();
            show!("{key:longest$}  {words}");
            show!("{:longest$}  danger: {danger}; {reason}", "");
        }
    }
}
