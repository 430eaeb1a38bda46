//! Two initializers that depend on the variable's name: [`Mixed`] selects another initializer by pattern, and [`Load`] has a
//! value for each name.

use super::Initializer;
use mxrs_types::{Error, Result, Shape};
use regex::Regex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Initializers by pattern of the variable's name; the first match wins.
#[derive(Clone, Debug)]
pub struct Mixed(Vec<(Regex, Initializer)>);

impl PartialEq for Mixed {
    fn eq(&self, other: &Self) -> bool {
        let texts = |mixed: &Self| mixed.0.iter().map(|(pattern, _)| pattern.to_string()).collect::<Vec<_>>();
        texts(self) == texts(other) && self.0.iter().zip(&other.0).all(|(a, b)| a.1 == b.1)
    }
}

impl Mixed {
    /// Returns the initializer for the variable `name`.
    pub(super) fn choose(&self, name: &str) -> Result<&Initializer> {
        let found = self.0.iter().find(|(pattern, _)| pattern.is_match(name)).map(|(_, initializer)| initializer);
        found.ok_or_else(|| {
            let expected = "a name that one of the patterns matches; add `.*` at the end to match all others";
            Error::invalid("mixed initializer", format!("variable `{name}`"), expected)
        })
    }
}

/// Values by name, and an initializer for variables without a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    values: Arc<BTreeMap<String, (Shape, Vec<f32>)>>,
    default: Option<Box<Initializer>>,
}

impl Load {
    /// Fills the variable `name` with its value, or by the default initializer.
    pub(super) fn fill(&self, name: &str, init: Option<&str>, shape: &Shape, seed: u64, out: &mut [f32]) -> Result<()> {
        match (self.values.get(name), &self.default) {
            (Some((loaded, values)), _) if loaded == shape && values.len() == out.len() => {
                out.copy_from_slice(values);
                Ok(())
            }
            (Some((loaded, _)), _) => Err(Error::shape("initializer load", name, shape.to_string(), loaded)),
            (None, Some(default)) => default.fill(name, init, shape, seed, out),
            (None, None) => {
                let expected = "one among the loaded values, or a default initializer";
                Err(Error::invalid("initializer load", format!("variable `{name}`"), expected))
            }
        }
    }
}

impl Initializer {
    /// Selects an initializer by regular expressions, which are matched at the start of a variable's name; the first
    /// match wins. As for any initializer, a variable's own `__init__` and names such as `fc_bias` take precedence.
    ///
    /// ```
    /// use mxrs_models::Initializer;
    ///
    /// let mixed = Initializer::mixed([("fc1_", Initializer::One), (".*", Initializer::Zero)])?;
    /// assert_eq!(mixed.values("fc1_weight", None, &[1, 2][..].into(), 0)?, [1.0, 1.0]);
    /// assert_eq!(mixed.values("fc2_weight", None, &[1, 2][..].into(), 0)?, [0.0, 0.0]);
    /// # Ok::<(), mxrs_types::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails if a pattern is not a regular expression.
    pub fn mixed<'a>(rules: impl IntoIterator<Item = (&'a str, Self)>) -> Result<Self> {
        let one = |(pattern, initializer): (&str, Self)| {
            let regex = Regex::new(&format!("^(?:{pattern})"));
            let regex = regex.map_err(|e| Error::invalid("pattern of an initializer", pattern, e.to_string()))?;
            Ok((regex, initializer))
        };
        Ok(Self::Mixed(Mixed(rules.into_iter().map(one).collect::<Result<_>>()?)))
    }

    /// Takes the values of each variable from `values`, row-major. A name may begin with `arg:` or `aux:`. These values take
    /// precedence over `__init__`. Variables without a value use `default`; if `default` is `None`, such variables are an
    /// error.
    pub fn load(values: impl IntoIterator<Item = (String, Shape, Vec<f32>)>, default: Option<Self>) -> Self {
        let plain = |name: String| match name.strip_prefix("arg:").or_else(|| name.strip_prefix("aux:")) {
            Some(rest) => rest.to_owned(),
            None => name,
        };
        let values = values.into_iter().map(|(name, shape, values)| (plain(name), (shape, values))).collect();
        Self::Load(Load { values: Arc::new(values), default: default.map(Box::new) })
    }
}
