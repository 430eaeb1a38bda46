//! Packed and computed constants that several executors have in common.

use crate::prepare::Preparation;
use crate::program::{Origin, Program, ValueId};
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_op::TensorDesc;
use mxrs_storage::{Block, Tag};
use mxrs_sync::atomic::AtomicBool;
use mxrs_sync::{Mutex, Rank, RankedMutex};
use mxrs_types::{Device, Result};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Weak};

/// Constants in layouts of kernels, and constants computed from others, that executors bound with it share: of one array
/// in one layout there is one copy, whatever the batch sizes and however many executors run at a time.
///
/// Given to [`BindOptions::packed`](crate::BindOptions::packed); clones are handles to the same store. It keeps nothing
/// that no executor uses.
#[derive(Clone, Default)]
pub struct PackedStore(Arc<Inner>);

#[derive(Default)]
struct Inner {
    known: KnownConstants,
    /// Held while constants are made: two executors that find the same one out of date make it once.
    packing: Mutex<()>,
}

struct KnownConstants(RankedMutex<Known>);

impl Default for KnownConstants {
    fn default() -> Self {
        Self(RankedMutex::new(Rank::Leaf, Known::default()))
    }
}

#[derive(Default)]
struct Known {
    /// A number for everything that is computed in one way from the same arrays.
    ids: FxHashMap<Key, u64>,
    constants: FxHashMap<u64, Weak<Constant>>,
}

/// How a constant is made.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    op: String,
    params: String,
    output: usize,
    desc: TensorDesc,
    inputs: Vec<Source>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Source {
    /// A bound array: its variable, and where in its memory it begins.
    Array(u64, usize),
    /// A value that a key describes.
    Made(u64),
}

/// Which content of an array a constant was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    var: u64,
    version: u64,
    address: usize,
}

impl Content {
    /// What an array holds now.
    pub fn of(array: &NdArray) -> Self {
        Self { var: array.var().id(), version: array.var().version(), address: array.as_ptr().addr() }
    }
}

/// One constant.
pub struct Constant {
    /// Its memory.
    pub block: Block,
    /// What it was made from, one for each of its sources; `None` when it has to be made.
    pub made_from: RankedMutex<Option<Vec<Content>>>,
    /// Whether a frozen executor has it, which does not wait for whoever makes it again: so nobody may. Set while nobody
    /// makes constants of the store.
    pub is_frozen: AtomicBool,
}

impl Constant {
    fn new(size_bytes: usize, context: &ArrayContext) -> Result<Arc<Self>> {
        let block = context.storage().allocate(Device::cpu(0), size_bytes, Tag::new("executor:packed"))?;
        Ok(Arc::new(Self { block, made_from: RankedMutex::new(Rank::Leaf, None), is_frozen: AtomicBool::new(false) }))
    }
}

/// The constants of a program that are kept, in the order of [`Preparation::kept`]: new ones.
///
/// # Errors
/// Out of memory.
pub fn own(program: &Program, preparation: &Preparation, context: &ArrayContext) -> Result<Vec<Arc<Constant>>> {
    preparation.kept.iter().map(|v| Constant::new(program.values[*v].desc.size_bytes(), context)).collect()
}

impl PackedStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes of all constants that some executor uses.
    pub fn bytes(&self) -> usize {
        let known = self.0.known.0.lock();
        known.constants.values().filter_map(Weak::upgrade).map(|constant| constant.block.len()).sum()
    }

    /// As [`own`], with those that are there already.
    ///
    /// # Errors
    /// Out of memory.
    pub(crate) fn constants(
        &self,
        program: &Program,
        preparation: &Preparation,
        bound: &[NdArray],
        context: &ArrayContext,
    ) -> Result<Vec<Arc<Constant>>> {
        let ids = self.ids(program, bound);
        let find = |value: &ValueId| {
            let id = ids.get(value).copied();
            let there = id.and_then(|id| self.0.known.0.lock().constants.get(&id).and_then(Weak::upgrade));
            if let Some(there) = there {
                return Ok(there);
            }
            let constant = Constant::new(program.values[*value].desc.size_bytes(), context)?;
            if let Some(id) = id {
                self.0.known.0.lock().constants.insert(id, Arc::downgrade(&constant));
            }
            Ok(constant)
        };
        preparation.kept.iter().map(find).collect()
    }

    /// The number of every value that prepare steps make.
    fn ids(&self, program: &Program, bound: &[NdArray]) -> FxHashMap<ValueId, u64> {
        let mut ids: FxHashMap<ValueId, u64> = FxHashMap::default();
        let mut known = self.0.known.0.lock();
        for step in &program.prepare {
            let source = |value: &ValueId| match program.values[*value].origin {
                Origin::Bound(index) => {
                    let array = bound.get(index)?;
                    Some(Source::Array(array.var().id(), array.as_ptr().addr()))
                }
                _ => ids.get(value).map(|id| Source::Made(*id)),
            };
            let Some(inputs) = step.inputs.iter().map(source).collect::<Option<Vec<_>>>() else { continue };
            for (output, value) in step.outputs.iter().enumerate() {
                let key = Key {
                    op: step.op.clone(),
                    params: step.params.clone(),
                    output,
                    desc: program.values[*value].desc.clone(),
                    inputs: inputs.clone(),
                };
                let next = known.ids.len() as u64;
                ids.insert(*value, *known.ids.entry(key).or_insert(next));
            }
        }
        ids
    }

    /// Runs `make` while nobody else makes constants of this store.
    pub(crate) fn alone<T>(&self, make: impl FnOnce() -> T) -> T {
        let _packing = self.0.packing.lock();
        make()
    }
}
