//! Projects vouched for by signers whom the user trusts: a signature of their content, beside their manifest, instead
//! of the user's consent to each change.

use super::agreed::Agreed;
use super::content::Content;
use crate::extension::Signer;
use crate::extension::signature::signer;
use crate::manifest::TrustedSigner;

/// The signer whose signature makes a project with these proxies trusted: one who may grant all of its powers. Methods
/// by name and directories cannot be granted in the user's place.
#[must_use]
pub fn vouched<'s>(
    content: &Content,
    agreed: &[Agreed],
    signers: &'s [TrustedSigner],
) -> Option<&'s Signer> {
    let signers = signers.iter().filter(|one| has_signed(content, one));
    let mut enough = signers.filter(|one| agreed.iter().all(|proxy| lets(one, proxy)));
    enough.next().map(|one| &one.key)
}

/// Whether a trusted signer has signed this content, for any powers.
#[must_use]
pub fn is_signed(content: &Content, signers: &[TrustedSigner]) -> bool {
    signers.iter().any(|one| has_signed(content, one))
}

fn has_signed(content: &Content, one: &TrustedSigner) -> bool {
    content.signature().is_some_and(|signature| {
        let signatures = std::slice::from_ref(signature);
        let found = signer(content.statement().as_bytes(), signatures, Some(&one.key));
        matches!(found, Ok(Some(found)) if found == one.key)
    })
}

fn lets(one: &TrustedSigner, proxy: &Agreed) -> bool {
    let mut powers = proxy.powers.iter();
    powers.all(|power| one.powers.contains(power))
        && proxy.methods.is_empty()
        && proxy.directories.is_empty()
}
