//! A member of an event whose type differs between the programs that write traces, such as a number that others write as
//! text.

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// A text, a number, or a value that is neither. A member that is missing is `Other`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Loose {
    /// A text.
    Text(String),
    /// A whole number.
    Whole(u64),
    /// Any other number, such as a fraction.
    Number(f64),
    /// Something else.
    #[default]
    Other,
}

impl Loose {
    /// The text, if it is one.
    pub(crate) fn text(self) -> Option<String> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// The number, if it is one.
    pub(crate) fn float(&self) -> Option<f64> {
        match self {
            Self::Whole(number) => Some(*number as f64),
            Self::Number(number) => Some(*number),
            Self::Text(_) | Self::Other => None,
        }
    }

    /// The value as a whole number, if it is one, or a text that contains one.
    pub(crate) fn number(&self) -> Option<u64> {
        match self {
            Self::Whole(number) => Some(*number),
            Self::Text(text) => text.trim().parse().ok(),
            Self::Number(_) | Self::Other => None,
        }
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Loose;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Loose, E> {
        Ok(Loose::Other)
    }

    fn visit_unit<E>(self) -> Result<Loose, E> {
        Ok(Loose::Other)
    }

    fn visit_u64<E>(self, number: u64) -> Result<Loose, E> {
        Ok(Loose::Whole(number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Loose, E> {
        Ok(u64::try_from(number).map_or(Loose::Number(number as f64), Loose::Whole))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Loose, E> {
        Ok(Loose::Number(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Loose, E> {
        Ok(Loose::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Loose, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Loose::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Loose, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Loose::Other)
    }
}

impl<'de> Deserialize<'de> for Loose {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any)
    }
}
