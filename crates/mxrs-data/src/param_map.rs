//! Parameters in the form of MXNet's scripts: names and values as text.

use mxrs_types::{Error, ErrorKind, Result};
use std::str::FromStr;

/// The parameters of one iterator. Every name is valid and occurs only once.
pub(crate) struct ParamMap<'a> {
    owner: &'static str,
    entries: Vec<(&'a str, &'a str)>,
}

impl<'a> ParamMap<'a> {
    /// Checks the names against the valid names of the iterator `owner`, which are in the lists `known`.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Attribute`] for an unknown name, with the most similar valid one, and for a name given twice.
    pub(crate) fn new(owner: &'static str, params: &[(&'a str, &'a str)], known: &[&[&str]]) -> Result<Self> {
        let map = Self { owner, entries: params.to_vec() };
        let known = || known.iter().copied().flatten();
        for (i, (name, value)) in params.iter().enumerate() {
            if !known().any(|known| known == name) {
                let likeness = |known: &str| strsim::jaro_winkler(known, name);
                let nearest = known().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
                let expected =
                    nearest.map_or("no parameter".into(), |near| format!("a known name; nearest is `{near}`"));
                return Err(map.bad(name, value, expected));
            }
            if params[..i].iter().any(|(other, _)| other == name) {
                return Err(map.bad(name, value, "each name once"));
            }
        }
        Ok(map)
    }

    fn bad(&self, name: &str, got: &str, expected: impl Into<String>) -> Error {
        let kind = ErrorKind::Attribute {
            op: self.owner.into(),
            name: name.into(),
            expected: expected.into(),
            got: got.into(),
        };
        Error::new(kind)
    }

    /// The text of a parameter; `None` if it is absent, empty, or the text `None`.
    pub(crate) fn text(&self, name: &str) -> Option<&'a str> {
        let (_, value) = self.entries.iter().find(|(known, _)| *known == name)?;
        Some(value.trim()).filter(|value| !value.is_empty() && *value != "None")
    }

    /// The text of a required parameter.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Attribute`], with the name, if the parameter is absent.
    pub(crate) fn required(&self, name: &str) -> Result<&'a str> {
        self.text(name).ok_or_else(|| self.bad(name, "nothing", "a value; it is required"))
    }

    /// The value of a numeric parameter.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Attribute`] if the text is not a number of this type.
    pub(crate) fn number<T: FromStr>(&self, name: &str) -> Result<Option<T>> {
        let kind = if std::any::type_name::<T>().starts_with('f') { "a number" } else { "a whole number in range" };
        self.text(name).map(|text| text.parse().map_err(|_| self.bad(name, text, kind))).transpose()
    }

    /// The value of a boolean parameter: `1`, `0`, `True` or `False`.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Attribute`] for any other text.
    pub(crate) fn flag(&self, name: &str, default: bool) -> Result<bool> {
        match self.text(name) {
            None => Ok(default),
            Some("1" | "True" | "true") => Ok(true),
            Some("0" | "False" | "false") => Ok(false),
            Some(other) => Err(self.bad(name, other, "1, 0, True or False")),
        }
    }

    /// The value of a parameter that is a list of integers, with or without brackets: `(3, 224, 224)`, `[10]`, `3,4`.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Attribute`] if the text is not such a list.
    pub(crate) fn sizes(&self, name: &str) -> Result<Option<Vec<usize>>> {
        self.list(name, "whole numbers, such as (3, 224, 224)")
    }

    /// The value of a parameter that is a list of numbers, with or without brackets.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Attribute`] if the text is not such a list.
    pub(crate) fn list<T: FromStr>(&self, name: &str, expected: &str) -> Result<Option<Vec<T>>> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let inner = text.strip_prefix(['(', '[']).and_then(|t| t.strip_suffix([')', ']'])).unwrap_or(text).trim();
        let numbers = inner.strip_suffix(',').unwrap_or(inner).split(',').map(|size| size.trim().parse());
        let numbers: std::result::Result<Vec<T>, _> = if inner.is_empty() { Ok(Vec::new()) } else { numbers.collect() };
        numbers.map(Some).map_err(|_| self.bad(name, text, expected))
    }

    /// An error about the value of a parameter, with the expected value.
    pub(crate) fn wrong(&self, name: &str, expected: impl Into<String>) -> Error {
        self.bad(name, self.text(name).unwrap_or("nothing"), expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 4] = ["batch_size", "data_shape", "shuffle", "scale"];

    fn map<'a>(params: &[(&'a str, &'a str)]) -> Result<ParamMap<'a>> {
        ParamMap::new("SomeIter", params, &[&KNOWN])
    }

    #[test]
    fn values() {
        let m =
            map(&[("batch_size", " 12 "), ("data_shape", "(3, 4,5)"), ("shuffle", "True"), ("scale", "None")]).unwrap();
        assert_eq!(m.number::<usize>("batch_size").unwrap(), Some(12));
        assert_eq!(m.sizes("data_shape").unwrap(), Some(vec![3, 4, 5]));
        assert!(m.flag("shuffle", false).unwrap() && m.flag("scale", true).unwrap());
        assert_eq!((m.number::<f32>("scale").unwrap(), m.text("absent")), (None, None));
        for (text, sizes) in [("7", vec![7]), ("(7,)", vec![7]), ("[1,2]", vec![1, 2]), ("()", vec![])] {
            assert_eq!(map(&[("data_shape", text)]).unwrap().sizes("data_shape").unwrap(), Some(sizes));
        }
    }

    #[test]
    fn errors_name_the_iterator_the_parameter_and_the_nearest_name() {
        let text = |r: Result<()>| r.unwrap_err().to_string();
        let unknown = map(&[("batchsize", "1")]).map(|_| ());
        let message = text(unknown);
        assert!(["SomeIter", "batchsize", "`batch_size`"].iter().all(|part| message.contains(part)), "{message}");
        assert!(text(map(&[("scale", "1"), ("scale", "2")]).map(|_| ())).contains("once"));
        let m = map(&[("batch_size", "-1"), ("data_shape", "(3,x)"), ("shuffle", "yes"), ("scale", "big")]).unwrap();
        assert!(text(m.number::<usize>("batch_size").map(|_| ())).contains("batch_size"));
        assert!(text(m.sizes("data_shape").map(|_| ())).contains("(3,x)"));
        assert!(text(m.flag("shuffle", true).map(|_| ())).contains("yes"));
        assert!(text(m.number::<f32>("scale").map(|_| ())).contains("a number"));
        assert!(text(map(&[]).unwrap().required("batch_size").map(|_| ())).contains("required"));
    }
}
