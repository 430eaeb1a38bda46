//! An optimizer with the states of all parameters.

use crate::call::Call;
use crate::optimizer::is_half;
use crate::schedule::LrScheduler;
use crate::{Optimizer, Param, State, TwoBit};
use indexmap::IndexMap;
use mxrs_ndarray::{Invoke, NdArray};
use mxrs_types::{DType, Error, Result, ResultExt};
use std::sync::Arc;

/// A parameter that is trained, with its gradient. Clones are handles to the same arrays.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The name by which the updater finds the parameter's states, its count of updates, and the factors of its
    /// learning rate and weight decay.
    pub name: String,
    /// The value of the parameter, which updates overwrite.
    pub weight: NdArray,
    /// The gradient of the parameter.
    pub grad: NdArray,
}

/// Updates weights, and keeps the optimizer's states of each parameter by name.
pub struct Updater {
    optimizer: Box<dyn Optimizer>,
    /// The first error in the optimizer's settings.
    fault: Option<Error>,
    states: IndexMap<String, State>,
    /// The states of further copies of the parameters, on other devices.
    copies: Vec<IndexMap<String, State>>,
    n_calls: u64,
    compression: Option<TwoBit>,
    /// The number by which the losses were multiplied.
    loss_scale: f64,
    /// Whether the warning was logged that the optimizer updates fewer weights in one call than requested.
    is_limit_told: bool,
}

impl Updater {
    /// Makes an updater from the settings of an optimizer, or from an [`Optimizer`]. States are made at the first update of
    /// each parameter.
    ///
    /// ```
    /// use mxrs_optim::{Updater, optimizers::Sgd};
    ///
    /// let updater = Updater::new(Sgd { lr: 0.1, momentum: 0.9, ..Sgd::default() });
    /// assert_eq!(updater.learning_rate(), 0.1);
    /// ```
    pub fn new(optimizer: impl Into<Self>) -> Self {
        optimizer.into()
    }

    pub(crate) fn with_fault(optimizer: Box<dyn Optimizer>, fault: Option<Error>) -> Self {
        let (states, copies) = (IndexMap::new(), Vec::new());
        Self { optimizer, fault, states, copies, n_calls: 0, compression: None, loss_scale: 1.0, is_limit_told: false }
    }

    /// Checks that the settings from which the updater was made are in range. Every update makes this check first.
    ///
    /// # Errors
    /// Fails with the first setting that is out of range, and its range.
    pub fn check(&self) -> Result<()> {
        self.fault.clone().map_or(Ok(()), Err)
    }

    /// The learning rate of the next update.
    pub fn learning_rate(&self) -> f64 {
        self.optimizer.common().lr_now()
    }

    /// The number of updates so far of the parameter that was updated most often.
    pub fn num_update(&self) -> u64 {
        self.optimizer.common().num_update
    }

    /// Sets the number that gradients are multiplied by, usually one over the batch size. If there is a
    /// [loss scale](Self::set_loss_scale), gradients are divided by it in addition.
    pub fn set_rescale_grad(&mut self, rescale: f64) {
        self.optimizer.common_mut().rescale_grad = rescale / self.loss_scale;
    }

    /// The number that [`Self::set_rescale_grad`] has set, without the loss scale.
    pub fn rescale_grad(&self) -> f64 {
        self.optimizer.common().rescale_grad * self.loss_scale
    }

    /// Sets the number by which losses, and so gradients, are multiplied: updates divide gradients by it. A power of 2 adds no
    /// rounding errors. The default is 1.
    pub fn set_loss_scale(&mut self, scale: f64) {
        let rescale = self.rescale_grad();
        self.loss_scale = scale;
        self.set_rescale_grad(rescale);
    }

    /// Whether gradients are compressed.
    pub fn is_compressing(&self) -> bool {
        self.compression.is_some()
    }

    /// Takes learning rates from a schedule, starting at the schedule's `base_lr`. [`Common::set_scheduler`](crate::Common)
    /// starts at the optimizer's learning rate instead.
    pub fn set_schedule(&mut self, schedule: Arc<dyn LrScheduler>) {
        let common = self.optimizer.common_mut();
        common.learning_rate = None;
        common.set_scheduler(schedule);
    }

    /// The optimizer whose formula this updater applies.
    pub fn optimizer(&self) -> &dyn Optimizer {
        &*self.optimizer
    }

    /// The optimizer whose formula this updater applies, for changing its settings.
    pub fn optimizer_mut(&mut self) -> &mut dyn Optimizer {
        &mut *self.optimizer
    }

    /// Replaces the optimizer by one that keeps the same kinds of states, such as the same optimizer with other settings.
    pub(crate) fn replace_optimizer(&mut self, optimizer: Box<dyn Optimizer>) {
        self.optimizer = optimizer;
    }

    /// Compresses gradients from now on, before any other computation on them, as MXNet's key-value stores do. MXNet's
    /// stores of kind `device` compress even if there is only one device. Compression must be set before the first update.
    ///
    /// # Errors
    /// Fails if a parameter was updated already.
    pub fn set_compression(&mut self, compression: TwoBit) -> Result<()> {
        if let Some((name, _)) = self.states.first() {
            return Err(Error::invalid(
                "compression of gradients",
                format!("`{name}` was updated"),
                "no update before",
            ));
        }
        self.compression = Some(compression);
        Ok(())
    }

    /// The number of calls of [`Optimizer::update`] so far.
    pub fn n_calls(&self) -> u64 {
        self.n_calls
    }

    /// The largest number of bytes that is kept and saved for this weight after an update. It counts the optimizer's
    /// [slots](Optimizer::slots) and the residual of compressed gradients, which all have the size of the weight, and the
    /// master weight. If there is a master weight, the slots are in float32 too.
    pub fn state_bytes(&self, weight: &NdArray) -> u64 {
        let has_master = is_half(weight.dtype()) && self.optimizer.common().multi_precision;
        let dtype = if has_master { DType::F32 } else { weight.dtype() };
        let beside = usize::from(has_master) + usize::from(self.compression.is_some());
        let n_arrays = self.optimizer.slots().len() + beside;
        (n_arrays * weight.shape().n_elements() * dtype.size_of()) as u64
    }

    /// The states that the optimizer keeps, by parameter.
    pub fn state_arrays(&self) -> &IndexMap<String, State> {
        &self.states
    }

    pub(crate) fn set_state_arrays(&mut self, states: IndexMap<String, State>) {
        self.states = states;
        self.copies.clear();
    }

    /// The states of the copies of the parameters with this number, from 1; copy 0 has [`Self::state_arrays`].
    pub(crate) fn states_of_copy(&mut self, copy: usize) -> &mut IndexMap<String, State> {
        if self.copies.len() < copy {
            self.copies.resize_with(copy, IndexMap::new);
        }
        &mut self.copies[copy - 1]
    }

    /// Calls `f` with the states of this copy in place of those of copy 0.
    pub(crate) fn with_copy<R>(&mut self, copy: usize, f: impl FnOnce(&mut Self) -> R) -> R {
        let swap = |updater: &mut Self| {
            let states = std::mem::take(updater.states_of_copy(copy));
            let others = std::mem::replace(&mut updater.states, states);
            *updater.states_of_copy(copy) = others;
        };
        swap(self);
        let result = f(self);
        swap(self);
        result
    }

    /// The states of a parameter as they are before its first update.
    pub(crate) fn fresh_state(&self, nd: &dyn Invoke, index: usize, name: &str, weight: &NdArray) -> Result<State> {
        let of = || format!("states of `{name}`");
        let residual = self.compression.map(|_| TwoBit::residual(nd, name, weight)).transpose()?;
        if is_half(weight.dtype()) {
            if self.optimizer.common().multi_precision {
                let master = cast(nd, weight, DType::F32).context(of)?;
                let mut state = self.optimizer.create_state(nd, index, &master).context(of)?;
                (state.master, state.residual) = (Some(master), residual);
                return Ok(state);
            }
            tracing::warn!(
                "`{name}` is updated in {}, which may be too coarse for small steps; multi_precision keeps a master \
                 weight in float32",
                weight.dtype()
            );
        }
        Ok(State { residual, ..self.optimizer.create_state(nd, index, weight).context(of)? })
    }

    /// Updates each of these parameters once. The calls are only pushed to the engine; reading an array waits for them.
    ///
    /// # Errors
    /// Fails if settings are out of range, if a gradient has another shape or type than its weight, if a parameter is given
    /// twice, or if an operator fails. After an error, counts and states of the parameters before the failed one may already
    /// have changed.
    pub fn update_all(&mut self, nd: &dyn Invoke, params: &[Parameter]) -> Result<()> {
        self.check()?;
        for (index, param) in params.iter().enumerate() {
            self.check_gradient(param)?;
            if params[..index].iter().any(|other| other.name == param.name) {
                return Err(Error::invalid("parameter to update", &param.name, "each once"));
            }
            match self.states.get_mut(&param.name) {
                // The weight may be on another device than its states, because a store has moved the weight, or because the
                // states come from a file. Then the states are moved to the weight.
                Some(state) => {
                    if let Some(moved) = state.moved(nd.context(), param.weight.device())? {
                        *state = moved;
                    }
                }
                None => {
                    let state = self.fresh_state(nd, index, &param.name, &param.weight)?;
                    self.states.insert(param.name.clone(), state);
                }
            }
        }
        // Weights of the same type are updated together, in the given order.
        let mut types: Vec<DType> = Vec::new();
        for param in params {
            if !types.contains(&param.weight.dtype()) {
                types.push(param.weight.dtype());
            }
        }
        let n_at_once = self.n_at_once(nd);
        for dtype in types {
            let of_type: Vec<&Parameter> = params.iter().filter(|p| p.weight.dtype() == dtype).collect();
            for batch in of_type.chunks(n_at_once) {
                self.update_batch(nd, batch)?;
            }
        }
        Ok(())
    }

    /// The number of weights that one call updates. Logs a warning, once, if the optimizer's limit is lower than the
    /// number that was requested by `aggregate_num`.
    fn n_at_once(&mut self, nd: &dyn Invoke) -> usize {
        let asked = self.optimizer.common().aggregate_num.unwrap_or(nd.n_aggregated()).max(1);
        let limit = self.optimizer.aggregates().max(1);
        if (2..asked).contains(&limit) && !std::mem::replace(&mut self.is_limit_told, true) {
            let name = self.optimizer.name();
            tracing::warn!("optimizer {name} updates {limit} weights by one call, not {asked}: that is its most");
        }
        limit.min(asked)
    }

    fn check_gradient(&self, param: &Parameter) -> Result<()> {
        let argument = || format!("gradient of `{}`", param.name);
        if param.weight.shape() != param.grad.shape() {
            let expected = param.weight.shape().to_string();
            return Err(Error::shape(self.optimizer.name(), argument(), expected, param.grad.shape()));
        }
        if param.weight.dtype() != param.grad.dtype() {
            let (expected, got) = (param.weight.dtype().name(), param.grad.dtype().name());
            return Err(Error::dtype(self.optimizer.name(), argument(), expected, got));
        }
        Ok(())
    }

    fn update_batch(&mut self, nd: &dyn Invoke, batch: &[&Parameter]) -> Result<()> {
        self.n_calls += 1;
        let names = || batch.iter().map(|param| format!("`{}`", param.name)).collect::<Vec<_>>().join(", ");
        let states: Vec<&State> = batch.iter().filter_map(|param| self.states.get(&param.name)).collect();
        let mut grads: Vec<NdArray> = batch.iter().map(|param| param.grad.clone()).collect();
        if let Some(compression) = self.compression {
            for (grad, state) in grads.iter_mut().zip(&states) {
                *grad = compression
                    .apply(nd, grad, state.residual.as_ref())
                    .context(|| format!("compressing gradients of {}", names()))?;
            }
        }
        let mut params: Vec<Param<'_>> = batch
            .iter()
            .zip(&grads)
            .zip(states.iter().copied())
            .map(|((p, grad), state)| Param { name: &p.name, weight: &p.weight, grad, state })
            .collect();
        let has_master = states.iter().any(|state| state.master.is_some());
        if !has_master || self.optimizer.is_mixed() {
            return self.optimizer.update(nd, &mut params).context(|| format!("updating {}", names()));
        }
        // The optimizer updates the master weights with gradients in float32; then each weight becomes its master weight,
        // rounded.
        for (param, state) in params.iter().zip(states) {
            let Some(master) = &state.master else { continue };
            let grad = cast(nd, param.grad, DType::F32)?;
            let own = State { slots: state.slots.clone(), ..State::none() };
            let mut one = [Param { name: param.name, weight: master, grad: &grad, state: &own }];
            self.optimizer.update(nd, &mut one).context(|| format!("updating {}", names()))?;
            cast_call(param.weight.dtype()).into(nd, &[master], &[param.weight])?;
        }
        Ok(())
    }
}

fn cast_call(dtype: DType) -> Call {
    Call::new("Cast").with("dtype", dtype.name())
}

fn cast(nd: &dyn Invoke, array: &NdArray, dtype: DType) -> Result<NdArray> {
    cast_call(dtype).make(nd, &[array])
}

impl From<Box<dyn Optimizer>> for Updater {
    fn from(optimizer: Box<dyn Optimizer>) -> Self {
        Self::with_fault(optimizer, None)
    }
}

impl std::fmt::Debug for Updater {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Updater")
            .field("optimizer", &self.optimizer.name())
            .field("n_states", &self.states.len())
            .finish_non_exhaustive()
    }
}
