//! Attributes as text, as symbol files and the C API have them.

use indexmap::IndexMap;
use std::sync::Arc;

/// Attribute texts of a node, in the order they were written. Clones share the texts until one is changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attrs(Arc<IndexMap<String, String>>);

impl Attrs {
    /// An empty list of attributes.
    pub fn new() -> Self {
        Self::default()
    }

    /// The text of the attribute `key`.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// Sets the attribute `key` and returns its old text. An existing attribute keeps its position.
    pub fn set(&mut self, key: impl Into<String>, value: impl Into<String>) -> Option<String> {
        Arc::make_mut(&mut self.0).insert(key.into(), value.into())
    }

    /// Removes the attribute `key`. The other attributes keep their order.
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

    /// Whether there are no attributes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Whether `key` has the form `__x__`. Such attributes annotate a node, and operators do not read them.
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
