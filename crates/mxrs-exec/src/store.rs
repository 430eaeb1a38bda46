//! Packed and computed constants that several executors share.

use crate::program::{Origin, Program, ValueId};
use crate::reused::Reused;
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_op::TensorDesc;
use mxrs_storage::Tag;
use mxrs_sync::atomic::AtomicBool;
use mxrs_sync::{Mutex, Rank, RankedMutex};
use mxrs_types::{Device, DeviceEvent, DeviceStream, Result};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{Arc, Weak};

/// Constants in the layouts of kernels, and constants computed from others, shared by all executors bound with this store.
/// There is one copy of each array in each layout, for any number of executors and any batch sizes.
///
/// A store is given as [`BindOptions::packed`](crate::BindOptions::packed). Clones are handles to the same store. The
/// memory of a constant is freed with the last executor that uses it. The store's record of the constant is removed when
/// the next executor is bound. Executors of several devices may share a store; each device has constants of its own.
#[derive(Clone, Default)]
pub struct PackedStore(Arc<Inner>);

#[derive(Default)]
struct Inner {
    known: KnownConstants,
    /// Locked while constants are made, so that a constant that two executors find out of date is made only once.
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
    /// The id of each value that is a constant in use, or that such a constant is made from.
    ids: FxHashMap<Key, u64>,
    /// The next id. Ids are never used twice, because keys refer to other keys by id.
    next_id: u64,
    constants: FxHashMap<u64, Weak<Constant>>,
}

impl Known {
    /// Removes the records of constants that no executor uses, and the ids of values that no constant in use is made from.
    fn prune(&mut self) {
        self.constants.retain(|_, constant| constant.strong_count() > 0);
        let keys: FxHashMap<u64, &Key> = self.ids.iter().map(|(key, id)| (*id, key)).collect();
        let mut reached: FxHashSet<u64> = self.constants.keys().copied().collect();
        let mut open: Vec<u64> = reached.iter().copied().collect();
        while let Some(key) = open.pop().and_then(|id| keys.get(&id)) {
            for input in &key.inputs {
                if let Source::Made(id) = input
                    && reached.insert(*id)
                {
                    open.push(*id);
                }
            }
        }
        self.ids.retain(|_, id| reached.contains(id));
    }

    /// The id in this store of every value that the program's prepare steps compute from bound arrays. A value has the same
    /// id in all executors that compute it in the same way from the same arrays.
    fn ids(&mut self, program: &Program, bound: &[NdArray]) -> FxHashMap<ValueId, u64> {
        let mut ids: FxHashMap<ValueId, u64> = FxHashMap::default();
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
                    device: program.values[*value].device,
                    inputs: inputs.clone(),
                };
                let next_id = &mut self.next_id;
                let id = self.ids.entry(key).or_insert_with(|| {
                    *next_id += 1;
                    *next_id
                });
                ids.insert(*value, *id);
            }
        }
        ids
    }

    /// The constant with this id, if an executor uses it.
    fn find(&self, id: Option<&u64>) -> Option<Arc<Constant>> {
        self.constants.get(id?).and_then(Weak::upgrade)
    }
}

/// The identity of a constant: its device, and the operator, parameters and inputs that it is made from.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    op: String,
    params: String,
    output: usize,
    desc: TensorDesc,
    device: Device,
    inputs: Vec<Source>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Source {
    /// A bound array: the id of its variable, and the address where it begins.
    Array(u64, usize),
    /// A value that a prepare step makes: the id of its key.
    Made(u64),
}

/// The content of an array at one time, by the array's address and version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    var: u64,
    version: u64,
    address: usize,
}

impl Content {
    /// The present content of an array.
    pub fn of(array: &NdArray) -> Self {
        Self { var: array.var().id(), version: array.var().version(), address: array.as_ptr().addr() }
    }
}

/// A packed or computed constant.
pub struct Constant {
    /// Memory of the constant.
    pub memory: Reused,
    /// The content of each source when the constant was made; `None` if it has yet to be made.
    pub made_from: RankedMutex<Option<Vec<Content>>>,
    /// On a device: the end of the work that made the constant, unless the host knows that this work is done.
    pub made_by: RankedMutex<Option<Arc<dyn DeviceEvent>>>,
    /// Whether a frozen executor uses the constant. Such an executor reads it without waiting for writers, so the constant
    /// must not be made again. Set only inside [`PackedStore::alone`].
    pub is_frozen: AtomicBool,
}

impl Constant {
    fn new(size_bytes: usize, (context, device): Place<'_>) -> Result<Arc<Self>> {
        Ok(Arc::new(Self {
            memory: Reused::allocate(context, device, size_bytes, Tag::new("executor:packed"))?,
            made_from: RankedMutex::new(Rank::Leaf, None),
            made_by: RankedMutex::new(Rank::Leaf, None),
            is_frozen: AtomicBool::new(false),
        }))
    }

    /// Lets the work that is enqueued on `stream` from now on wait for the work that made the constant. Returns false if
    /// that work has failed; then the constant counts as not made.
    ///
    /// # Errors
    /// Returns the error of the device.
    pub fn wait_on(&self, stream: &dyn DeviceStream) -> Result<bool> {
        let Some(event) = self.made_by.lock().clone() else { return Ok(true) };
        if !event.is_finished() {
            stream.wait_for(&*event)?;
            return Ok(true);
        }
        // The event is finished, so this returns without waiting.
        let is_made = event.wait().is_ok();
        *self.made_by.lock() = None;
        if !is_made {
            *self.made_from.lock() = None;
        }
        Ok(is_made)
    }
}

/// The context that allocates constants, and their device.
pub type Place<'a> = (&'a ArrayContext, Device);

/// Allocates the constants `kept`, in their order.
///
/// # Errors
/// Returns an error if memory runs out.
pub fn own(program: &Program, kept: &[ValueId], place: Place<'_>) -> Result<Vec<Arc<Constant>>> {
    kept.iter().map(|v| Constant::new(program.values[*v].desc.size_bytes(), place)).collect()
}

impl PackedStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes of all constants that an executor uses.
    pub fn bytes(&self) -> usize {
        // The handles outlive the lock, because dropping the last handle frees memory, and that takes other locks.
        let in_use: Vec<Arc<Constant>> = {
            let known = self.0.known.0.lock();
            known.constants.values().filter_map(Weak::upgrade).collect()
        };
        in_use.iter().map(|constant| constant.memory.block().len()).sum()
    }

    /// Like [`own`], but uses the constants that other executors already have, and allocates only the missing ones.
    ///
    /// # Errors
    /// Returns an error if memory runs out.
    pub(crate) fn constants(
        &self,
        program: &Program,
        kept: &[ValueId],
        bound: &[NdArray],
        place: Place<'_>,
    ) -> Result<Vec<Arc<Constant>>> {
        let known: Vec<Option<Arc<Constant>>> = {
            let mut known = self.0.known.0.lock();
            known.prune();
            let ids = known.ids(program, bound);
            kept.iter().map(|value| known.find(ids.get(value))).collect()
        };
        let mut constants = Vec::with_capacity(known.len());
        for (value, known) in kept.iter().zip(known) {
            constants.push(match known {
                Some(constant) => constant,
                None => Constant::new(program.values[*value].desc.size_bytes(), place)?,
            });
        }
        // Allocation happened without the lock. Meanwhile another thread may have pruned ids that had no constant yet, so
        // the ids are looked up again. That thread may also have registered the same constants; then its constants are
        // used.
        let mut unused = Vec::new();
        let mut known = self.0.known.0.lock();
        let ids = known.ids(program, bound);
        for (value, constant) in kept.iter().zip(&mut constants) {
            let Some(id) = ids.get(value) else { continue };
            match known.find(Some(id)) {
                Some(winner) => unused.push(std::mem::replace(constant, winner)),
                None => _ = known.constants.insert(*id, Arc::downgrade(constant)),
            }
        }
        // The lock is released before `unused` is dropped, because freeing memory takes other locks.
        drop(known);
        Ok(constants)
    }

    /// Runs `make` while no other thread makes constants of this store.
    pub(crate) fn alone<T>(&self, make: impl FnOnce() -> T) -> T {
        let _packing = self.0.packing.lock();
        make()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Action, Step, Value};
    use crate::program_passes::pack::Preparation;
    use mxrs_engine::{Engine, EngineConfig};
    use mxrs_storage::{Storage, StorageConfig};
    use mxrs_types::DType;

    /// A weight that is folded and then packed; only the packed value is kept.
    fn program() -> Program {
        let value = |origin| Value { desc: TensorDesc::dense([16], DType::F32), origin, device: Device::default() };
        let step = |inputs: &[usize], outputs: &[usize]| {
            Step::copy(
                format!("makes {outputs:?}"),
                ("", Action::View),
                Device::default(),
                inputs.to_vec(),
                outputs.to_vec(),
            )
        };
        Program {
            values: vec![value(Origin::Bound(0)), value(Origin::Packed), value(Origin::Packed)],
            prepare: vec![step(&[0], &[1]), step(&[1], &[2])],
            steps: vec![step(&[2], &[])],
            ..Program::default()
        }
    }

    #[test]
    fn the_store_does_not_grow_while_executors_come_and_go() {
        let engine = Engine::new(EngineConfig::default()).unwrap();
        let context = ArrayContext::new(engine, Storage::new(StorageConfig::default()).unwrap());
        let (store, program) = (PackedStore::new(), program());
        let preparation = Preparation::new(&program).unwrap();
        assert_eq!(preparation.kept, [2]);
        let bind = |w: &NdArray| {
            let bound = [w.clone()];
            store.constants(&program, &preparation.kept, &bound, (&context, Device::cpu(0))).unwrap().remove(0)
        };
        let weight = || NdArray::zeros(&context, [16], DType::F32).unwrap();
        let kept_weight = weight();
        let mut kept = Vec::new();
        for round in 0..100 {
            if round == 50 {
                kept.push(bind(&kept_weight));
            }
            let weight = weight();
            let constant = bind(&weight);
            assert!(kept.iter().all(|kept| !Arc::ptr_eq(kept, &constant)), "two weights got one id");
            assert!(Arc::ptr_eq(&constant, &bind(&weight)));
            drop(constant);
            // At most two constants are known: the constant in use and the constant that was just dropped. Each
            // constant has two keys: one for the folded weight and one for the packed weight.
            let known = store.0.known.0.lock();
            let sizes = (known.ids.len(), known.constants.len());
            assert!(sizes.0 <= 4 && sizes.1 <= 2, "round {round}: {sizes:?} ids and constants");
        }
        // A weight keeps its id while a constant that was made from it is in use. So a new binding finds that constant.
        assert!(Arc::ptr_eq(&kept[0], &bind(&kept_weight)));
        assert_eq!(store.bytes(), 64);
    }
}
