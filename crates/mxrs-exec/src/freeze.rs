//! Executors for inference alone, whose parameters are kept in the form that kernels want and in no other.

use crate::executor::Executor;
use mxrs_ndarray::NdArray;
use mxrs_types::{DType, Device, Error, Result};

impl Executor {
    /// Packs and computes all constants now, for good, and lets go of the parameters that only this needed: the executor
    /// takes their memory once instead of twice. [`Executor::arrays`] lists what is left. Their memory is free when the
    /// caller has no handles to them either.
    ///
    /// From then on it runs inference only, and writing to a parameter changes nothing. Where constants are
    /// [shared](crate::BindOptions::packed), other executors refuse to run with parameters written after that.
    ///
    /// # Errors
    /// An executor bound with gradients; what packing reports.
    pub fn freeze(self) -> Result<Self> {
        self.freeze_reading(&mut |_, _| Ok(()))
    }

    /// As [`Self::freeze`], where the content of bound arrays is still to be put there: `read` is called once with name and
    /// array for each of them that is kept, and for each that constants have to be made of, shortly before they are; it
    /// has the array [written](NdArray::write_later). So of the parameters that are let go of only a part is in memory at
    /// a time.
    ///
    /// # Errors
    /// As [`Self::freeze`]; those of `read`, and of what it has pushed.
    pub fn freeze_reading(mut self, read: &mut dyn FnMut(&str, &NdArray) -> Result<()>) -> Result<Self> {
        if !self.training.gradients.is_empty() {
            return Err(Error::invalid("freeze", "an executor bound with gradients", "one bound for inference"));
        }
        self.runner(false)?;
        self.context.engine().wait_to_write(self.pool().var())?;
        self.training_runner.take();
        let mut runner = self.inference_runner.take();
        if let Some(runner) = &mut runner {
            let used_up = runner.used_up();
            let nothing = NdArray::empty(&self.context, [0], DType::F32, Device::cpu(0), "frozen")?;
            let (names, bound): (Vec<String>, Vec<NdArray>) =
                std::mem::take(&mut self.variables.arrays).into_iter().unzip();
            let is_gone = |(index, _): &(usize, &String)| used_up.contains(index);
            let gone: Vec<String> = names.iter().enumerate().filter(is_gone).map(|(_, name)| name.clone()).collect();
            let left = names.iter().cloned().zip(bound.iter().cloned()).enumerate();
            let left = left.filter(|(index, _)| !used_up.contains(index)).map(|(_, named)| named);
            self.variables.arrays = left.collect();
            self.pool().let_go(&gone);
            let storage = self.context.storage().clone();
            let release = || {
                storage.release_all(Device::cpu(0));
            };
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

/// That something needs parameters which are not there.
pub fn refusal(what: &str) -> Error {
    Error::invalid(
        what,
        "an executor that is frozen: its parameters are there in the layouts of kernels only",
        "an executor that was not frozen, bound to parameters of its own",
    )
}
