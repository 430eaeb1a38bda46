//! A task being described.

use crate::context::RunContext;
use crate::engine::Engine;
use crate::op::{Access, Accesses, OpName, Property};
use crate::var::Var;
use mxrs_types::{Device, Result};

/// A task being described; made by [`Engine::task`], sent by [`TaskBuilder::push`].
#[must_use = "a task runs only once pushed"]
#[derive(Debug)]
pub struct TaskBuilder<'e> {
    engine: &'e Engine,
    name: OpName,
    accesses: Accesses,
    device: Device,
    priority: i32,
    property: Property,
}

impl<'e> TaskBuilder<'e> {
    pub(crate) fn new(engine: &'e Engine, name: OpName) -> Self {
        let (accesses, device) = (Accesses::new(), Device::cpu(0));
        Self { engine, name, accesses, device, priority: 0, property: Property::Normal }
    }

    /// The task reads what `var` stands for. A variable also written counts as written; repeats do no harm.
    #[inline]
    pub fn read(mut self, var: &Var) -> Self {
        self.accesses.push(Access { var: var.clone(), write: false });
        self
    }

    /// The task changes what `var` stands for.
    #[inline]
    pub fn write(mut self, var: &Var) -> Self {
        self.accesses.push(Access { var: var.clone(), write: true });
        self
    }

    /// [`TaskBuilder::read`] for each.
    pub fn reads<'v>(mut self, vars: impl IntoIterator<Item = &'v Var>) -> Self {
        self.accesses.extend(vars.into_iter().map(|var| Access { var: var.clone(), write: false }));
        self
    }

    /// [`TaskBuilder::write`] for each.
    pub fn writes<'v>(mut self, vars: impl IntoIterator<Item = &'v Var>) -> Self {
        self.accesses.extend(vars.into_iter().map(|var| Access { var: var.clone(), write: true }));
        self
    }

    /// Where it runs; `cpu(0)` unless said.
    #[inline]
    pub fn device(mut self, device: Device) -> Self {
        self.device = device;
        self
    }

    /// Larger leaves a prioritised queue first; other queues ignore it. 0 unless said.
    #[inline]
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    /// Which workers; [`Property::Normal`] unless said.
    #[inline]
    pub fn property(mut self, property: Property) -> Self {
        self.property = property;
        self
    }

    /// Hands the task to the engine. Under [`crate::EngineKind::Naive`] it has run when this returns.
    ///
    /// The body must not wait on the engine; it may push.
    ///
    /// # Errors
    /// [`mxrs_types::ErrorKind::Engine`] for a deleted variable, one of another engine, or a stopped engine;
    /// [`mxrs_types::ErrorKind::NotBuilt`] for a device without support. Under [`crate::EngineKind::Naive`] also the
    /// body's own error. If the push is refused the body is dropped.
    pub fn push(self, body: impl FnOnce(&RunContext) -> Result<()> + Send + 'static) -> Result<()> {
        let Self { engine, name, accesses, device, priority, property } = self;
        engine.inner().push(name, accesses, device, priority, property, body)
    }
}
