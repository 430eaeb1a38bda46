//! Describing and pushing a task.

use crate::completion::Completion;
use crate::context::RunContext;
use crate::engine::Engine;
use crate::op::{Asynchronous, OpName, Property, Synchronous, Uses, add};
use crate::var::Var;
use mxrs_types::{Device, Result};

/// A description of a task, which borrows its engine and its variables. [`Engine::task`] makes it, and
/// [`TaskBuilder::push`] sends it.
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

    /// Adds a variable that the task reads. If the task also writes it, only the write counts; repetitions are ignored.
    #[inline]
    pub fn read(mut self, var: &'e Var) -> Self {
        add(&mut self.uses, var, false);
        self
    }

    /// Adds a variable that the task writes.
    #[inline]
    pub fn write(mut self, var: &'e Var) -> Self {
        add(&mut self.uses, var, true);
        self
    }

    /// [`TaskBuilder::read`] for several variables.
    pub fn reads(mut self, vars: impl IntoIterator<Item = &'e Var>) -> Self {
        vars.into_iter().for_each(|var| add(&mut self.uses, var, false));
        self
    }

    /// [`TaskBuilder::write`] for several variables.
    pub fn writes(mut self, vars: impl IntoIterator<Item = &'e Var>) -> Self {
        vars.into_iter().for_each(|var| add(&mut self.uses, var, true));
        self
    }

    /// Sets the device that the task runs on; `cpu(0)` by default.
    #[inline]
    pub fn device(mut self, device: Device) -> Self {
        self.device = device;
        self
    }

    /// Sets the priority, 0 by default. In pools by priority, tasks of larger priority run first; other pools ignore
    /// the priority.
    #[inline]
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    /// Sets which workers run the task; [`Property::Normal`] by default.
    #[inline]
    pub fn property(mut self, property: Property) -> Self {
        self.property = property;
        self
    }

    /// Hands the task to the engine. Under [`crate::EngineKind::Naive`] the task has run when this returns.
    ///
    /// The body must not wait on the engine; it may push.
    ///
    /// # Errors
    /// [`mxrs_types::ErrorKind::Engine`] for a deleted variable, a variable of another engine, or a stopped engine;
    /// [`mxrs_types::ErrorKind::NotBuilt`] for a device that the engine does not have. Under
    /// [`crate::EngineKind::Naive`] also the body's own error. If the push is refused, the body is dropped.
    #[inline]
    pub fn push(self, body: impl FnOnce(&RunContext) -> Result<()> + Send + 'static) -> Result<()> {
        let Self { engine, name, uses, device, priority, property } = self;
        engine.inner().push(name, uses, device, priority, property, Synchronous(body))
    }

    /// [`TaskBuilder::push`] for a body that only starts work, which ends later on another thread or a device.
    /// [`Completion::complete`] completes the task. Under [`crate::EngineKind::Naive`] the push waits for the completion.
    ///
    /// # Errors
    /// Returns the errors of [`TaskBuilder::push`].
    pub fn push_async(self, body: impl FnOnce(&RunContext, Completion) + Send + 'static) -> Result<()> {
        let Self { engine, name, uses, device, priority, property } = self;
        engine.inner().push(name, uses, device, priority, property, Asynchronous(body))
    }
}
