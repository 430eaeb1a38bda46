//! Parses `MXRS_REMAT` and numbers of bytes.

use crate::kind::grammar;

/// Units and the number of bytes of each.
const UNITS: [(&str, u64); 8] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
];

/// A number of bytes, written without a unit (`1000000`) or with one: `2GiB`, `512 MiB`, `4GB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize)]
#[serde(try_from = "String")]
pub struct Bytes(pub u64);

impl Bytes {
    fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let n_digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(n_digits);
        let unit = unit.trim_start();
        let factor = match UNITS.iter().find(|(name, _)| unit.eq_ignore_ascii_case(name)) {
            Some((_, factor)) => *factor,
            None if unit.is_empty() || unit == "B" => 1,
            None => return Err(format!("`{unit}` is not known")),
        };
        let number: u64 = number.parse().map_err(|_| String::new())?;
        match number.checked_mul(factor) {
            None => Err("that is more than any memory".into()),
            Some(0) => Err("at least one".into()),
            Some(bytes) => Ok(Self(bytes)),
        }
    }
}

grammar!(Bytes, "bytes", "a number of bytes, or of KiB, MiB, GiB, TiB, kB, MB, GB, TB");

/// A parsed value of `MXRS_REMAT`: what a training step computes a second time in order to keep fewer values in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Deserialize)]
#[serde(try_from = "String")]
#[non_exhaustive]
pub enum Remat {
    /// Recomputes nothing.
    Off,
    /// Recomputes values that take almost no time, until about a tenth of the memory is saved.
    Light,
    /// Recomputes cheap operators.
    Mirror,
    /// Divides a graph of n calls into about √n segments, keeps the values between segments, and recomputes the values
    /// inside them.
    Sqrt,
    /// Like `Sqrt`, but chooses by dynamic programming the segments that need the least memory.
    Chain,
    /// Recomputes as little as possible to stay within this many bytes.
    Budget(Bytes),
}

impl Remat {
    fn parse(text: &str) -> Result<Self, String> {
        match text.trim() {
            "off" => Ok(Self::Off),
            "light" => Ok(Self::Light),
            "mirror" => Ok(Self::Mirror),
            "sqrt" => Ok(Self::Sqrt),
            "chain" => Ok(Self::Chain),
            other => match other.strip_prefix("budget:") {
                Some(bytes) => Bytes::parse(bytes).map(Self::Budget),
                None => Err(String::new()),
            },
        }
    }
}

grammar!(Remat, "mode", "off, light, mirror, sqrt, chain, or budget:<bytes> such as budget:2GiB");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Setting;

    #[test]
    fn bytes_have_units() {
        for (text, bytes) in [
            ("1", 1),
            (" 1000000 ", 1_000_000),
            ("7B", 7),
            ("3 KiB", 3072),
            ("512MiB", 512 << 20),
            ("2GiB", 2 << 30),
            ("2gib", 2 << 30),
            ("4GB", 4_000_000_000),
            ("1TiB", 1 << 40),
        ] {
            assert_eq!(Bytes::parse(text), Ok(Bytes(bytes)), "{text:?}");
        }
        for text in ["", "0", "0GiB", "GiB", "-1", "1.5GiB", "2G", "1e6", "2 GiB 3", "99999999999999TiB", "two"] {
            let refused = Bytes::KIND.check(text).unwrap_err();
            assert!(refused.starts_with("a number of bytes"), "{text:?}: {refused}");
        }
    }

    #[test]
    fn modes_are_words_or_a_budget() {
        let parse = |text: &str| Remat::try_from(text.to_owned());
        assert_eq!((parse("off"), parse("light")), (Ok(Remat::Off), Ok(Remat::Light)));
        assert_eq!(parse(" chain "), Ok(Remat::Chain));
        assert_eq!((parse("mirror"), parse("sqrt")), (Ok(Remat::Mirror), Ok(Remat::Sqrt)));
        assert_eq!(parse("budget:2GiB"), Ok(Remat::Budget(Bytes(2 << 30))));
        for text in ["", "on", "1", "Mirror", "budget", "budget:", "budget:0", "budget:x", "sqrt:2"] {
            assert!(Remat::KIND.check(text).unwrap_err().starts_with("off, light, mirror, sqrt, chain"), "{text:?}");
        }
    }
}
