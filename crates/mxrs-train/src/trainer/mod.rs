//! Parameter updates for imperative code: record a computation, compute gradients, call `step`.

mod scaling;

use crate::Host;
use crate::LossScaler;
use crate::exchange::{Exchange, KvStoreChoice, StoreOptions};
use crate::host::Stores;
use mxrs_exec::{GradReq, Imperative, autograd};
use mxrs_kvstore::KvStore;
use mxrs_ndarray::NdArray;
use mxrs_optim::{Parameter, SavedStates, Updater};
use mxrs_sync::MutexGuard;
use mxrs_types::{Device, Error, Result};
use scaling::Scaling;
use std::sync::Arc;

/// Key of the entry in the saved states that holds the loss scaler.
const LOSS_SCALER: &str = "loss_scaler";

/// Updates arrays by their gradients, like Gluon's `Trainer`. A parameter may have copies on several devices, each with the
/// gradient of a part of the batch; a key-value store sums these gradients.
pub struct Trainer {
    exchange: Exchange,
    /// For each copy and parameter, the number of writes of its gradient at the last step. If the number is still the same,
    /// the gradient is stale.
    used: Vec<Vec<u64>>,
    /// For each parameter, whether its gradients were fresh when [`Trainer::allreduce_grads`] summed them. `None` if they are
    /// not summed.
    summed: Option<Vec<bool>>,
    /// Set if losses are multiplied by a loss scale.
    scaling: Option<Scaling>,
}

impl Trainer {
    /// A trainer of these named arrays, with an optimizer such as `Adam { lr: 1e-3, ..Adam::default() }`. An array without a
    /// gradient array gets one.
    ///
    /// # Errors
    /// Returns an error if there is no array, if a name occurs twice, if a setting of the optimizer is out of range, or if
    /// memory is exhausted.
    pub fn new(nd: &Imperative, params: &[(&str, &NdArray)], optimizer: impl Into<Updater>) -> Result<Self> {
        let params: Vec<(&str, &[&NdArray])> =
            params.iter().map(|(name, array)| (*name, std::slice::from_ref(array))).collect();
        let host = (nd.context().clone(), nd.options().clone());
        Self::on_devices(nd, &host, &params, optimizer, &StoreOptions::new(KvStoreChoice::None))
    }

    /// A trainer of parameters that have one array on each device, in the same order of devices. The options choose the
    /// key-value store and who updates the weights; Gluon's default store is `device`. With a store, the first array of each
    /// parameter is copied to the others.
    ///
    /// ```
    /// use mxrs_train::{StoreOptions, Trainer};
    /// # use mxrs_engine::{Engine, EngineConfig};
    /// # use mxrs_exec::{BackwardOptions, BindOptions, GradReq, Imperative, autograd};
    /// # use mxrs_ndarray::{ArrayContext, NdArray};
    /// # use mxrs_storage::{Storage, StorageConfig};
    /// # use mxrs_types::Device;
    /// # fn main() -> mxrs_types::Result<()> {
    /// # let context = ArrayContext::new(Engine::new(EngineConfig::default())?, Storage::new(StorageConfig::default())?);
    /// # let mut options = BindOptions::new(vec![std::sync::Arc::new(mxrs_op::ReferenceBackend)]);
    /// # options.ops = mxrs_ops::catalog();
    /// # let nd = Imperative::new(&context, &options)?;
    /// # let host = (context.clone(), options);
    /// let on = |id| NdArray::from_slice_on(&context, [2], &[1.0f32, 2.0], Device::cpu(id));
    /// let weight = [on(0)?, on(1)?];
    /// let sgd = mxrs_optim::Sgd { lr: 0.5, ..Default::default() };
    /// let params = [("weight", &[&weight[0], &weight[1]][..])];
    /// let mut trainer = Trainer::on_devices(&nd, &host, &params, sgd, &StoreOptions::new("device"))?;
    /// for weight in &weight {
    ///     let loss = {
    ///         let _record = autograd::record();
    ///         nd.invoke("square", &Default::default(), &[weight])?.remove(0)
    ///     };
    ///     nd.backward(&[&loss], &[], BackwardOptions::default())?;
    /// }
    /// // Each device has the gradient [2, 4]. Their sum over the batch size is the same.
    /// trainer.step(2)?;
    /// assert_eq!(weight[1].to_vec::<f32>()?, [0.0, 0.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`Self::new`]. Returns an error if the arrays of a parameter differ in shape or type, if two
    /// parameters are on different devices, if no store has the name, or if the store cannot do what the options say.
    pub fn on_devices(
        nd: &Imperative,
        host: &impl Host,
        params: &[(&str, &[&NdArray])],
        optimizer: impl Into<Updater>,
        options: &StoreOptions,
    ) -> Result<Self> {
        let update = optimizer.into();
        update.check()?;
        let lr = update.learning_rate();
        if !lr.is_finite() {
            return Err(Error::invalid("learning rate", lr, "a finite number"));
        }
        check(params)?;
        let n_copies = params.first().map_or(0, |(_, arrays)| arrays.len());
        let copy = |at: usize| {
            let copies = params.iter().filter_map(|(name, arrays)| Some((*name, *arrays.get(at)?)));
            copies.map(|(name, weight)| parameter(nd, name, weight)).collect::<Result<Vec<_>>>()
        };
        let copies = (0..n_copies).map(copy).collect::<Result<Vec<_>>>()?;
        let exchange = Exchange::new(nd, update, copies, options, &Stores::of(host))?;
        let mut trainer = Self { exchange, used: Vec::new(), summed: None, scaling: None };
        trainer.used = trainer.n_writes();
        Ok(trainer)
    }

    /// Updates every parameter by its gradient divided by `batch_size`; returns before the update is done. Of several devices
    /// it is the sum of their gradients, and `batch_size` is the size of the whole batch. With a
    /// [loss scaler](Self::set_loss_scaler) the update is skipped if a gradient is not finite.
    ///
    /// # Errors
    /// Returns an error if `batch_size` is 0, if no `backward` has written a gradient since the last step (the error names
    /// the parameter), or if an operator fails.
    pub fn step(&mut self, batch_size: usize) -> Result<()> {
        self.refuse_stale()?;
        self.step_ignoring_stale(batch_size)
    }

    /// Like [`Self::step`], but does not update a parameter whose gradient was not written since the last step. Of several
    /// devices, those whose gradient was written are summed.
    ///
    /// # Errors
    /// Returns an error if `batch_size` is 0 or an operator fails.
    pub fn step_ignoring_stale(&mut self, batch_size: usize) -> Result<()> {
        self.set_batch_size(batch_size)?;
        if !self.accepts_gradients()? {
            self.summed = None;
            self.used = self.n_writes();
            return Ok(());
        }
        if self.summed.is_none() {
            self.sum()?;
        }
        self.update_summed()
    }

    /// Replaces the gradients of each device by their sum over the devices. Then [`Self::update`] makes the step. Between
    /// the two, a program may change the gradients, the same on every device.
    ///
    /// # Errors
    /// Returns an error if the key-value store updates the weights, if the gradients are summed already, if a gradient is
    /// stale, or if the store fails.
    pub fn allreduce_grads(&mut self) -> Result<()> {
        self.expect_on_workers("allreduce_grads")?;
        if self.summed.is_some() {
            return Err(Error::invalid("allreduce_grads", "gradients that are summed already", "`update` between"));
        }
        self.refuse_stale()?;
        self.sum()
    }

    /// Updates every parameter by the gradients that [`Self::allreduce_grads`] summed, divided by `batch_size`. On one device
    /// there is nothing to sum.
    ///
    /// # Errors
    /// Returns an error if the key-value store updates the weights, if the gradients are not summed, if `batch_size` is 0, if
    /// a gradient is stale, or if an operator fails.
    pub fn update(&mut self, batch_size: usize) -> Result<()> {
        self.expect_on_workers("update")?;
        if self.summed.is_none() {
            if self.exchange.store().is_some() {
                return Err(Error::invalid("update", "gradients that are not summed", "`allreduce_grads` first"));
            }
            self.refuse_stale()?;
        }
        self.step_ignoring_stale(batch_size)
    }

    fn expect_on_workers(&self, method: &str) -> Result<()> {
        match self.exchange.is_on_store() {
            false => Ok(()),
            true => {
                let expected = "`step`, or a trainer with update_on_kvstore = false";
                Err(Error::invalid(method, "weights that the key-value store updates", expected))
            }
        }
    }

    fn set_batch_size(&mut self, batch_size: usize) -> Result<()> {
        if batch_size == 0 {
            return Err(Error::invalid("batch size of a step", 0, "1 or more"));
        }
        self.exchange.updater().set_rescale_grad(1.0 / batch_size as f64);
        Ok(())
    }

    /// Whether the gradient of this copy was written since the last step.
    fn is_fresh(&self, copy: usize, i: usize) -> bool {
        self.exchange.copies()[copy][i].grad.n_writes() != self.used[copy][i]
    }

    fn refuse_stale(&self) -> Result<()> {
        if self.summed.is_some() {
            return Ok(());
        }
        for (at, copy) in self.exchange.copies().iter().enumerate() {
            let Some(i) = (0..copy.len()).find(|i| !self.is_fresh(at, *i)) else { continue };
            let place = match self.exchange.copies().len() {
                1 => String::new(),
                _ => format!(" on {}", copy[i].weight.device()),
            };
            let expected =
                "a backward before each step that reaches it; step_ignoring_stale leaves such parameters alone";
            let what = format!("gradient of `{}`{place}", copy[i].name);
            return Err(Error::invalid(what, "the one of an earlier step", expected));
        }
        Ok(())
    }

    /// Sums the fresh gradients over the devices, and records which parameters have any.
    fn sum(&mut self) -> Result<()> {
        let _paused = autograd::pause();
        let n_copies = self.exchange.copies().len();
        let n_params = self.exchange.copies().first().map_or(0, Vec::len);
        let mut summed = Vec::with_capacity(n_params);
        for i in 0..n_params {
            let fresh: Vec<bool> = (0..n_copies).map(|copy| self.is_fresh(copy, i)).collect();
            let is_any = fresh.contains(&true);
            if is_any {
                self.exchange.reduce(i, |copy| fresh[copy])?;
            }
            summed.push(is_any);
        }
        self.summed = Some(summed);
        Ok(())
    }

    /// Makes the step of the parameters whose gradients were summed, unless the store has made it.
    fn update_summed(&mut self) -> Result<()> {
        let summed = self.summed.take().unwrap_or_default();
        if !self.exchange.is_on_store() {
            self.exchange.update_some(|i| summed.get(i).copied().unwrap_or(false))?;
        }
        self.used = self.n_writes();
        Ok(())
    }

    fn n_writes(&self) -> Vec<Vec<u64>> {
        let of_copy = |copy: &Vec<Parameter>| copy.iter().map(|param| param.grad.n_writes()).collect();
        self.exchange.copies().iter().map(of_copy).collect()
    }

    /// Scales the gradients so that the norm of all their elements is at most `max_norm`, and returns the norm before scaling.
    /// Of several devices it is the norm of the sums of their gradients. A loss scale does not count: it is the norm of the
    /// gradients divided by the scale. Waits for the gradients.
    ///
    /// # Errors
    /// Fails as [`crate::clip_global_norm`] does.
    pub fn clip_gradients(&self, max_norm: f64) -> Result<f64> {
        let scale = self.scale_of_gradients();
        Ok(self.exchange.clip(max_norm * scale, self.summed.is_some())? / scale)
    }

    /// The optimizer that updates the weights. No step may be made while the guard is held.
    pub fn optimizer(&mut self) -> MutexGuard<'_, Updater> {
        self.exchange.updater()
    }

    /// The key-value store that sums gradients over devices, if there is one.
    pub fn kvstore(&self) -> Option<&Arc<dyn KvStore>> {
        self.exchange.store()
    }

    /// Whether the key-value store updates the weights.
    pub fn updates_on_kvstore(&self) -> bool {
        self.exchange.is_on_store()
    }

    /// The states of the optimizer: those of the key-value store if it updates the weights, otherwise those of the first
    /// device. If the store connects several workers, all of them must call this function. The first worker gets the states
    /// of all parameters, and every other worker gets the states of those that it updates. A loss scaler is saved as one of
    /// the text entries.
    ///
    /// # Errors
    /// Fails as [`Updater::states`] does.
    pub fn states(&self) -> Result<SavedStates> {
        let mut states = self.exchange.states()?;
        states.metadata.extend(self.loss_scaler().map(|scaler| (LOSS_SCALER.to_owned(), scaler.to_text())));
        Ok(states)
    }

    /// Replaces the states of the optimizer on all devices, to resume a training. A loss scaler of the states is
    /// [resumed](LossScaler::resume) if this trainer has one. With an asynchronous store, worker 0 gives its states to the
    /// servers, and the other workers wait for that.
    ///
    /// # Errors
    /// Fails as [`Updater::set_states`] does.
    pub fn set_states(&mut self, states: &SavedStates) -> Result<()> {
        let saved = states.metadata.get(LOSS_SCALER).map(|text| LossScaler::from_text(text)).transpose()?;
        self.exchange.set_saved_states(states)?;
        if let (Some(scaling), Some(saved)) = (&mut self.scaling, saved) {
            scaling.scaler.resume(&saved);
        }
        Ok(())
    }
}

/// Checks the parameters of a trainer: names, devices, shapes and types.
fn check(params: &[(&str, &[&NdArray])]) -> Result<()> {
    let Some((first, arrays)) = params.first() else {
        return Err(Error::invalid("parameters of a trainer", "none", "at least one"));
    };
    let devices = |arrays: &[&NdArray]| arrays.iter().map(|array| array.device()).collect::<Vec<Device>>();
    let list = |devices: &[Device]| devices.iter().map(Device::to_string).collect::<Vec<_>>().join(", ");
    let wanted = devices(arrays);
    for (i, (name, arrays)) in params.iter().enumerate() {
        if params[..i].iter().any(|(other, _)| other == name) {
            return Err(Error::invalid("parameters of a trainer", format!("`{name}` twice"), "different names"));
        }
        let Some((one, others)) = arrays.split_first() else {
            return Err(Error::invalid(format!("parameter `{name}`"), "no array", "one array on each device"));
        };
        if devices(arrays) != wanted {
            let expected = format!("{}, as those of `{first}`", list(&wanted));
            return Err(Error::invalid(format!("devices of `{name}`"), list(&devices(arrays)), expected));
        }
        if let Some(other) = others.iter().find(|other| (other.shape(), other.dtype()) != (one.shape(), one.dtype())) {
            let got = format!("{} {} on {}", other.dtype(), other.shape(), other.device());
            let expected = format!("{} {}, as on {}", one.dtype(), one.shape(), one.device());
            return Err(Error::invalid(format!("copy of `{name}`"), got, expected));
        }
    }
    Ok(())
}

/// A parameter with its gradient array, which is made if there is none.
fn parameter(nd: &Imperative, name: &str, weight: &NdArray) -> Result<Parameter> {
    if autograd::grad_of(weight).is_none() {
        nd.attach_grad(weight, GradReq::Write)?;
    }
    let grad = autograd::grad_of(weight)
        .ok_or_else(|| Error::invalid(format!("parameter `{name}`"), "no gradient", "an array with one"))?;
    Ok(Parameter { name: name.to_owned(), weight: weight.clone(), grad })
}
