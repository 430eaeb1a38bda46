//! Reads settings that are texts: parses and checks each value, and refuses unknown settings.

use mxrs_types::{Error, ErrorKind, Result};
use std::cell::RefCell;

/// Names and texts of the settings of one optimizer. After reading all settings, the caller calls [`Self::finish`].
#[derive(Debug)]
pub struct Settings<'a> {
    owner: &'static str,
    pairs: &'a [(&'a str, &'a str)],
    asked: RefCell<Vec<&'static str>>,
}

impl<'a> Settings<'a> {
    /// The settings of the optimizer `owner`, from pairs of name and text.
    pub fn new(owner: &'static str, pairs: &'a [(&'a str, &'a str)]) -> Self {
        Self { owner, pairs, asked: RefCell::new(Vec::new()) }
    }

    /// The text of a setting; the last text if the setting is given twice. `None` if the setting is not given, or if its
    /// text is the word `None`.
    pub fn text(&self, name: &'static str) -> Option<&'a str> {
        self.asked.borrow_mut().push(name);
        let found = self.pairs.iter().rev().find(|(key, _)| *key == name).map(|(_, text)| text.trim());
        found.filter(|text| *text != "None")
    }

    /// The error that setting `name` has the text `got` instead of a text that is `expected`.
    fn refuse(&self, name: &str, expected: impl Into<String>, got: &str) -> Error {
        refuse(self.owner, name, expected, got)
    }

    /// The value of a setting, or `default` if the setting is not given.
    ///
    /// # Errors
    /// Fails if the text is not a value of the type, or if the value is out of range.
    pub fn value<T: Value>(&self, name: &'static str, default: T, range: Range) -> Result<T> {
        let Some(text) = self.text(name) else { return Ok(default) };
        match T::parse(text) {
            Some(value) if value.is_in(range) => Ok(value),
            Some(_) => Err(self.refuse(name, range.expected(), text)),
            None => Err(self.refuse(name, T::EXPECTED, text)),
        }
    }

    /// Refuses settings that were not read.
    ///
    /// # Errors
    /// Fails if a setting was not read. The error names the first such setting and suggests the nearest setting that exists.
    pub fn finish(&self) -> Result<()> {
        let asked = self.asked.borrow();
        let Some((name, text)) = self.pairs.iter().find(|(key, _)| !asked.contains(key)) else { return Ok(()) };
        let near = asked.iter().max_by(|a, b| strsim::jaro_winkler(a, name).total_cmp(&strsim::jaro_winkler(b, name)));
        let mut known: Vec<&str> = asked.clone();
        known.sort_unstable();
        known.dedup();
        let hint = near.filter(|near| strsim::jaro_winkler(near, name) > 0.8);
        let hint = hint.map(|near| format!("`{near}`? There are ")).unwrap_or_default();
        Err(self.refuse(name, format!("{hint}{}", known.join(", ")), text))
    }
}

fn refuse(owner: &str, name: &str, expected: impl Into<String>, got: &str) -> Error {
    Error::new(ErrorKind::Attribute {
        op: format!("optimizer {owner}"),
        name: name.into(),
        expected: expected.into(),
        got: format!("\"{}\"", got.chars().take(80).collect::<String>()),
    })
}

/// Refuses a value out of range.
///
/// # Errors
/// Fails if the value is out of range; the error names optimizer and setting.
pub(crate) fn check<T: Value>(owner: &str, name: &str, value: &T, range: Range) -> Result<()> {
    if value.is_in(range) { Ok(()) } else { Err(refuse(owner, name, range.expected(), &format!("{value:?}"))) }
}

/// The allowed values of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    /// All values of the type.
    Any,
    /// Finite numbers.
    Finite,
    /// Finite numbers from 0.
    NotNegative,
    /// Numbers from 1.
    Positive,
    /// Numbers from 0 to below 1, such as the decay rate of a moving average.
    Fraction,
}

impl Range {
    const fn expected(self) -> &'static str {
        match self {
            Self::Any => "another value",
            Self::Finite => "a finite number",
            Self::NotNegative => "0 or more",
            Self::Positive => "1 or more",
            Self::Fraction => "0 to below 1",
        }
    }

    fn holds(self, value: f64) -> bool {
        match self {
            Self::Any => true,
            Self::Finite => value.is_finite(),
            Self::NotNegative => value.is_finite() && value >= 0.0,
            Self::Positive => value.is_finite() && value >= 1.0,
            Self::Fraction => (0.0..1.0).contains(&value),
        }
    }
}

/// A type that the value of a setting may have.
pub trait Value: std::fmt::Debug + Sized {
    /// A description of the expected text, for errors.
    const EXPECTED: &'static str;

    /// Parses the text of a setting; `None` if the text is not a value of this type.
    fn parse(text: &str) -> Option<Self>;

    /// Whether the value is in `range`.
    fn is_in(&self, range: Range) -> bool {
        let _ = range;
        true
    }
}

impl Value for f64 {
    const EXPECTED: &'static str = "a finite number";

    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn is_in(&self, range: Range) -> bool {
        range.holds(*self)
    }
}

impl Value for Option<f64> {
    const EXPECTED: &'static str = f64::EXPECTED;

    fn parse(text: &str) -> Option<Self> {
        text.parse().ok().map(Some)
    }

    fn is_in(&self, range: Range) -> bool {
        self.is_none_or(|value| range.holds(value))
    }
}

impl Value for u64 {
    const EXPECTED: &'static str = "an integer, 0 or more";

    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn is_in(&self, range: Range) -> bool {
        range.holds(*self as f64)
    }
}

impl Value for bool {
    const EXPECTED: &'static str = "True or False";

    fn parse(text: &str) -> Option<Self> {
        match text {
            "True" | "true" | "1" => Some(true),
            "False" | "false" | "0" => Some(false),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_texts_are_named() {
        let pairs = [("lr", "nan"), ("clip", "-1"), ("flag", "maybe"), ("beta", "1"), ("n", "1.5"), ("no", "None")];
        let settings = Settings::new("sgd", &pairs);
        for message in [
            settings.value("lr", 0.0, Range::Finite).unwrap_err().to_string(),
            settings.value("clip", 0.0, Range::NotNegative).unwrap_err().to_string(),
            settings.value("flag", true, Range::Any).unwrap_err().to_string(),
            settings.value("beta", 0.9, Range::Fraction).unwrap_err().to_string(),
            settings.value("n", 1u64, Range::Any).unwrap_err().to_string(),
        ] {
            assert!(message.contains("sgd"), "{message}");
        }
        assert_eq!(settings.value("no", None::<f64>, Range::Finite), Ok(None));
        assert!(settings.finish().is_ok());
    }

    #[test]
    fn what_nobody_asked_for_is_refused() {
        let settings = Settings::new("sgd", &[("momentun", "0.9")]);
        assert_eq!(settings.value("momentum", 0.0, Range::NotNegative), Ok(0.0));
        let message = settings.finish().unwrap_err().to_string();
        assert!(message.contains("momentun") && message.contains("`momentum`?"), "{message}");
    }
}
