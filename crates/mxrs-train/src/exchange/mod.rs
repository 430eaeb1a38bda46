//! Updates parameters that have a copy on each of several devices.
//!
//! An [`Exchange`] has the copies of the parameters, the optimizer with its states, and a key-value store if gradients are
//! summed over devices. If the store updates, its updater applies the optimizer to the stored weight, and every device pulls
//! this weight. If workers update, every device pulls the sum of the gradients and applies the same update to its own copy.
//! Parameter `i` is pushed and pulled with priority `-i`. So the first layers come first, because the next batch needs them
//! first. [`Exchange::step`] does not block until arrays are computed, and a push waits in the engine only for the gradient
//! of its own parameter.
//!
//! A store of several workers divides the updates among them. Then each worker has the states of the elements that it updates,
//! and [`divided`] joins them for a checkpoint. In an asynchronous store servers have the states; [`on_server`] is their updater.

mod divided;
mod finite;
mod on_server;
mod on_store;
mod options;

pub use on_server::server_updater;
pub use options::{KvStoreChoice, StoreOptions};

use crate::host::Stores;
use crate::norm::{global_norm, norm_of_sums, scale};
use indexmap::IndexMap;
use mxrs_exec::{Imperative, autograd};
use mxrs_format::{AlignedBytes, Tensor};
use mxrs_kvstore::{Family, Key, KvStore, Residual, StoreType, Value};
use mxrs_ndarray::NdArray;
use mxrs_optim::{Parameter, Updater};
use mxrs_sync::atomic::{AtomicU64, Ordering};
use mxrs_sync::{Mutex, MutexGuard};
use mxrs_types::{Error, Result, ResultExt};
use on_store::{Changed, OnStore};
use options::Trained;
use std::sync::Arc;

/// The copies of parameters, their optimizer and their store.
pub(crate) struct Exchange {
    nd: Imperative,
    updater: Arc<Mutex<Updater>>,
    /// By device, then by parameter.
    copies: Vec<Vec<Parameter>>,
    store: Option<InUse>,
    /// For each parameter, the write count of its gradient on the first device after [`Self::clip`] has summed the
    /// gradients. If the counts are still the same at the next step, the step does not sum them again. Empty if nothing was
    /// summed.
    summed: Mutex<Vec<u64>>,
    /// Whether the store compresses gradients.
    is_compressing: bool,
}

/// A key-value store with what this exchange passes to it.
struct InUse {
    store: Arc<dyn KvStore>,
    /// Whether the store updates the weights.
    on_store: bool,
    /// For each parameter, its key and the arrays that are pushed and pulled.
    keyed: Vec<Keyed>,
    changed: Changed,
}

/// The key of one parameter in a store, and the arrays that are pushed and pulled under it.
struct Keyed {
    key: Key,
    grads: Vec<(Key, Value)>,
    weights: Vec<(Key, NdArray)>,
    /// The write count of the weight on the first device after the last pull. A larger count at the next step means that the
    /// program has changed the weight.
    n_writes: AtomicU64,
}

impl Exchange {
    /// Takes the copies of the parameters, by device and then by parameter. With a store, the weights of the first device
    /// become those of the store and of all devices.
    ///
    /// # Errors
    /// Returns an error if no store has the name, or if the store refuses compression, an updater or a parameter.
    pub fn new(
        nd: &Imperative,
        updater: Updater,
        copies: Vec<Vec<Parameter>>,
        options: &StoreOptions,
        stores: &Stores,
    ) -> Result<Self> {
        let first = copies.first().map_or(&[][..], |first| first);
        let of = Trained {
            n_devices: copies.len(),
            largest: first.iter().map(|param| param.weight.shape().n_elements()).max().unwrap_or(0),
            has_scalars: !updater.optimizer().scalars().is_empty(),
            n_at_once: updater.optimizer().common().aggregate_num.unwrap_or(1),
        };
        let updater = Arc::new(Mutex::new(updater));
        let decided = options.decide(&of, stores)?;
        if decided.is_none() && options.compression.is_some() {
            tracing::warn!("Gradients are not compressed: there is no key-value store that sends them");
        }
        if decided.is_none() && copies.len() > 1 {
            tracing::warn!("The devices train apart: there is no key-value store that sums their gradients");
        }
        let is_compressing = decided.is_some() && options.compression.is_some();
        let summed = Mutex::default();
        let mut exchange = Self { nd: nd.clone(), updater, copies, store: None, summed, is_compressing };
        if let Some((store, on_store)) = decided {
            exchange.begin(store, on_store, options).context(|| "preparing the key-value store".to_owned())?;
        }
        Ok(exchange)
    }

    fn begin(&mut self, store: Arc<dyn KvStore>, on_store: bool, options: &StoreOptions) -> Result<()> {
        if let Some(compression) = options.compression {
            store.set_gradient_compression(compression)?;
        }
        let changed = Changed::default();
        if on_store {
            let (nd, updater) = (self.nd.clone(), Arc::clone(&self.updater));
            store.set_updater(Box::new(OnStore { nd, updater, changed: Arc::clone(&changed) }))?;
        }
        let first = self.copies.first().map_or(&[][..], |first| first);
        let keyed = first.iter().enumerate().map(|(i, param)| {
            let key = Key::from(param.name.as_str());
            let copies = || self.copies.iter().map(|copy| &copy[i]);
            let grads = copies().map(|copy| (key.clone(), Value::from(&copy.grad))).collect();
            let weights: Vec<(Key, NdArray)> = copies().map(|copy| (key.clone(), copy.weight.clone())).collect();
            store.broadcast(&[(key.clone(), param.weight.clone())], &weights, priority(i))?;
            let n_writes = AtomicU64::new(param.weight.n_writes());
            Ok(Keyed { key, grads, weights, n_writes })
        });
        let keyed = keyed.collect::<Result<_>>()?;
        self.store = Some(InUse { store, on_store, keyed, changed });
        Ok(())
    }

    /// The optimizer and its states.
    pub fn updater(&self) -> MutexGuard<'_, Updater> {
        self.updater.lock()
    }

    /// Calls single operators.
    pub fn imperative(&self) -> &Imperative {
        &self.nd
    }

    /// The copies of the parameters, by device and then by parameter.
    pub fn copies(&self) -> &[Vec<Parameter>] {
        &self.copies
    }

    /// The number of workers that the store connects; 1 without a store.
    pub fn num_workers(&self) -> usize {
        self.store().map_or(1, |store| store.num_workers())
    }

    /// The store, if there is one.
    pub fn store(&self) -> Option<&Arc<dyn KvStore>> {
        self.store.as_ref().map(|used| &used.store)
    }

    /// Whether the store updates the weights.
    pub fn is_on_store(&self) -> bool {
        self.store.as_ref().is_some_and(|used| used.on_store)
    }

    /// Updates every parameter by its gradients.
    ///
    /// # Errors
    /// Returns an error if an operator or the store fails.
    pub fn step(&self) -> Result<()> {
        let _paused = autograd::pause();
        let summed = std::mem::take(&mut *self.summed.lock());
        if summed.is_empty() || summed != self.n_writes() {
            (0..self.n_params()).try_for_each(|i| self.reduce(i, |_| true))?;
        }
        if self.is_on_store() {
            return Ok(());
        }
        self.updater().update_copies(&self.nd, &self.copies)
    }

    fn n_params(&self) -> usize {
        self.copies.first().map_or(0, Vec::len)
    }

    /// Sums the gradients of parameter `i` over the devices for which `counts` is true. Afterwards every device has the sum
    /// as its gradient or, if the store updates the weights, the updated weight. Does nothing without a store.
    ///
    /// # Errors
    /// Returns an error if the store fails, or if the program has changed a weight that servers keep.
    pub fn reduce(&self, i: usize, counts: impl Fn(usize) -> bool) -> Result<()> {
        let Some(used) = &self.store else { return Ok(()) };
        let Some(keyed) = used.keyed.get(i) else { return Ok(()) };
        let Some(first) = self.copies.first().map(|first| &first[i]) else { return Ok(()) };
        if used.on_store && first.weight.n_writes() != keyed.n_writes.load(Ordering::Relaxed) {
            if self.serving_store().is_some() {
                return Err(refused_change(&first.name, used.store.store_type()));
            }
            used.changed.lock().insert(first.name.clone(), first.weight.clone());
        }
        if (0..self.copies.len()).all(&counts) {
            let outs = if used.on_store { &keyed.weights[..] } else { &[] };
            used.store.pushpull(&keyed.grads, outs, priority(i))?;
        } else {
            let counted = keyed.grads.iter().enumerate().filter(|(copy, _)| counts(*copy));
            let counted: Vec<(Key, Value)> = counted.map(|(_, grad)| grad.clone()).collect();
            used.store.push(&counted, priority(i))?;
            let grads = || self.copies.iter().map(|copy| (keyed.key.clone(), copy[i].grad.clone())).collect();
            let outs: Vec<(Key, NdArray)> = if used.on_store { keyed.weights.clone() } else { grads() };
            used.store.pull(&outs, priority(i))?;
        }
        keyed.n_writes.store(first.weight.n_writes(), Ordering::Relaxed);
        Ok(())
    }

    /// Applies the optimizer on every device to the parameters for which `is_updated` is true. Their gradients are summed
    /// already.
    ///
    /// # Errors
    /// Returns an error if an operator fails.
    pub fn update_some(&self, is_updated: impl Fn(usize) -> bool) -> Result<()> {
        let _paused = autograd::pause();
        let some = |copy: &Vec<Parameter>| {
            copy.iter().enumerate().filter(|(i, _)| is_updated(*i)).map(|(_, param)| param.clone()).collect()
        };
        let copies: Vec<Vec<Parameter>> = self.copies.iter().map(some).collect();
        self.updater().update_copies(&self.nd, &copies)
    }

    /// Scales the gradients so that their norm over all parameters is at most `max_norm`, and returns the norm before
    /// scaling. With several devices, the norm is that of the gradients summed over the devices; `are_summed` says whether
    /// every device has these sums already. With several workers, this call also sums the gradients over the workers, and
    /// the next [`Self::step`] does not sum them again. So all workers compute the same norm. Waits for the gradients.
    ///
    /// # Errors
    /// Fails as [`crate::clip_global_norm`] does. Also fails if a store of several workers updates the weights: it updates
    /// each weight as soon as its gradient is summed, before the norm over all parameters is known.
    pub fn clip(&self, max_norm: f64, are_summed: bool) -> Result<f64> {
        // An asynchronous store does not sum gradients over workers: it updates the weights by the gradient of one worker at
        // a time.
        let are_added = self.store().is_some_and(|store| store.store_type().family() != Family::DistAsync);
        let several = self.num_workers() > 1 && are_added;
        if several && !are_summed {
            if self.is_on_store() {
                let got = "true, with clipping by the norm of all gradients";
                let expected = "false: a store of several workers updates each weight before this norm is known";
                return Err(Error::invalid("update_on_kvstore", got, expected));
            }
            (0..self.n_params()).try_for_each(|i| self.reduce(i, |_| true))?;
        }
        let norm = self.scale(max_norm, are_summed || several)?;
        if several && !are_summed {
            *self.summed.lock() = self.n_writes();
        }
        Ok(norm)
    }

    /// For each parameter, the number of times that its gradient on the first device was written.
    fn n_writes(&self) -> Vec<u64> {
        self.copies.first().map_or(Vec::new(), |copy| copy.iter().map(|param| param.grad.n_writes()).collect())
    }

    fn scale(&self, max_norm: f64, are_summed: bool) -> Result<f64> {
        let of_copy = |copy: &Vec<Parameter>| copy.iter().map(|param| param.grad.clone()).collect::<Vec<NdArray>>();
        let grads: Vec<Vec<NdArray>> = self.copies.iter().map(of_copy).collect();
        let all: Vec<&NdArray> = grads.iter().flatten().collect();
        scale(&self.nd, &all, max_norm, || match grads.as_slice() {
            [first, others @ ..] if are_summed || others.is_empty() => global_norm(&first.iter().collect::<Vec<_>>()),
            _ => {
                let sums = (0..self.n_params()).map(|i| grads.iter().map(|copy| &copy[i]).collect::<Vec<_>>());
                norm_of_sums(&sums.collect::<Vec<_>>())
            }
        })
    }
}

impl Exchange {
    /// The residuals of the store's compression, by parameter: what was not sent of its gradients, as one tensor for each
    /// device. Empty without compression.
    ///
    /// # Errors
    /// Returns an error if computing a residual failed.
    pub fn residuals(&self) -> Result<IndexMap<String, Vec<Tensor>>> {
        let mut all: IndexMap<String, Vec<Tensor>> = IndexMap::new();
        let Some(store) = self.store() else { return Ok(all) };
        for Residual { key, array, .. } in store.residuals()? {
            let Key::Text(name) = key else { continue };
            let what = || format!("reading the residual of `{name}`");
            let bytes = array.read_bytes(AlignedBytes::copy_of).context(what)?;
            let tensor = Tensor::dense(array.dtype(), array.shape().clone(), bytes)?;
            all.entry(name.to_string()).or_default().push(tensor);
        }
        Ok(all)
    }

    /// Continues from residuals that [`Self::residuals`] returned.
    ///
    /// # Errors
    /// Returns an error if there is no store, or if it does not compress gradients of these parameters.
    pub fn set_residuals(&self, residuals: &IndexMap<String, Vec<Tensor>>) -> Result<()> {
        let mut all = Vec::new();
        for (name, tensors) in residuals {
            for (position, tensor) in tensors.iter().enumerate() {
                let dense = tensor.as_dense().context(|| format!("residual of `{name}`"))?;
                let shape = dense.shape().clone();
                let array = NdArray::from_bytes(self.nd.context(), shape, dense.dtype(), dense.bytes())?;
                all.push(Residual { key: Key::from(name.as_str()), position, array });
            }
        }
        match (self.store(), all.first()) {
            (_, None) => Ok(()),
            (Some(store), _) => store.set_residuals(&all),
            (None, Some(first)) => {
                let expected = "a key-value store that compresses gradients";
                Err(Error::invalid(format!("residual of {}", first.key), "no key-value store", expected))
            }
        }
    }
}

/// The error if a program has changed a weight that servers keep. The servers would continue with their own weight, so the
/// change would be lost.
fn refused_change(name: &str, store: &StoreType) -> Error {
    let expected = format!(
        "no change once the store `{store}` has the weights: its servers keep them; set parameters before the optimizer is \
         initialized"
    );
    Error::invalid(format!("weight `{name}`"), "a change by the program", expected)
}

/// The priority of the parameter with this index: the first is the most urgent.
fn priority(index: usize) -> i32 {
    -i32::try_from(index).unwrap_or(i32::MAX)
}
