//! Constants in the layouts kernels want, and constants computed from others, made again when what they depend on
//! changed.
//!
//! Which task may write a constant that other executors read: one that holds the arrays the constant is made from for reading
//! and finds it out of date. Every task of another executor that reads the constant holds these arrays too, and looks for
//! constants that are out of date before it runs its kernels. If it began before the arrays changed, they could not change
//! until it ended. If it begins now, it waits for the store's lock and finds the constant up to date. Frozen executors hold no
//! arrays; their constants are never written again.

use crate::program::ValueId;
use crate::program_passes::Planned;
use crate::program_passes::pack::{Preparation, makers};
use crate::store::{Constant, Content, PackedStore, own};
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_storage::{Block, Tag};
use mxrs_sync::atomic::{AtomicBool, Ordering};
use mxrs_sync::{Rank, RankedMutex};
use mxrs_types::{Device, Error, Result};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The packed constants of a program, with the memory that making them takes.
pub struct Packed {
    preparation: Arc<Preparation>,
    store: PackedStore,
    /// Kept constants, and which prepare step makes each.
    kept: Vec<(Arc<Constant>, usize)>,
    place: FxHashMap<ValueId, usize>,
    /// What the prepare steps, which run one after another, pass on and work with.
    shared: Option<Block>,
    /// What all sources held when everything was last found up to date.
    seen: RankedMutex<Vec<Content>>,
    /// Arrays that prepare steps depend on.
    sources: Vec<usize>,
    is_frozen: AtomicBool,
    /// All memory together.
    pub bytes: usize,
}

impl Packed {
    /// Memory, with nothing packed yet; or with what others have packed of the same arrays, where a store is given, with
    /// all bound arrays.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(planned: &Planned, context: &ArrayContext, shares: Option<(&PackedStore, &[NdArray])>) -> Result<Self> {
        let (program, preparation) = (&*planned.program, planned.preparation.clone());
        let constants = match shares {
            Some((store, bound)) => store.constants(program, &preparation, bound, context)?,
            None => own(program, &preparation, context)?,
        };
        let shared = match preparation.shared_bytes {
            0 => None,
            n => Some(context.storage().allocate(Device::cpu(0), n, Tag::new("executor:prepare"))?),
        };
        let maker = makers(program);
        // A packed value that no step makes would be one that nobody reads.
        let maker = |value: &ValueId| maker.get(value).copied().unwrap_or_default();
        let mut sources: Vec<usize> = preparation.sources.iter().flatten().copied().collect();
        sources.sort_unstable();
        sources.dedup();
        Ok(Self {
            bytes: preparation.bytes(program),
            place: preparation.kept.iter().copied().zip(0..).collect(),
            kept: constants.into_iter().zip(preparation.kept.iter().map(maker)).collect(),
            preparation,
            store: shares.map(|(store, _)| store.clone()).unwrap_or_default(),
            shared,
            seen: RankedMutex::new(Rank::Leaf, Vec::new()),
            sources,
            is_frozen: AtomicBool::new(false),
        })
    }

    /// Where a value is.
    pub fn place(&self, value: ValueId) -> *mut u8 {
        match self.place.get(&value) {
            Some(&kept) => self.kept[kept].0.block.as_ptr(),
            None => self.in_shared(self.preparation.offset(value)),
        }
    }

    /// Where a prepare step has its temporary memory.
    pub fn scratch(&self, step: usize) -> *mut u8 {
        self.in_shared(self.preparation.scratch_offset(step))
    }

    fn in_shared(&self, offset: Option<usize>) -> *mut u8 {
        let place = self.shared.as_ref().zip(offset).map(|(block, offset)| block.as_ptr().wrapping_add(offset));
        place.unwrap_or(std::ptr::null_mut())
    }

    /// Bound arrays that constants depend on.
    pub fn sources(&self) -> &[usize] {
        &self.sources
    }

    /// From now on [`Self::update`] makes nothing, and the bound arrays that only prepare steps read are not looked at.
    pub fn freeze(&self) {
        self.is_frozen.store(true, Ordering::Release);
    }

    /// Nobody may make these constants again.
    pub fn fix(&self) {
        self.store.alone(|| self.kept.iter().for_each(|(c, _)| c.is_frozen.store(true, Ordering::Relaxed)));
    }

    /// Whether nothing is made again.
    pub fn is_frozen(&self) -> bool {
        self.is_frozen.load(Ordering::Acquire)
    }

    /// Makes what is out of date, by running the prepare steps that `run` is called with.
    ///
    /// # Errors
    /// What `run` reports.
    pub fn update(&self, bound: &[NdArray], run: impl Fn(usize) -> Result<()>) -> Result<()> {
        if self.is_frozen() {
            return Ok(());
        }
        let now = |index: &usize| Content::of(&bound[*index]);
        let is_seen = {
            let seen = self.seen.lock();
            seen.len() == self.sources.len() && self.sources.iter().zip(&*seen).all(|(index, seen)| now(index) == *seen)
        };
        // What depends on no array is made once.
        if is_seen && !self.sources.is_empty() {
            return Ok(());
        }
        self.store.alone(|| self.make(bound, run))?;
        *self.seen.lock() = self.sources.iter().map(now).collect();
        Ok(())
    }

    /// What a prepare step depends on, as it is now.
    fn contents(&self, step: usize, bound: &[NdArray]) -> Vec<Content> {
        self.preparation.sources[step].iter().map(|index| Content::of(&bound[*index])).collect()
    }

    /// Whether each prepare step has to run.
    pub fn needed(&self, bound: &[NdArray]) -> Vec<bool> {
        let is_old = |(constant, step): &&(Arc<Constant>, usize)| {
            constant.made_from.lock().as_deref() != Some(&self.contents(*step, bound)[..])
        };
        let mut is_needed = vec![false; self.preparation.sources.len()];
        self.kept.iter().filter(is_old).for_each(|(_, step)| is_needed[*step] = true);
        self.preparation.need_makers(&mut is_needed);
        is_needed
    }

    /// Bound arrays that a prepare step depends on.
    pub fn sources_of(&self, step: usize) -> &[usize] {
        &self.preparation.sources[step]
    }

    fn make(&self, bound: &[NdArray], run: impl Fn(usize) -> Result<()>) -> Result<()> {
        let is_needed = self.needed(bound);
        let mut needed = (0..is_needed.len()).filter(|step| is_needed[*step]);
        needed.try_for_each(|step| self.make_step(step, bound, &run))
    }

    /// Runs one prepare step alone.
    ///
    /// # Errors
    /// As [`Self::update`].
    pub fn make_alone(&self, step: usize, bound: &[NdArray], run: impl Fn(usize) -> Result<()>) -> Result<()> {
        self.store.alone(|| self.make_step(step, bound, &run))
    }

    fn make_step(&self, step: usize, bound: &[NdArray], run: &impl Fn(usize) -> Result<()>) -> Result<()> {
        let made = || self.kept.iter().filter(move |(_, by)| *by == step).map(|(constant, _)| constant);
        if made().any(|constant| constant.is_frozen.load(Ordering::Relaxed)) {
            return Err(Error::invalid(
                "parameters",
                "values written after an executor was frozen that shares them packed",
                "executors with another `BindOptions::packed` for parameters that change",
            ));
        }
        made().for_each(|constant| *constant.made_from.lock() = None);
        run(step)?;
        made().for_each(|constant| *constant.made_from.lock() = Some(self.contents(step, bound)));
        Ok(())
    }
}
