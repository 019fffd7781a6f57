//! The formula for Homebrew, which installs the program of an archive.

use std::fmt::Write as _;

use super::{Archive, VERSION};
use crate::packages::product::DESCRIPTION;

/// The systems of Homebrew.
const SYSTEMS: [&str; 2] = ["macos", "linux"];

/// The processors, each with its name in a formula.
const PROCESSORS: [(&str, &str); 2] = [("aarch64", "arm"), ("x86_64", "intel")];

/// What is done with the unpacked archive, and how the installed program is tested.
const INSTALL: &str = r##"
  def install
    bin.install "acp-chain"
    man1.install Dir["man/man1/*.1"]
    bash_completion.install "completions/acp-chain"
    zsh_completion.install "completions/_acp-chain"
    fish_completion.install "completions/acp-chain.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/acp-chain --version")
  end
end
"##;

/// The formula, if there is an archive for a system of Homebrew.
pub fn write(archives: &[Archive], homepage: &str) -> Option<String> {
    let systems = SYSTEMS.map(|os| {
        let of = archives.iter().filter(|archive| archive.machine.os == os);
        (os, of.collect::<Vec<_>>())
    });
    let systems = systems.iter().filter(|(_, archives)| !archives.is_empty());
    let systems: Vec<_> = systems.collect();
    if systems.is_empty() {
        return None;
    }
    let mut text = format!(
        "class AcpChain < Formula\n  desc \"{DESCRIPTION}\"\n  homepage \"{homepage}\"\n  version \"{VERSION}\"\n  \
         license any_of: [\"Apache-2.0\", \"MIT\"]\n"
    );
    if let [(only, _)] = systems[..] {
        let _ = writeln!(text, "  depends_on :{only}");
    }
    for (os, archives) in systems {
        let _ = writeln!(text, "\n  on_{os} do");
        for (arch, processor) in PROCESSORS {
            let archive = archives.iter().find(|archive| archive.machine.arch == arch);
            if let Some(Archive { url, digest, .. }) = archive {
                let _ = writeln!(
                    text,
                    "    on_{processor} do\n      url \"{url}\"\n      sha256 \"{digest}\"\n    end"
                );
            }
        }
        text.push_str("  end\n");
    }
    text.push_str(INSTALL);
    Some(text)
}
