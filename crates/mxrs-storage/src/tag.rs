//! The purpose of a block, for profilers and errors.

use std::borrow::Cow;
use std::fmt;

/// The name of an allocation and the profiler scope in which it was made, such as `conv0_weight` in scope `resnet:`.
///
/// It belongs only to the live block: a cached block has no tag, and its next owner sets its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tag {
    /// What the memory is used for.
    pub name: Cow<'static, str>,
    /// The profiler scope, including its final colon.
    pub scope: Cow<'static, str>,
}

impl Tag {
    /// A tag with this name and the scope `<unk>:`, which stands for an unknown scope.
    #[inline]
    pub fn new(name: impl Into<Cow<'static, str>>) -> Self {
        Self { name: name.into(), scope: Self::default().scope }
    }

    /// Whether both strings are static, so that dropping the tag does nothing.
    #[inline]
    pub(crate) fn is_static(&self) -> bool {
        matches!((&self.name, &self.scope), (Cow::Borrowed(_), Cow::Borrowed(_)))
    }

    /// Replaces the scope of the tag by `scope`.
    #[must_use]
    pub fn scoped(mut self, scope: impl Into<Cow<'static, str>>) -> Self {
        self.scope = scope.into();
        self
    }
}

impl Default for Tag {
    /// The name `unknown` in the scope `<unk>:`.
    #[inline]
    fn default() -> Self {
        Self { name: Cow::Borrowed("unknown"), scope: Cow::Borrowed("<unk>:") }
    }
}

impl From<&'static str> for Tag {
    #[inline]
    fn from(name: &'static str) -> Self {
        Self::new(name)
    }
}

impl From<String> for Tag {
    fn from(name: String) -> Self {
        Self::new(name)
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.scope, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scope_comes_before_name() {
        assert_eq!(Tag::default().to_string(), "<unk>:unknown");
        assert_eq!(Tag::new("weight").scoped("net:").to_string(), "net:weight");
    }
}
