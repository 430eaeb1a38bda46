//! Packed constants: constants in the layouts that kernels read, and constants computed from other constants. A packed
//! constant is made again when an array that it depends on has changed.
//!
//! Several executors may share a constant. No task reads a shared constant while another task writes it, because:
//! - A task writes the constant only if the constant is out of date, so only after its source arrays have changed.
//!   Meanwhile the task holds the lock of the store ([`PackedStore`]).
//! - Every task that reads the constant holds the source arrays for reading. If it began before they changed, the change
//!   waited until the task ended.
//! - If the reading task begins after the change, it first looks for constants that are out of date. For that it waits for
//!   the lock of the store. Once it has the lock, the constant is up to date.
//!
//! On a device a task ends when its work is enqueued. There the task that makes a constant records an event after the work,
//! and the streams of tasks that read the constant wait for this event. If the work failed, the constant is made again.
//!
//! A frozen executor may have released the source arrays, so its tasks do not hold them. They need not, because its
//! constants are never written again.

use crate::program::ValueId;
use crate::program_passes::Planned;
use crate::program_passes::pack::{Preparation, makers};
use crate::reused::Reused;
use crate::store::{Constant, Content, PackedStore, own};
use mxrs_ndarray::{ArrayContext, DeviceCopies, NdArray};
use mxrs_storage::Tag;
use mxrs_sync::atomic::{AtomicBool, Ordering};
use mxrs_sync::{Rank, RankedMutex};
use mxrs_types::{Device, DeviceEvent, DeviceStream, Error, Result};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The packed constants of a program on one device, with the memory that making them needs.
pub struct Packed {
    preparation: Arc<Preparation>,
    store: PackedStore,
    /// The constants that are kept after preparation, each with the prepare step that makes it.
    kept: Vec<(Arc<Constant>, usize)>,
    place: FxHashMap<ValueId, usize>,
    /// Memory of the prepare steps, which run one after another: the values that only other prepare steps read, and
    /// scratch memory.
    shared: Option<Reused>,
    /// The content of all source arrays when all constants were last up to date.
    seen: RankedMutex<Vec<Content>>,
    /// Indices of the bound arrays that prepare steps of the device depend on.
    sources: Vec<usize>,
    is_frozen: AtomicBool,
    /// The copy functions of the device of the constants; `None` if the constants are in host memory.
    copies: Option<Arc<dyn DeviceCopies>>,
    /// Bytes of all memory for constants on the device.
    pub bytes: usize,
}

impl Packed {
    /// Memory for the constants on `device`, with nothing packed yet. If `shares` gives a store and all bound arrays,
    /// constants that other executors have packed from the same arrays are used.
    ///
    /// # Errors
    /// Returns an error if memory runs out.
    pub fn new(
        planned: &Planned,
        context: &ArrayContext,
        device: Device,
        shares: Option<(&PackedStore, &[NdArray])>,
    ) -> Result<Self> {
        let (program, preparation) = (&*planned.program, planned.preparation.clone());
        let is_here = |value: &ValueId| program.values[*value].device == device;
        let kept: Vec<ValueId> = preparation.kept.iter().copied().filter(is_here).collect();
        let constants = match shares {
            Some((store, bound)) => store.constants(program, &kept, bound, (context, device))?,
            None => own(program, &kept, (context, device))?,
        };
        let shared = match preparation.shared_bytes(device) {
            0 => None,
            n => Some(Reused::allocate(context, device, n, Tag::new("executor:prepare"))?),
        };
        let maker = makers(program);
        // Every packed value that a step reads is made by a prepare step that `maker` contains, so the default is never
        // used.
        let maker = |value: &ValueId| maker.get(value).copied().unwrap_or_default();
        let of_device = program.prepare.iter().zip(&preparation.sources).filter(|(step, _)| step.device == device);
        let mut sources: Vec<usize> = of_device.flat_map(|(_, sources)| sources).copied().collect();
        sources.sort_unstable();
        sources.dedup();
        Ok(Self {
            bytes: preparation.bytes_on(program, device),
            place: kept.iter().copied().zip(0..).collect(),
            kept: constants.into_iter().zip(kept.iter().map(maker)).collect(),
            preparation,
            store: shares.map(|(store, _)| store.clone()).unwrap_or_default(),
            shared,
            seen: RankedMutex::new(Rank::Leaf, Vec::new()),
            sources,
            is_frozen: AtomicBool::new(false),
            copies: context.copies(device)?.cloned(),
        })
    }

    /// Address of a packed value, or of a value that prepare steps pass on.
    pub fn place(&self, value: ValueId) -> *mut u8 {
        match self.place.get(&value) {
            Some(&kept) => self.kept[kept].0.memory.block().as_ptr(),
            None => self.in_shared(self.preparation.offset(value)),
        }
    }

    /// Address of the scratch memory of a prepare step.
    pub fn scratch(&self, step: usize) -> *mut u8 {
        self.in_shared(self.preparation.scratch_offset(step))
    }

    fn in_shared(&self, offset: Option<usize>) -> *mut u8 {
        let place = self.shared.as_ref().zip(offset);
        let place = place.map(|(shared, offset)| shared.block().as_ptr().wrapping_add(offset));
        place.unwrap_or(std::ptr::null_mut())
    }

    /// Indices of the bound arrays that constants depend on.
    pub fn sources(&self) -> &[usize] {
        &self.sources
    }

    /// Freezes this program: from now on [`Self::update`] makes nothing, and bound arrays that only prepare steps read are
    /// not checked for changes.
    pub fn freeze(&self) {
        self.is_frozen.store(true, Ordering::Release);
    }

    /// Marks these constants so that no executor makes them again, including executors that share them.
    pub fn fix(&self) {
        self.store.alone(|| self.kept.iter().for_each(|(c, _)| c.is_frozen.store(true, Ordering::Relaxed)));
    }

    /// Whether [`Self::freeze`] was called.
    pub fn is_frozen(&self) -> bool {
        self.is_frozen.load(Ordering::Acquire)
    }

    /// The copy functions of the device of the constants; `None` if the constants are in host memory.
    pub fn copies(&self) -> Option<&Arc<dyn DeviceCopies>> {
        self.copies.as_ref()
    }

    /// Makes the constants that are out of date. `run` runs the prepare step with the given index. `stream` is the stream on
    /// which it does so, and on which the constants are read afterwards; `None` on the host.
    ///
    /// # Errors
    /// Returns the errors of `run`, or an error if a constant is out of date but belongs to a frozen executor too.
    pub fn update(
        &self,
        bound: &[NdArray],
        stream: Option<&dyn DeviceStream>,
        run: impl Fn(usize) -> Result<()>,
    ) -> Result<()> {
        if let Some(stream) = stream {
            return self.store.alone(|| self.update_on(stream, bound, &run));
        }
        if self.is_frozen() || self.is_seen(bound) {
            return Ok(());
        }
        self.store.alone(|| self.make(bound, None, &run))?;
        self.see(bound);
        Ok(())
    }

    /// [`Self::update`] on a device, for a caller that holds the lock of the store.
    fn update_on(
        &self,
        stream: &dyn DeviceStream,
        bound: &[NdArray],
        run: &impl Fn(usize) -> Result<()>,
    ) -> Result<()> {
        let mut has_failed = false;
        for (constant, _) in &self.kept {
            has_failed |= !constant.wait_on(stream)?;
        }
        if self.is_frozen() || (self.is_seen(bound) && !has_failed) {
            return Ok(());
        }
        self.make(bound, Some(stream), run)?;
        self.see(bound);
        Ok(())
    }

    /// Whether all constants were up to date with the present content of their sources.
    fn is_seen(&self, bound: &[NdArray]) -> bool {
        let seen = self.seen.lock();
        let now = |index: &usize| Content::of(&bound[*index]);
        // If there are no source arrays, `seen` matches even before the first call, so a match does not show that the
        // constants exist.
        !self.sources.is_empty()
            && seen.len() == self.sources.len()
            && self.sources.iter().zip(&*seen).all(|(index, seen)| now(index) == *seen)
    }

    fn see(&self, bound: &[NdArray]) {
        *self.seen.lock() = self.sources.iter().map(|index| Content::of(&bound[*index])).collect();
    }

    /// Records that work on a stream reads the constants until `event`. If their memory is freed earlier, it is not reused
    /// before the event.
    pub fn used_by(&self, event: &Arc<dyn DeviceEvent>) {
        let memory = self.kept.iter().map(|(constant, _)| &constant.memory).chain(&self.shared);
        memory.for_each(|memory| memory.block().used_by(event.clone()));
    }

    /// The present content of the arrays that a prepare step depends on.
    fn contents(&self, step: usize, bound: &[NdArray]) -> Vec<Content> {
        self.preparation.sources[step].iter().map(|index| Content::of(&bound[*index])).collect()
    }

    /// For each prepare step, whether it has to run.
    pub fn needed(&self, bound: &[NdArray]) -> Vec<bool> {
        let is_old = |(constant, step): &&(Arc<Constant>, usize)| {
            constant.made_from.lock().as_deref() != Some(&self.contents(*step, bound)[..])
        };
        let mut is_needed = vec![false; self.preparation.sources.len()];
        self.kept.iter().filter(is_old).for_each(|(_, step)| is_needed[*step] = true);
        self.preparation.need_makers(&mut is_needed);
        is_needed
    }

    /// Indices of the bound arrays that a prepare step depends on.
    pub fn sources_of(&self, step: usize) -> &[usize] {
        &self.preparation.sources[step]
    }

    fn make(
        &self,
        bound: &[NdArray],
        stream: Option<&dyn DeviceStream>,
        run: &impl Fn(usize) -> Result<()>,
    ) -> Result<()> {
        let is_needed = self.needed(bound);
        let mut needed = (0..is_needed.len()).filter(|step| is_needed[*step]);
        needed.try_for_each(|step| self.make_step(step, bound, stream, run))
    }

    /// Runs one prepare step while it holds the lock of the store.
    ///
    /// # Errors
    /// Returns the errors of [`Self::update`].
    pub fn make_alone(
        &self,
        step: usize,
        bound: &[NdArray],
        stream: Option<&dyn DeviceStream>,
        run: impl Fn(usize) -> Result<()>,
    ) -> Result<()> {
        self.store.alone(|| self.make_step(step, bound, stream, &run))
    }

    fn make_step(
        &self,
        step: usize,
        bound: &[NdArray],
        stream: Option<&dyn DeviceStream>,
        run: &impl Fn(usize) -> Result<()>,
    ) -> Result<()> {
        let made = || self.kept.iter().filter(move |(_, by)| *by == step).map(|(constant, _)| constant);
        if made().any(|constant| constant.is_frozen.load(Ordering::Relaxed)) {
            return Err(Error::invalid(
                "parameters",
                "values written after an executor was frozen that shares them packed",
                "executors with another `BindOptions::packed` for parameters that change",
            ));
        }
        made().for_each(|constant| *constant.made_from.lock() = None);
        if let Some(stream) = stream {
            let mut memory = made().map(|constant| &constant.memory).chain(&self.shared);
            memory.try_for_each(|memory| memory.wait_on(stream))?;
        }
        run(step)?;
        if let Some(stream) = stream {
            let event = stream.record()?;
            made().for_each(|constant| *constant.made_by.lock() = Some(event.clone()));
        }
        made().for_each(|constant| *constant.made_from.lock() = Some(self.contents(step, bound)));
        Ok(())
    }
}
