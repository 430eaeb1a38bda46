//! Settings as text: read once each, checked, and none left over.

use mxrs_types::{Error, ErrorKind, Result};
use std::cell::RefCell;

/// Names and texts of settings, for one optimizer. Whoever reads them all calls [`Self::finish`].
#[derive(Debug)]
pub struct Settings<'a> {
    owner: &'static str,
    pairs: &'a [(&'a str, &'a str)],
    asked: RefCell<Vec<&'static str>>,
}

impl<'a> Settings<'a> {
    /// Settings of `owner`.
    pub fn new(owner: &'static str, pairs: &'a [(&'a str, &'a str)]) -> Self {
        Self { owner, pairs, asked: RefCell::new(Vec::new()) }
    }

    /// The text of a setting; the last one where it is given twice. `None` also for the word `None`.
    pub fn text(&self, name: &'static str) -> Option<&'a str> {
        self.asked.borrow_mut().push(name);
        let found = self.pairs.iter().rev().find(|(key, _)| *key == name).map(|(_, text)| text.trim());
        found.filter(|text| *text != "None")
    }

    /// An error about a setting.
    pub fn refuse(&self, name: &str, expected: impl Into<String>, got: &str) -> Error {
        Error::new(ErrorKind::Attribute {
            op: format!("optimizer {}", self.owner),
            name: name.into(),
            expected: expected.into(),
            got: format!("\"{}\"", got.chars().take(80).collect::<String>()),
        })
    }

    /// A finite number, if given.
    ///
    /// # Errors
    /// Another text.
    pub fn number(&self, name: &'static str) -> Result<Option<f64>> {
        let Some(text) = self.text(name) else { return Ok(None) };
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Some(value)),
            _ => Err(self.refuse(name, "a finite number", text)),
        }
    }

    /// A finite number.
    ///
    /// # Errors
    /// Another text.
    pub fn number_or(&self, name: &'static str, default: f64) -> Result<f64> {
        Ok(self.number(name)?.unwrap_or(default))
    }

    /// A number that is not negative.
    ///
    /// # Errors
    /// Another text.
    pub fn positive_or(&self, name: &'static str, default: f64) -> Result<f64> {
        Ok(self.positive(name)?.unwrap_or(default))
    }

    /// A number that is not negative, if given.
    ///
    /// # Errors
    /// Another text.
    pub fn positive(&self, name: &'static str) -> Result<Option<f64>> {
        match self.number(name)? {
            Some(value) if value < 0.0 => Err(self.refuse(name, "0 or more", &value.to_string())),
            value => Ok(value),
        }
    }

    /// What stays of an average: at least 0, below 1.
    ///
    /// # Errors
    /// Another text.
    pub fn decay_or(&self, name: &'static str, default: f64) -> Result<f64> {
        let value = self.number_or(name, default)?;
        if (0.0..1.0).contains(&value) { Ok(value) } else { Err(self.refuse(name, "0 to below 1", &value.to_string())) }
    }

    /// A count.
    ///
    /// # Errors
    /// Another text.
    pub fn count_or(&self, name: &'static str, default: u64) -> Result<u64> {
        let Some(text) = self.text(name) else { return Ok(default) };
        text.parse().map_err(|_| self.refuse(name, "an integer, 0 or more", text))
    }

    /// `True`, `False`, `true`, `false`, `1` or `0`.
    ///
    /// # Errors
    /// Another text.
    pub fn flag_or(&self, name: &'static str, default: bool) -> Result<bool> {
        match self.text(name) {
            None => Ok(default),
            Some("True" | "true" | "1") => Ok(true),
            Some("False" | "false" | "0") => Ok(false),
            Some(text) => Err(self.refuse(name, "True or False", text)),
        }
    }

    /// Refuses settings that nobody asked for.
    ///
    /// # Errors
    /// The first such setting, with the nearest that exists.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_texts_are_named() {
        let pairs = [("lr", "nan"), ("clip", "-1"), ("flag", "maybe"), ("beta", "1"), ("n", "1.5"), ("no", "None")];
        let settings = Settings::new("sgd", &pairs);
        for message in [
            settings.number("lr").unwrap_err().to_string(),
            settings.positive("clip").unwrap_err().to_string(),
            settings.flag_or("flag", true).unwrap_err().to_string(),
            settings.decay_or("beta", 0.9).unwrap_err().to_string(),
            settings.count_or("n", 1).unwrap_err().to_string(),
        ] {
            assert!(message.contains("sgd"), "{message}");
        }
        assert_eq!(settings.number("no"), Ok(None));
        assert!(settings.finish().is_ok());
    }

    #[test]
    fn what_nobody_asked_for_is_refused() {
        let settings = Settings::new("sgd", &[("momentun", "0.9")]);
        assert_eq!(settings.number_or("momentum", 0.0), Ok(0.0));
        let message = settings.finish().unwrap_err().to_string();
        assert!(message.contains("momentun") && message.contains("`momentum`?"), "{message}");
    }
}
