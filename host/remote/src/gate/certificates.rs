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
pub mod tests {
    use proptest::prelude::*;
    use rcgen::{
        CertificateParams, DistinguishedName, DnType, KeyPair, SanType, string::Ia5String,
    };

    use std::time::{Duration, SystemTime};

    use super::*;

    /// A certificate of this subject, with these alternative names.
    pub fn certificate(
        subject: &[(DnType, &str)],
        names: Vec<SanType>,
        end: (i32, u8, u8),
    ) -> Vec<u8> {
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        for (kind, value) in subject {
            params.distinguished_name.push(kind.clone(), *value);
        }
        params.subject_alt_names = names;
        params.not_after = rcgen::date_time_ymd(end.0, end.1, end.2);
        let key = KeyPair::generate().unwrap();
        params.self_signed(&key).unwrap().der().to_vec()
    }

    fn text(name: &str) -> Ia5String {
        name.try_into().unwrap()
    }

    fn name(certificate: &[u8]) -> Option<String> {
        read(certificate).map(|proof| proof.user.name)
    }

    #[test]
    fn a_user_is_the_common_name_and_the_groups_are_the_units() {
        let subject = [
            (DnType::OrganizationName, "Example"),
            (DnType::OrganizationalUnitName, "staff"),
            (DnType::CommonName, "Älice"),
        ];
        let names = vec![SanType::DnsName(text("other.example"))];
        let proof = read(&certificate(&subject, names, (2049, 12, 31))).unwrap();
        assert_eq!(proof.user.name, "certificate#Älice");
        assert_eq!(proof.user.groups, ["staff"]);
    }

    #[test]
    fn without_a_common_name_it_is_the_first_alternative_name() {
        let of = |names| name(&certificate(&[], names, (2049, 12, 31)));
        let mail = SanType::Rfc822Name(text("alice@example.com"));
        let address = SanType::IpAddress([10, 0, 0, 1].into());
        let uri = SanType::URI(text("spiffe://example.com/alice"));
        let is = |name: &str| Some(format!("certificate#{name}"));
        assert_eq!(
            of(vec![address.clone(), mail, uri.clone()]),
            is("alice@example.com")
        );
        assert_eq!(of(vec![uri]), is("spiffe://example.com/alice"));
        assert_eq!(of(vec![address]), None);
        assert_eq!(of(Vec::new()), None);
    }

    #[test]
    fn a_deceptive_name_is_rejected() {
        let of = |common: &str| {
            name(&certificate(
                &[(DnType::CommonName, common)],
                Vec::new(),
                (2049, 1, 1),
            ))
        };
        assert_eq!(of("alice\0.evil"), None);
        assert_eq!(of("alice\nroot"), None);
        assert_eq!(of(&"a".repeat(257)), None);
        // Whatever it contains, the user belongs to the certificates' namespace.
        assert_eq!(
            of("https://idp.example#bob").as_deref(),
            Some("certificate#https://idp.example#bob")
        );
    }

    #[test]
    fn a_certificate_is_valid_until_it_expires() {
        let until = |end| {
            read(&certificate(&[(DnType::CommonName, "a")], Vec::new(), end))
                .unwrap()
                .until
        };
        let at = |seconds| Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        // `date -u -d DATE +%s`
        assert_eq!(until((2024, 2, 29)), at(1_709_164_800));
        assert_eq!(until((2049, 12, 31)), at(2_524_521_600));
        assert_eq!(until((2050, 1, 1)), at(2_524_608_000));
        assert_eq!(until((2100, 3, 1)), at(4_107_542_400));
    }

    proptest! {
        #[test]
        fn no_bytes_break_the_reader(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = read(&bytes);
        }

        #[test]
        fn no_damage_to_a_certificate_breaks_the_reader(at in 0..400_usize, byte: u8, cut in 0..500_usize) {
            static ONE: std::sync::LazyLock<Vec<u8>> = std::sync::LazyLock::new(|| {
                certificate(&[(DnType::CommonName, "a")], vec![SanType::DnsName(text("b"))], (2049, 1, 1))
            });
            let mut bytes = ONE.clone();
            let length = bytes.len();
            bytes[at % length] = byte;
            bytes.truncate(cut);
            let _ = read(&bytes);
        }
    }
}
