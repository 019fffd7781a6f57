//! Projects that a trusted signer has signed: a signature of the content, beside the manifest, replaces the user's
//! consent to each change.

use super::agreed::Agreed;
use super::content::Content;
use acp_chain_extension::Signer;
use acp_chain_extension::signature::signer;
use acp_chain_manifest::TrustedSigner;

/// The signer whose signature makes a project with these proxies trusted: the first that may grant all of their powers.
/// A signature cannot grant `methods` and `directories`.
pub fn vouched<'s>(
    content: &Content,
    agreed: &[Agreed],
    signers: &'s [TrustedSigner],
) -> Option<&'s Signer> {
    let signers = signers.iter().filter(|one| has_signed(content, one));
    let mut enough = signers.filter(|one| agreed.iter().all(|proxy| may_grant(one, proxy)));
    enough.next().map(|one| &one.key)
}

/// Whether one of these signers has signed the content, whatever powers that grants.
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

fn may_grant(one: &TrustedSigner, proxy: &Agreed) -> bool {
    let mut powers = proxy.powers.iter();
    powers.all(|power| one.powers.contains(power))
        && proxy.methods.is_empty()
        && proxy.directories.is_empty()
}
