//! The user that a certificate names. TLS has verified it, so only its contents are read here (RFC 5280).
//!
//! The user is the common name of the subject, or else its first alternative name; the groups are the subject's
//! organizational units.

use x509_cert::certificate::{CertificateInner, Raw, TbsCertificateInner};
use x509_cert::der::asn1::ObjectIdentifier;
use x509_cert::der::oid::db::rfc4519::{COMMON_NAME, ORGANIZATIONAL_UNIT_NAME};
use x509_cert::der::{Decode, Tag, Tagged};
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;

use super::admissions::{Proof, ProofSource};
use super::jwt::CERTIFICATE;
use super::{User, can_be_name, digest};

/// A certificate's fields, without the rules for the authorities that issue them.
type Fields = TbsCertificateInner<Raw>;

/// The user and the expiry of a verified certificate; DER. `None` if it names no user.
pub fn read(certificate: &[u8]) -> Option<Proof> {
    let whole = CertificateInner::<Raw>::from_der(certificate).ok()?;
    let fields = whole.tbs_certificate();
    let common = subject(fields, COMMON_NAME).next();
    let name = common.or_else(|| alternative_name(fields))?;
    let groups = subject(fields, ORGANIZATIONAL_UNIT_NAME).filter(|unit| can_be_name(unit));
    can_be_name(&name).then(|| Proof {
        digest: digest(certificate),
        user: User {
            name: format!("{CERTIFICATE}#{name}"),
            groups: groups.collect(),
        },
        until: Some(fields.validity().not_after.to_system_time()),
        by: ProofSource::Authority,
    })
}

/// The values of an attribute of the subject, of those that are text.
fn subject(fields: &Fields, attribute: ObjectIdentifier) -> impl Iterator<Item = String> {
    let attributes = fields.subject().iter();
    let values = attributes.filter(move |one| one.oid == attribute);
    values.filter_map(|one| {
        let is_text = matches!(
            one.value.tag(),
            Tag::Utf8String | Tag::PrintableString | Tag::Ia5String
        );
        let text = str::from_utf8(one.value.value()).ok();
        text.filter(|_| is_text).map(str::to_owned)
    })
}

/// The first alternative name that is text.
fn alternative_name(fields: &Fields) -> Option<String> {
    let (_, names) = fields.get_extension::<SubjectAltName>().ok()??;
    names.0.into_iter().find_map(|name| match name {
        GeneralName::Rfc822Name(text)
        | GeneralName::DnsName(text)
        | GeneralName::UniformResourceIdentifier(text) => Some(text.to_string()),
        _ => None,
    })
}

#[cfg(test)]
pub mod tests;
