//! The properties and the name of a task.

use std::backtrace::Backtrace;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// The workers that run a task, and how it treats errors of its inputs.
///
/// A property that does not fit the task's device, or for which the scheduler has no pool, counts as
/// [`Property::Normal`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Property {
    /// Runs on the device's own workers, first in, first out.
    #[default]
    Normal,
    /// Runs on the workers that all CPU devices share, larger [`crate::TaskBuilder::priority`] first.
    CpuPrioritized,
    /// Copies data from a GPU.
    CopyFromGpu,
    /// Copies data to a GPU.
    CopyToGpu,
    /// Runs in a GPU's second pool, larger priority first.
    GpuPrioritized,
    /// Runs on the pushing thread if it need not wait, otherwise as a normal task.
    Async,
    /// Deletes a variable: runs on the pushing thread if it need not wait, otherwise before other queued tasks. Runs
    /// even if an input carries an error.
    DeleteVar,
    /// Runs as a normal task even if an input carries an error; the body can read that error in its
    /// [`crate::RunContext`].
    NoSkip,
}

/// The name of a task in messages: a literal, an owned string or a shared one.
#[derive(Clone)]
pub struct OpName(Name);

#[derive(Clone)]
enum Name {
    Text(Cow<'static, str>),
    Shared(Arc<str>),
    /// A name with the backtrace of the task's push.
    Traced(Arc<(OpName, Backtrace)>),
}

impl OpName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Name::Text(text) => text,
            Name::Shared(text) => text,
            Name::Traced(traced) => traced.0.as_str(),
        }
    }

    /// Adds a backtrace of this call to the name.
    #[cold]
    pub(crate) fn traced(self) -> Self {
        Self(Name::Traced(Arc::new((self, Backtrace::force_capture()))))
    }

    /// The backtrace of the task's push, if it was recorded.
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
