//! The copies of parameters and auxiliary states on the contexts: computes their mean, and saves copies that differ from it.

use super::Module;
use super::params::Copies;
use crate::resume::DeviceCopies;
use mxrs_exec::{Imperative, autograd};
use mxrs_format::{Checkpoint, Tensor};
use mxrs_graph::NodeId;
use mxrs_ndarray::NdArray;
use mxrs_op::Attrs;
use mxrs_types::{Device, Error, Result, ResultExt};

/// The mean of the copies of an array, in host memory: 0 plus the first, plus the second, and so on, divided by their number.
/// Every result is rounded to the type of the array, as in MXNet. Of arrays of integers, whose sums could overflow, it is the
/// first copy.
pub(super) fn mean(nd: &Imperative, copies: &[&NdArray]) -> Result<NdArray> {
    let _paused = autograd::pause();
    let mut total: Option<NdArray> = None;
    for copy in copies {
        let here = copy.detach().as_in_context(nd.context(), Device::cpu(0))?;
        if !copy.dtype().is_float() {
            return Ok(here);
        }
        let sum = match &total {
            None => nd.invoke("_plus_scalar", &Attrs::from([("scalar", "0".to_owned())]), &[&here])?,
            Some(total) => nd.invoke("elemwise_add", &Attrs::default(), &[total, &here])?,
        };
        total = sum.into_iter().next();
    }
    let total = total.ok_or_else(|| Error::invalid("copies of an array", "none", "one per context"))?;
    let n = Attrs::from([("scalar", copies.len().to_string())]);
    let mean = nd.invoke("_div_scalar", &n, &[&total])?;
    Ok(mean.into_iter().next().unwrap_or(total))
}

impl Module {
    /// Starts to copy parameters or auxiliary states to the host. With several contexts, the mean of the contexts' copies is
    /// copied.
    pub(super) fn copies(&self, ids: &[NodeId]) -> Result<Copies> {
        let mut arrays = Vec::with_capacity(ids.len());
        for id in ids {
            let name = self.graph.node(*id).name.as_str();
            let copies = self.copies_of(name)?;
            let array = match copies.as_slice() {
                [one] => (*one).clone(),
                copies => mean(&self.nd, copies).context(|| format!("the mean of `{name}` over the contexts"))?,
            };
            arrays.push((name, array));
        }
        Copies::start(arrays.iter().map(|(name, array)| (*name, array)))
    }

    /// The copies of an array, one per context.
    pub(super) fn copies_of(&self, name: &str) -> Result<Vec<&NdArray>> {
        self.first()?.executors().map(|executor| executor.argument(name)).collect()
    }

    /// Replaces the auxiliary states of every context by their mean, as MXNet does at the end of an epoch, and then those of
    /// every worker by the mean over the workers. If there are several workers, all must call this function.
    pub(super) fn average_aux_states(&self) -> Result<()> {
        if self.contexts.len() == 1 && self.n_workers() == 1 {
            return Ok(());
        }
        let ids = self.param_ids().1;
        let names: Vec<&str> = ids.iter().map(|id| self.graph.node(*id).name.as_str()).collect();
        if self.contexts.len() > 1 {
            for name in &names {
                let copies = self.copies_of(name)?;
                let mean = mean(&self.nd, &copies).context(|| format!("the mean of `{name}` over the contexts"))?;
                copies.iter().try_for_each(|copy| copy.copy_from_array(&mean))?;
            }
        }
        self.average_over_workers(&names)
    }

    /// The copies of every array of which at least one context has a copy that differs from `means`. [`Module::get_params`]
    /// returned `means`.
    pub(super) fn copies_beside(&self, means: &Checkpoint) -> Result<DeviceCopies> {
        let mut beside = DeviceCopies { n_devices: self.contexts.len(), ..DeviceCopies::default() };
        if self.contexts.len() == 1 {
            return Ok(beside);
        }
        for name in self.all_names() {
            let copies = self.copies_of(&name)?.into_iter().map(|copy| (name.as_str(), copy));
            let readings = copies.map(|copy| Copies::start([copy])).collect::<Result<Vec<_>>>()?;
            let mut tensors = Vec::with_capacity(readings.len());
            for reading in readings {
                tensors.extend(reading.finish()?.into_values());
            }
            let mean = means.arg.get(&name).or_else(|| means.aux.get(&name));
            let is = |tensor: &Tensor, other: &Tensor| tensor.stored_bytes() == other.stored_bytes();
            if mean.is_some_and(|mean| tensors.iter().all(|tensor| is(tensor, mean))) {
                continue;
            }
            if tensors.iter().all(|tensor| is(tensor, &tensors[0])) {
                tensors.truncate(1);
            }
            beside.arrays.insert(name, tensors);
        }
        Ok(beside)
    }

    /// Sets the arrays of each context to the copies that a checkpoint holds for that context, except weights that servers
    /// keep. Does nothing if the checkpoint was written with another number of contexts.
    pub(super) fn restore_copies(&self, beside: &DeviceCopies) -> Result<()> {
        if beside.n_devices != self.contexts.len() {
            return Ok(());
        }
        let served = self.exchange.as_ref().filter(|exchange| exchange.serving_store().is_some());
        let is_served = |name: &str| {
            served.is_some_and(|exchange| exchange.copies().iter().flatten().any(|param| param.name == name))
        };
        for (name, tensors) in beside.arrays.iter().filter(|(name, _)| !is_served(name)) {
            for (at, copy) in self.copies_of(name)?.into_iter().enumerate() {
                let what = || format!("setting `{name}` on {}", copy.device());
                let Some(tensor) = tensors.get(at).or(tensors.first()) else { continue };
                let dense = tensor.as_dense().context(what)?;
                if dense.shape() != copy.shape() || dense.dtype() != copy.dtype() {
                    let got = format!("{} {}", dense.dtype(), dense.shape());
                    let expected = format!("{} {}", copy.dtype(), copy.shape());
                    return Err(Error::invalid(format!("`{name}` of a states file"), got, expected));
                }
                copy.copy_from_bytes(dense.bytes()).context(what)?;
            }
        }
        Ok(())
    }
}
