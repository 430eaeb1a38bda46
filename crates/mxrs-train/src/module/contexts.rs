//! The devices of a module.

use super::Module;
use mxrs_exec::{Executor, Imperative};
use mxrs_ndarray::{NdArray, RandomState};
use mxrs_types::{Device, Error, Result};

impl Module {
    /// Runs on these devices: each gets a part of the rows of every batch, with a copy of the parameters. By default there
    /// is one context, the device of the host's options. A device may occur several times.
    ///
    /// ```no_run
    /// # fn example(runtime: &impl mxrs_train::Host, graph: &mxrs_graph::Graph) -> mxrs_types::Result<()> {
    /// use mxrs_train::Module;
    /// use mxrs_types::Device;
    ///
    /// let module = Module::new(runtime, graph)?.contexts([Device::gpu(0), Device::gpu(1)])?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns an error if there is no device, if arrays cannot live on one of them, or if the module is bound already.
    pub fn contexts(mut self, contexts: impl IntoIterator<Item = Device>) -> Result<Self> {
        let contexts: Vec<Device> = contexts.into_iter().collect();
        let Some(&first) = contexts.first() else {
            return Err(Error::invalid("contexts of a module", "none", "at least one device"));
        };
        self.expect_unbound("contexts")?;
        contexts.iter().try_for_each(|device| self.context.check_device(*device))?;
        if self.options.device != first {
            self.options.device = first;
            self.nd = Imperative::new(&self.context, &self.options)?;
        }
        self.work_load = vec![1.0; contexts.len()];
        self.contexts = contexts;
        Ok(self)
    }

    /// Divides the rows of a batch among the contexts in proportion to these numbers, one for each context; by default the
    /// parts are equal.
    ///
    /// # Errors
    /// Returns an error if there is another number of contexts, if a number is not positive, or if the module is bound
    /// already.
    pub fn work_load_list(mut self, loads: impl IntoIterator<Item = f64>) -> Result<Self> {
        let loads: Vec<f64> = loads.into_iter().collect();
        self.expect_unbound("work_load_list")?;
        if loads.len() != self.contexts.len() {
            let expected = format!("{}, one for each context", self.contexts.len());
            return Err(Error::invalid("number of work loads", loads.len(), expected));
        }
        if let Some(load) = loads.iter().find(|load| !(load.is_finite() && **load > 0.0)) {
            return Err(Error::invalid("work load of a context", load, "a positive number"));
        }
        self.work_load = loads;
        Ok(self)
    }

    pub(super) fn expect_unbound(&self, method: &str) -> Result<()> {
        match self.groups.is_empty() {
            true => Ok(()),
            false => Err(Error::invalid("module", format!("{method} after bind"), format!("{method} before bind"))),
        }
    }

    /// The devices, in the order of the parts of a batch.
    pub fn devices(&self) -> &[Device] {
        &self.contexts
    }

    /// The executors of the batch that ran last, one for each context; before the first run, those that were bound first.
    ///
    /// # Errors
    /// Returns an error if the module is not bound.
    pub fn executors(&self) -> Result<Vec<&Executor>> {
        Ok(self.group()?.executors().collect())
    }

    /// Every output of every context, without merging them.
    pub(crate) fn outputs_of_parts(&self) -> Result<impl Iterator<Item = &NdArray>> {
        Ok(self.group()?.executors().flat_map(|executor| executor.outputs()))
    }

    /// The states of the random numbers of all contexts.
    pub(super) fn random_states(&self) -> Vec<RandomState> {
        self.contexts.iter().map(|device| self.context.random().state(*device)).collect()
    }

    /// Continues the random numbers of the contexts from these states. A context without a state keeps its own.
    pub(super) fn restore_random(&self, states: &[RandomState]) {
        for (device, state) in self.contexts.iter().zip(states) {
            self.context.random().restore(*device, state);
        }
    }
}
