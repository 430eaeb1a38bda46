//! The optimizer of a module, and the store that sums gradients over its contexts.

use super::{Module, unbound};
use crate::exchange::{Exchange, StoreOptions};
use mxrs_exec::Executor;
use mxrs_kvstore::KvStore;
use mxrs_optim::{Parameter, Updater};
use mxrs_sync::MutexGuard;
use mxrs_types::{Error, Result};
use std::sync::Arc;

impl Module {
    /// The optimizer, once [`init_optimizer`](Self::init_optimizer) was called. No update may run while the guard is held.
    pub fn optimizer(&self) -> Option<MutexGuard<'_, Updater>> {
        self.exchange.as_ref().map(Exchange::updater)
    }

    /// The key-value store that sums gradients over the contexts, if there is one.
    pub fn kvstore(&self) -> Option<&Arc<dyn KvStore>> {
        self.exchange.as_ref().and_then(Exchange::store)
    }

    /// Whether the key-value store updates the weights. If not, each context updates its own copy of them.
    pub fn updates_on_kvstore(&self) -> bool {
        self.exchange.as_ref().is_some_and(Exchange::is_on_store)
    }

    /// Sets the optimizer, such as `Sgd { lr: 0.1, ..Sgd::default() }`. It updates the parameters that are not fixed and have
    /// gradients. Gradients are divided by the batch size. Multipliers of learning rate and weight decay are those of the
    /// optimizer. For a variable to which the optimizer assigns none, they are the attributes `__lr_mult__` and `__wd_mult__`.
    /// MXNet's module reads these attributes only if it creates the optimizer by its name, and does not change an optimizer
    /// that it is given.
    ///
    /// If there are several contexts, the store `local` sums their gradients; [`init_optimizer_with`](Self::init_optimizer_with)
    /// chooses another store.
    ///
    /// # Errors
    /// Returns an error if the module is not bound for training, if a setting of the optimizer is out of range, if the
    /// learning rate or an attribute is not a number, or if losses are scaled and gradients compressed.
    pub fn init_optimizer(&mut self, optimizer: impl Into<Updater>) -> Result<()> {
        self.init_optimizer_with(optimizer, &StoreOptions::default())
    }

    /// Like [`init_optimizer`](Self::init_optimizer), with a choice of the key-value store that sums the gradients of the
    /// contexts. The weights of the first context become those of the store and of all contexts.
    ///
    /// # Errors
    /// Fails as [`init_optimizer`](Self::init_optimizer) does. Also fails if no store has the name, or if the store cannot
    /// do what the options say.
    pub fn init_optimizer_with(&mut self, optimizer: impl Into<Updater>, options: &StoreOptions) -> Result<()> {
        let mut update = optimizer.into();
        update.check()?;
        let batch_size = self.batch_size()?;
        let lr = update.learning_rate();
        if !lr.is_finite() {
            return Err(Error::invalid("learning rate", lr, "a finite number"));
        }
        for &id in self.graph.variables() {
            let variable = self.graph.node(id);
            update.optimizer_mut().common_mut().mult.take_attributes(&variable.name, variable.attrs.iter())?;
        }
        update.set_rescale_grad(1.0 / batch_size as f64);
        let exchange = Exchange::new(&self.nd, update, self.parameters()?, options, &self.stores)?;
        if self.loss_scaler().is_some() {
            exchange.expect_scalable()?;
        }
        self.exchange = Some(exchange);
        // Stores that wait for all workers sum the gradients of all workers, so the sum is divided by the batch size of all
        // workers together.
        let n_examples = batch_size * self.n_summed_workers();
        self.exchange()?.updater().set_rescale_grad(1.0 / n_examples as f64);
        Ok(())
    }

    /// Like [`init_optimizer`](Self::init_optimizer), but creates the optimizer by MXNet's name and text settings, as
    /// command lines have them. A `rescale_grad` in the settings is kept.
    ///
    /// # Errors
    /// Fails as [`mxrs_optim::create`] and [`init_optimizer`](Self::init_optimizer) do.
    pub fn init_optimizer_named(&mut self, name: &str, settings: &[(&str, &str)]) -> Result<()> {
        self.init_optimizer_named_with(name, settings, &StoreOptions::default())
    }

    /// [`init_optimizer_named`](Self::init_optimizer_named) with a choice of the store.
    ///
    /// # Errors
    /// Fails as [`mxrs_optim::create`] and [`init_optimizer_with`](Self::init_optimizer_with) do.
    pub fn init_optimizer_named_with(
        &mut self,
        name: &str,
        settings: &[(&str, &str)],
        options: &StoreOptions,
    ) -> Result<()> {
        let optimizer = mxrs_optim::create(name, settings)?;
        let rescale = settings.iter().any(|(key, _)| *key == "rescale_grad").then(|| optimizer.common().rescale_grad);
        self.init_optimizer_with(optimizer, options)?;
        if let (Some(rescale), Some(mut update)) = (rescale, self.optimizer()) {
            update.set_rescale_grad(rescale);
        }
        Ok(())
    }

    /// Every parameter with a gradient, by context.
    fn parameters(&self) -> Result<Vec<Vec<Parameter>>> {
        self.first()?.executors().map(|executor| self.parameters_of(executor)).collect()
    }

    fn parameters_of(&self, executor: &Executor) -> Result<Vec<Parameter>> {
        let is_fed = |name: &str| self.names.data.iter().chain(&self.names.labels).any(|fed| fed == name);
        let trained = executor.gradients().iter().filter(|gradient| !is_fed(&gradient.name));
        let all = trained.map(|gradient| {
            let weight = executor.argument(&gradient.name)?.clone();
            Ok(Parameter { name: gradient.name.clone(), weight, grad: gradient.array.clone() })
        });
        let all = all.collect::<Result<Vec<_>>>()?;
        if all.is_empty() {
            return Err(Error::invalid("module", "no parameter with a gradient", "one bound for training"));
        }
        Ok(all)
    }

    pub(super) fn exchange(&self) -> Result<&Exchange> {
        self.exchange.as_ref().ok_or_else(|| unbound("init_optimizer"))
    }
}
