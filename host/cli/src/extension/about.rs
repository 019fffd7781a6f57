//! Prints the description of an extension.

use acp_chain_extension::Digest;
use acp_chain_package::Package;
use acp_chain_terms::about;

pub use acp_chain_terms::about::{Reasons, imports, json};

/// Prints the description.
pub fn print(package: &Package, digest: Digest, size: u64, reasons: Reasons) {
    let mut is_example = false;
    for line in about::whole(package, digest, size, reasons) {
        is_example |= line == about::FOR_EXAMPLE;
        if is_example {
            // It can be copied.
            say!("{line}");
        } else {
            show!("{line}");
        }
    }
}
