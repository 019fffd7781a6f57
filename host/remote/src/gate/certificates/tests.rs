use proptest::prelude::*;
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, SanType, string::Ia5String};

use std::time::{Duration, SystemTime};

use super::*;

/// A certificate of this subject, with these alternative names.
pub fn certificate(subject: &[(DnType, &str)], names: Vec<SanType>, end: (i32, u8, u8)) -> Vec<u8> {
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
