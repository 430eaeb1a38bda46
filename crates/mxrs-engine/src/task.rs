//! A task being described.

use crate::completion::Completion;
use crate::context::RunContext;
use crate::engine::Engine;
use crate::op::{OpName, Property, Starts, Sync, Uses, add};
use crate::var::Var;
use mxrs_types::{Device, Result};

/// A task being described, which borrows its engine and its variables; made by [`Engine::task`], sent by [`TaskBuilder::push`].
#[must_use = "a task runs only once pushed"]
#[derive(Debug)]
pub struct TaskBuilder<'e> {
    engine: &'e Engine,
    name: OpName,
    uses: Uses<'e>,
    device: Device,
    priority: i32,
    property: Property,
}

impl<'e> TaskBuilder<'e> {
    pub(crate) fn new(engine: &'e Engine, name: OpName) -> Self {
        let (uses, device) = (Uses::new(), Device::cpu(0));
        Self { engine, name, uses, device, priority: 0, property: Property::Normal }
    }

    /// The task reads what `var` stands for. A variable also written counts as written; repeats do no harm.
    #[inline]
    pub fn read(mut self, var: &'e Var) -> Self {
        add(&mut self.uses, var, false);
        self
    }

    /// The task changes what `var` stands for.
    #[inline]
    pub fn write(mut self, var: &'e Var) -> Self {
        add(&mut self.uses, var, true);
        self
    }

    /// [`TaskBuilder::read`] for each.
    pub fn reads(mut self, vars: impl IntoIterator<Item = &'e Var>) -> Self {
        vars.into_iter().for_each(|var| add(&mut self.uses, var, false));
        self
    }

    /// [`TaskBuilder::write`] for each.
    pub fn writes(mut self, vars: impl IntoIterator<Item = &'e Var>) -> Self {
        vars.into_iter().for_each(|var| add(&mut self.uses, var, true));
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
    #[inline]
    pub fn push(self, body: impl FnOnce(&RunContext) -> Result<()> + Send + 'static) -> Result<()> {
        let Self { engine, name, uses, device, priority, property } = self;
        engine.inner().push(name, uses, device, priority, property, Sync(body))
    }

    /// As [`TaskBuilder::push`], for a body that only starts work which ends later, on another thread or a device: the
    /// task is completed by [`Completion::complete`]. Under [`crate::EngineKind::Naive`] the push returns after that.
    ///
    /// # Errors
    /// As [`TaskBuilder::push`].
    pub fn push_async(self, body: impl FnOnce(&RunContext, Completion) + Send + 'static) -> Result<()> {
        let Self { engine, name, uses, device, priority, property } = self;
        engine.inner().push(name, uses, device, priority, property, Starts(body))
    }
}
