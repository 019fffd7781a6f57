//! The user that a certificate names. TLS has verified it, so only its contents are read here (RFC 5280).
//!
//! The user is the common name of the subject, or else its first alternative name; the groups are the subject's
//! organizational units.

use std::time::{Duration, SystemTime};

use super::admissions::{By, Proof};
use super::jwt::CERTIFICATE;
use super::{User, can_be_name, digest};

/// Kinds of values (X.690, 8.1.2).
mod tag {
    pub const INTEGER: u8 = 0x02;
    pub const BOOLEAN: u8 = 0x01;
    pub const OCTETS: u8 = 0x04;
    pub const OID: u8 = 0x06;
    pub const UTF8: u8 = 0x0c;
    pub const PRINTABLE: u8 = 0x13;
    pub const IA5: u8 = 0x16;
    pub const UTC_TIME: u8 = 0x17;
    pub const TIME: u8 = 0x18;
    pub const SEQUENCE: u8 = 0x30;
    pub const SET: u8 = 0x31;
    /// `[0]`, with a value in it.
    pub const VERSION: u8 = 0xa0;
    pub const EXTENSIONS: u8 = 0xa3;
    pub const MAIL: u8 = 0x81;
    pub const DNS: u8 = 0x82;
    pub const URI: u8 = 0x86;
}

/// `2.5.4.3`, `2.5.4.11` and `2.5.29.17`.
const COMMON_NAME: &[u8] = &[0x55, 4, 3];
const UNIT: &[u8] = &[0x55, 4, 11];
const ALTERNATIVE_NAMES: &[u8] = &[0x55, 0x1d, 0x11];

/// The user and the expiry of a verified certificate; DER. `None` if it names no user.
pub fn read(certificate: &[u8]) -> Option<Proof> {
    let mut whole = Der(certificate);
    let mut body = whole.inner(tag::SEQUENCE)?.inner(tag::SEQUENCE)?;
    body.optional(tag::VERSION);
    body.take(tag::INTEGER)?;
    body.take(tag::SEQUENCE)?;
    body.take(tag::SEQUENCE)?;
    let mut validity = body.inner(tag::SEQUENCE)?;
    validity.any()?;
    let (kind, end) = validity.any()?;
    let subject = body.inner(tag::SEQUENCE)?;
    body.take(tag::SEQUENCE)?;
    let common = named(subject, COMMON_NAME).next();
    let name = common.or_else(|| alternative(body))?;
    let groups = named(subject, UNIT).filter(|unit| can_be_name(unit));
    can_be_name(name).then(|| Proof {
        digest: digest(certificate),
        user: User {
            name: format!("{CERTIFICATE}#{name}"),
            groups: groups.map(str::to_owned).collect(),
        },
        // A certificate with an end that we cannot read has expired.
        until: Some(time(kind, end).unwrap_or(SystemTime::UNIX_EPOCH)),
        by: By::Authority,
    })
}

/// The values of an attribute of a subject.
fn named<'c>(mut subject: Der<'c>, oid: &'static [u8]) -> impl Iterator<Item = &'c str> {
    let mut sets = std::iter::from_fn(move || subject.inner(tag::SET)).fuse();
    let mut set = Der(&[]);
    let attributes = std::iter::from_fn(move || {
        loop {
            if let Some(attribute) = set.inner(tag::SEQUENCE) {
                return Some(attribute);
            }
            set = sets.next()?;
        }
    });
    attributes.filter_map(move |mut attribute| {
        let is_it = attribute.take(tag::OID)? == oid;
        let (kind, value) = attribute.any().filter(|_| is_it)?;
        let is_text = [tag::UTF8, tag::PRINTABLE, tag::IA5].contains(&kind);
        str::from_utf8(value).ok().filter(|_| is_text)
    })
}

/// The first alternative name, from the fields after the key.
fn alternative(mut rest: Der<'_>) -> Option<&str> {
    let mut extensions = loop {
        if let (tag::EXTENSIONS, inside) = rest.any()? {
            break Der(inside).inner(tag::SEQUENCE)?;
        }
    };
    loop {
        let mut extension = extensions.inner(tag::SEQUENCE)?;
        let oid = extension.take(tag::OID)?;
        extension.optional(tag::BOOLEAN);
        let value = extension.take(tag::OCTETS)?;
        if oid == ALTERNATIVE_NAMES {
            let mut names = Der(value).inner(tag::SEQUENCE)?;
            return std::iter::from_fn(|| names.any()).find_map(|(kind, name)| {
                let is_text = [tag::MAIL, tag::DNS, tag::URI].contains(&kind);
                str::from_utf8(name).ok().filter(|_| is_text)
            });
        }
    }
}

/// `YYMMDDHHMMSSZ`, of the years from 1950 to 2049, or `YYYYMMDDHHMMSSZ` (RFC 5280, 4.1.2.5).
fn time(kind: u8, text: &[u8]) -> Option<SystemTime> {
    let digits = text.strip_suffix(b"Z")?;
    let (years, rest) = match kind {
        tag::UTC_TIME => digits.split_at_checked(2)?,
        tag::TIME => digits.split_at_checked(4)?,
        _ => return None,
    };
    let number = |digits: &[u8]| {
        let all = digits.iter().all(u8::is_ascii_digit);
        str::from_utf8(digits).ok().filter(|_| all)?.parse().ok()
    };
    let year: i64 = match (number(years)?, kind) {
        (year @ ..50, tag::UTC_TIME) => 2000 + year,
        (year, tag::UTC_TIME) => 1900 + year,
        (year, _) => year,
    };
    let (pairs, []) = rest.as_chunks::<2>() else {
        return None;
    };
    let parts: Option<Vec<i64>> = pairs.iter().map(|pair| number(pair)).collect();
    let [
        month @ 1..=12,
        day @ 1..=31,
        hour @ ..24,
        minute @ ..60,
        second @ ..=60,
    ] = parts?[..]
    else {
        return None;
    };
    let seconds = ((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
    let since = Duration::from_secs(u64::try_from(seconds).ok()?);
    SystemTime::UNIX_EPOCH.checked_add(since)
}

/// The days since 1970-01-01, of a Gregorian date: a year begins in March here, so that its last day is the leap day.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = match month {
        ..=2 => (year - 1, month + 9),
        _ => (year, month - 3),
    };
    let leaps = year / 4 - year / 100 + year / 400;
    year * 365 + leaps + (month * 153 + 2) / 5 + day - 719_469
}

/// The rest of a sequence of values in DER (X.690).
#[derive(Clone, Copy)]
struct Der<'c>(&'c [u8]);

impl<'c> Der<'c> {
    /// The next value, and its kind.
    fn any(&mut self) -> Option<(u8, &'c [u8])> {
        let (&kind, rest) = self.0.split_first()?;
        // No kind in a certificate has a number that needs more than one byte.
        if kind & 0x1f == 0x1f {
            return None;
        }
        let (&first, rest) = rest.split_first()?;
        let (length, rest) = match first {
            ..=0x7f => (usize::from(first), rest),
            0x81..=0x83 => {
                let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
                let length = digits
                    .iter()
                    .fold(0, |length, byte| length << 8 | usize::from(*byte));
                (length, rest)
            }
            _ => return None,
        };
        let (value, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((kind, value))
    }

    /// The next value, which has this kind.
    fn take(&mut self, kind: u8) -> Option<&'c [u8]> {
        let mut after = *self;
        let (found, value) = after.any()?;
        (found == kind).then(|| {
            *self = after;
            value
        })
    }

    /// The contents of the next value, which has this kind.
    fn inner(&mut self, kind: u8) -> Option<Self> {
        self.take(kind).map(Self)
    }

    /// Skips the next value if it has this kind.
    fn optional(&mut self, kind: u8) {
        let _ = self.take(kind);
    }
}

#[cfg(test)]
pub mod tests {
    use proptest::prelude::*;
    use rcgen::{
        CertificateParams, DistinguishedName, DnType, KeyPair, SanType, string::Ia5String,
    };

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
        for wrong in [
            "",
            "Z",
            "2401010000Z",
            "240101000000",
            "241301000000Z",
            "24010100000+Z",
            "240101000000+0100",
        ] {
            assert_eq!(time(tag::UTC_TIME, wrong.as_bytes()), None, "{wrong}");
        }
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
