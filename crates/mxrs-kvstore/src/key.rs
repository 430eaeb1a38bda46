//! Keys of values.

use std::fmt;
use std::sync::Arc;

/// The key of a value. All keys of one store are numbers, or all are texts.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Key {
    /// A number.
    Int(i64),
    /// A text, usually the name of a parameter.
    Text(Arc<str>),
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(number) => write!(f, "{number}"),
            Self::Text(text) => write!(f, "`{text}`"),
        }
    }
}

impl From<i64> for Key {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<&str> for Key {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Key {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts_are_different_keys() {
        assert_ne!(Key::from(3), Key::from("3"));
        assert_eq!(Key::from("weight"), Key::from("weight".to_owned()));
        assert_eq!((Key::from(-3).to_string(), Key::from("3").to_string()), ("-3".to_owned(), "`3`".to_owned()));
    }
}
