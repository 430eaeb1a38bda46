//! Frozen executors: for inference only, with parameters kept only in the layouts that their kernels read.

use crate::executor::Executor;
use mxrs_ndarray::NdArray;
use mxrs_types::{DType, Error, Result};

impl Executor {
    /// Packs and computes all constants now, and releases the parameters that are needed for nothing else. Such a parameter
    /// is then in memory once, in packed form, instead of twice. [`Executor::arrays`] lists the arrays that remain. The
    /// memory of a released parameter is freed once the caller holds no handle to it either.
    ///
    /// From then on the executor runs inference only, and constants do not follow later writes to the parameters they were
    /// made from. If constants are [shared](crate::BindOptions::packed), other executors refuse to run with parameters
    /// written after the freeze.
    ///
    /// # Errors
    /// Returns an error if the executor is bound with gradients, or if packing fails.
    pub fn freeze(self) -> Result<Self> {
        self.freeze_reading(&mut |_, _| Ok(()))
    }

    /// Like [`Self::freeze`], but fills the bound arrays first. `read` gets the name of an array and the array, and pushes
    /// a [write](NdArray::write_later) of its content. `read` is called once for each array that is kept. For an array that
    /// constants are made from, `read` is called shortly before these constants are made. Therefore the parameters to
    /// release are not all in memory at the same time.
    ///
    /// # Errors
    /// Returns the errors of [`Self::freeze`], of `read`, and of the writes that `read` pushed.
    pub fn freeze_reading(mut self, read: &mut dyn FnMut(&str, &NdArray) -> Result<()>) -> Result<Self> {
        if !self.training.gradients.is_empty() {
            return Err(Error::invalid("freeze", "an executor bound with gradients", "one bound for inference"));
        }
        self.runner(false)?;
        self.pool().wait()?;
        self.training_runner.take();
        let mut runner = self.inference_runner.take();
        if let Some(runner) = &mut runner {
            let used_up = runner.used_up();
            let nothing = NdArray::empty(&self.context, [0], DType::F32, self.options.device, "frozen")?;
            let (names, bound): (Vec<String>, Vec<NdArray>) =
                std::mem::take(&mut self.variables.arrays).into_iter().unzip();
            let is_gone = |(index, _): &(usize, &String)| used_up.contains(index);
            let gone: Vec<String> = names.iter().enumerate().filter(is_gone).map(|(_, name)| name.clone()).collect();
            let left = names.iter().cloned().zip(bound.iter().cloned()).enumerate();
            let left = left.filter(|(index, _)| !used_up.contains(index)).map(|(_, named)| named);
            self.variables.arrays = left.collect();
            self.pool().let_go(&gone);
            let storage = self.context.storage().clone();
            let devices = self.options.devices();
            let release = || devices.iter().for_each(|device| _ = storage.release_all(*device));
            let mut read = |index: usize, array: &NdArray| read(&names[index], array);
            runner.freeze((bound, self.outputs.clone()), &nothing, &self.options, (&mut read, &release))?;
        }
        if let Some(runner) = runner {
            let _ = self.inference_runner.set(runner);
        }
        self.is_frozen = true;
        Ok(self)
    }
}

/// The error for a request that needs parameters that a frozen executor has released.
pub fn refusal(what: &str) -> Error {
    Error::invalid(
        what,
        "an executor that is frozen: its parameters are there in the layouts of kernels only",
        "an executor that was not frozen, bound to parameters of its own",
    )
}
