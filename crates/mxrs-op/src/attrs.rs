//! Attributes as text: what a symbol stores and what the C API passes.

use indexmap::IndexMap;
use std::sync::Arc;

/// Attribute texts of a node, in the order they were written. Clones share the texts until one is changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attrs(Arc<IndexMap<String, String>>);

impl Attrs {
    /// No attributes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Text of `key`.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// Sets `key`, keeping its place when it exists. Returns the old text.
    pub fn set(&mut self, key: impl Into<String>, value: impl Into<String>) -> Option<String> {
        Arc::make_mut(&mut self.0).insert(key.into(), value.into())
    }

    /// Removes `key`, keeping the order of the others.
    pub fn remove(&mut self, key: &str) -> Option<String> {
        Arc::make_mut(&mut self.0).shift_remove(key)
    }

    /// Keys and texts in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(k, v)| (k.as_str(), v.as_str()))
    }

    /// Number of attributes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Keys of the form `__x__` annotate a node and pass through every operator untouched.
pub fn is_annotation_key(key: &str) -> bool {
    key.len() > 4 && key.starts_with("__") && key.ends_with("__")
}

impl<K: Into<String>, V: Into<String>, const N: usize> From<[(K, V); N]> for Attrs {
    fn from(pairs: [(K, V); N]) -> Self {
        pairs.into_iter().collect()
    }
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for Attrs {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        Self(Arc::new(pairs.into_iter().map(|(k, v)| (k.into(), v.into())).collect()))
    }
}
