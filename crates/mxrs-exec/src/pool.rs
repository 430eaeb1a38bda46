//! Memory that several executors share and use one after the other.

mod temporaries;

use crate::device::expect_device;
use crate::freeze::refusal;
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_storage::{Block, Tag};
use mxrs_sync::atomic::{AtomicBool, Ordering};
use mxrs_sync::{Mutex, MutexGuard, Rank, RankedMutex};
use mxrs_types::{DType, Device, Error, Result, Shape};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
pub use temporaries::Temporaries;

/// Memory shared by the executors that are bound with it: temporaries, and arrays by name. Clones are handles to the same
/// pool.
///
/// A pool is given to [`BindOptions::pool`](crate::BindOptions::pool), or taken from an executor ([`Executor::pool`]).
/// - Temporaries of all executors use the same bytes, so the executor that needs most should be bound first.
/// - Parameters, their gradients and auxiliary states are the same arrays in all executors: shapes and types must agree.
/// - Inputs, labels, outputs and their gradients are views of one buffer per name, as large as the largest view so far. The
///   buffer holds the data of the executor that was fed or run last: feed before a run, and read after it.
/// - [`Executor::backward`] must be called before another executor of the pool runs; otherwise it returns an error.
///
/// Runs of executors of one pool never overlap, even if different threads start them.
///
/// [`Executor::pool`]: crate::Executor::pool
/// [`Executor::backward`]: crate::Executor::backward
#[derive(Clone)]
pub struct MemoryPool(Arc<Inner>);

struct Inner {
    context: ArrayContext,
    /// The temporaries on the default device.
    temporaries: Arc<Temporaries>,
    /// The temporaries on other devices that executors use.
    others: RankedMutex<Vec<Arc<Temporaries>>>,
    fixed: RankedMutex<Fixed>,
    /// One-dimensional buffers, by name, type and device. Inputs, labels and outputs of any shape are views of them.
    buffers: RankedMutex<FxHashMap<(String, DType, Device), NdArray>>,
    /// Whether [`MemoryPool::too_small`] has logged its warning.
    has_warned: AtomicBool,
    /// Number of the last run. Its lock is held while a run is pushed, so that no other run comes between the tasks of this
    /// run.
    turn: Mutex<u64>,
}

/// The arrays that have one shape in all executors. One lock guards both fields, so that two threads that bind at the
/// same time agree on the array of each name.
#[derive(Default)]
struct Fixed {
    arrays: FxHashMap<String, NdArray>,
    /// Names whose arrays a frozen executor released.
    gone: FxHashSet<String>,
}

impl Fixed {
    /// The array with this name, or `None` if the pool never had one.
    ///
    /// # Errors
    /// Returns an error if a frozen executor released the array.
    fn find(&self, name: &str) -> Result<Option<NdArray>> {
        match self.arrays.get(name) {
            Some(array) => Ok(Some(array.clone())),
            None if self.gone.contains(name) => Err(refusal(&format!("sharing `{name}` by a pool"))),
            None => Ok(None),
        }
    }
}

/// The right to push a run.
pub struct Turn<'a>(MutexGuard<'a, u64>);

impl Turn<'_> {
    /// The run that was pushed last.
    pub fn last(&self) -> u64 {
        *self.0
    }

    /// Begins another run and returns its number. Temporaries of earlier runs are invalid from now on.
    pub fn begin(&mut self) -> u64 {
        *self.0 += 1;
        *self.0
    }
}

impl MemoryPool {
    /// An empty pool of memory on `cpu(0)`.
    pub fn new(context: &ArrayContext) -> Self {
        Self::new_on(context, Device::cpu(0))
    }

    /// An empty pool of memory on `device`, and on the devices of [groups](crate::BindOptions::groups) of its executors.
    /// Executors with another default device cannot use it.
    pub fn new_on(context: &ArrayContext, device: Device) -> Self {
        Self(Arc::new(Inner {
            context: context.clone(),
            temporaries: Temporaries::new(context, device),
            others: RankedMutex::new(Rank::Leaf, Vec::new()),
            fixed: RankedMutex::new(Rank::Leaf, Fixed::default()),
            buffers: RankedMutex::new(Rank::Leaf, FxHashMap::default()),
            has_warned: AtomicBool::new(false),
            turn: Mutex::new(0),
        }))
    }

    /// The default device of the memory.
    pub fn device(&self) -> Device {
        self.0.temporaries.device
    }

    /// Bytes held for temporaries, on all devices together.
    pub fn arena_bytes(&self) -> usize {
        self.all().iter().map(|temporaries| temporaries.bytes()).sum()
    }

    /// The temporaries on a device.
    pub(crate) fn on(&self, device: Device) -> Arc<Temporaries> {
        if device == self.device() {
            return self.0.temporaries.clone();
        }
        let find = |others: &[Arc<Temporaries>]| others.iter().find(|of| of.device == device).cloned();
        if let Some(known) = find(&self.0.others.lock()) {
            return known;
        }
        // `Temporaries::new` makes an engine variable, so it is called without holding the lock. If another thread has added
        // temporaries for this device meanwhile, those are used, and `made` is dropped after the lock is released.
        let made = Temporaries::new(&self.0.context, device);
        let mut others = self.0.others.lock();
        if let Some(winner) = find(&others) {
            return winner;
        }
        others.push(made.clone());
        made
    }

    fn all(&self) -> Vec<Arc<Temporaries>> {
        std::iter::once(&self.0.temporaries).chain(&*self.0.others.lock()).cloned().collect()
    }

    /// Waits until all runs that were pushed are done.
    ///
    /// # Errors
    /// Returns the error of a task that failed.
    pub(crate) fn wait(&self) -> Result<()> {
        let engine = self.0.context.engine();
        self.all().iter().try_for_each(|temporaries| engine.wait_to_write(&temporaries.var))
    }

    pub(crate) fn turn(&self) -> Turn<'_> {
        Turn(self.0.turn.lock())
    }

    /// A block for temporaries of this size on a device: the smallest existing block that is large enough, or a new one.
    ///
    /// # Errors
    /// Returns an error if memory runs out.
    pub(crate) fn arena(&self, device: Device, size_bytes: usize) -> Result<Option<Arc<Block>>> {
        if size_bytes == 0 {
            return Ok(None);
        }
        let temporaries = self.on(device);
        let (unused, largest) = {
            let mut arenas = temporaries.arenas.lock();
            if let Some(fits) = arenas.iter().filter(|a| a.len() >= size_bytes).min_by_key(|a| a.len()) {
                return Ok(Some(fits.clone()));
            }
            // Blocks with a single handle are used by no executor. They are freed.
            let (used, unused): (Vec<_>, Vec<_>) = arenas.drain(..).partition(|a| Arc::strong_count(a) > 1);
            *arenas = used;
            (unused, arenas.iter().map(|a| a.len()).max())
        };
        if let Some(largest) = largest {
            self.too_small("temporaries", size_bytes, largest);
        }
        drop(unused);
        let tag = Tag::new("executor:arena");
        let block = Arc::new(self.0.context.allocate_for(device, size_bytes, tag, &temporaries.var)?);
        temporaries.arenas.lock().push(block.clone());
        Ok(Some(block))
    }

    /// Logs a warning that the executors of the pool were bound in an order that costs memory. At most one warning is
    /// logged per pool.
    fn too_small(&self, what: &str, needed_bytes: usize, has_bytes: usize) {
        if !self.0.has_warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                what,
                needed_bytes,
                has_bytes,
                "a memory pool is too small and allocates more in addition to what it has; bind the largest graph first"
            );
        }
    }

    /// The array that all executors of the pool have under this name; the first call allocates it on `device`, filled with
    /// zeros.
    ///
    /// # Errors
    /// Returns an error if the array has another shape or type or is on another device, if a frozen executor released it, or
    /// if memory runs out.
    pub(crate) fn fixed(&self, name: &str, shape: &Shape, dtype: DType, device: Device) -> Result<NdArray> {
        let known = self.0.fixed.lock().find(name)?;
        let array = match known {
            Some(array) => array,
            None => {
                // Allocates without holding the lock of `fixed`, because allocation takes other locks. Meanwhile another
                // thread may register an array under this name. Then that array is used, and `made` is dropped after the
                // lock is released.
                let made = NdArray::zeros_on(&self.0.context, shape.clone(), dtype, device)?;
                let mut fixed = self.0.fixed.lock();
                match fixed.find(name)? {
                    Some(winner) => winner,
                    None => {
                        fixed.arrays.insert(name.to_owned(), made.clone());
                        return Ok(made);
                    }
                }
            }
        };
        if array.shape() == shape && array.dtype() == dtype {
            expect_device(&array, device, || format!("`{name}` in the executors that share a pool"))?;
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

    /// Releases arrays that an executor no longer has. From then on [`Self::fixed`] returns an error for their names.
    pub(crate) fn let_go(&self, names: &[String]) {
        let arrays: Vec<Option<NdArray>> = {
            let mut fixed = self.0.fixed.lock();
            fixed.gone.extend(names.iter().cloned());
            names.iter().map(|name| fixed.arrays.remove(name)).collect()
        };
        // These may be the last handles to the arrays. They are dropped after the lock of `fixed` is released, because
        // freeing memory takes other locks.
        drop(arrays);
    }

    /// Registers the array that [`Self::fixed`] returns for this name, unless the pool already has one.
    pub(crate) fn register(&self, name: &str, array: &NdArray) {
        self.0.fixed.lock().arrays.entry(name.to_owned()).or_insert_with(|| array.detach());
    }

    /// A view of the buffer with this name on `device`. A buffer that is too small is replaced by a larger one.
    ///
    /// # Errors
    /// Returns an error if memory runs out.
    pub(crate) fn view(&self, name: &str, shape: &Shape, dtype: DType, device: Device) -> Result<NdArray> {
        let n = shape.n_elements();
        let key = (name.to_owned(), dtype, device);
        let fits = |buffer: &NdArray| buffer.shape().n_elements() >= n;
        let known = self.0.buffers.lock().get(&key).cloned();
        let buffer = match known {
            Some(buffer) if fits(&buffer) => buffer,
            too_small => {
                if let Some(small) = too_small {
                    self.too_small(name, n * dtype.size_of(), small.size_bytes());
                }
                // As in the method `fixed`, the buffer is allocated without holding the lock. If another thread registers a
                // large enough buffer meanwhile, that buffer is used.
                let made = NdArray::zeros_on(&self.0.context, [n], dtype, device)?;
                let (buffer, unused) = {
                    let mut buffers = self.0.buffers.lock();
                    match buffers.get(&key).filter(|buffer| fits(buffer)).cloned() {
                        Some(winner) => (winner, Some(made)),
                        None => {
                            let replaced = buffers.insert(key, made.clone());
                            (made, replaced)
                        }
                    }
                };
                // This may be the last handle to a buffer. It is dropped after the lock of `buffers` is released, because
                // freeing memory takes other locks.
                drop(unused);
                buffer
            }
        };
        prefix(&buffer, shape)
    }
}

/// The first elements of an array as an array of another shape, in the same memory.
///
/// # Errors
/// Returns an error if the shape has more elements than the array.
pub fn prefix(array: &NdArray, shape: &Shape) -> Result<NdArray> {
    let flat = array.detach().reshape([array.shape().n_elements()])?;
    flat.slice(0, shape.n_elements())?.reshape(shape.clone())
}

/// The purpose of an array of a bound graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A parameter or an auxiliary state.
    Parameter,
    /// The gradient of a parameter.
    Gradient,
    /// Any array whose shape may differ between executors of one pool.
    PerShape,
}

/// The source of the arrays of a bound graph.
#[derive(Clone)]
pub struct Arrays {
    pool: MemoryPool,
    /// Whether arrays with the role `PerShape` are views of shared buffers.
    shares_buffers: bool,
}

impl Arrays {
    /// Takes arrays on these devices, of which the first is the default, from the given pool, or from a new pool that is not
    /// shared yet.
    ///
    /// # Errors
    /// Returns an error if the given pool has another default device, or if the context does not have one of the devices.
    pub fn new(context: &ArrayContext, devices: &[Device], given: Option<&MemoryPool>) -> Result<Self> {
        devices.iter().try_for_each(|device| context.check_device(*device))?;
        let device = devices.first().copied().unwrap_or_default();
        let pool = given.cloned().unwrap_or_else(|| MemoryPool::new_on(context, device));
        if pool.device() != device {
            let expected = format!("{}, as the memory pool that it shares", pool.device());
            return Err(Error::invalid("device of an executor", device, expected));
        }
        Ok(Self { pool, shares_buffers: given.is_some() })
    }

    /// The pool.
    pub fn pool(&self) -> &MemoryPool {
        &self.pool
    }

    /// An array of zeros on `device`, or the array that an executor of the pool already has under this name.
    ///
    /// # Errors
    /// Returns an error if an executor of the pool has the array with another shape or type or on another device, or if
    /// memory runs out.
    pub fn get(&self, role: Role, name: &str, (shape, dtype): (&Shape, DType), device: Device) -> Result<NdArray> {
        match role {
            Role::Parameter => self.pool.fixed(name, shape, dtype, device),
            Role::Gradient => self.pool.fixed(&gradient_name(name), shape, dtype, device),
            Role::PerShape if self.shares_buffers => self.pool.view(name, shape, dtype, device),
            Role::PerShape => NdArray::zeros_on(&self.pool.0.context, shape.clone(), dtype, device),
        }
    }

    /// Registers an array that the caller of the binding gave, so that other executors of the pool use it.
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

#[cfg(test)]
mod tests;
