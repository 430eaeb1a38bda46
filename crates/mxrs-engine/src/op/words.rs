//! What a task says about itself: its property and its name.

use std::backtrace::Backtrace;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// Which workers a task wants, and how it treats errors of its inputs.
///
/// A word for the other kind of device, or one the scheduler has no pool for, means [`Property::Normal`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Property {
    /// First in, first out, on the device's own workers.
    #[default]
    Normal,
    /// The workers shared by all CPU devices, larger [`crate::TaskBuilder::priority`] first.
    CpuPrioritized,
    /// A copy that leaves a GPU.
    CopyFromGpu,
    /// A copy into a GPU.
    CopyToGpu,
    /// A GPU's second pool, larger priority first.
    GpuPrioritized,
    /// On the pushing thread if nothing is in the way, else as normal.
    Async,
    /// Ends a variable's life: on the pushing thread if nothing is in the way, else ahead of other queued tasks. Runs
    /// whatever its inputs carry.
    DeleteVar,
    /// As normal, but runs even when an input carries an error, which it can see in its context.
    NoSkip,
}

/// Name of a task in messages: a literal, an owned string or a shared one.
#[derive(Clone)]
pub struct OpName(Name);

#[derive(Clone)]
enum Name {
    Text(Cow<'static, str>),
    Shared(Arc<str>),
    /// With the place where the task was pushed.
    Traced(Arc<(OpName, Backtrace)>),
}

impl OpName {
    /// The text.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Name::Text(text) => text,
            Name::Shared(text) => text,
            Name::Traced(traced) => traced.0.as_str(),
        }
    }

    /// The same name, which remembers where it was called.
    #[cold]
    pub(crate) fn traced(self) -> Self {
        Self(Name::Traced(Arc::new((self, Backtrace::force_capture()))))
    }

    /// Where the task was pushed, if the name remembers.
    pub(crate) fn pushed_at(&self) -> Option<&Backtrace> {
        match &self.0 {
            Name::Traced(traced) => Some(&traced.1),
            _ => None,
        }
    }
}

impl fmt::Display for OpName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for OpName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl From<&'static str> for OpName {
    fn from(text: &'static str) -> Self {
        Self(Name::Text(Cow::Borrowed(text)))
    }
}

impl From<String> for OpName {
    fn from(text: String) -> Self {
        Self(Name::Text(Cow::Owned(text)))
    }
}

impl From<Arc<str>> for OpName {
    fn from(text: Arc<str>) -> Self {
        Self(Name::Shared(text))
    }
}
