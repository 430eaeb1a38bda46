//! Memory that several executors use in turn.

use crate::freeze::refusal;
use mxrs_engine::Var;
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_storage::{Block, Tag};
use mxrs_sync::atomic::{AtomicBool, Ordering};
use mxrs_sync::{Mutex, MutexGuard, Rank, RankedMutex};
use mxrs_types::{DType, Device, Error, Result, Shape};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Memory that executors bound with it share: temporaries, arrays by name. Clones are handles to the same pool.
///
/// Given to [`BindOptions::pool`](crate::BindOptions::pool), or taken from an executor ([`Executor::pool`]).
/// - Temporaries of all executors are in the same bytes, so the first executor bound should be the one that needs most.
/// - Parameters, their gradients and auxiliary states are the same arrays in all executors: shapes and types must agree.
/// - Inputs, labels, outputs and their gradients are views of one buffer per name, as large as the largest so far. Their
///   content is that of whichever executor ran or was fed last: feed before a run, read after it.
/// - A gradient must be asked for before another executor of the pool runs: [`Executor::backward`] says so otherwise.
///
/// Runs of one pool never overlap, from whatever threads they are started.
///
/// [`Executor::pool`]: crate::Executor::pool
/// [`Executor::backward`]: crate::Executor::backward
#[derive(Clone)]
pub struct MemoryPool(Arc<Inner>);

struct Inner {
    context: ArrayContext,
    /// Written by every task that uses the temporaries.
    var: Var,
    arenas: RankedMutex<Vec<Arc<Block>>>,
    /// Arrays that have one shape in all executors.
    fixed: RankedMutex<FxHashMap<String, NdArray>>,
    /// Names of arrays that there are no more.
    gone: RankedMutex<FxHashSet<String>>,
    /// Buffers of one axis that arrays of any shape are views of.
    buffers: RankedMutex<FxHashMap<(String, DType), NdArray>>,
    /// Whether somebody was told that there was too little.
    has_warned: AtomicBool,
    /// Number of the last run. Held while a run is pushed, so that no other run comes between its tasks.
    turn: Mutex<u64>,
}

/// The right to push a run.
pub struct Turn<'a>(MutexGuard<'a, u64>);

impl Turn<'_> {
    /// The run that was pushed last.
    pub fn last(&self) -> u64 {
        *self.0
    }

    /// Another run begins; what earlier runs left in the temporaries is gone. Returns its number.
    pub fn begin(&mut self) -> u64 {
        *self.0 += 1;
        *self.0
    }
}

impl MemoryPool {
    /// An empty pool.
    pub fn new(context: &ArrayContext) -> Self {
        Self(Arc::new(Inner {
            context: context.clone(),
            var: context.engine().new_var(),
            arenas: RankedMutex::new(Rank::Leaf, Vec::new()),
            fixed: RankedMutex::new(Rank::Leaf, FxHashMap::default()),
            gone: RankedMutex::new(Rank::Leaf, FxHashSet::default()),
            buffers: RankedMutex::new(Rank::Leaf, FxHashMap::default()),
            has_warned: AtomicBool::new(false),
            turn: Mutex::new(0),
        }))
    }

    /// Bytes held for temporaries.
    pub fn arena_bytes(&self) -> usize {
        self.0.arenas.lock().iter().map(|block| block.len()).sum()
    }

    pub(crate) fn var(&self) -> &Var {
        &self.0.var
    }

    pub(crate) fn turn(&self) -> Turn<'_> {
        Turn(self.0.turn.lock())
    }

    /// Memory for temporaries: the smallest there is that is large enough.
    ///
    /// # Errors
    /// Out of memory.
    pub(crate) fn arena(&self, size_bytes: usize) -> Result<Option<Arc<Block>>> {
        if size_bytes == 0 {
            return Ok(None);
        }
        let (unused, largest) = {
            let mut arenas = self.0.arenas.lock();
            if let Some(fits) = arenas.iter().filter(|a| a.len() >= size_bytes).min_by_key(|a| a.len()) {
                return Ok(Some(fits.clone()));
            }
            // Nobody has those but the pool.
            let (used, unused): (Vec<_>, Vec<_>) = arenas.drain(..).partition(|a| Arc::strong_count(a) > 1);
            *arenas = used;
            (unused, arenas.iter().map(|a| a.len()).max())
        };
        if let Some(largest) = largest {
            self.too_small("temporaries", size_bytes, largest);
        }
        drop(unused);
        let block = self.0.context.storage().allocate(Device::cpu(0), size_bytes, Tag::new("executor:arena"))?;
        let block = Arc::new(block);
        self.0.arenas.lock().push(block.clone());
        Ok(Some(block))
    }

    /// Says once for each pool that its executors were bound in an order that costs memory.
    fn too_small(&self, what: &str, needed_bytes: usize, has_bytes: usize) {
        if !self.0.has_warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                what,
                needed_bytes,
                has_bytes,
                "a memory pool is too small and allocates more beside what it has; bind the largest graph first"
            );
        }
    }

    /// The array every executor has under this name.
    ///
    /// # Errors
    /// It has another shape or type; out of memory.
    pub(crate) fn fixed(&self, name: &str, shape: &Shape, dtype: DType) -> Result<NdArray> {
        let known = self.0.fixed.lock().get(name).cloned();
        if known.is_none() && self.0.gone.lock().contains(name) {
            return Err(refusal(&format!("sharing `{name}` by a pool")));
        }
        let Some(array) = known else {
            let array = NdArray::zeros(&self.0.context, shape.clone(), dtype)?;
            self.register(name, &array);
            return Ok(array);
        };
        if array.shape() == shape && array.dtype() == dtype {
            return Ok(array);
        }
        let got = format!("{dtype} {shape}");
        let expected = format!(
            "{} {}, as in the executors that share its pool; only inputs may have another shape in each",
            array.dtype(),
            array.shape()
        );
        Err(Error::invalid(format!("`{name}`"), got, expected))
    }

    /// Lets go of arrays that an executor has no more. Who asks for them later is told so.
    pub(crate) fn let_go(&self, names: &[String]) {
        let arrays: Vec<Option<NdArray>> = {
            self.0.gone.lock().extend(names.iter().cloned());
            let mut fixed = self.0.fixed.lock();
            names.iter().map(|name| fixed.remove(name)).collect()
        };
        // Not under the lock: they may be the last handles.
        drop(arrays);
    }

    /// Makes an array the one that [`Self::fixed`] finds, unless there is one.
    pub(crate) fn register(&self, name: &str, array: &NdArray) {
        self.0.fixed.lock().entry(name.to_owned()).or_insert_with(|| array.detach());
    }

    /// A view of the buffer with this name; a larger buffer where it is too small.
    ///
    /// # Errors
    /// Out of memory.
    pub(crate) fn view(&self, name: &str, shape: &Shape, dtype: DType) -> Result<NdArray> {
        let n = shape.n_elements();
        let key = (name.to_owned(), dtype);
        let known = self.0.buffers.lock().get(&key).cloned();
        let buffer = match known {
            Some(buffer) if buffer.shape().n_elements() >= n => buffer,
            too_small => {
                if let Some(small) = too_small {
                    self.too_small(name, n * dtype.size_of(), small.size_bytes());
                }
                let buffer = NdArray::zeros(&self.0.context, [n], dtype)?;
                let replaced = {
                    let mut buffers = self.0.buffers.lock();
                    buffers.insert(key, buffer.clone())
                };
                // Not under the lock: it may be the last handle.
                drop(replaced);
                buffer
            }
        };
        prefix(&buffer, shape)
    }
}

/// The first elements of an array as an array of another shape, in the same memory.
///
/// # Errors
/// More elements than there are.
pub fn prefix(array: &NdArray, shape: &Shape) -> Result<NdArray> {
    let flat = array.detach().reshape([array.shape().n_elements()])?;
    flat.slice(0, shape.n_elements())?.reshape(shape.clone())
}

impl Drop for Inner {
    fn drop(&mut self) {
        let arenas = std::mem::take(self.arenas.get_mut());
        self.context.engine().delete_var(self.var.clone(), move || drop(arenas));
    }
}

/// What an array of a bound graph is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A parameter or an auxiliary state.
    Parameter,
    /// The gradient of a parameter.
    Gradient,
    /// Anything that has another shape in each executor.
    PerShape,
}

/// Where a bound graph's arrays come from.
#[derive(Clone)]
pub struct Arrays {
    pool: MemoryPool,
    /// Whether arrays that have a shape of their own are views of shared buffers.
    shares_buffers: bool,
}

impl Arrays {
    /// Of a pool that was given, or of one that nobody else has yet.
    pub fn new(context: &ArrayContext, given: Option<&MemoryPool>) -> Self {
        let pool = given.cloned().unwrap_or_else(|| MemoryPool::new(context));
        Self { pool, shares_buffers: given.is_some() }
    }

    /// The pool.
    pub fn pool(&self) -> &MemoryPool {
        &self.pool
    }

    /// An array: zeros, or one that an executor of the pool has.
    ///
    /// # Errors
    /// Another shape or type than an executor of the pool needs; out of memory.
    pub fn get(&self, role: Role, name: &str, shape: &Shape, dtype: DType) -> Result<NdArray> {
        match role {
            Role::Parameter => self.pool.fixed(name, shape, dtype),
            Role::Gradient => self.pool.fixed(&gradient_name(name), shape, dtype),
            Role::PerShape if self.shares_buffers => self.pool.view(name, shape, dtype),
            Role::PerShape => NdArray::zeros(&self.pool.0.context, shape.clone(), dtype),
        }
    }

    /// Lets executors of the pool have an array that the caller gave.
    pub fn give(&self, role: Role, name: &str, array: &NdArray) {
        match role {
            Role::Parameter => self.pool.register(name, array),
            Role::Gradient => self.pool.register(&gradient_name(name), array),
            Role::PerShape => {}
        }
    }
}

fn gradient_name(name: &str) -> String {
    format!("gradient of {name}")
}
