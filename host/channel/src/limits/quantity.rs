//! The quantities of limits, and their spelling.

use std::time::Duration;

use bytesize::ByteSize;

/// The quantity of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Bytes.
    Size,
    /// Time, in milliseconds.
    Time,
    /// A number without a unit.
    Count,
}

const UNITS: [(&str, u64); 4] = [
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("B", 1),
];

/// The longest time, in milliseconds. It is short enough to calculate without overflow.
const LONGEST: u64 = 365 * 24 * 60 * 60 * 1000;

/// A size in bytes, rounded, with its unit.
pub fn about(bytes: u64) -> String {
    ByteSize(bytes).display().iec().to_string()
}

impl Quantity {
    /// The spelling of a value.
    pub fn show(self, value: u64) -> String {
        match self {
            Self::Size => UNITS
                .iter()
                .find(|(_, size)| value >= *size && value.is_multiple_of(*size))
                .map_or("0 B".to_owned(), |(unit, size)| {
                    format!("{} {unit}", value / size)
                }),
            Self::Time => humantime::format_duration(Duration::from_millis(value)).to_string(),
            Self::Count => value.to_string(),
        }
    }

    /// Parses a value. The error shows how to write one.
    pub fn read(self, text: &str) -> Result<u64, String> {
        match self {
            Self::Size => match text.parse::<ByteSize>() {
                Ok(size) if !text.ends_with(|last: char| last.is_ascii_digit()) => {
                    Ok(size.as_u64())
                }
                _ => Err(format!("{text:?} is not a size; {}", self.example())),
            },
            Self::Time => match humantime::parse_duration(text).map(|time| time.to_plain()) {
                Ok(0) => Err(format!("{text:?} is too short; {}", self.example())),
                Ok(millis) if millis > LONGEST => Err(format!("{text:?} is more than a year")),
                Ok(millis) => Ok(millis),
                Err(_) => Err(format!("{text:?} is not a time; {}", self.example())),
            },
            Self::Count => text
                .parse()
                .map_err(|_| format!("{text:?} is not a number; {}", self.example())),
        }
    }

    /// How to write a value, with an example.
    pub fn example(self) -> &'static str {
        match self {
            Self::Size => "write a number with B, KiB, MiB or GiB, such as \"64 MiB\"",
            Self::Time => "write a number with ms, s, min, h or d, such as \"2 s\"",
            Self::Count => "write a whole number from 0 up, without quotes",
        }
    }
}

/// A type of the program's values of limits.
pub trait Amount {
    /// The value in bytes or milliseconds, or as a number.
    fn to_plain(&self) -> u64;
    /// The value from bytes, milliseconds or a number.
    fn from_plain(plain: u64) -> Self;
}

impl Amount for usize {
    fn to_plain(&self) -> u64 {
        *self as u64
    }

    fn from_plain(plain: u64) -> Self {
        Self::try_from(plain).unwrap_or(Self::MAX)
    }
}

impl Amount for Duration {
    fn to_plain(&self) -> u64 {
        u64::try_from(self.as_millis()).unwrap_or(u64::MAX)
    }

    fn from_plain(plain: u64) -> Self {
        Self::from_millis(plain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_are_read_with_their_units() {
        for (quantity, text, value) in [
            (Quantity::Size, "64 MiB", 64 << 20),
            (Quantity::Size, "64MiB", 64 << 20),
            (Quantity::Size, "1 kB", 1000),
            (Quantity::Size, "10 B", 10),
            (Quantity::Size, "0 B", 0),
            (Quantity::Time, "2 s", 2000),
            (Quantity::Time, "100ms", 100),
            (Quantity::Time, "1min 30s", 90_000),
            (Quantity::Count, "7", 7),
        ] {
            assert_eq!(quantity.read(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn the_error_for_an_invalid_value_shows_what_to_write() {
        for (quantity, text, expected) in [
            (
                Quantity::Size,
                "64",
                "\"64\" is not a size; write a number with B, KiB",
            ),
            (Quantity::Size, "64 MBs", "is not a size"),
            (Quantity::Size, "-1 MiB", "is not a size"),
            (
                Quantity::Time,
                "2",
                "is not a time; write a number with ms, s",
            ),
            (Quantity::Time, "2 sec.", "is not a time"),
            (Quantity::Time, "-2 s", "is not a time"),
            (Quantity::Time, "0 s", "is too short"),
            (Quantity::Time, "1 ns", "is too short"),
            (Quantity::Time, "2 years", "is more than a year"),
            (Quantity::Count, "many", "is not a number"),
        ] {
            let error = quantity.read(text).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
