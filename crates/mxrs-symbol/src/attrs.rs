//! Attributes of a node: a small sorted map of strings.

/// Attributes by name, sorted by bytes as in symbol files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Attrs(Vec<(Box<str>, Box<str>)>);

impl Attrs {
    /// Creates a map from pairs in any order.
    ///
    /// # Errors
    /// Returns the first key that occurs twice.
    pub fn from_pairs(mut pairs: Vec<(Box<str>, Box<str>)>) -> Result<Self, Box<str>> {
        pairs.sort_by(|a, b| a.0.cmp(&b.0));
        match pairs.windows(2).find(|two| two[0].0 == two[1].0) {
            Some(two) => Err(two[0].0.clone()),
            None => Ok(Self(pairs)),
        }
    }

    fn find(&self, key: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(k, _)| (**k).cmp(key))
    }

    /// The value of the attribute `key`, if it exists.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.find(key).ok().map(|at| &*self.0[at].1)
    }

    /// Whether the attribute `key` exists.
    pub fn contains_key(&self, key: &str) -> bool {
        self.find(key).is_ok()
    }

    /// Sets the attribute `key`; returns its previous value.
    pub fn insert(&mut self, key: impl Into<Box<str>>, value: impl Into<Box<str>>) -> Option<Box<str>> {
        let (key, value) = (key.into(), value.into());
        match self.find(&key) {
            Ok(at) => Some(std::mem::replace(&mut self.0[at].1, value)),
            Err(at) => {
                self.0.insert(at, (key, value));
                None
            }
        }
    }

    /// Removes the attribute `key`; returns its value.
    pub fn remove(&mut self, key: &str) -> Option<Box<str>> {
        self.find(key).ok().map(|at| self.0.remove(at).1)
    }

    /// Adds the attributes of `other` whose keys this map does not have.
    pub(crate) fn fill_from(&mut self, other: Self) {
        if self.0.is_empty() {
            *self = other;
            return;
        }
        let missing: Vec<_> = other.0.into_iter().filter(|(key, _)| !self.contains_key(key)).collect();
        self.0.extend(missing);
        self.0.sort_by(|a, b| a.0.cmp(&b.0));
    }

    /// Iterates over all keys and values, sorted by key.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (&**key, &**value))
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

impl<K: Into<Box<str>>, V: Into<Box<str>>> FromIterator<(K, V)> for Attrs {
    /// Keeps the last of several pairs with the same key.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        let mut attrs = Self::default();
        for (key, value) in pairs {
            attrs.insert(key, value);
        }
        attrs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_a_sorted_map() {
        let mut attrs: Attrs = [("b", "2"), ("a", "1"), ("b", "3")].into_iter().collect();
        assert_eq!(attrs.iter().collect::<Vec<_>>(), [("a", "1"), ("b", "3")]);
        assert_eq!(attrs.remove("a").as_deref(), Some("1"));
        assert_eq!((attrs.get("a"), attrs.get("b"), attrs.len()), (None, Some("3"), 1));
        attrs.fill_from([("b", "9"), ("0", "0")].into_iter().collect());
        assert_eq!(attrs.iter().collect::<Vec<_>>(), [("0", "0"), ("b", "3")]);
        let pairs = vec![("k".into(), "1".into()), ("k".into(), "2".into())];
        assert_eq!(Attrs::from_pairs(pairs), Err("k".into()));
    }
}
